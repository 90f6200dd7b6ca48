//! Why a run of an agent cannot be opened, driven or read.

use drydock_contract::{
    AgentId, BadGrants, CallError,
    port::{AgentRefusal, FileError, LedgerError},
};
use drydock_store::OpenWorkspaceError;

use drydock_agent::toolkit::ResolveError;

use super::{LoadToolkitError, tools::exec::BadExec};
use crate::{BadMount, BadSetup, OpenTreeError, StoredGrantsError, WorkspaceError};

/// It did not work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// What is kept of runs says no.
    #[error(transparent)]
    Refused(#[from] AgentRefusal),
    /// What is kept of runs cannot be read or written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Its session cannot be set up like this.
    #[error(transparent)]
    Setup(#[from] BadSetup),
    /// A directory that it should see.
    #[error(transparent)]
    Mount(#[from] BadMount),
    /// Its files cannot be put together.
    #[error(transparent)]
    Tree(#[from] OpenTreeError),
    /// Its workspace, or a snapshot of it.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// One of its files.
    #[error(transparent)]
    Files(#[from] FileError),
    /// A grant that it should have.
    #[error(transparent)]
    Grants(#[from] BadGrants),
    /// The grants that are kept for its principal.
    #[error(transparent)]
    Stored(#[from] StoredGrantsError),
    /// The gate refused it.
    #[error(transparent)]
    Call(#[from] CallError),
    /// What was kept of it makes no sense.
    #[error("what was kept of run {run} cannot be read: {why}")]
    Broken {
        /// Which.
        run: AgentId,
        /// In words.
        why: String,
    },
    /// Its trusted tools.
    #[error(transparent)]
    Exec(#[from] BadExec),
    /// Its toolkits do not go together, or one of them cannot be read.
    #[error(transparent)]
    Toolkits(#[from] Box<ResolveError<LoadToolkitError>>),
    /// One of its toolkits cannot be had.
    #[error(transparent)]
    Toolkit(#[from] LoadToolkitError),
    /// It could not be driven further. What was kept of it stands; it is gone on with from there.
    #[error("run {run}: {cause}")]
    Drive {
        /// Which.
        run: AgentId,
        /// Why not.
        cause: drydock_agent::DriveError,
    },
    /// A replay of it came to something else.
    #[error("run {run} does not replay: {why}")]
    Diverged {
        /// Which.
        run: AgentId,
        /// In words.
        why: String,
    },
    /// Its tape.
    #[error(transparent)]
    Tape(#[from] drydock_store::TapeError),
    /// It never got that far, or nothing was kept of it.
    #[error("{0}")]
    NoStep(String),
    /// No run can have its options.
    #[error(transparent)]
    Options(#[from] drydock_agent::BadOptions),
    /// A run cannot be changed like this.
    #[error("{0}")]
    BadChange(String),
    /// Sub-agents of sub-agents, too many times.
    #[error("a sub-agent {depth} levels below its first run is too deep; {max} is the most")]
    TooDeep {
        /// How deep it would be.
        depth: u32,
        /// The deepest.
        max: u32,
    },
    /// Sub-agents of one run, with theirs.
    #[error("a run has {max} sub-agents at most, with those that they start; do the rest without one")]
    TooMany {
        /// The most.
        max: u64,
    },
}

impl AgentError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.code(),
            Self::Ledger(error) => error.code,
            Self::Setup(BadSetup::Denied(denial)) => denial.code(),
            Self::Setup(_) => "bad_setup",
            Self::Mount(_) => "bad_mount",
            Self::Tree(_) | Self::Workspace(_) => "bad_workspace",
            Self::Files(_) => "file_error",
            Self::Grants(bad) => bad.code(),
            Self::Stored(error) => error.code(),
            Self::Call(error) => error.code(),
            Self::Broken { .. } => "run_broken",
            Self::Exec(_) => "bad_exec",
            Self::Toolkits(error) => error.code(LoadToolkitError::code),
            Self::Toolkit(error) => error.code(),
            Self::Drive { cause, .. } => cause.code(),
            Self::Diverged { .. } => "replay_diverged",
            Self::Tape(_) => "tape_error",
            Self::NoStep(_) => "no_such_step",
            Self::Options(bad) => bad.code(),
            Self::BadChange(_) => "bad_change",
            Self::TooDeep { .. } => "max_depth",
            Self::TooMany { .. } => "too_many_agents",
        }
    }
}

impl From<OpenWorkspaceError> for AgentError {
    fn from(error: OpenWorkspaceError) -> Self {
        Self::Workspace(error.into())
    }
}
