//! Why a name was not registered, in the seed's words.

use std::{io, path::PathBuf};

use drydock_contract::{BadCommandName, CommandName, Digest, port::LoadError};

use super::BadOptions;
use crate::PutArtifactError;

/// A change to the registry, or a question about one name, that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The text is not a command name.
    #[error(transparent)]
    InvalidName(#[from] BadCommandName),
    /// The name came with Drydock: a command, or a word of its shell.
    #[error("`{name}` is built in and cannot be changed; choose another name")]
    ReservedName {
        /// The name.
        name: String,
    },
    /// The path is not an artifact of this home.
    #[error("`{path}` {why}; only a file of the artifact directory, named by its hash, can be registered")]
    PathNotConfined {
        /// The path as it was given.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is no room for a new name.
    #[error("{max} names are registered already; remove one first")]
    RegistryFull {
        /// The limit.
        max: usize,
    },
    /// The bytes are not the ones that were promised.
    #[error("expected sha256 {expected}, got {got}; fetch the module again or correct the hash")]
    ShaMismatch {
        /// The promised hash.
        expected: Digest,
        /// The hash they have.
        got: Digest,
    },
    /// The module is too large.
    #[error("a module of {bytes} bytes exceeds the limit of {max}")]
    ArtifactTooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        max: u64,
    },
    /// The bytes are no core module.
    #[error("not a WebAssembly core module: {why}")]
    NotWasm {
        /// What they are instead.
        why: &'static str,
    },
    /// The options are not ones that can be honoured.
    #[error(transparent)]
    Options(#[from] BadOptions),
    /// A directory of the options is not in the store.
    #[error("there is no tree {tree} in the store; put it there before a command is registered with it")]
    NoTree {
        /// Its hash.
        tree: Digest,
    },
    /// The file of names is damaged.
    #[error(
        "the registry file `{path}` is damaged: {reason}; nothing was changed; `drydock commands verify --repair` sets it aside and restores its second copy"
    )]
    RegistryCorrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The artifact could not be read.
    #[error(transparent)]
    ArtifactRead(LoadError),
    /// The disk did not take the change.
    #[error("could not write `{path}`")]
    WriteFailed {
        /// Which file.
        path: PathBuf,
        /// What the disk said.
        #[source]
        cause: io::Error,
    },
    /// Nobody registered the name.
    #[error("unknown command `{name}`")]
    UnknownCommand {
        /// The name.
        name: CommandName,
    },
}

impl RegisterError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::InvalidName(_) => "invalid_name",
            Self::ReservedName { .. } => "reserved_name",
            Self::PathNotConfined { .. } => "path_not_confined",
            Self::RegistryFull { .. } => "registry_full",
            Self::ShaMismatch { .. } => "sha_mismatch",
            Self::ArtifactTooLarge { .. } => "artifact_too_large",
            Self::NotWasm { .. } => "not_wasm",
            Self::Options(_) => "bad_options",
            Self::NoTree { .. } => "unknown_tree",
            Self::RegistryCorrupt { .. } => "registry_corrupt",
            Self::ArtifactRead(cause) => cause.code(),
            Self::WriteFailed { .. } => "write_failed",
            Self::UnknownCommand { .. } => "unknown_command",
        }
    }
}

impl From<PutArtifactError> for RegisterError {
    fn from(error: PutArtifactError) -> Self {
        match error {
            PutArtifactError::TooLarge { bytes, max } => Self::ArtifactTooLarge { bytes, max },
            PutArtifactError::Write { path, cause } => Self::WriteFailed { path, cause },
            PutArtifactError::Read(cause) => {
                Self::ArtifactRead(LoadError::Read { path: PathBuf::new(), cause })
            }
        }
    }
}

impl From<LoadError> for RegisterError {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Integrity { cause, .. } => {
                Self::ShaMismatch { expected: cause.expected, got: cause.got }
            }
            other => Self::ArtifactRead(other),
        }
    }
}
