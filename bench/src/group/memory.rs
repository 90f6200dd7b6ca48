//! Resident memory after many runs against after few, in a fresh process: what the other groups
//! left behind would hide a leak.

use std::process::Command;

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use drydock_embed::{
    Setup, ShellSetup,
    contract::{Sink, Streams},
};
use tokio::runtime::Runtime;

use super::Bench;
use crate::{
    docked::{self, Docked},
    figure::{Amount, Bound, Figure},
    machine,
    spread::Spread,
};

/// The hidden word that makes this program the fresh process.
pub(crate) const PROBE: &str = "probe-memory";

/// A line of a shell that stays, which changes what it keeps.
const LINE: &str = "echo hi | tr a-z A-Z; n=$((n + 1)); x=$n";

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let shrink = if bench.quick { 10 } else { 1 };
    let figure = |name: &str, few: u32, many: u32, bound: Bound| {
        let (few, many) = (few / shrink, many / shrink);
        let [before, after] = probe_elsewhere(name, few, many)?;
        anyhow::Ok(Figure {
            group: "memory",
            name: format!("memory after {many} runs of `{name}` against after {few}"),
            ours: Amount::Bytes(after),
            peer: Some(Amount::Bytes(before)),
            judged: Spread::of(&[after / before]),
            bound,
        })
    };
    Ok(vec![
        figure("upper", 1_000, 100_000, Bound::AtMost(1.1))?,
        figure("jq", 2_000, 20_000, Bound::AtMost(1.1))?,
        figure(LINE, 1_000, 100_000, Bound::AtMost(1.1))?,
    ])
}

fn probe_elsewhere(name: &str, few: u32, many: u32) -> anyhow::Result<[f64; 2]> {
    let us = std::env::current_exe().context("where are we?")?;
    let output = Command::new(us).args([PROBE, name, &few.to_string(), &many.to_string()]).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "the probe failed: {}", String::from_utf8_lossy(&output.stderr));
    let numbers = text.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>()?;
    numbers.try_into().map_err(|_| anyhow::anyhow!("the probe answered `{text}`"))
}

/// Runs a command `few` and then up to `many` times, and prints the resident bytes at both points.
pub(crate) fn probe(args: &[String]) -> anyhow::Result<()> {
    let [name, few, many] = args else { anyhow::bail!("{PROBE} NAME FEW MANY") };
    let (few, many): (u32, u32) = (few.parse()?, many.parse()?);
    let (args, stdin): (&[&str], Bytes) = match name.as_str() {
        "jq" => (&[".a"], Bytes::from_static(b"{\"a\": [1, 2, 3]}")),
        _ => (&[], docked::one_kib()),
    };
    let (docked, runtime) = (Docked::open()?, docked::runtime()?);
    if name == LINE {
        return probe_lines(&docked, &runtime, [few, many]);
    }
    let run = async |times: u32| {
        for _ in 0..times {
            let run = docked.session.run(name, args, stdin.clone()).await?;
            ensure!(run.success(), "{name} ended with {:?}", run.outcome);
        }
        machine::resident_bytes()
    };
    let before = runtime.block_on(run(few))?;
    let after = runtime.block_on(run(many - few))?;
    println!("{before} {after}");
    Ok(())
}

/// The same with lines of one shell.
fn probe_lines(docked: &Docked, runtime: &Runtime, [few, many]: [u32; 2]) -> anyhow::Result<()> {
    let mut shell = docked.dock.shell("bench", Setup::profile("minimal"), ShellSetup::default())?;
    let mut run = async |times: u32| {
        for _ in 0..times {
            let streams = Streams { stdout: Sink::capture(), stderr: Sink::capture(), ..Streams::default() };
            let (report, streams) = shell.run_line(LINE, streams).await?;
            ensure!(streams.stdout.into_captured() == b"HI\n", "the line ended with {report:?}");
        }
        machine::resident_bytes()
    };
    let before = runtime.block_on(run(few))?;
    let after = runtime.block_on(run(many - few))?;
    println!("{before} {after}");
    Ok(())
}
