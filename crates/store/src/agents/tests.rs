//! Proofs for what only a small file shows, and what follows from who lives: that it is full is a refusal by name, ends of
//! runs have room when nothing else has, and a file of a driver that died is taken away.

use std::fs;

use drydock_contract::{AgentStatus, AgentUsage};
use drydock_testkit::block_on;

use super::*;

fn head(id: u128, status: AgentStatus) -> AgentHead {
    AgentHead {
        id: AgentId::of(id),
        status,
        principal: "agent".into(),
        agent: None,
        model: "m".into(),
        task: "t".into(),
        workspace: None,
        parent: None,
        steps: 0,
        usage: AgentUsage::default(),
        started_ms: 1,
        updated_ms: 1,
        result: None,
        reason: None,
    }
}

static SMALL: Kind = Kind {
    tables: KIND.tables,
    version: 1,
    logged: true,
    bytes_max: 4 << 20,
    checked: false,
    remedy: KIND.remedy,
};
static SHELF_OF_SMALL: Shelf =
    Shelf { kind: &SMALL, path: TenantHome::agents_file, lock: "agents", open_max: 2, glances: true };

/// Appends events of 64 KiB until none fits, and answers how many that were and what the refusal was.
fn fill(hold: &dyn RunHold, id: u128) -> (u64, AgentRefusal) {
    for at in 0..1_000 {
        let appended = block_on(hold.append(at, vec![vec![7; 64 << 10]], head(id, AgentStatus::Running)));
        if let Err(why) = appended.unwrap() {
            return (at, why);
        }
    }
    panic!("it is never full");
}

#[test]
fn a_tenant_that_is_full_is_refused_by_name_can_end_its_runs_and_goes_on_when_some_are_gone() {
    // By the count of bytes, and by the file.
    for (bytes_max, least) in [(1 << 20, 15), (AGENTS_BYTES_MAX, 50)] {
        let temp = tempfile::tempdir().unwrap();
        let home = Home::open(temp.path()).unwrap();
        let agents = SqliteAgents::on(&home, &SHELF_OF_SMALL, bytes_max);
        let dev = Tenant::default();
        let first = block_on(agents.create(&dev, head(1, AgentStatus::Running))).unwrap().unwrap();
        let (count, refusal) = fill(&*first, 1);
        assert_eq!(refusal, AgentRefusal::NoRoom { bytes_max });
        assert!((least..64).contains(&count), "{count}");
        let kept = block_on(agents.events(&dev, first.run(), 0, usize::MAX)).unwrap();
        assert_eq!(kept.len() as u64, count, "what was acknowledged is there");
        if bytes_max < AGENTS_BYTES_MAX {
            // As long as a head may be: a short one has room where no event has.
            let long = AgentHead { task: "x".repeat(65_250), ..head(2, AgentStatus::Running) };
            let refused = block_on(agents.create(&dev, long)).unwrap();
            assert_eq!(refused.err(), Some(AgentRefusal::NoRoom { bytes_max }));
        }
        let end = head(1, AgentStatus::Failed);
        block_on(first.append(count, vec![], end.clone())).unwrap().unwrap();
        assert_eq!(block_on(agents.head(&dev, first.run())).unwrap(), Some(end));
        let other: Tenant = "b".parse().unwrap();
        block_on(agents.create(&other, head(1, AgentStatus::Running))).unwrap().unwrap();
        drop(first);
        assert_eq!(block_on(agents.remove(&dev, &AgentId::of(1))).unwrap(), Ok(true));
        let second = block_on(agents.create(&dev, head(3, AgentStatus::Running))).unwrap().unwrap();
        assert_eq!(fill(&*second, 3).0, count, "all of its room is there again");
    }
}

#[test]
fn the_count_of_bytes_is_that_of_what_is_kept_and_nothing_when_all_is_gone() {
    let temp = tempfile::tempdir().unwrap();
    let agents = SqliteAgents::of(&Home::open(temp.path()).unwrap());
    let (dev, now) = (Tenant::default(), Timestamp(5_000_000_000));
    let counted = || {
        let text = "SELECT bytes, runs, reviews, issues FROM mark";
        let row = |row: &rusqlite::Row<'_>| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]);
        let look = |conn: &rusqlite::Connection| conn.query_row(text, [], row);
        agents.inner.commits.glance::<[i64; 4]>(&dev, look).unwrap()
    };
    let run = block_on(agents.create(&dev, head(1, AgentStatus::Running))).unwrap().unwrap();
    block_on(run.append(0, vec![vec![1; 100], vec![2; 50]], head(1, AgentStatus::Waiting))).unwrap().unwrap();
    let review = Review {
        id: AgentId::of(9),
        run: AgentId::of(1),
        call: None,
        kind: drydock_contract::ReviewKind::Other,
        title: "may it".into(),
        what: serde_json::json!({}),
        grant: None,
        asked_ms: 1,
        expires_ms: None,
        state: ReviewState::Pending,
    };
    block_on(agents.ask(&dev, review)).unwrap().unwrap();
    let deny = ReviewAnswer::Deny { reason: "no".into() };
    block_on(agents.answer(&dev, &AgentId::of(9), deny, "ada", now)).unwrap().unwrap();
    let issue = FiledIssue {
        id: AgentId::of(7),
        run: AgentId::of(1),
        title: "x".into(),
        body: "y".into(),
        filed_ms: 1,
        seen: 1,
    };
    block_on(agents.file_issue(&dev, issue)).unwrap().unwrap();
    drop(run);
    assert!(block_on(agents.cancel(&dev, &AgentId::of(1), now)).unwrap());
    let text = "SELECT (SELECT sum(length(body)) FROM event) + (SELECT sum(length(head)) FROM run)
        + (SELECT sum(length(body)) FROM review)";
    let kept: i64 = agents.inner.commits.glance(&dev, |it| it.query_row(text, [], |row| row.get(0))).unwrap();
    assert_eq!(counted(), [kept + 2 + 128, 1, 1, 1]);
    assert_eq!(block_on(agents.remove(&dev, &AgentId::of(1))).unwrap(), Ok(true));
    assert!(block_on(agents.remove_issue(&dev, &AgentId::of(7))).unwrap());
    assert_eq!(counted(), [0; 4]);
}

#[test]
fn a_process_has_one_lock_for_all_it_drives_and_those_of_the_dead_are_taken_away() {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let locks = || {
        let all = fs::read_dir(home.lock_file("x").parent().unwrap()).unwrap().flatten();
        let names = all.map(|it| it.file_name().into_string().unwrap());
        names.filter(|it| it.starts_with("agents-")).collect::<Vec<_>>()
    };
    fs::write(home.lock_file("agents-0123"), "").unwrap();
    let dev = Tenant::default();
    let agents = SqliteAgents::of(&home);
    let holds: Vec<_> = (0..20)
        .map(|n| block_on(agents.create(&dev, head(n, AgentStatus::Running))).unwrap().unwrap())
        .collect();
    let own = locks();
    assert_eq!(own.len(), 1);
    assert_ne!(own[0], "agents-0123.lock");
    drop((agents, holds));
    // A thread that looks for changes of others may be the last that has it.
    for _ in 0..1_000 {
        if locks().is_empty() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{:?}", locks());
}
