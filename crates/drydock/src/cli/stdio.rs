//! `drydock stdio`: a sandbox for a program in another language, as JSON lines on stdin and stdout.

use std::process::ExitCode;

use clap::Args;

use super::sandbox::{self, SandboxFlags};

/// Whoever is at the other end.
const PRINCIPAL: &str = "client";

#[derive(Debug, Args)]
#[command(after_help = "\
The clients for Python and node speak this; a client of your own sends one JSON object a line:
  {\"id\": 1, \"op\": \"sh\", \"input\": {\"script\": \"echo hi\"}, \"stream\": false}
  {\"cancel\": 1}
and reads {\"ready\": …} first, then {\"id\": 1, \"result\": …} or {\"id\": 1, \"error\": …} for each, in the
order they end. Closing stdin ends everything. docs/specs/stdio.md has the whole of it.")]
pub(crate) struct Stdio {
    #[command(flatten)]
    sandbox: SandboxFlags,
}

pub(crate) fn run(stdio: Stdio) -> anyhow::Result<ExitCode> {
    sandbox::serve(&stdio.sandbox, PRINCIPAL, |_, sandbox| drydock_mcp::clients::serve_stdio(sandbox))
}
