//! Runs of agents over SQLite and in memory: what their port promises, and what is true of files and processes alone.
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use drydock_contract::{
    AgentHead, AgentId, AgentStatus, AgentUsage, Tenant, Timestamp,
    port::{AgentRefusal, Agents as _},
};
use drydock_store::{Home, SqliteAgents};
use drydock_testkit::{MemoryAgents, agents_contract::agents_contract, block_on};

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

#[test]
fn runs_in_sqlite_keep_what_their_port_promises() {
    let temp = tempfile::tempdir().unwrap();
    let made = std::cell::Cell::new(0);
    agents_contract(|| {
        made.set(made.get() + 1);
        let home = Home::open(temp.path().join(made.get().to_string())).unwrap();
        Arc::new(SqliteAgents::of(&home))
    });
}

#[test]
fn runs_in_memory_keep_what_their_port_promises() {
    agents_contract(|| Arc::new(MemoryAgents::default()));
}

#[test]
fn asking_makes_no_file_and_the_first_run_makes_one_that_its_owner_alone_reads() {
    use std::os::unix::fs::PermissionsExt as _;
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let (agents, dev) = (SqliteAgents::of(&home), Tenant::default());
    assert_eq!(block_on(agents.list(&dev, None, 9)).unwrap(), []);
    assert_eq!(block_on(agents.hold(&dev, &AgentId::of(1))).unwrap().err(), Some(AgentRefusal::Absent));
    assert!(!home.tenant(&dev).root().exists(), "asking makes nothing");
    let _hold = block_on(agents.create(&dev, head(1, AgentStatus::Running))).unwrap().unwrap();
    let file = home.tenant(&dev).agents_file();
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn who_holds_a_run_and_who_ends_it_is_known_through_every_handle_of_a_home() {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let dev = Tenant::default();
    let (one, other) = (SqliteAgents::of(&home), SqliteAgents::of(&home));
    let run = AgentId::of(1);
    let hold = block_on(one.create(&dev, head(1, AgentStatus::Running))).unwrap().unwrap();
    block_on(hold.append(0, vec![b"x".to_vec()], head(1, AgentStatus::Running))).unwrap().unwrap();
    assert_eq!(block_on(other.hold(&dev, &run)).unwrap().err(), Some(AgentRefusal::Held));
    assert_eq!(block_on(other.head(&dev, &run)).unwrap().unwrap().status, AgentStatus::Running);
    assert_eq!(block_on(other.events(&dev, &run, 0, 99)).unwrap(), [b"x"]);
    thread::scope(|scope| {
        // One that follows through the other handle hears of an append, and whoever drives it of the wish to end it.
        let follower = scope.spawn(|| {
            while block_on(other.events(&dev, &run, 1, 99)).unwrap().is_empty() {
                block_on(other.changed(&dev, &run, 1));
            }
            assert!(block_on(other.cancel(&dev, &run, Timestamp(5_000_000))).unwrap());
        });
        thread::sleep(Duration::from_millis(20));
        block_on(hold.append(1, vec![b"y".to_vec()], head(1, AgentStatus::Running))).unwrap().unwrap();
        follower.join().unwrap();
        block_on(hold.cancelled());
    });
    drop(hold);
    // Letting go is written down a moment later; that nobody holds it is known at once where it was held.
    assert_eq!(block_on(one.head(&dev, &run)).unwrap().unwrap().status, AgentStatus::Cancelled);
    drop(one);
    let again = block_on(other.hold(&dev, &run)).unwrap().unwrap();
    block_on(again.append(2, vec![b"z".to_vec()], head(1, AgentStatus::Done))).unwrap().unwrap();
    assert_eq!(block_on(other.head(&dev, &run)).unwrap().unwrap().status, AgentStatus::Done);
}

#[test]
fn many_runs_are_driven_at_once_and_each_has_its_own_events() {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let (agents, dev) = (SqliteAgents::of(&home), Tenant::default());
    thread::scope(|scope| {
        for n in 0..16_u128 {
            let (agents, dev) = (&agents, &dev);
            scope.spawn(move || {
                let hold = block_on(agents.create(dev, head(n, AgentStatus::Running))).unwrap().unwrap();
                for at in 0..40 {
                    let events = vec![format!("{n}-{at}").into_bytes()];
                    block_on(hold.append(at, events, head(n, AgentStatus::Running))).unwrap().unwrap();
                }
                block_on(hold.append(40, vec![], head(n, AgentStatus::Done))).unwrap().unwrap();
            });
        }
    });
    assert_eq!(block_on(agents.list(&dev, None, 99)).unwrap().len(), 16);
    for n in 0..16 {
        let events = block_on(agents.events(&dev, &AgentId::of(n), 0, 9_999)).unwrap();
        let want: Vec<_> = (0..40).map(|at| format!("{n}-{at}").into_bytes()).collect();
        assert_eq!(events, want);
    }
}

#[test]
fn a_file_that_was_cut_is_an_error_by_name_and_its_tenants_trouble_alone() {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let (dev, other): (Tenant, Tenant) = (Tenant::default(), "b".parse().unwrap());
    {
        let agents = SqliteAgents::of(&home);
        for whose in [&dev, &other] {
            let hold = block_on(agents.create(whose, head(1, AgentStatus::Running))).unwrap().unwrap();
            block_on(hold.append(0, vec![vec![7; 9_000]], head(1, AgentStatus::Done))).unwrap().unwrap();
        }
    }
    let file = home.tenant(&dev).agents_file();
    for side in ["-wal", "-shm"] {
        let mut beside = file.clone().into_os_string();
        beside.push(side);
        let _ = fs::remove_file(beside);
    }
    fs::write(&file, &fs::read(&file).unwrap()[..2048]).unwrap();
    let agents = SqliteAgents::of(&home);
    let run = AgentId::of(1);
    assert_eq!(block_on(agents.head(&dev, &run)).unwrap_err().code, "ledger_damaged");
    let error = block_on(agents.hold(&dev, &run)).err().unwrap();
    assert_eq!(error.code, "ledger_damaged");
    assert!(error.to_string().contains("agents.sqlite"), "{error}");
    assert_eq!(block_on(agents.events(&other, &run, 0, 9_999)).unwrap(), [[7; 9_000]]);
}

#[test]
fn hundreds_of_tenants_have_files_and_few_are_open() {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let agents = SqliteAgents::of(&home);
    let mut holds = Vec::new();
    for n in 0..40 {
        let whose: Tenant = format!("t{n}").parse().unwrap();
        holds.push(block_on(agents.create(&whose, head(1, AgentStatus::Running))).unwrap().unwrap());
        assert!(block_on(agents.head(&whose, &AgentId::of(1))).unwrap().is_some());
    }
    let open = || {
        let all = fs::read_dir("/proc/self/fd").unwrap().flatten();
        all.filter_map(|it| fs::read_link(it.path()).ok()).filter(|it| it.starts_with(home.root())).count()
    };
    // What is let go of is closed by threads, which may be late where others have the machine.
    let hung = Instant::now() + Duration::from_secs(60);
    while open() > 12 * 5 + 1 && Instant::now() < hung {
        thread::yield_now();
    }
    let here = open();
    // Eight with five each, four of which a thread works at besides, and the lock of all holds.
    assert!((10..=12 * 5 + 1).contains(&here), "{here}");
}
