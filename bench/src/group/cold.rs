//! First use: each built-in module in a process of its own, with an empty home and so no cache. Where `cargo xtask dist`
//! has left its tree in `target/dist`, the same from there: the code came along.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use anyhow::Context as _;
use drydock_commands::{MODULES, Module, ModuleKind};

use super::Bench;
use crate::{
    figure::{Amount, Bound, Figure},
    machine, native,
    spread::Spread,
};

/// Commands that are content with three lines on stdin, dearest first.
const READERS: &[&str] = &["sort", "cat", "wc", "head", "uniq", "cksum", "sha256sum", "base64", "od", "fmt"];

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let mut figures = first_uses(bench, "first use", bench.drydock()?, 1.0)?;
    if let Some(shipped) = shipped(bench) {
        figures.extend(first_uses(bench, "first use from the archive", &shipped, 0.06)?);
    }
    Ok(figures)
}

/// The binary of the archive, if one was made.
fn shipped(bench: &Bench) -> Option<PathBuf> {
    let trees = fs::read_dir(bench.root.join("target/dist")).ok()?;
    trees.flatten().map(|it| it.path().join("bin/drydock")).find(|it| it.is_file())
}

fn first_uses(bench: &Bench, what: &str, drydock: &Path, seconds_max: f64) -> anyhow::Result<Vec<Figure>> {
    let repetitions = if bench.quick { 1 } else { 3 };
    let mut figures = Vec::new();
    // What is no command is first used by code mode.
    for module in MODULES.iter().filter(|it| it.kind == ModuleKind::Command) {
        let (line, before) = (line(module), machine::children_cpu_seconds());
        let samples =
            (0..repetitions).map(|_| first_use(drydock, &line)).collect::<anyhow::Result<Vec<f64>>>();
        let samples = samples.with_context(|| line.join(" "))?;
        let judged = Spread::of(&samples);
        let cpu = (machine::children_cpu_seconds() - before) / f64::from(repetitions);
        let size = module.bytes.len() as f64 / f64::from(1 << 20);
        figures.push(Figure {
            group: "cold",
            name: format!("{what} of `{}` ({}, {size:.2} MiB, {cpu:.2} s of CPU)", line[0], module.name),
            ours: Amount::Seconds(judged.median),
            peer: None,
            judged,
            bound: Bound::AtMost(seconds_max),
        });
    }
    Ok(figures)
}

/// Something trivial to do with a module.
fn line(module: &Module) -> Vec<&'static str> {
    match (module.name, module.applets) {
        ("jq", _) => vec!["jq", "."],
        ("grep", _) => vec!["grep", "1"],
        ("awk", _) => vec!["awk", "1"],
        ("sed", _) => vec!["sed", "-n", "1p"],
        ("rg", _) => vec!["rg", "1", "-"],
        ("find", _) => vec!["find", "/"],
        ("diff", _) => vec!["diff", "-", "-"],
        ("stat", _) => vec!["strings"],
        ("tar", _) => vec!["gzip", "-c"],
        ("yq", _) => vec!["yq", "."],
        ("xan", _) => vec!["xan", "count"],
        (name, []) => vec![name],
        (_, applets) => match READERS.iter().find(|it| applets.contains(it)) {
            Some(reader) => vec![reader],
            None => vec![applets[0], "--version"],
        },
    }
}

fn first_use(drydock: &Path, line: &[&str]) -> anyhow::Result<f64> {
    let home = tempfile::tempdir().context("no temporary folder")?;
    let input = home.path().join("input");
    fs::write(&input, "3\n1\n2\n")?;
    let mut command = Command::new(drydock);
    command.arg("run").args(line).env("DRYDOCK_HOME", home.path().join("home"));
    let started = Instant::now();
    native::run_on_file(&mut command, &input)?;
    Ok(started.elapsed().as_secs_f64())
}
