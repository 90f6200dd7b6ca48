//! `drydock mcp`: an agent's tools over MCP, on stdin and stdout.

use std::{process::ExitCode, sync::Arc, time::Duration};

use anyhow::bail;
use clap::Args;
use drydock_embed::{Dock, Sandbox, SandboxSetup, ShellSetup, contract::Limits, line_limits, shell::Mode};

use super::{powers::Powers, tree};
use crate::{exit, home};

/// Whoever is at the other end.
const PRINCIPAL: &str = "mcp";

#[derive(Debug, Args)]
#[command(after_help = "\
The tools are sh, run, js, read_file, write_file, edit_file, list_files, search and diff, and with
--allow-commit also commit; the files are resources (drydock:///path). Files live as long as the
server, or in a workspace; a directory of --dir is copy-on-write, so that nothing of yours changes
before a commit. The client starts this command and ends it by closing its stdin.
A line has 2 minutes and 1 MiB of output, a program 30 s, unless the flags say otherwise.

Set-up, for example:
  claude mcp add drydock -- drydock mcp --dir .
  drydock mcp --workspace notes --dir ~/project --allow-commit --timeout 30s")]
pub(crate) struct Mcp {
    #[command(flatten)]
    powers: Powers,
    /// Let `eval` and `source` parse text again
    #[arg(long)]
    eval: bool,
    /// Offer the tool that writes changes into the directories; needs --workspace
    #[arg(long)]
    allow_commit: bool,
}

/// Limits of a line. What a tool answers is read by a model, so there is less of it than at a terminal.
pub(crate) fn usual() -> Limits {
    Limits { stdout_bytes_max: 1 << 20, stderr_bytes_max: 1 << 20, ..line_limits() }
}

pub(crate) fn run(mcp: Mcp) -> anyhow::Result<ExitCode> {
    if mcp.allow_commit && (mcp.powers.workspace.is_none() || mcp.powers.dir.is_empty()) {
        bail!(
            "--allow-commit needs --workspace and --dir: changes of a directory are kept in the workspace until then"
        );
    }
    let dock = Arc::new(home::dock()?);
    let sandbox = Arc::new(open(&dock, &mcp)?);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served = runtime.block_on(drydock_mcp::serve_stdio(sandbox));
    if let Err(error) = dock.gate().flush() {
        exit::warn(&error);
    }
    // A thread may still wait for stdin, and a guest for its end: the process ends with them.
    runtime.shutdown_timeout(Duration::from_millis(200));
    std::mem::forget::<Arc<Dock>>(dock);
    served?;
    Ok(ExitCode::SUCCESS)
}

fn open(dock: &Arc<Dock>, mcp: &Mcp) -> anyhow::Result<Sandbox> {
    let mut setup = mcp.powers.setup(usual());
    let limits = setup.limits.unwrap_or_default();
    // As `drydock sh` reads a line, unless it is told otherwise.
    let mode = Mode { literal_unknown: true, eval_allowed: mcp.eval, ..Mode::default() };
    let mut shell = ShellSetup { mode, ..ShellSetup::default() };
    let mut bases = Vec::new();
    if let Some(tree) = tree::of(dock.home(), &mcp.powers, limits.memory_bytes_max)? {
        setup.files = Some(tree.files);
        (shell.roots, shell.cwd, bases) = (tree.roots, tree.cwd, tree.bases);
    }
    let program = Limits { wall_max: limits.wall_max.min(Duration::from_secs(30)), ..Limits::default() };
    let principal = PRINCIPAL.to_owned();
    Ok(Sandbox::open(
        Arc::clone(dock),
        SandboxSetup { principal, setup, shell, bases, program, allow_commit: mcp.allow_commit },
    )?)
}
