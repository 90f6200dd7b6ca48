//! Why a session cannot be used.

use std::{io, path::PathBuf};

use super::SessionName;

/// A session could not be opened, read, kept or forgotten.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// Somebody has it.
    #[error("session {name} is in use by another process")]
    InUse {
        /// Which one.
        name: SessionName,
    },
    /// There is none.
    #[error("there is no session {name}")]
    NotThere {
        /// What was asked for.
        name: SessionName,
    },
    /// There is one already.
    #[error("there is a session {name} already; forget it first, or choose another name")]
    Exists {
        /// Which one.
        name: SessionName,
    },
    /// It is larger than a session may be.
    #[error("session {name} takes {bytes} bytes, and the limit is {bytes_max}")]
    TooLarge {
        /// Which one.
        name: SessionName,
        /// How large it is.
        bytes: u64,
        /// How large it may be.
        bytes_max: u64,
    },
    /// There are as many as there may be.
    #[error("there are {sessions_max} sessions already, and no more are kept; forget one")]
    TooMany {
        /// How many there may be.
        sessions_max: usize,
    },
    /// Something else lies there.
    #[error("the file of session {name} is none of ours; forget the session to start anew")]
    Foreign {
        /// Which one.
        name: SessionName,
    },
    /// Another version wrote it.
    #[error(
        "session {name} was kept by another version of drydock (format {found}); use that one, or forget the session"
    )]
    Version {
        /// Which one.
        name: SessionName,
        /// The format it has.
        found: u32,
    },
    /// A part of it is missing.
    #[error("the file of session {name} is cut off; forget the session to start anew")]
    Cut {
        /// Which one.
        name: SessionName,
    },
    /// Its MAC is wrong.
    #[error(
        "the file of session {name} was changed, or is not of this installation; forget the session to start anew"
    )]
    Changed {
        /// Which one.
        name: SessionName,
    },
    /// It is whole, and somebody else's.
    #[error("the file of session {name} is of another tenant or principal")]
    NotYours {
        /// Which one.
        name: SessionName,
    },
    /// It is whole, and another session.
    #[error("the file of session {name} was renamed: it is session {was}")]
    Renamed {
        /// What was asked for.
        name: SessionName,
        /// What it says it is.
        was: String,
    },
    /// The disk did not do it.
    #[error("could not use `{path}`")]
    Disk {
        /// Which file or directory.
        path: PathBuf,
        /// What the disk said.
        #[source]
        cause: io::Error,
    },
}

impl CheckpointError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::InUse { .. } => "session_in_use",
            Self::NotThere { .. } => "session_not_there",
            Self::Exists { .. } => "session_exists",
            Self::TooLarge { .. } => "session_too_large",
            Self::TooMany { .. } => "session_too_many",
            Self::Foreign { .. } => "session_foreign",
            Self::Version { .. } => "session_version",
            Self::Cut { .. } => "session_cut",
            Self::Changed { .. } => "session_changed",
            Self::NotYours { .. } => "session_not_yours",
            Self::Renamed { .. } => "session_renamed",
            Self::Disk { .. } => "session_disk",
        }
    }
}
