//! A command and a line as processes of their own, from start to exit with a warm cache, against one that does nothing:
//! one process for one line is what most agents do.

use std::{fs, process::Command, thread, time::Duration};

use anyhow::{Context as _, ensure};

use super::Bench;
use crate::{
    docked,
    figure::{Amount, Bound, Figure},
    harness::{Contender, interleave},
    native,
};

/// Contenders by their places.
const UPPER: usize = 0;
const LINE: usize = 1;
const SESSION: usize = 2;
const NOTHING: usize = 3;
/// After this a file is old enough to be known by a note.
const SETTLED: Duration = Duration::from_millis(2500);

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
    let line = || {
        let mut drydock = Command::new(bench.drydock()?);
        drydock.args(["sh", "-c", "echo hi"]).env("DRYDOCK_HOME", home.path().join("home"));
        native::run_on_file(&mut drydock, &input)
    };
    ensure!(line()? == b"hi\n", "drydock sh -c 'echo hi' did not");
    let session = || {
        let mut drydock = Command::new(bench.drydock()?);
        let args = ["sh", "--session", "bench", "-c", "echo hi"];
        drydock.args(args).env("DRYDOCK_HOME", home.path().join("home"));
        native::run_on_file(&mut drydock, &input)
    };
    ensure!(session()? == b"hi\n", "drydock sh --session did not");
    // What was just compiled is read through until it is two seconds old (decision 0046), and warm is what comes after.
    thread::sleep(SETTLED);
    ensure!(upper().is_ok() && line().is_ok() && session().is_ok(), "what ran once did not run again");

    let samples = interleave(
        bench.plan,
        &mut [
            Contender::calling(|| upper().map(drop)),
            Contender::calling(|| line().map(drop)),
            Contender::calling(|| session().map(drop)),
            Contender::calling(|| native::run_on_file(&mut Command::new(&nothing), &input).map(drop)),
        ],
    )?;
    let figure = |what: &str, ours: usize, times_max: f64| Figure {
        group: "process",
        name: format!("`{what}` as a process: times slower than `true`"),
        ours: Amount::Seconds(samples.seconds(ours)),
        peer: Some(Amount::Seconds(samples.seconds(NOTHING))),
        judged: samples.ratio(ours, NOTHING),
        bound: Bound::AtMost(times_max),
    };
    let of_session = Figure {
        group: "process",
        name: "`drydock sh --session s -c 'echo hi'` as a process: times slower than without a session"
            .into(),
        ours: Amount::Seconds(samples.seconds(SESSION)),
        peer: Some(Amount::Seconds(samples.seconds(LINE))),
        judged: samples.ratio(SESSION, LINE),
        bound: Bound::AtMost(1.5),
    };
    let upper = figure("drydock run upper", UPPER, 10.0);
    Ok(vec![upper, figure("drydock sh -c 'echo hi'", LINE, 5.0), of_session])
}
