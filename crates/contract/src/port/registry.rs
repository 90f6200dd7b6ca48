//! A PATH with no operating system: names, and the verified bytes they stand for.

use std::{path::PathBuf, sync::Arc};

use super::{EntryOptions, Files};
use crate::{ArgMode, Artifact, CommandName, Digest, NotThoseBytes};

/// What a name stands for at this moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name.
    pub name: CommandName,
    /// The hash of its module.
    pub digest: Digest,
    /// How it takes arguments.
    pub mode: ArgMode,
    /// Whether it came with Drydock, and so cannot be registered over.
    pub builtin: bool,
    /// How it is started.
    pub options: Arc<EntryOptions>,
}

/// A directory that an entry's runs see besides their caller's files.
#[derive(Clone)]
pub struct EntryTree {
    /// Where: an absolute path of plain names.
    pub path: String,
    /// What: nobody can write to it.
    pub files: Arc<dyn Files>,
}

/// Looks names up.
pub trait Registry: Send + Sync {
    /// What a run of `name` with these arguments would execute. Looks in memory only.
    ///
    /// The arguments matter to a multicall command whose applets live in several modules.
    fn lookup(&self, name: &str, first_argument: Option<&[u8]>) -> Option<Entry>;

    /// The module of an entry. Its bytes are hashed whenever they are read from disk, and may stay unread where
    /// they were before: see [`Artifact::loaded`].
    fn load(&self, entry: &Entry) -> Result<Artifact, LoadError>;

    /// The module of an entry for a run, without reading or hashing a whole file: what is not in memory, and was not
    /// verified before, comes back [unverified](Artifact::unverified).
    fn to_run(&self, entry: &Entry) -> Result<Artifact, LoadError> {
        self.load(entry)
    }

    /// Every name, sorted.
    fn names(&self) -> Vec<CommandName>;

    /// The directories of an entry, opened. Nothing in them is looked at before the guest asks for it.
    fn trees(&self, _entry: &Entry) -> Result<Vec<EntryTree>, LoadError> {
        Ok(Vec::new())
    }
}

/// Why bytes could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file is not what its name says.
    #[error("artifact `{path}` does not match its name")]
    Integrity {
        /// Where it lies.
        path: PathBuf,
        /// Both hashes.
        #[source]
        cause: NotThoseBytes,
    },
    /// The file could not be read.
    #[error("could not read artifact `{path}`")]
    Read {
        /// Where it lies.
        path: PathBuf,
        /// What the disk said.
        #[source]
        cause: std::io::Error,
    },
}

impl Clone for LoadError {
    /// What the disk said is told again by its number, or by its kind and text.
    fn clone(&self) -> Self {
        match self {
            Self::Integrity { path, cause } => Self::Integrity { path: path.clone(), cause: cause.clone() },
            Self::Read { path, cause } => {
                let text = || std::io::Error::new(cause.kind(), cause.to_string());
                let cause = cause.raw_os_error().map_or_else(text, std::io::Error::from_raw_os_error);
                Self::Read { path: path.clone(), cause }
            }
        }
    }
}

impl LoadError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Integrity { .. } => "artifact_integrity",
            Self::Read { .. } => "artifact_read",
        }
    }
}
