//! The bashkit shell on request: a line with a number in, that many timings in nanoseconds out.
//!
//! One shell is kept, as its users would; each call is its own `tr` over 1 KiB of stdin.

use std::{
    io::{BufRead as _, Write as _},
    time::Instant,
};

use anyhow::ensure;
use bashkit::{Bash, ExecOptions, SessionLimits};

const SCRIPT: &str = "tr a-z A-Z";

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let text = "the quick brown fox jumps over the lazy dog, and once again....\n".repeat(16);
    let mut shell = Bash::builder().session_limits(SessionLimits::unlimited()).build();
    for line in std::io::stdin().lock().lines() {
        let calls: usize = line?.trim().parse()?;
        let nanos = runtime.block_on(time(&mut shell, &text, calls))?;
        let words: Vec<String> = nanos.iter().map(u128::to_string).collect();
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "{}", words.join(" "))?;
        stdout.flush()?;
    }
    Ok(())
}

async fn time(shell: &mut Bash, text: &str, calls: usize) -> anyhow::Result<Vec<u128>> {
    let wanted = text.to_ascii_uppercase();
    let mut nanos = Vec::with_capacity(calls);
    for _ in 0..calls {
        let started = Instant::now();
        let run = shell.exec_with_options(SCRIPT, ExecOptions::new().stdin(text)).await?;
        nanos.push(started.elapsed().as_nanos());
        ensure!(run.stdout == wanted, "bashkit answered {:?} {:?}", run.stdout, run.stderr);
    }
    Ok(nanos)
}
