//! `drydock run upper` from start to exit with a warm cache, against a process that does nothing.

use std::{fs, process::Command};

use anyhow::{Context as _, ensure};

use super::Bench;
use crate::{
    docked,
    figure::{Amount, Bound, Figure},
    harness::{Contender, interleave},
    native,
};

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let home = tempfile::tempdir().context("no temporary folder")?;
    let (text, input, nothing) = (docked::one_kib(), home.path().join("input"), native::find("true")?);
    fs::write(&input, &text)?;
    let upper = || {
        let mut drydock = Command::new(bench.drydock()?);
        drydock.args(["run", "upper"]).env("DRYDOCK_HOME", home.path().join("home"));
        native::run_on_file(&mut drydock, &input)
    };
    ensure!(upper()? == text.to_ascii_uppercase(), "drydock run upper did not");

    let samples = interleave(
        bench.plan,
        &mut [
            Contender::calling(|| upper().map(drop)),
            Contender::calling(|| native::run_on_file(&mut Command::new(&nothing), &input).map(drop)),
        ],
    )?;
    Ok(vec![Figure {
        group: "process",
        name: "`drydock run upper` as a process: times slower than `true`".into(),
        ours: Amount::Seconds(samples.seconds(0)),
        peer: Some(Amount::Seconds(samples.seconds(1))),
        judged: samples.ratio(0, 1),
        bound: Bound::AtMost(10.0),
    }])
}
