//! Where audit records go to stay.

use core::net::SocketAddr;
use std::{fmt, sync::Arc};

use crate::{CallId, GrantId, Outcome, SUBJECT_BYTES_MAX, Tenant, Timestamp, TraceId, Who};

/// One moment of one call at the gate. Never what was in the request: no argument, environment or input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// When.
    pub at: Timestamp,
    /// Which call. By value: a record is made on one thread and dropped on another, and what an allocator does then costs
    /// a small call more than the copy.
    pub call: CallFacts,
    /// What happened to it.
    pub event: AuditEvent,
}

/// What is known of a call from its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFacts {
    /// Who asked.
    pub who: Arc<Who>,
    /// What it belongs to.
    pub trace: TraceId,
    /// Its id.
    pub call: CallId,
    /// The call that made it.
    pub parent: CallId,
    /// For which operation. A known one: a guest's free text is never recorded here.
    pub operation: &'static str,
    /// On which names, as far as the request could be read.
    pub subjects: Subjects,
    /// The grant that allowed it.
    pub grant: Option<GrantId>,
    /// The request's digest and length, where it was read.
    pub request: Option<Digested>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditEvent {
    /// It was let through, and is about to act.
    Begun,
    /// It is over.
    Ended(CallEnd),
    /// It was refused before it acted, with the denial's code.
    Denied(&'static str),
}

impl fmt::Display for AuditEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begun => f.write_str("begun"),
            Self::Ended(end) => write!(f, "ended {}", end.kind.code()),
            Self::Denied(code) => write!(f, "denied {code}"),
        }
    }
}

/// How a call ended that had begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallEnd {
    /// Whether it was answered.
    pub kind: EndKind,
    /// How what it started ended.
    pub outcome: Option<Outcome>,
    /// Bytes of stdin, stdout and stderr. Of streams only lengths are recorded.
    pub stream_bytes: Option<[u64; 3]>,
    /// The reply's digest and length, if there was one in bytes.
    pub reply: Option<Digested>,
    /// The connections that it made out of the house, in their order, if it made any.
    pub attempts: Option<Arc<[Attempt]>>,
}

/// One connection out of the house. Never what was asked for there: no path, no header, no body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// Whom it was made to: the address that was judged.
    pub address: SocketAddr,
    /// What the server answered, if it did.
    pub status: Option<u16>,
    /// Bytes of the body that was sent.
    pub bytes_sent: u64,
    /// Bytes of the body that came back.
    pub bytes_received: u64,
    /// `ok`, or how it failed.
    pub code: &'static str,
}

/// Whether a call was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndKind {
    /// It was.
    Done,
    /// Nobody waited for the answer any more.
    Dropped,
    /// The power found out while acting that it must not, or it lost its rights meanwhile: the denial's code.
    Denied(&'static str),
    /// It could not be done: the fault's code.
    Failed(&'static str),
}

impl EndKind {
    /// The stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Dropped => "dropped",
            Self::Denied(code) | Self::Failed(code) => code,
        }
    }
}

impl CallEnd {
    /// An end of which nothing more is known.
    pub const fn plain(kind: EndKind) -> Self {
        Self { kind, outcome: None, stream_bytes: None, reply: None, attempts: None }
    }
}

impl AuditEvent {
    /// Whether it must survive the machine before anybody is told: refusals do.
    pub fn is_grave(&self) -> bool {
        match self {
            Self::Begun => false,
            Self::Ended(end) => matches!(end.kind, EndKind::Denied(_)),
            Self::Denied(_) => true,
        }
    }
}

/// The digest of some bytes under a key of the installation, so that what is short cannot be guessed, and their
/// length.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digested {
    /// The first half of the keyed hash.
    pub digest: [u8; 16],
    /// How many bytes.
    pub bytes: u64,
}

impl fmt::Debug for Digested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digested({self}, {} bytes)", self.bytes)
    }
}

impl fmt::Display for Digested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.digest.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The most names that a record holds.
pub const SUBJECTS_MAX: usize = 16;

/// The names that a request is about: mostly one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subjects {
    /// One name, shared so that recording it copies nothing. Empty if the request was not read so far.
    One(Arc<str>),
    /// Several.
    Many(Arc<[Arc<str>]>),
}

impl Subjects {
    /// No name was read.
    pub fn none() -> Self {
        Self::One("".into())
    }

    /// At most as much of a guest's text as a record holds.
    pub fn cut(name: &str) -> Self {
        Self::One(name[..name.floor_char_boundary(SUBJECT_BYTES_MAX)].into())
    }

    /// The names.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let names = match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Many(names) => names,
        };
        names.iter().map(|it| &**it)
    }

    /// The first of them.
    pub fn first(&self) -> &str {
        self.iter().next().unwrap_or_default()
    }
}

impl From<Arc<str>> for Subjects {
    fn from(name: Arc<str>) -> Self {
        Self::One(name)
    }
}

impl<const N: usize> From<[Arc<str>; N]> for Subjects {
    fn from(names: [Arc<str>; N]) -> Self {
        Self::Many(names.into())
    }
}

/// Keeps audit records.
pub trait Journal: Send + Sync {
    /// Appends the records in order. When it returns, they survive the process; records of one tenant that stand side
    /// by side cost one write.
    ///
    /// The same denial again, of the same principal on the same subject, may be counted instead, and the count written
    /// within a second. The first of them never waits.
    fn append(&self, records: &[AuditRecord]) -> Result<(), JournalError>;

    /// Makes everything appended so far survive the machine.
    fn sync(&self) -> Result<(), JournalError>;

    /// Writes what was only counted so far, so that it survives the process.
    fn settle(&self) -> Result<(), JournalError> {
        Ok(())
    }
}

/// A record could not be kept.
#[derive(Debug, thiserror::Error)]
#[error("could not write the audit journal `{path}`")]
pub struct JournalError {
    /// Which file.
    pub path: std::path::PathBuf,
    /// How many of the records, from the first on, were kept all the same: they need not be given again.
    pub kept: usize,
    /// Whose records a sync did not reach; empty for everybody's.
    pub tenants: Vec<Tenant>,
    /// What the disk said.
    #[source]
    pub cause: std::io::Error,
}
