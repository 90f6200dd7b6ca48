//! Why a tape cannot be kept, found or read.

use std::{io, path::PathBuf};

use super::{BadFrame, TapeId};

/// A tape could not be kept, read or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TapeError {
    /// There is none.
    #[error("there is no tape {id}")]
    NotThere {
        /// What was asked for.
        id: TapeId,
    },
    /// It is longer than it may be.
    #[error("the tape would be longer than {bytes_max} bytes; --record-max allows more")]
    TooLong {
        /// How long it may be.
        bytes_max: u64,
    },
    /// No more are kept.
    #[error(
        "tapes take {bytes} bytes already, {tapes} of them, and the limit is {bytes_max} bytes and {tapes_max} tapes; \
         `drydock tape rm` makes room"
    )]
    Full {
        /// What there is.
        bytes: u64,
        /// How many there are.
        tapes: usize,
        /// What there may be.
        bytes_max: u64,
        /// How many there may be.
        tapes_max: usize,
    },
    /// Something else lies there.
    #[error("the file of tape {id} is no tape")]
    Foreign {
        /// Which one.
        id: TapeId,
    },
    /// Another version wrote it.
    #[error("tape {id} was recorded by another version of drydock (format {found}); use that one")]
    Version {
        /// Which one.
        id: TapeId,
        /// The format it has.
        found: u32,
    },
    /// It is not all there.
    #[error("tape {id} is cut off: some of it is missing")]
    Cut {
        /// Which one.
        id: TapeId,
    },
    /// Its seal does not fit.
    #[error("tape {id} was changed since it was recorded, or recorded by another installation")]
    Changed {
        /// Which one.
        id: TapeId,
    },
    /// Its frames cannot be read, although its seal fits.
    #[error("tape {id} cannot be read: {cause}")]
    Frames {
        /// Which one.
        id: TapeId,
        /// Why.
        cause: BadFrame,
    },
    /// The disk.
    #[error("could not read or write `{path}`")]
    Disk {
        /// Where.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
}

impl TapeError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotThere { .. } => "tape_not_there",
            Self::TooLong { .. } => "tape_too_long",
            Self::Full { .. } => "tapes_full",
            Self::Foreign { .. } => "tape_foreign",
            Self::Version { .. } => "tape_version",
            Self::Cut { .. } => "tape_cut",
            Self::Changed { .. } => "tape_changed",
            Self::Frames { .. } => "tape_frames",
            Self::Disk { .. } => "tape_disk",
        }
    }
}
