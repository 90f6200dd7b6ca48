//! What `mcp` and `stdio` share: an agent's sandbox from flags, served on stdin and stdout.

use std::{process::ExitCode, sync::Arc, time::Duration};

use anyhow::bail;
use clap::Args;
use drydock_embed::{
    Dock, Sandbox, SandboxSetup, ShellSetup, agent::AgentPowers, contract::Limits, line_limits, shell::Mode,
};

use super::{grants, powers::Powers, tree};
use crate::taped::Taping;
use crate::{exit, home, provide};

#[derive(Debug, Args)]
pub(crate) struct SandboxFlags {
    #[command(flatten)]
    powers: Powers,
    /// Let `eval` and `source` parse text again
    #[arg(long)]
    eval: bool,
    /// Install these programs of the catalog in the background, unless they are there
    #[arg(long, value_name = "NAME[,NAME]", value_delimiter = ',')]
    catalog: Vec<String>,
    /// Offer the operation that writes changes into the directories; needs --workspace and --dir
    #[arg(long)]
    allow_commit: bool,
}

/// Limits of a line. What is answered is read by a model, so there is less of it than at a terminal.
pub(crate) fn usual() -> Limits {
    Limits { stdout_bytes_max: 1 << 20, stderr_bytes_max: 1 << 20, ..line_limits() }
}

impl SandboxFlags {
    /// What an agent may do that somebody starts from there: what the flags say, over files of its own.
    pub(super) fn agent_powers(&self) -> anyhow::Result<AgentPowers> {
        self.powers.of_agents()
    }
}

/// Opens the sandbox for `principal` and serves it until the other end goes away.
pub(super) fn serve<F, E>(
    flags: &SandboxFlags,
    principal: &str,
    served: impl FnOnce(&Dock, Arc<Sandbox>) -> F,
) -> anyhow::Result<ExitCode>
where
    F: Future<Output = Result<(), E>>,
    E: std::error::Error + Send + Sync + 'static,
{
    if flags.allow_commit && (flags.powers.workspace.is_none() || flags.powers.dir.is_empty()) {
        bail!(
            "--allow-commit needs --workspace and --dir: changes of a directory are kept in the workspace until then"
        );
    }
    let dock = Arc::new(home::dock()?);
    dock.serve();
    provide::in_background(&dock, &flags.catalog);
    let sandbox = Arc::new(open(&dock, flags, principal)?);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served = runtime.block_on(async { served(&dock, sandbox).await });
    if let Err(error) = dock.gate().flush() {
        exit::warn(&error);
    }
    // A thread may still wait for stdin, and a guest for its end: the process ends with them.
    runtime.shutdown_timeout(Duration::from_millis(200));
    std::mem::forget::<Arc<Dock>>(dock);
    served?;
    Ok(ExitCode::SUCCESS)
}

fn open(dock: &Arc<Dock>, flags: &SandboxFlags, principal: &str) -> anyhow::Result<Sandbox> {
    let mut setup = flags.powers.setup(usual())?;
    grants::add_stored(dock, principal, &mut setup)?;
    // Each call of the sandbox has a log and a budget of its own.
    (setup.denials, setup.budget) = (None, None);
    let limits = setup.limits.unwrap_or_default();
    // As `drydock sh` reads a line, unless it is told otherwise.
    let mode = Mode { literal_unknown: true, eval_allowed: flags.eval, ..Mode::default() };
    let mut shell = ShellSetup { mode, ..ShellSetup::default() };
    let mut bases = Vec::new();
    if let Some(tree) = tree::of(dock.home(), &flags.powers, limits.memory_bytes_max, &Taping::Live)? {
        setup.files = Some(tree.files);
        (shell.roots, shell.cwd, bases) = (tree.roots, tree.cwd, tree.bases);
    }
    let program = Limits { wall_max: limits.wall_max.min(Duration::from_secs(30)), ..Limits::default() };
    let principal = principal.to_owned();
    Ok(Sandbox::open(
        Arc::clone(dock),
        SandboxSetup { principal, setup, shell, bases, program, allow_commit: flags.allow_commit },
    )?)
}
