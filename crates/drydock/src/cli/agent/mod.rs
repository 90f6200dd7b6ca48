//! `drydock agent`: runs of agents, opened, driven, shown, resumed, replayed and forked. The words of the library, spelled.

mod drive;
mod flags;
mod issues;
mod keys;
mod look;
mod sub;
mod told;
mod toolkits;
mod view;

use std::{process::ExitCode, sync::Arc};

use clap::{Args, Subcommand};
use drydock_embed::{
    Dock,
    agent::{AgentError, AgentSettings, DockAgents, ToolkitPlaces, toolkit::Trust},
    contract::{AgentId, port::AgentRefusal},
};
use tokio::runtime::Runtime;

use super::toolkit;
use crate::{exit, extensions, home, models, trusted};
pub(super) use told::{answered, cost, money, short};

#[derive(Debug, Args)]
#[command(after_help = "\
A run asks a model, and calls tools as the model says: a shell over its files, search, files, programs and
whatever toolkits add. Each call is the gate's to judge. What happened is kept, so a run that was ended,
interrupted or killed goes on with `resume`, and no tool is called twice.

Exit status: 0 done, 1 failed, 125 a limit ended it (turns, tokens, money), 126 it waits for a person,
130 cancelled.

Examples:
  drydock agent run fixer.md --task 'make the tests pass' --dir . --model small
  drydock agent run --system 'You sort files.' --task 'sort notes.txt' --model small --review edit_file
  drydock agent sessions
  drydock agent follow $RUN
  drydock agent resume $RUN
  drydock agent fork $RUN --step 3 --model large")]
pub(crate) struct AgentArgs {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Open a run and drive it to its end
    Run(Box<drive::Run>),
    /// List runs, those that began last first
    Sessions(look::Sessions),
    /// Show how far a run is, and what happened in it
    Show(look::Show),
    /// Tell what happens in a run until it is over or waits for a person
    Follow(look::Follow),
    /// End a run; it can be resumed
    Cancel(look::Cancel),
    /// Go on with a run that waited, failed, was cancelled or was interrupted
    Resume(Box<drive::Resume>),
    /// Go through a recorded run again, and say where it differs
    Replay(drive::Replay),
    /// Open a run that begins as another one did, up to a turn
    Fork(Box<drive::Fork>),
    /// Forget a run that is over, with its snapshots and a workspace of its own
    Remove(look::Remove),
    /// List, show or forget what agents filed: something that is missing, or does not work
    Issues(issues::Issues),
}

/// A run by its id.
#[derive(Debug, Args)]
struct Which {
    /// The run (see `drydock agent sessions`)
    run: AgentId,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(agent: AgentArgs) -> anyhow::Result<ExitCode> {
    let which = agent.act.run().cloned();
    let (json, done) = match agent.act {
        Act::Run(run) => (run.json, drive::run(*run)),
        Act::Sessions(sessions) => (sessions.json, look::sessions(&sessions)),
        Act::Show(it) => (it.which.json, look::show(&it)),
        Act::Follow(it) => (it.which.json, look::follow(&it)),
        Act::Cancel(it) => (it.which.json, look::cancel(&it)),
        Act::Resume(it) => (it.which.json, drive::resume(*it)),
        Act::Replay(it) => (it.which.json, drive::replay(&it)),
        Act::Fork(it) => (it.which.json, drive::fork(*it)),
        Act::Remove(it) => (it.which.json, look::remove(&it)),
        Act::Issues(it) => (it.json, issues::issues(&it)),
    };
    done.or_else(|error| report(about(error, "run", which.as_ref()), json))
}

impl Act {
    /// The run that it is about, if it is about one.
    fn run(&self) -> Option<&AgentId> {
        Some(match self {
            Self::Run(_) | Self::Sessions(_) | Self::Issues(_) => return None,
            Self::Show(it) => &it.which.run,
            Self::Follow(it) => &it.which.run,
            Self::Cancel(it) => &it.which.run,
            Self::Resume(it) => &it.which.run,
            Self::Replay(it) => &it.which.run,
            Self::Fork(it) => &it.which.run,
            Self::Remove(it) => &it.which.run,
        })
    }
}

/// Of what is not there the error says which it was.
pub(super) fn about(error: anyhow::Error, what: &str, id: Option<&AgentId>) -> anyhow::Error {
    let is_absent = matches!(error.downcast_ref(), Some(AgentError::Refused(AgentRefusal::Absent)));
    match id {
        Some(id) if is_absent => error.context(format!("{what} {id}")),
        _ => error,
    }
}

/// An error with its code, if it has one.
pub(super) fn report(error: anyhow::Error, json: bool) -> anyhow::Result<ExitCode> {
    let code = error.chain().find_map(|it| {
        let unknown = || it.is::<models::Unknown>().then_some("unknown_model");
        it.downcast_ref::<AgentError>().map(AgentError::code).or_else(unknown)
    });
    match code {
        Some(code) => exit::report_code(code, &error, json),
        None => Err(error),
    }
}

/// The runs of the command line's tenant, for whoever only looks.
pub(super) fn looking() -> anyhow::Result<(Runtime, DockAgents)> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    Ok((runtime, home::dock()?.agents()))
}

/// What a person configured for runs: keys of the trusted tools are read when they are needed. Whoever names the folder of a
/// toolkit answers for it, unless its manifest says that somebody else does.
fn settings(dock: &Dock, trust: Trust) -> anyhow::Result<AgentSettings> {
    let toolkits = ToolkitPlaces { roots: vec![toolkit::kept(dock)], trust, ..ToolkitPlaces::default() };
    let (exec, secrets) = (Arc::new(trusted::configured()?), Arc::new(extensions::secret));
    Ok(AgentSettings { exec, secrets: Some(secrets), toolkits, ..AgentSettings::default() })
}
