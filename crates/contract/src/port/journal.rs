//! Where audit records go to stay.

use std::sync::Arc;

use crate::{Principal, Timestamp};

/// One decision of the gate. Never what was in the request: no argument, environment or input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// When.
    pub at: Timestamp,
    /// Who asked.
    pub principal: Principal,
    /// For which operation. A known one: a guest's free text is never recorded here.
    pub operation: &'static str,
    /// On which name, as far as the request could be read. At most 64 bytes of it.
    pub subject: Arc<str>,
    /// What was decided.
    pub decision: Decision,
}

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It was let through.
    Allowed,
    /// It was refused, with the denial's code.
    Denied(&'static str),
}

/// Keeps audit records.
pub trait Journal: Send + Sync {
    /// Appends the records in order. When it returns, they survive the process.
    fn append(&self, records: &[AuditRecord]) -> Result<(), JournalError>;

    /// Makes everything appended so far survive the machine.
    fn sync(&self) -> Result<(), JournalError>;
}

/// A record could not be kept.
#[derive(Debug, thiserror::Error)]
#[error("could not write the audit journal `{path}`")]
pub struct JournalError {
    /// Which file.
    pub path: std::path::PathBuf,
    /// What the disk said.
    #[source]
    pub cause: std::io::Error,
}
