//! `drydock mcp`: an agent's tools over MCP, on stdin and stdout.

use std::process::ExitCode;

use clap::Args;

use super::agent::{self, Agent};

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
  drydock mcp --workspace notes --dir ~/project --allow-commit --timeout 30s")]
pub(crate) struct Mcp {
    #[command(flatten)]
    agent: Agent,
}

pub(crate) fn run(mcp: Mcp) -> anyhow::Result<ExitCode> {
    agent::serve(&mcp.agent, PRINCIPAL, drydock_mcp::serve_stdio)
}
