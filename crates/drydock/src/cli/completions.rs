//! `drydock completions SHELL`.

use std::process::ExitCode;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Which shell
    shell: Shell,
}

pub(crate) fn run(completions: Completions) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut super::Arguments::command(), "drydock", &mut script);
    crate::show::bytes(&script)?;
    Ok(ExitCode::SUCCESS)
}
