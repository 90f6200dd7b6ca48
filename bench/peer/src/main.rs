//! The bashkit shell on request: `SCENARIO CALLS` in, that many timings in nanoseconds out.
//!
//! One shell is kept, as its users would. What a scenario is comes in a file of JSON, the first
//! argument: `{name: {script, stdin, wanted}}`, the same that everybody else is given.

use std::{
    collections::HashMap,
    io::{BufRead as _, Write as _},
    time::Instant,
};

use anyhow::{Context as _, ensure};
use bashkit::{Bash, ExecOptions, ExecutionLimits, SessionLimits};
use serde::Deserialize;

#[derive(Deserialize)]
struct Scenario {
    script: String,
    stdin: String,
    wanted: String,
}

fn main() -> anyhow::Result<()> {
    let file = std::env::args().nth(1).context("no file of scenarios")?;
    let scenarios: HashMap<String, Scenario> = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let limits = ExecutionLimits::new().max_commands(usize::MAX).max_loop_iterations(usize::MAX);
    let mut shell = Bash::builder().limits(limits).session_limits(SessionLimits::unlimited()).build();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (name, calls) = line.trim().split_once(' ').context("a question is `SCENARIO CALLS`")?;
        let scenario = scenarios.get(name).with_context(|| format!("no scenario `{name}`"))?;
        let nanos = runtime.block_on(time(&mut shell, scenario, calls.parse()?))?;
        let words: Vec<String> = nanos.iter().map(u128::to_string).collect();
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "{}", words.join(" "))?;
        stdout.flush()?;
    }
    Ok(())
}

async fn time(shell: &mut Bash, scenario: &Scenario, calls: usize) -> anyhow::Result<Vec<u128>> {
    let mut nanos = Vec::with_capacity(calls);
    for _ in 0..calls {
        let started = Instant::now();
        let options = ExecOptions::new().stdin(scenario.stdin.as_str());
        let run = shell.exec_with_options(&scenario.script, options).await?;
        nanos.push(started.elapsed().as_nanos());
        let got = run.stdout.len();
        ensure!(run.stdout == scenario.wanted, "bashkit answered {got} bytes and {:?}", run.stderr);
    }
    Ok(nanos)
}
