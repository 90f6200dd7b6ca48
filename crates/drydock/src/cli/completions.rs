//! `drydock completions SHELL`, and what its script asks at each TAB.
//!
//! The script asks this binary, so that commands and workspaces are completed by the names that there are now.
//! An answer never fails: without a data directory to read there are no names.

use std::{ffi::OsStr, process::ExitCode};

use anyhow::Context as _;
use clap::{Args, CommandFactory as _};
use clap_complete::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter,
    engine::ValueCompleter,
    env::{CompleteEnv, Shells},
};
use drydock_embed::store::{Quota, Workspaces};

use crate::home;

/// Set by the scripts, to the shell that asks.
const ASKED_BY: &str = "DRYDOCK_COMPLETE";

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Which shell
    #[arg(value_parser = ["bash", "elvish", "fish", "powershell", "zsh"])]
    shell: String,
}

pub(crate) fn run(completions: Completions) -> anyhow::Result<ExitCode> {
    let shells = Shells::builtins();
    let shell = shells.completer(&completions.shell).context("no such shell")?;
    let mut script = Vec::new();
    shell.write_registration(ASKED_BY, "drydock", "drydock", "drydock", &mut script)?;
    crate::show::bytes(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Answers a script, if one asks, and then ends the process.
pub(crate) fn answer() {
    CompleteEnv::with_factory(with_names).var(ASKED_BY).complete();
}

/// The command line with the names that only this machine knows.
fn with_names() -> clap::Command {
    let named = |command: clap::Command, argument: &'static str| {
        command.mut_arg(argument, |it| it.add(ArgValueCandidates::new(commands)))
    };
    let mut all = super::Arguments::command()
        .mut_subcommand("run", |it| it.mut_arg("line", |line| line.add(ArgValueCompleter::new(Line))))
        .mut_subcommand("warm", |it| named(it, "names"))
        .mut_subcommand("commands", |it| {
            it.mut_subcommand("show", |it| named(it, "name")).mut_subcommand("rm", |it| named(it, "name"))
        })
        .mut_subcommand("ws", |it| it.mut_subcommands(|act| with_workspaces(act, "name")));
    // Wherever these two flags are, they mean the same.
    all = all.mut_subcommands(|it| with_workspaces(it, "workspace"));
    all.mut_subcommands(|it| if has(&it, "allow") { named(it, "allow") } else { it })
}

fn with_workspaces(command: clap::Command, argument: &'static str) -> clap::Command {
    if !has(&command, argument) {
        return command;
    }
    command.mut_arg(argument, |it| it.add(ArgValueCandidates::new(workspaces)))
}

fn has(command: &clap::Command, argument: &str) -> bool {
    command.get_arguments().any(|it| it.get_id() == argument)
}

/// A command's name, then its arguments, which often are files.
struct Line;

impl ValueCompleter for Line {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        self.complete_at(0, current)
    }

    fn complete_at(&self, index: usize, current: &OsStr) -> Vec<CompletionCandidate> {
        if index > 0 {
            return PathCompleter::any().complete(current);
        }
        let typed = current.to_string_lossy();
        let begins = |it: &CompletionCandidate| it.get_value().to_string_lossy().starts_with(&*typed);
        commands().into_iter().filter(begins).collect()
    }
}

fn commands() -> Vec<CompletionCandidate> {
    let Ok(dock) = home::dock() else { return Vec::new() };
    dock.registry().list().into_iter().map(|it| CompletionCandidate::new(it.entry.name.as_str())).collect()
}

fn workspaces() -> Vec<CompletionCandidate> {
    let Ok(home) = home::tenant() else { return Vec::new() };
    let names = Workspaces::of(&home, Quota::default()).list().unwrap_or_default();
    names.into_iter().map(|it| CompletionCandidate::new(it.as_str())).collect()
}
