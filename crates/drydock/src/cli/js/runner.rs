//! `drydock js runner`: the protocol as lines on stdin and stdout, one execution after another.

use std::process::ExitCode;

use drydock_embed::{
    TokioTime,
    codemode::{
        protocol::Lines,
        runner::{LinePort, RunnerLimits, serve},
    },
    contract::{Entropy, GuestTime, Sink, Source},
};
use tokio::runtime::Runtime;

use crate::{home, streams};

/// Serves until stdin ends.
pub(super) fn run(runtime: &Runtime) -> anyhow::Result<ExitCode> {
    let dock = home::dock()?;
    let guest = dock.js_guest(GuestTime::Real, Entropy::System)?;
    runtime.block_on(async {
        // Ready means ready: no execution pays for compiling the guest.
        dock.warm_js().await?;
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
