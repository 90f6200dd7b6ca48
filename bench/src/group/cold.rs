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
    for module in MODULES {
        let (line, before) = (line(module), machine::children_cpu_seconds());
        let samples =
            (0..repetitions).map(|_| first_use(drydock, module, &line)).collect::<anyhow::Result<Vec<f64>>>();
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
        ("js", _) => vec!["js", "-e", "1"],
        ("ts", _) => vec!["js", "program.ts"],
        ("shell", _) => vec!["sh", "-c", "echo hi"],
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
        ("git", _) => vec!["git", "--version"],
        ("make", _) => vec!["make", "--version"],
        ("zip", _) => vec!["zip", "-", "-"],
        ("xmllint", _) => vec!["xmllint", "--noout", "-"],
        ("jo", _) => vec!["jo", "a=1"],
        ("gcc", _) => vec!["gcc", "--version"],
        (name, []) => vec![name],
        (_, applets) => match READERS.iter().find(|it| applets.contains(it)) {
            Some(reader) => vec![reader],
            None => vec![applets[0], "--version"],
        },
    }
}

fn first_use(drydock: &Path, module: &Module, line: &[&str]) -> anyhow::Result<f64> {
    let home = tempfile::tempdir().context("no temporary folder")?;
    let input = home.path().join("input");
    fs::write(&input, if module.name == "xmllint" { "<a/>\n" } else { "3\n1\n2\n" })?;
    fs::write(home.path().join("program.ts"), "const one: number = 1; one")?;
    let command = |line: &[&str]| {
        let mut command = Command::new(drydock);
        // What is no command is used by code mode.
        command.args((module.kind == ModuleKind::Command).then_some("run")).args(line);
        command.env("DRYDOCK_HOME", home.path().join("home")).current_dir(home.path());
        command
    };
    if module.name == "ts" {
        // What it makes is run by the other, which has a row of its own.
        native::run_on_file(&mut command(&["js", "-e", "1"]), &input)?;
    }
    let started = Instant::now();
    let done = native::run_on_file(&mut command(line), &input);
    let took = started.elapsed().as_secs_f64();
    // A driver without its compiler can only say that it is not there.
    if module.name != "gcc" {
        done?;
    }
    Ok(took)
}
