//! Why a row was not installed, removed or proven.

use std::{io, path::PathBuf};

use drydock_contract::{Digest, Fault};
use drydock_embed::store::{PutTreeError, RegisterError};

use crate::{archive::ArchiveError, lane_c::BuildError, unpack::UnpackError};

/// What went wrong with a row. What was installed before is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// No row has that name.
    #[error("there is no row `{name}` in the catalog{}", .near.as_ref().map(|it| format!("; did you mean `{it}`?")).unwrap_or_default())]
    UnknownRow {
        /// The name.
        name: String,
        /// The one that was perhaps meant.
        near: Option<String>,
    },
    /// The row says itself that it cannot be installed.
    #[error("`{name}` cannot be installed: {why}")]
    Unavailable {
        /// The row.
        name: String,
        /// Its own words.
        why: String,
    },
    /// Rows need each other in a circle.
    #[error("`{0}` needs itself")]
    Circle(String),
    /// Nobody accepted its licence.
    #[error("`{name}` is under {licence}; --accept-licence {name} says that you read and accept it")]
    LicenceNotAccepted {
        /// The row.
        name: String,
        /// Its licence.
        licence: String,
    },
    /// Nobody may be asked for it.
    #[error(transparent)]
    Session(drydock_embed::BadSetup),
    /// Its archive could not be had.
    #[error("{}", several(.0))]
    Archive(Vec<ArchiveError>),
    /// The archive could not be taken apart.
    #[error(transparent)]
    Unpack(#[from] UnpackError),
    /// The module or a directory is not what the row promises.
    #[error("`{what}` inside the archive: expected sha256 {expected}, got {got}; nothing of it was kept")]
    ShaMismatch {
        /// Which part.
        what: String,
        /// The promised hash.
        expected: Digest,
        /// The hash it has.
        got: Digest,
    },
    /// Sources did not build.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A directory could not be kept.
    #[error(transparent)]
    Tree(#[from] PutTreeError),
    /// The module does not compile.
    #[error("the module does not compile: {0}")]
    Compile(Fault),
    /// It was not kept as it is after its initialisation.
    #[error(transparent)]
    Snapshot(#[from] drydock_embed::SnapshotCommandError),
    /// A name could not be registered.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// A record could not be written.
    #[error("could not write `{path}`")]
    Write {
        /// Which file.
        path: PathBuf,
        /// What the disk said.
        #[source]
        cause: io::Error,
    },
    /// It is not installed.
    #[error("`{0}` is not installed")]
    NotInstalled(String),
}

fn several(errors: &[ArchiveError]) -> String {
    let texts: Vec<String> = errors.iter().map(with_causes).collect();
    texts.join("; ")
}

fn with_causes(error: &ArchiveError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        // A transparent error is its own cause's text.
        if !text.ends_with(&inner.to_string()) {
            text.push_str(&format!(": {inner}"));
        }
        cause = inner.source();
    }
    text
}

/// Whether an error is, in the end, a disk that takes no more.
fn disk_is_full(error: &(dyn std::error::Error + 'static)) -> bool {
    let full = error.downcast_ref::<io::Error>().is_some_and(|it| it.kind() == io::ErrorKind::StorageFull);
    full || error.source().is_some_and(disk_is_full)
}

impl CatalogError {
    /// The stable code. A full disk is one thing, whatever was being written.
    pub fn code(&self) -> &'static str {
        let is_full = match self {
            Self::Archive(errors) => errors.last().is_some_and(|it| disk_is_full(it)),
            other => disk_is_full(other),
        };
        if is_full {
            return "disk_full";
        }
        match self {
            Self::UnknownRow { .. } => "unknown_row",
            Self::Unavailable { .. } => "row_unavailable",
            Self::Circle(_) => "bad_row",
            Self::LicenceNotAccepted { .. } => "licence_not_accepted",
            Self::Session(_) => "not_allowed",
            Self::Archive(errors) => errors.last().map_or("fetch_failed", ArchiveError::code),
            Self::Unpack(error) => error.code(),
            Self::ShaMismatch { .. } => "sha_mismatch",
            Self::Build(error) => error.code(),
            Self::Tree(error) => error.code(),
            Self::Compile(fault) => fault.code(),
            Self::Snapshot(error) => error.code(),
            Self::Register(error) => error.code(),
            Self::Write { .. } => "write_failed",
            Self::NotInstalled(_) => "not_installed",
        }
    }
}
