//! A run of an agent whose process is killed (SIGKILL) at whatever point: it is resumed to the same result, and nothing that
//! it did is done twice. `cargo xtask agents` does it 300 times.
#![allow(clippy::print_stdout, reason = "whoever drives tells by its output how far it is")]
#![allow(clippy::panic, reason = "helpers of a test may panic")]
#![allow(clippy::unwrap_used)]

mod agent_room;

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use agent_room::{Scripts, calls, dock, options, read, says, shell};
use drydock_embed::{
    Dock,
    agent::{AgentChanges, AgentSpec, CallOutcome, DockAgents, Driven, Event, RunOptions},
    contract::{AgentId, AgentStatus, ReviewAnswer, ReviewKind, port::Wanted},
};
use serde_json::{Value, json};

/// Where the child finds its home and its run.
const HOME: &str = "DRYDOCK_AGENT_KILLED_HOME";
const RUN: &str = "DRYDOCK_AGENT_KILLED_RUN";
/// How many runs; the small form where nobody says.
const COUNT: &str = "DRYDOCK_AGENT_KILLS";
/// Most kills of one run; then it may come to its end.
const KILLS_MAX: u32 = 3;
/// Whoever takes longer hangs.
const HANGS: Duration = Duration::from_secs(120);

/// Turns whose every effect can be counted afterwards: a line each, in a file that only grows.
fn script() -> Vec<Value> {
    let line = |at: u32| shell(&format!("echo {at} >> log"));
    let write = calls(&[
        ("vfs_write", json!({ "path": "note.txt", "content": "kept\n" })),
        ("vfs_read", json!({ "path": "log" })),
    ]);
    let both = calls(&[
        ("shell", json!({ "pipeline": "echo 4 >> log" })),
        ("shell", json!({ "pipeline": "echo 5 >> log; x=5" })),
    ]);
    let sub = calls(&[("agent", json!({ "task": "write seven", "max_steps": 3 }))]);
    let code = calls(&[("run_code", json!({ "language": "javascript", "code": CODE }))]);
    let last = [shell("wc -l < log"), says("all of it")];
    // What the sub-agent says follows from what it reads.
    let when = |text: &str, turn: Value| {
        let mut turn = turn;
        turn["when"] = text.into();
        turn
    };
    let subs = [
        when("write seven", shell("echo 7 >> log; echo seven-is-written")),
        when("seven-is-written", says("told")),
    ];
    let turns = vec![line(1), line(2), write, line(3), both, line(6), sub, code];
    turns.into_iter().chain(last).chain(subs).collect()
}

/// A program that makes a file one line longer.
const CODE: &str = "let was = ''; try { was = await files.read({path: 'eight'}) } catch {} \
                    await files.write({path: 'eight', content: was + '8\\n'})";

/// A run whose writing is reviewed.
fn reviewed() -> AgentSpec {
    let options = RunOptions { review: vec!["vfs_write".into()], ..options("m") };
    AgentSpec::session("You are a clerk.", "Do it.", options)
}

fn scripts() -> Scripts {
    let scripts = Scripts::default();
    scripts.lock().unwrap().insert("m".into(), Value::from(script()).to_string());
    scripts
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// What the killed process does: goes on with the run until it ends or waits.
fn child(home: &str, run: &str) {
    let dock = dock(home.as_ref(), &scripts(), None);
    let run: AgentId = run.parse().unwrap();
    let agents = dock.agents();
    runtime().block_on(async {
        let mut run = agents.resume(&run, &AgentChanges::default()).await.unwrap();
        println!("\ndriving");
        let driven = run.drive().await.unwrap();
        println!("\n{}", if driven == Driven::Waiting { "waiting" } else { "ended" });
    });
}

fn spawn(home: &std::path::Path, run: &AgentId) -> Child {
    let program = std::env::current_exe().unwrap();
    let test = "a_killed_run_is_resumed_to_the_same_result_and_nothing_is_done_twice";
    Command::new(program)
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(HOME, home)
        .env(RUN, run.as_str())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The next number of a small generator: where the kills are is random, and the same for one seed.
fn next(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

#[test]
fn a_killed_run_is_resumed_to_the_same_result_and_nothing_is_done_twice() {
    if let (Ok(home), Ok(run)) = (std::env::var(HOME), std::env::var(RUN)) {
        return child(&home, &run);
    }
    let count: u64 = std::env::var(COUNT).ok().and_then(|it| it.parse().ok()).unwrap_or(4);
    let home = tempfile::tempdir().unwrap();
    let scripts = scripts();
    let yard = dock(home.path(), &scripts, None);
    let runtime = runtime();
    let mut seed =
        std::env::var("DRYDOCK_AGENT_SEED").ok().and_then(|it| it.parse().ok()).unwrap_or(0x9e37_79b9);
    // How long a run takes that nobody kills, most of which is the end of its process: the kills are in what is before that.
    let (_, _, took) = runtime.block_on(one(&yard, home.path(), &mut seed, Duration::ZERO));
    let span = took / 4;
    let (mut kills, mut asked) = (0, 0);
    for _ in 0..count {
        runtime.block_on(async {
            let (killed, questions, _) = one(&yard, home.path(), &mut seed, span).await;
            (kills, asked) = (kills + killed, asked + questions);
        });
    }
    println!("runs {count}, kills {kills}, questions about what was in flight {asked}");
    assert!(kills > 0, "nobody was killed");
}

/// One run, killed up to three times, and how often somebody had to say what became of a line that was in flight.
async fn one(dock: &Dock, home: &std::path::Path, seed: &mut u64, span: Duration) -> (u32, u32, Duration) {
    let agents = dock.agents();
    let run = agents.open(reviewed()).await.unwrap();
    let id = run.id().clone();
    drop(run);
    let (mut kills, mut asked, mut took) = (0, 0, Duration::ZERO);
    let began = Instant::now();
    loop {
        assert!(began.elapsed() < HANGS, "run {id} does not end");
        let mut child = spawn(home, &id);
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while line.trim() != "driving" && {
            line.clear();
            lines.read_line(&mut line).unwrap() > 0
        } {}
        let driving = Instant::now();
        if kills < KILLS_MAX && !span.is_zero() {
            // One that soon asks somebody is over long before one that runs a program: early kills are as frequent as late ones.
            let most = u64::try_from(span.as_micros()).unwrap() >> (next(seed) % 6);
            let micros = next(seed) % most.max(1);
            std::thread::sleep(Duration::from_micros(micros));
            kills += u32::from(child.try_wait().unwrap().is_none());
            let _ = child.kill();
        }
        // A run that waits for its sub-agent goes on being driven: what that asks is answered meanwhile.
        while child.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < HANGS, "run {id} hangs");
            asked += say_what_became(&agents, &id).await;
            std::thread::sleep(Duration::from_millis(2));
        }
        lines.read_to_string(&mut line).unwrap();
        took = took.max(driving.elapsed());
        let head = agents.show(&id).await.unwrap();
        match head.status {
            AgentStatus::Done => break,
            AgentStatus::Waiting => asked += say_what_became(&agents, &id).await,
            // Answered while its process ended.
            AgentStatus::Running => {}
            _ => assert_eq!(head.reason.as_deref(), Some("interrupted"), "{head:?}"),
        }
    }
    judge(&agents, &id).await;
    (kills, asked, took)
}

/// A person looks whether the line that was in flight is there, and says so.
async fn say_what_became(agents: &DockAgents, id: &AgentId) -> u32 {
    let mut asked = 0;
    for review in agents.reviews(None, Wanted::Pending, 9).await.unwrap() {
        let is_below = agents.show(&review.run).await.unwrap().parent.as_ref() == Some(id);
        let arguments = &review.what["arguments"];
        let answer = match (review.kind, arguments["pipeline"].as_str()) {
            (ReviewKind::Tool, _) => ReviewAnswer::Once,
            (ReviewKind::InFlight, line) => {
                let number = line.and_then(|it| it.strip_prefix("echo ")?.split(' ').next());
                let is_there = match (line, number) {
                    (None, _) => !file_of(agents, id, "eight").await.is_empty(),
                    (_, number) => {
                        let log = file_of(agents, id, "log").await;
                        number.is_some_and(|it| log.lines().any(|line| line == it))
                    }
                };
                // The sub-agent reads what it would have read.
                let reason = if is_below { "seven-is-written" } else { "it is done already" };
                asked += 1;
                match is_there {
                    true => ReviewAnswer::Deny { reason: reason.into() },
                    false => ReviewAnswer::Once,
                }
            }
            _ => panic!("{review:?}"),
        };
        match agents.answer(&review.id, answer, "ada").await {
            Ok(_) => {}
            // It ended with its run, which was killed, and is asked anew.
            Err(error) => assert!(error.code().starts_with("review_"), "{error}"),
        }
    }
    asked
}

async fn file_of(agents: &DockAgents, id: &AgentId, name: &str) -> String {
    let head = agents.show(id).await.unwrap();
    let workspace = agents.dock().workspace(&head.workspace.unwrap()).unwrap();
    read(&*workspace.files().unwrap(), &format!("workspace/{name}")).unwrap_or_default()
}

async fn judge(agents: &DockAgents, id: &AgentId) {
    let record = agents.record(id).await.unwrap();
    assert_eq!(record.result.as_deref(), Some("all of it"));
    let log = file_of(agents, id, "log").await;
    assert_eq!(log, "1\n2\n3\n4\n5\n6\n7\n", "each line once: {:#?}", record.log);
    assert_eq!(file_of(agents, id, "eight").await, "8\n", "{:#?}", record.log);
    assert_eq!(record.steps, 10);
    let below = agents.list(None, 100).await.unwrap();
    assert_eq!(below.iter().filter(|it| it.parent.as_ref() == Some(id)).count(), 1, "one sub-agent");
    let mut answered = std::collections::BTreeMap::<String, u32>::new();
    for event in &record.events {
        if let Event::Result { id, outcome: CallOutcome::Done { .. }, .. } = event {
            *answered.entry(id.clone()).or_default() += 1;
        }
    }
    assert!(answered.values().all(|it| *it == 1), "{answered:?}");
    agents.replay(id).await.unwrap();
}
