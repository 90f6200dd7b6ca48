//! Shells that stay: what one is after a line is kept under a name, for the next line, in another process too.

use drydock_contract::{Principal, port::Clock as _};
use drydock_store::{BadSessionName, CheckpointError, Checkpoints, OpenSession, SessionName};

use crate::{BadSetup, Dock, DockShell, Setup, ShellSetup, SystemClock};

/// A session that a shell goes on in.
pub(crate) struct KeptAs {
    session: OpenSession,
    lines: u64,
}

impl KeptAs {
    /// Keeps what the shell wrote of itself after a line.
    pub(crate) fn keep(&mut self, state: &[u8], cwd: &str) -> Result<(), CheckpointError> {
        self.lines += 1;
        self.session.put(&[state], cwd, self.lines, SystemClock.now()).map(drop)
    }
}

/// There is no such session, or it cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// It cannot be set up like this.
    #[error(transparent)]
    Setup(#[from] BadSetup),
    /// The name is none.
    #[error(transparent)]
    Name(#[from] BadSessionName),
    /// It is in use, or what was kept cannot be used.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

impl Dock {
    /// The sessions of shells that a principal keeps: to list, fork and forget.
    pub fn shell_sessions(&self, principal: &str) -> Result<Checkpoints, SessionError> {
        let principal: Principal = principal.parse().map_err(BadSetup::from)?;
        Ok(Checkpoints::of(&self.home.tenant(&self.tenant), principal)?)
    }

    /// A shell that goes on where the session of that name was left, and is kept there after each of its lines. Nobody else
    /// can use the name meanwhile. Variables, functions, directory, options and open files come back; mode, limits, files
    /// and grants are those of `setup` and `shell`.
    pub fn shell_kept(
        &self,
        principal: &str,
        setup: Setup,
        mut shell: ShellSetup,
        name: &SessionName,
    ) -> Result<DockShell, SessionError> {
        let mut session = self.shell_sessions(principal)?.open(name)?;
        let found = session.get()?;
        let lines = found.as_ref().map_or(0, |it| it.facts.lines);
        if let Some(found) = found {
            shell.cwd.clone_from(&found.facts.cwd);
            shell.saved = Some(found.state);
        }
        let mut shell = self.shell(principal, setup, shell)?;
        shell.keep_as(KeptAs { session, lines });
        Ok(shell)
    }
}
