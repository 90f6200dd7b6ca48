//! `cargo xtask load [--seconds N] [--connections N] [--release]`: the server under load, in a crowd, for long, and killed.
//!
//! The server is the binary, in a home that is gone afterwards; the clients are threads of this process, on loopback. What
//! is promised is checked, and what is measured is printed: nobody but who sends garbage is refused, `/metrics` says what
//! the clients counted, memory and descriptors stay, and what was acknowledged is there after a kill.

mod client;
mod crowd;
mod killed;
mod server;
mod soak;

use std::{path::Path, time::Duration};

use anyhow::{Context as _, bail};

use crate::{cargo, must_succeed};
pub(crate) use server::Server;

/// What is asked for.
struct Plan {
    /// Of the soak; the load before it takes a quarter as long.
    seconds: u64,
    /// Of the crowd.
    connections: usize,
    release: bool,
}

pub(crate) fn run(root: &Path, args: &[String]) -> anyhow::Result<()> {
    let plan = plan(args)?;
    let mut build = cargo();
    build.args(["build", "--quiet", "--package", "drydock"]).current_dir(root);
    if plan.release {
        build.arg("--release");
    }
    must_succeed(&mut build)?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), Into::into);
    let binary = target.join(if plan.release { "release/drydock" } else { "debug/drydock" });
    let echo = root.join("bench/src/group/echo.wat");
    println!("| what | figure |\n|---|---|");
    {
        let server = Server::start(&binary, &echo)?;
        let length = Duration::from_secs((plan.seconds / 4).max(2));
        soak::load(&server, length).context("load")?;
        crowd::gather(&server, plan.connections).context("crowd")?;
        soak::soak(&server, Duration::from_secs(plan.seconds)).context("soak")?;
        server.end()?;
    }
    killed::kill(&binary, &echo, (plan.seconds / 8).clamp(3, 20)).context("kill")
}

fn plan(args: &[String]) -> anyhow::Result<Plan> {
    let mut plan = Plan { seconds: 20, connections: 10_000, release: false };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let mut number = || -> anyhow::Result<u64> {
            rest.next().with_context(|| format!("{arg} takes a number"))?.parse().context("no number")
        };
        match arg.as_str() {
            "--seconds" => plan.seconds = number()?,
            "--connections" => plan.connections = usize::try_from(number()?)?,
            "--release" => plan.release = true,
            other => bail!("`load` does not know `{other}`"),
        }
    }
    Ok(plan)
}

/// One line of the table.
fn told(what: &str, figure: impl std::fmt::Display) {
    println!("| {what} | {figure} |");
}
