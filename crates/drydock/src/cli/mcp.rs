//! `drydock mcp`: an agent's tools over MCP, on stdin and stdout.

use std::{process::ExitCode, sync::Arc};

use clap::Args;
use drydock_embed::{
    SandboxError,
    agent::{AgentPowers, AgentSpec, DockAgents, RunOptions, SESSION_STEPS_MAX},
    contract::{AgentHead, AgentId, BoxFuture, Review, ReviewAnswer},
};
use drydock_mcp::{AgentDoor, AgentWanted, SYSTEM};

use super::sandbox::{self, SandboxFlags};

/// Whoever is at the other end.
const PRINCIPAL: &str = "mcp";

#[derive(Debug, Args)]
#[command(after_help = "\
The tools are sh, run, js, py, read_file, write_file, edit_file, list_files, search and diff, and
with --allow-commit also commit; the files are resources (drydock:///path). Files live as long as
the server, or in a workspace; a directory of --dir is copy-on-write, so that nothing of yours
changes before a commit. The client starts this command and ends it by closing its stdin.
A line has 2 minutes and 1 MiB of output, a program 30 s, unless the flags say otherwise.

Set-up, for example:
  claude mcp add drydock -- drydock mcp --dir .
  drydock mcp --workspace notes --dir ~/project --allow-commit --timeout 30s

With --agents the tools agent_run, agent_show and agent_cancel are there, too: runs with files of their
own and the commands of these flags, as tasks where the client knows them. What they ask a person is a
form for the client's user, or waits for `drydock review`.")]
pub(crate) struct Mcp {
    #[command(flatten)]
    sandbox: SandboxFlags,
    /// Offer runs of agents, with this model unless a call names another
    #[arg(long, value_name = "MODEL")]
    agents: Option<String>,
}

pub(crate) fn run(mcp: Mcp) -> anyhow::Result<ExitCode> {
    let Mcp { sandbox, agents } = mcp;
    let powers = sandbox.agent_powers()?;
    sandbox::serve(&sandbox, PRINCIPAL, |dock, sandbox| {
        let door =
            agents.map(|model| Arc::new(Runs { agents: dock.agents(), model, powers }) as Arc<dyn AgentDoor>);
        drydock_mcp::serve_stdio(sandbox, door)
    })
}

/// Runs of agents for whoever is at the other end.
struct Runs {
    agents: DockAgents,
    model: String,
    powers: AgentPowers,
}

impl AgentDoor for Runs {
    fn agents(&self) -> &DockAgents {
        &self.agents
    }

    fn open(&self, wanted: AgentWanted) -> BoxFuture<'_, Result<AgentId, SandboxError>> {
        let AgentWanted { task, system, model, max_steps, tools, review, wait_ms: _ } = wanted;
        let options = RunOptions {
            model: model.unwrap_or_else(|| self.model.clone()),
            max_steps: max_steps.unwrap_or(SESSION_STEPS_MAX),
            tools,
            review,
            ..RunOptions::default()
        };
        let system = system.unwrap_or_else(|| SYSTEM.to_owned());
        let spec = AgentSpec { system, task, agent: None, options, powers: self.powers.clone() };
        Box::pin(async move {
            let opened = self.agents.open(spec).await;
            let run = opened.map_err(|error| SandboxError::new(error.code(), error.to_string()))?;
            Ok(self.agents.start(run))
        })
    }

    fn answers_as(&self) -> Option<&str> {
        Some(PRINCIPAL)
    }

    // Whoever started this command owns the data.
    fn may_answer(&self, _: &AgentHead, _: &Review, _: &ReviewAnswer) -> Result<(), SandboxError> {
        Ok(())
    }

    fn may_end(&self, _: &AgentHead) -> Result<(), SandboxError> {
        Ok(())
    }
}
