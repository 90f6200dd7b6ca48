//! Many sessions at once, and what a step costs besides its model and its tools. `cargo xtask agents` prints the figures.
#![allow(clippy::print_stdout, reason = "figures are told")]
#![allow(clippy::unwrap_used)]

mod agent_room;

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use agent_room::{calls, options, says, session, shell, yard};
use drydock_embed::{
    agent::{AgentChanges, AgentFiles, AgentPowers, AgentSpec, Driven, Event, RunEnd, RunOptions},
    contract::AgentStatus,
};
use serde_json::json;

fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(usual)
}

/// Resident memory of this process, in bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|it| it.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

fn told(what: &str, figure: impl std::fmt::Display) {
    println!("| {what} | {figure} |");
}

fn shown(mut all: Vec<Duration>) -> String {
    all.sort_unstable();
    let at = |per_mille: usize| all[(all.len() - 1) * per_mille / 1000].as_secs_f64() * 1e3;
    format!("{:.2} ms median, {:.2} ms p99, {:.2} ms most", at(500), at(990), at(1000))
}

#[test]
fn all_sessions_of_a_crowd_end() {
    let count = number("DRYDOCK_AGENT_CROWD", 24);
    let yard = yard();
    yard.says(
        "m",
        &[
            calls(&[("vfs_write", json!({ "path": "a", "content": "1\n" }))]),
            calls(&[("vfs_read", json!({ "path": "a" })), ("vfs_read", json!({ "path": "b" }))]),
            calls(&[("edit_file", json!({ "path": "a", "old": "1", "new": "2" }))]),
            calls(&[("vfs_read", json!({ "path": "a" }))]),
            says("end"),
        ],
    );
    let before = resident();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let began = Instant::now();
    let steps = Arc::new(Mutex::new(Vec::new()));
    runtime.block_on(async {
        let mut all = Vec::new();
        for at in 0..count {
            let (agents, steps) = (yard.agents(), Arc::clone(&steps));
            all.push(tokio::spawn(async move {
                // The gate lets each principal do so much at once.
                let powers = AgentPowers { principal: format!("agent-{}", at % 50), ..session("m").powers };
                let mut run = agents.open(AgentSpec { powers, ..session("m") }).await.unwrap();
                let last = Mutex::new(Instant::now());
                run.listen(Arc::new(move |_, event| {
                    let mut last = last.lock().unwrap();
                    if matches!(event, Event::Turn { .. }) {
                        steps.lock().unwrap().push(last.elapsed());
                        *last = Instant::now();
                    }
                }));
                let end = run.drive().await.unwrap();
                assert_eq!(end, Driven::Ended(RunEnd::Done { result: "end".into() }));
                run
            }));
        }
        let mut open = Vec::new();
        for run in all {
            open.push(run.await.unwrap());
        }
        let held = resident().saturating_sub(before);
        let per_session = held / count as u64 / 1024;
        told(
            &format!("{count} sessions at once: memory, and of one"),
            format!("{} MiB, {per_session} KiB", held >> 20),
        );
    });
    told("… all ended after", format!("{:.1} s", began.elapsed().as_secs_f64()));
    let steps = std::mem::take(&mut *steps.lock().unwrap());
    assert_eq!(steps.len(), count * 5);
    told("… one step of five, with its model, its tools and the crowd", shown(steps));
}

#[test]
fn a_step_costs_little_besides_its_model_and_its_tool() {
    let turns = number("DRYDOCK_AGENT_STEPS", 40);
    let yard = yard();
    let reads = (0..turns - 1).map(|_| calls(&[("vfs_read", json!({ "path": "/workspace/none" }))]));
    yard.says("m", &reads.chain([says("end")]).collect::<Vec<_>>());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let agents = yard.agents();
        for files in [AgentFiles::Memory, AgentFiles::Own] {
            let few = RunOptions { max_steps: turns as u64, ..options("m") };
            let spec = session("m");
            let powers = AgentPowers { files: files.clone(), ..spec.powers.clone() };
            let mut run = agents.open(AgentSpec { options: few, powers, ..spec }).await.unwrap();
            let began = Instant::now();
            run.drive().await.unwrap();
            let step = began.elapsed() / u32::try_from(turns).unwrap();
            told(
                &format!("a step of {turns}, scripted model and a file that is not there ({files:?})"),
                format!("{} µs", step.as_micros()),
            );
        }
    });
}

#[test]
fn a_long_session_is_resumed_from_its_events() {
    let turns = number("DRYDOCK_AGENT_STEPS", 40);
    let yard = yard();
    let lines = (1..turns).map(|at| shell(&format!("echo {at}")));
    yard.says("m", &lines.chain([says("end")]).collect::<Vec<_>>());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let agents = yard.agents();
        let most = RunOptions { max_steps: turns as u64 - 1, ..options("m") };
        let mut run = agents.open(AgentSpec { options: most, ..session("m") }).await.unwrap();
        run.drive().await.unwrap();
        let id = run.id().clone();
        drop(run);
        let again = yard.restarted();
        let agents = again.agents();
        let began = Instant::now();
        let changes = AgentChanges { more_steps: Some(1), ..AgentChanges::default() };
        let mut run = agents.resume(&id, &changes).await.unwrap();
        told(
            &format!("a session of {turns} steps is resumed in a process that just began"),
            format!("{:.1} ms", began.elapsed().as_secs_f64() * 1e3),
        );
        run.drive().await.unwrap();
        assert_eq!(agents.show(&id).await.unwrap().status, AgentStatus::Done);
        drop(run);
        let began = Instant::now();
        drop(agents.resume(&id, &changes).await.unwrap());
        told("… and once more", format!("{:.1} ms", began.elapsed().as_secs_f64() * 1e3));
    });
}
