//! `drydock py runner`: the protocol of `drydock js runner`, whose programs are Python.

use std::process::ExitCode;

use drydock_embed::{
    TokioTime,
    codemode::{
        protocol::Lines,
        runner::{LinePort, RunnerLimits, serve},
    },
    contract::{Sink, Source},
};
use tokio::runtime::Runtime;

use crate::{exit, home, streams};

/// Serves until stdin ends.
pub(super) fn run(runtime: &Runtime) -> anyhow::Result<ExitCode> {
    let dock = home::dock()?;
    let guest = match dock.py_guest() {
        Ok(guest) => guest,
        Err(error) => {
            exit::warn(&error.to_string());
            return Ok(ExitCode::from(error.exit_status()));
        }
    };
    runtime.block_on(async {
        // Ready means ready: no execution pays for compiling the interpreter.
        guest.warm().await?;
        let (Source::Stream(input), Sink::Stream(output)) = (streams::stdin()?, streams::stdout()?) else {
            anyhow::bail!("stdin and stdout are no streams");
        };
        let mut port = LinePort::new(input, output, Lines::default());
        serve(&mut port, &guest, &TokioTime::default(), RunnerLimits::default()).await;
        anyhow::Ok(())
    })?;
    std::mem::forget(dock);
    Ok(ExitCode::SUCCESS)
}
