//! `sort -k3` of 300,000 lines, against the native one with one thread and bytes for an order.

use std::{
    io::{Read as _, Write as _},
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use drydock_embed::{Setup, contract::Limits};

use super::Bench;
use crate::{
    docked::{self, Docked},
    figure::{Amount, Bound, Figure},
    harness::{Contender, Plan, interleave},
    native,
};

const LINES: usize = 300_000;

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let (text, sort) = (Bytes::from(lines()), native::find("sort")?);
    let (docked, runtime) = (Docked::open()?, docked::runtime()?);
    let setup = Setup::allowing(["sort"])?;
    let room = 64 << 20;
    let limits = Limits {
        memory_bytes_max: 256 << 20,
        fuel_max: u64::MAX / 2,
        stdin_bytes_max: room,
        stdout_bytes_max: room,
        ..Limits::default()
    };
    let session = docked.dock.session("sort", Setup { limits: Some(limits), ..setup })?;
    let ours = || -> anyhow::Result<Vec<u8>> {
        let run = runtime.block_on(session.run("sort", &["-k3"], text.clone()))?;
        ensure!(run.success(), "sort did not: {:?}", run.outcome);
        Ok(run.stdout.to_vec())
    };
    ensure!(ours()? == natively(&sort, &text)?, "the two sort differently");
    // A call takes as long as a block of others.
    let plan = Plan { blocks: bench.plan.blocks, calls: 1 };
    let samples = interleave(
        plan,
        &mut [
            Contender::calling(|| ours().map(drop)),
            Contender::calling(|| natively(&sort, &text).map(drop)),
        ],
    )?;
    Ok(vec![Figure {
        group: "sort",
        name: "`sort -k3` of 300,000 lines: times slower than native (LC_ALL=C, --parallel=1)".into(),
        ours: Amount::Seconds(samples.seconds(0)),
        peer: Some(Amount::Seconds(samples.seconds(1))),
        judged: samples.ratio(0, 1),
        bound: Bound::AtMost(3.0),
    }])
}

/// Three columns, of which the third has many different values.
fn lines() -> Vec<u8> {
    let (mut state, mut text) = (1_u64, String::with_capacity(LINES * 32));
    for at in 0..LINES {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(&format!("{at} name{} {:x}\n", at % 100, state >> 24));
    }
    text.into_bytes()
}

fn natively(sort: &Path, text: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut command = Command::new(sort);
    command.args(["-k3", "--parallel=1"]).env("LC_ALL", "C").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    // It reads everything before it writes: nobody waits for anybody.
    let mut stdin = child.stdin.take().context("stdin is piped")?;
    stdin.write_all(text)?;
    drop(stdin);
    let mut answer = Vec::with_capacity(text.len());
    child.stdout.take().context("stdout is piped")?.read_to_end(&mut answer)?;
    ensure!(child.wait()?.success(), "sort failed");
    Ok(answer)
}
