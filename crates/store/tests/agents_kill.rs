//! Processes that drive runs of agents are killed at any moment: what was acknowledged is there, in its order and once, the
//! head says how far the events go, an answer to a review stays the one that was given, and a run whose driver is dead is
//! free. Real processes: this test binary starts itself again.
#![allow(clippy::unwrap_used)]

use std::{
    collections::BTreeMap,
    env,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use drydock_contract::{
    AgentHead, AgentId, AgentStatus, AgentUsage, Review, ReviewAnswer, ReviewKind, ReviewState, Tenant,
    Timestamp,
    port::{AgentRefusal, Agents as _, RunHold, Wanted},
};
use drydock_store::{Home, SqliteAgents};
use drydock_testkit::block_on;

/// Set in a child: the home it works in, a space, and its number.
const CHILD: &str = "DRYDOCK_KEPT_TEST_CHILD";
/// How often a process of each kind is killed. `DRYDOCK_KEPT_KILLS` names more.
const KILLS: u64 = 20;
const NOW: Timestamp = Timestamp(1_767_225_599_000_000_000);

fn kills() -> u64 {
    env::var("DRYDOCK_KEPT_KILLS").ok().and_then(|it| it.parse().ok()).unwrap_or(KILLS)
}

/// In a child: its home and number.
fn child() -> Option<(Home, u64)> {
    let told = env::var(CHILD).ok()?;
    let (home, number) = told.rsplit_once(' ').unwrap();
    Some((Home::open(home).unwrap(), number.parse().unwrap()))
}

/// Says it past libtest's capture, and at once.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "> {text}").and_then(|()| out.flush());
}

/// This binary again, to run the one test named.
fn start(test: &str, home: &Path, number: u64) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, format!("{} {number}", home.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    (child, out)
}

fn said(out: BufReader<ChildStdout>) -> impl Iterator<Item = String> {
    out.lines().map_while(Result::ok).filter_map(|it| it.split_once("> ").map(|it| it.1.to_owned()))
}

/// Starts it, kills it somewhere behind one of its first steps, and answers what it said until then.
fn killed(test: &str, home: &Path, number: u64) -> Vec<String> {
    let (mut child, out) = start(test, home, number);
    // Where it is killed follows from its number alone.
    let chance = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17);
    let mut said = said(out);
    let mut told: Vec<String> = said.by_ref().take(1 + (chance % 23) as usize).collect();
    assert!(!told.is_empty(), "the child ended by itself");
    for _ in 0..(chance >> 32) % 3_000_000 {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    // What it said before it died is said.
    told.extend(said);
    child.wait().unwrap();
    told
}

fn run() -> AgentId {
    AgentId::of(1)
}

/// A head that says how many events there are.
fn head(steps: u64) -> AgentHead {
    AgentHead {
        id: run(),
        status: AgentStatus::Running,
        principal: "agent".into(),
        agent: None,
        model: "m".into(),
        task: "t".into(),
        workspace: None,
        parent: None,
        steps,
        usage: AgentUsage::default(),
        started_ms: 1,
        updated_ms: 1,
        result: None,
        reason: None,
    }
}

/// The run, made by the first and taken over by each that follows.
fn drive(agents: &SqliteAgents) -> Box<dyn RunHold> {
    let dev = Tenant::default();
    match block_on(agents.hold(&dev, &run())).unwrap() {
        Err(AgentRefusal::Absent) => block_on(agents.create(&dev, head(0))).unwrap().unwrap(),
        refused => refused.unwrap(),
    }
}

fn events(agents: &SqliteAgents) -> Vec<u64> {
    let mut all = Vec::new();
    loop {
        let from = all.len() as u64;
        let events = block_on(agents.events(&Tenant::default(), &run(), from, usize::MAX)).unwrap();
        if events.is_empty() {
            return all;
        }
        all.extend(events.into_iter().map(|it| String::from_utf8(it).unwrap().parse::<u64>().unwrap()));
    }
}

#[test]
fn events_that_were_acknowledged_are_there_once_however_often_their_driver_is_killed() {
    let test = "events_that_were_acknowledged_are_there_once_however_often_their_driver_is_killed";
    if let Some((home, number)) = child() {
        let agents = SqliteAgents::of(&home);
        let hold = drive(&agents);
        let mut at = events(&agents).len() as u64;
        loop {
            let next = at + 1 + at % 3;
            say(&format!("try {next}"));
            let bodies = (at..next).map(|it| it.to_string().into_bytes()).collect();
            block_on(hold.append(at, bodies, head(next))).unwrap().unwrap();
            if (number + at).is_multiple_of(7) {
                block_on(hold.sync()).unwrap();
            }
            say(&format!("ack {next}"));
            at = next;
        }
    }
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let (mut acknowledged, mut total) = (0, 0);
    for number in 0..kills() {
        let mut tried = acknowledged;
        for line in killed(test, temp.path(), number) {
            match line.split_once(' ').map(|(what, count)| (what, count.parse::<u64>())) {
                Some(("try", Ok(count))) => tried = count,
                Some(("ack", Ok(count))) => acknowledged = count,
                _ => {}
            }
        }
        let agents = SqliteAgents::of(&home);
        let found = events(&agents);
        let count = found.len() as u64;
        assert!(found.iter().copied().eq(0..count), "each once and in its place: {found:?}");
        assert!(
            count == acknowledged || count == tried,
            "{count} where {acknowledged} were acknowledged and {tried} tried"
        );
        if let Some(told) = block_on(agents.head(&Tenant::default(), &run())).unwrap() {
            assert_eq!(told.steps, count, "head and events are one");
            let interrupted = (AgentStatus::Failed, Some("interrupted"));
            assert_eq!((told.status, told.reason.as_deref()), interrupted);
        }
        (acknowledged, total) = (count, count);
    }
    assert!(total > kills(), "{total} were kept");
}

#[test]
fn answers_that_were_acknowledged_stay_however_often_whoever_answers_is_killed() {
    let test = "answers_that_were_acknowledged_stay_however_often_whoever_answers_is_killed";
    let dev = Tenant::default();
    if let Some((home, number)) = child() {
        let agents = SqliteAgents::of(&home);
        let _hold = drive(&agents);
        for n in 0_u64.. {
            let id = AgentId::of(u128::from(number) << 64 | u128::from(n));
            let review = Review {
                id: id.clone(),
                run: run(),
                call: None,
                kind: ReviewKind::Other,
                title: "may it".into(),
                what: serde_json::Value::Null,
                grant: None,
                asked_ms: 1,
                expires_ms: None,
                state: ReviewState::Pending,
            };
            block_on(agents.ask(&dev, review)).unwrap().unwrap();
            say(&format!("asked {id} 0"));
            // Those of the dead too.
            for waits in block_on(agents.reviews(&dev, None, Wanted::Pending, 9, NOW)).unwrap() {
                let limit = number * 1_000 + n;
                say(&format!("answering {} {limit}", waits.id));
                let answer = ReviewAnswer::Limit { limit };
                block_on(agents.answer(&dev, &waits.id, answer, "ada", NOW)).unwrap().unwrap();
                say(&format!("answered {} {limit}", waits.id));
            }
        }
    }
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let mut asked = 0;
    let mut answered: BTreeMap<String, u64> = BTreeMap::new();
    for number in 0..kills() {
        let mut trying = BTreeMap::new();
        for line in killed(test, temp.path(), number) {
            let [what, id, limit] = *line.split(' ').collect::<Vec<_>>() else { continue };
            let Ok(limit) = limit.parse::<u64>() else { continue };
            match what {
                "asked" => asked += 1,
                "answering" => {
                    assert!(!answered.contains_key(id), "{id} waits, and it was answered");
                    trying.insert(id.to_owned(), limit);
                }
                "answered" => assert_eq!(answered.insert(id.to_owned(), limit), None),
                _ => {}
            }
        }
        let agents = SqliteAgents::of(&home);
        let all = block_on(agents.reviews(&dev, None, Wanted::All, 1_000, NOW)).unwrap();
        assert!(all.len() >= asked.min(1_000), "{} of {asked}", all.len());
        for review in all {
            let id = review.id.to_string();
            match (review.state, answered.get(&id)) {
                (ReviewState::Answered { given: ReviewAnswer::Limit { limit }, .. }, Some(told)) => {
                    assert_eq!(limit, *told);
                }
                // One that was kept and not told of.
                (ReviewState::Answered { given: ReviewAnswer::Limit { limit }, .. }, None) => {
                    assert_eq!(trying.get(&id), Some(&limit), "{id}");
                    answered.insert(id, limit);
                }
                (ReviewState::Pending, None) => {}
                (state, told) => panic!("{id} is {state:?}, and was {told:?}"),
            }
        }
    }
    assert!(answered.len() as u64 > kills(), "{} were answered", answered.len());
}

#[test]
fn a_run_that_another_process_drives_is_held_hears_its_end_and_is_free_when_that_process_dies() {
    let test = "a_run_that_another_process_drives_is_held_hears_its_end_and_is_free_when_that_process_dies";
    let dev = Tenant::default();
    if let Some((home, _)) = child() {
        let agents = SqliteAgents::of(&home);
        let hold = drive(&agents);
        block_on(hold.append(0, vec![b"0".to_vec()], head(1))).unwrap().unwrap();
        say("drives");
        block_on(hold.cancelled());
        say("cancelled");
        loop {
            std::thread::park();
        }
    }
    let temp = tempfile::tempdir().unwrap();
    let agents = SqliteAgents::of(&Home::open(temp.path()).unwrap());
    let (mut child, out) = start(test, temp.path(), 0);
    let mut said = said(out);
    assert_eq!(said.next().as_deref(), Some("drives"));
    assert_eq!(block_on(agents.hold(&dev, &run())).unwrap().err(), Some(AgentRefusal::Held));
    assert_eq!(block_on(agents.remove(&dev, &run())).unwrap(), Err(AgentRefusal::Held));
    let status = || block_on(agents.head(&dev, &run())).unwrap().unwrap().status;
    assert_eq!(status(), AgentStatus::Running);
    assert!(block_on(agents.cancel(&dev, &run(), NOW)).unwrap());
    assert_eq!(said.next().as_deref(), Some("cancelled"));
    assert_eq!(status(), AgentStatus::Running, "whoever drives it ends it");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(status(), AgentStatus::Cancelled, "it cannot any more, and somebody was told that it ends");
    let hold = block_on(agents.hold(&dev, &run())).unwrap().unwrap();
    assert_eq!(status(), AgentStatus::Running);
    block_on(hold.append(1, vec![b"1".to_vec()], head(2))).unwrap().unwrap();
    assert_eq!(events(&agents), [0, 1]);
}
