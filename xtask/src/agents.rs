//! `cargo xtask agents [--runs N] [--sessions N] [--seed N] [--release]`: runs of agents killed at random points, and many
//! of them at once. The small forms of both are tests; this is the same code with larger numbers, and its figures printed.

use std::path::Path;

use anyhow::{Context as _, bail};

use crate::{cargo, must_succeed};

pub(crate) fn run(root: &Path, args: &[String]) -> anyhow::Result<()> {
    let (mut runs, mut sessions, mut seed, mut release) = (300, 200, 0x9e37_79b9, false);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let mut number = || -> anyhow::Result<u64> {
            rest.next().with_context(|| format!("{arg} takes a number"))?.parse().context("no number")
        };
        match arg.as_str() {
            "--runs" => runs = number()?,
            "--sessions" => sessions = number()?,
            "--seed" => seed = number()?,
            "--release" => release = true,
            other => bail!("`agents` does not know `{other}`"),
        }
    }
    for test in ["agent_crowd", "agent_killed"] {
        let mut command = cargo();
        command.args(["test", "--quiet", "--workspace", "--test", test]).current_dir(root);
        if release {
            command.arg("--release");
        }
        command.args(["--", "--nocapture", "--test-threads=1"]);
        command.env("DRYDOCK_AGENT_KILLS", runs.to_string()).env("DRYDOCK_AGENT_SEED", seed.to_string());
        command.env("DRYDOCK_AGENT_CROWD", sessions.to_string());
        must_succeed(&mut command)?;
    }
    Ok(())
}
