//! Why a workspace could not be opened.

use std::{
    io,
    path::{Path, PathBuf},
};

use drydock_contract::port::FileError;
use rusqlite::{ErrorCode, ffi::SQLITE_IOERR_SHMSIZE};

use super::schema::VERSION;

/// The file of a workspace could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenWorkspaceError {
    /// Not one of the names a workspace may have.
    #[error("`{0}` is not a name for a workspace: 1 to 64 of A-Z a-z 0-9 _ . -, not starting with a dot")]
    Name(String),
    /// It is not there, and was not to be made.
    #[error("there is no workspace `{0}`; `drydock ws list` shows what there is")]
    Missing(String),
    /// It is there already.
    #[error("workspace `{0}` exists already; choose another name or remove it first")]
    Exists(String),
    /// The disk said no.
    #[error("could not open workspace `{path}`")]
    Read {
        /// Its file.
        path: PathBuf,
        /// What the disk said.
        #[source]
        cause: io::Error,
    },
    /// SQLite said no.
    #[error("could not open workspace `{path}`")]
    Sql {
        /// Its file.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        cause: rusqlite::Error,
    },
    /// Made by another version.
    #[error(
        "workspace `{path}` has layout {version}, and this drydock reads and writes layout {VERSION}. Take what \
         you need out of it with the drydock that made it, then remove it with `drydock ws rm`"
    )]
    Version {
        /// Its file.
        path: PathBuf,
        /// The format found.
        version: i64,
    },
    /// The disk is full, and opening it takes a little room.
    #[error("the disk under workspace `{path}` is full; make room and try again")]
    Full {
        /// Its file.
        path: PathBuf,
    },
    /// It opens and cannot be used.
    #[error(
        "workspace `{path}` is damaged; bring a snapshot back with `drydock ws restore` (the damaged file is \
         kept beside it), or remove it with `drydock ws rm`"
    )]
    Damaged {
        /// Its file.
        path: PathBuf,
    },
}

impl OpenWorkspaceError {
    /// Why the files of a workspace could not be reached.
    pub(crate) fn of_files(path: &Path, error: FileError) -> Self {
        let path = path.to_owned();
        if error == FileError::NoSpace { Self::Full { path } } else { Self::Damaged { path } }
    }

    /// Why SQLite could not open it. It makes its shared memory a file, so that may be what finds no room.
    pub(crate) fn of_sql(path: &Path, cause: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let shared = cause.sqlite_error().is_some_and(|it| it.extended_code == SQLITE_IOERR_SHMSIZE);
        match cause.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged { path },
            _ if shared => Self::Full { path },
            _ => Self::Sql { path, cause },
        }
    }

    /// Whether it is the disk that takes nothing: then the workspace can perhaps be read.
    pub(crate) fn is_of_writing(&self) -> bool {
        match self {
            Self::Full { .. } => true,
            Self::Sql { cause, .. } => {
                let failed = [ErrorCode::SystemIoFailure, ErrorCode::ReadOnly, ErrorCode::CannotOpen];
                cause.sqlite_error_code().is_some_and(|it| failed.contains(&it))
            }
            _ => false,
        }
    }

    /// Why the file beside it could not be made or opened.
    pub(crate) fn of_disk(path: &Path, cause: io::Error) -> Self {
        let path = path.to_owned();
        match cause.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path },
            _ => Self::Read { path, cause },
        }
    }

    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Name(_) => "workspace_name",
            Self::Missing(_) => "workspace_missing",
            Self::Exists(_) => "workspace_exists",
            Self::Read { .. } | Self::Sql { .. } => "workspace_unavailable",
            Self::Version { .. } => "workspace_version",
            Self::Full { .. } => "workspace_no_space",
            Self::Damaged { .. } => "workspace_damaged",
        }
    }
}
