//! Many sessions at once, what a step costs besides its model and its tools, and how long it takes to go on with a long one:
//! the figures of the agents' table. `cargo xtask agents --release` prints them with as many sessions as the table has.
#![allow(clippy::print_stdout, reason = "figures are told")]
#![allow(clippy::unwrap_used)]

mod agent_room;
mod call_spans;

use std::time::{Duration, Instant};

use agent_room::{calls, dock, options, says, session, shell, yard};
use call_spans::CallSpans;
use drydock_embed::{
    agent::{AgentChanges, AgentFiles, AgentPowers, AgentSpec, Driven, RunEnd, RunOptions},
    contract::AgentStatus,
};
use serde_json::{Value, json};
use tokio::runtime::Builder;

fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(usual)
}

/// Resident memory of this process, in bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|it| it.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

fn told(figure: &str, least: &str, measured: &str) {
    println!("| {figure} | {least} | {measured} |");
}

/// So many thousandths of them are no longer.
fn at(all: &mut [Duration], per_mille: usize) -> Duration {
    all.sort_unstable();
    all[(all.len() - 1) * per_mille / 1000]
}

/// The turns of one session: it writes, reads, edits and reads again.
fn turns(steps: usize) -> Vec<Value> {
    let turn = |at: usize| match at % 4 {
        0 => calls(&[("vfs_write", json!({ "path": "a", "content": "1\n" }))]),
        1 => calls(&[("vfs_read", json!({ "path": "a" })), ("vfs_read", json!({ "path": "b" }))]),
        2 => calls(&[("edit_file", json!({ "path": "a", "old": "1", "new": "2" }))]),
        _ => calls(&[("vfs_read", json!({ "path": "a" }))]),
    };
    (0..steps - 1).map(turn).chain([says("end")]).collect()
}

/// A session whose calls are found by their principal.
fn as_principal(name: &str, steps: usize) -> AgentSpec {
    let spec = session("m");
    let options = RunOptions { max_steps: steps as u64, ..options("m") };
    let powers = AgentPowers { principal: name.to_owned(), ..spec.powers.clone() };
    AgentSpec { options, powers, ..spec }
}

#[test]
fn steps_resumed_sessions_and_a_crowd_of_them_have_the_figures_of_the_table() {
    let spans = CallSpans::watch();
    println!("| Figure | At least | Measured |\n|---|---|---|");
    one_step(&spans);
    a_long_session();
    a_crowd(&spans);
}

fn one_step(spans: &CallSpans) {
    let steps = number("DRYDOCK_AGENT_STEPS", 40);
    let yard = yard();
    yard.says("m", &turns(steps));
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let agents = yard.agents();
        for (name, files) in [("memory", AgentFiles::Memory), ("workspace", AgentFiles::Own)] {
            let spec = as_principal(name, steps);
            let powers = AgentPowers { files, ..spec.powers.clone() };
            let mut run = agents.open(AgentSpec { powers, ..spec }).await.unwrap();
            run.drive().await.unwrap();
        }
    });
    let figures = |name: &str| {
        let mut besides = spans.besides(name);
        assert_eq!(besides.len(), steps - 1, "the last turn has no step behind it");
        let median = at(&mut besides, 500).as_micros();
        format!("{median} µs median, {} µs p99 with files in {name}", at(&mut besides, 990).as_micros())
    };
    // A turn that changed files of a workspace is behind a snapshot of it.
    let measured = format!("{}; {}", figures("memory"), figures("workspace"));
    told("overhead of one step besides model and tool", "at most 300 µs", &measured);
}

fn a_long_session() {
    let steps = 40;
    let yard = yard();
    let lines = (1..steps).map(|at| shell(&format!("echo {at}")));
    yard.says("m", &lines.chain([says("end")]).collect::<Vec<_>>());
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let agents = yard.agents();
        let most = RunOptions { max_steps: steps - 1, ..options("m") };
        let mut run = agents.open(AgentSpec { options: most, ..session("m") }).await.unwrap();
        run.drive().await.unwrap();
        let id = run.id().clone();
        drop((run, agents));
        // As a process that just began has it: nothing of the home was looked at before.
        let began = Instant::now();
        let cold = dock(yard.home.path(), &yard.scripts, None);
        let opened = began.elapsed();
        let agents = cold.agents();
        let changes = AgentChanges { more_steps: Some(1), ..AgentChanges::default() };
        let mut run = agents.resume(&id, &changes).await.unwrap();
        let resumed = began.elapsed();
        let millis = |it: Duration| it.as_secs_f64() * 1e3;
        let measured = format!(
            "{:.1} ms from a cold dock, {:.1} ms of it to open that",
            millis(resumed),
            millis(opened)
        );
        told("resume of a 40-step session", "under 50 ms", &measured);
        run.drive().await.unwrap();
        assert_eq!(agents.show(&id).await.unwrap().status, AgentStatus::Done);
    });
}

fn a_crowd(spans: &CallSpans) {
    let (count, steps) = (number("DRYDOCK_AGENT_CROWD", 24), 5);
    let yard = yard();
    yard.says("m", &turns(steps));
    let before = resident();
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let began = Instant::now();
    let held = runtime.block_on(async {
        let mut all = Vec::new();
        for at in 0..count {
            let agents = yard.agents();
            all.push(tokio::spawn(async move {
                let mut run = agents.open(as_principal(&format!("crowd-{at}"), steps)).await.unwrap();
                let end = run.drive().await.unwrap();
                assert_eq!(end, Driven::Ended(RunEnd::Done { result: "end".into() }));
                run
            }));
        }
        let mut open = Vec::new();
        for run in all {
            open.push(run.await.unwrap());
        }
        resident().saturating_sub(before)
    });
    let ended = began.elapsed().as_secs_f64();
    let mut besides: Vec<Duration> =
        (0..count).flat_map(|at| spans.besides(&format!("crowd-{at}"))).collect();
    assert_eq!(besides.len(), count * (steps - 1));
    let millis = |per_mille, all: &mut [Duration]| at(all, per_mille).as_secs_f64() * 1e3;
    let measured = format!(
        "all end in {ended:.1} s, {} MiB ({} KiB each), step overhead {:.2} ms p99, {:.2} ms median",
        held >> 20,
        held / count as u64 / 1024,
        millis(990, &mut besides),
        millis(500, &mut besides)
    );
    told(
        &format!("{count} concurrent sessions with a scripted model on 2 cores"),
        "all end, memory reported, p99 step overhead under 5 ms",
        &measured,
    );
}
