//! We failed, or the thing we were asked to run cannot be run. Never a word about policy.

use crate::{Digest, port::LoadError};

/// Why a permitted call could not be carried out.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The artifact could not be loaded as what it claims to be.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The module is not something this engine runs.
    #[error("module {digest} cannot run: {reason}")]
    BadModule {
        /// Which module.
        digest: Digest,
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// The module is not built in, and nobody was named who may compile it.
    #[error(
        "module {digest} is not built in, and this program names no compile worker: only built-in modules are compiled in its own process"
    )]
    NoCompiler {
        /// Which module.
        digest: Digest,
    },
    /// The module imports a power that was not granted, or one that does not exist.
    #[error("module {digest} imports `{import}`, which {reason}")]
    Import {
        /// Which module.
        digest: Digest,
        /// `module.name` of the import.
        import: String,
        /// Not granted, unknown, or of another type.
        reason: String,
    },
    /// The module lacks an export of what it is to be used as, or has it with another type.
    #[error("module {digest} is no {kind}: {reason}")]
    Exports {
        /// Which module.
        digest: Digest,
        /// What it was to be: `handler` or `kernel`.
        kind: &'static str,
        /// The export, and what is wrong with it.
        reason: String,
    },
    /// There is no slot for one more run, and no place in the queue for one.
    #[error("no free instance slot: {0}")]
    Saturated(String),
    /// The call's deadline passed before whoever carried it out was done.
    #[error("the deadline passed before it was done")]
    Overdue,
    /// The audit journal cannot be written, so nothing that must be recorded is done.
    #[error("audit record could not be written: {0}")]
    Unrecorded(String),
    /// What all processes of the home agree by could not be asked, so nothing that it counts is done.
    #[error("{problem}")]
    Ledger {
        /// The stable code of [`LedgerError`](crate::port::LedgerError).
        code: &'static str,
        /// Which file, what is wrong with it and what to do.
        problem: String,
    },
    /// What the guest wrote could not be handed over.
    #[error("output could not be written: {0}")]
    Output(String),
    /// Something of ours broke. Guests see only the code.
    #[error("internal error: {0}")]
    Internal(String),
}

impl Fault {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Load(cause) => cause.code(),
            Self::BadModule { .. } => "bad_module",
            Self::NoCompiler { .. } => "no_compile_worker",
            Self::Import { .. } => "import_not_granted",
            Self::Exports { .. } => "bad_exports",
            Self::Saturated(_) => "saturated",
            Self::Overdue => "timed_out",
            Self::Unrecorded(_) => "audit_unavailable",
            Self::Ledger { code, .. } => code,
            Self::Output(_) => "output_failed",
            Self::Internal(_) => "internal_error",
        }
    }
}
