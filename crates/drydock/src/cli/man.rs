//! `drydock man --out DIR`: the manual pages, from the same definition as the help.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Context as _;
use clap::{Args, CommandFactory as _};

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Where to write them
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn run(man: Man) -> anyhow::Result<ExitCode> {
    let shown = man.out.display();
    std::fs::create_dir_all(&man.out).with_context(|| format!("could not make `{shown}`"))?;
    clap_mangen::generate_to(super::Arguments::command(), &man.out)
        .with_context(|| format!("could not write to `{shown}`"))?;
    Ok(ExitCode::SUCCESS)
}
