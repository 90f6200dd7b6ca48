//! `cargo xtask bench [GROUP...] [--quick] [--json] [--write]`: how fast we are, against whom.
//!
//! Contenders take turns within one run, so that what else the machine does hits all of them; only
//! ratios are judged. Nothing is asserted: a figure that falls short is printed like any other.

mod bare;
mod built;
mod docked;
mod figure;
mod group;
mod harness;
mod machine;
mod native;
mod page;
mod peer;
mod report;
mod scenario;
mod spread;

use std::process::ExitCode;

use anyhow::bail;

use crate::{
    group::{Bench, GROUPS},
    report::Report,
};

const HELP: &str = "\
cargo xtask bench [GROUP...] [--quick] [--json] [--write]

  --quick   fewer blocks: a look, not a figure
  --json    the figures as JSON
  --write   also rewrite docs/benchmarks.md; measures every group

To be looked at with a profiler, or asked in turn with another build of itself:
  probe-serve product|native|both CONNECTIONS SECONDS ROUNDS
  probe-tape  plain|recorded|kept|replayed COUNT
  probe-line  reads `SCENARIO COUNT` a line: echo, pipeline, loop, script, big, colon, plain

DRYDOCK_BENCH_BASE=PROGRAM: the group `shell` compares with the `probe-line` of that build, too.
DRYDOCK_BENCH_WASMTIME=PROGRAM: the group `serve` compares with this `wasmtime serve`, not with the one on the path.

Groups (default: all):
";

/// The word by which this program is its own compile worker.
pub(crate) const COMPILE_WORKER: &str = "compile-worker";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some((COMPILE_WORKER, rest)) = args.split_first().map(|(word, rest)| (word.as_str(), rest)) {
        return drydock_embed::serve_compile_worker(rest);
    }
    match run(&args) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> anyhow::Result<ExitCode> {
    if let Some((group::memory::PROBE, rest)) = args.split_first().map(|(word, rest)| (word.as_str(), rest)) {
        group::memory::probe(rest)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(("probe-serve", rest)) = args.split_first().map(|(word, rest)| (word.as_str(), rest)) {
        group::serve::probe(rest)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some((group::shell::PROBE, rest)) = args.split_first().map(|(word, rest)| (word.as_str(), rest)) {
        group::shell::probe(rest)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(("probe-tape", rest)) = args.split_first().map(|(word, rest)| (word.as_str(), rest)) {
        group::tape::probe(rest)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (mut quick, mut json, mut write, mut wanted) = (false, false, false, Vec::new());
    for arg in args {
        match arg.as_str() {
            "--quick" => quick = true,
            "--json" => json = true,
            "--write" => write = true,
            "-h" | "--help" | "help" => {
                print!("{HELP}");
                GROUPS.iter().for_each(|it| println!("  {:<13} {}", it.name, it.about));
                return Ok(ExitCode::SUCCESS);
            }
            name => match GROUPS.iter().find(|it| it.name == name) {
                Some(group) => wanted.push(group),
                None => bail!("there is no group `{name}`; `cargo xtask bench --help` lists them"),
            },
        }
    }
    if write && (quick || !wanted.is_empty()) {
        bail!("--write takes a whole run: no groups, no --quick");
    }
    if wanted.is_empty() {
        wanted.extend(GROUPS);
    }

    let bench = Bench::prepare(quick, &wanted)?;
    let mut report = Report::begin();
    for group in wanted {
        eprintln!("measuring {} (load {:.2}) ...", group.name, machine::load());
        match (group.measure)(&bench) {
            Ok(figures) => report.figures.extend(figures),
            Err(error) => report.failures.push(format!("{}: {error:#}", group.name)),
        }
    }
    report.end();
    if write {
        page::write(&bench.root, &report)?;
    }
    match json {
        true => println!("{}", report.json()),
        false => print!("{}", report.text()),
    }
    Ok(if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
