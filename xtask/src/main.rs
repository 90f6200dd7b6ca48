//! The house-keeping: `cargo xtask tidy | agents | notices | guests | bench | catalog | clients | dist | fuzz | load | python | sdk | soak | help`.
//!
//! Whatever a contributor or the CI does beyond plain cargo is a word here, so that `justfile` and
//! `.ci/run` stay one line each. Nothing in here is shipped.

mod agents;
mod bench;
mod catalog;
mod clients;
mod dist;
mod fuzz;
mod guests;
mod load;
mod notices;
mod openapi;
mod packages;
mod python;
mod sdk;
mod soak;
mod tidy;

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context as _, bail};

const HELP: &str = "\
cargo xtask WORD [ARGS...]

  tidy                            check the rules of the house; exit 1 if one is broken
  notices [--check]               write the third-party notices, or compare them
  guests [ARGS...]                build the wasm commands (`--check`: rebuild and compare)
  bench [ARGS...]                 run the benchmarks, contenders interleaved
  catalog [NAME...] [--all]       install rows from the registries and prove them (`--write`: docs/catalog.md)
  clients                         foreign clients from the registries against the binary
  dist [KIND...] [--profile P]    make archive, wheel and npm package in target/dist (`--try`: and use them)
  fuzz [--seconds N] [TARGET]     run every fuzz target, or one, for N seconds each (default 60)
  agents [--runs N] [--sessions N] runs of agents killed at random points, and many at once; figures
  load [--seconds N] [--release]  the server under load, in a crowd of 10,000, for long, and killed
  python [--native PYTHON]        an installed python against the machine's own, by bytes and by the clock
  sdk [--check]                   build the examples of the guest SDKs, or compare them with their sources
  soak [--schedules N] [--processes N] 100,000 schedules of the async hub, 10,000 processes; figures
  help                            print this
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> anyhow::Result<ExitCode> {
    let (word, rest) = match args.split_first() {
        Some((word, rest)) => (word.as_str(), rest),
        None => ("help", args),
    };
    match word {
        "tidy" => return tidy::run(&root()),
        "notices" => notices::run(&root(), rest)?,
        "guests" => guests::run(rest)?,
        "bench" => bench::run(&root(), rest)?,
        "catalog" => catalog::run(&root(), rest)?,
        "clients" => clients::run(&root(), rest)?,
        "agents" => agents::run(&root(), rest)?,
        "load" => load::run(&root(), rest)?,
        "python" => python::run(&root(), rest)?,
        "dist" => dist::run(&root(), rest)?,
        "fuzz" => fuzz::run(&root(), rest)?,
        "sdk" => sdk::run(&root(), rest)?,
        "soak" => soak::run(&root(), rest)?,
        "help" | "-h" | "--help" => print!("{HELP}"),
        other => bail!("there is no `{other}`; `cargo xtask help` lists what there is"),
    }
    Ok(ExitCode::SUCCESS)
}

/// The folder of the main workspace.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("xtask lies in the workspace").to_path_buf()
}

/// The cargo that started us, or the one on the path.
fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a command to its end and fails unless it succeeds.
fn must_succeed(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("could not start {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}
