//! The directories of the host that a workspace was mounted over, so that `ws diff` and `ws commit` need
//! not be told again. A directory that is not the one it was is an error, never another directory.

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    path::{Path, PathBuf},
};

use drydock_contract::port::{FileError, FileResult, Files as _, TreePath};
use rusqlite::{OptionalExtension as _, params};

use super::Workspace;
use crate::{Access, HostDir, MountPoint, Quota, SqliteFiles, sqlite::Sql as _};

/// A directory of the host under a place of the guest's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directory {
    /// Where guests see it.
    pub mount: MountPoint,
    /// Where it is on the host, no link on the way.
    pub host: PathBuf,
    /// What runs may do to it.
    pub access: Mounting,
    device: u64,
    inode: u64,
}

/// How a directory of the host is mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Mounting {
    ReadOnly,
    ReadWrite,
    /// Changes stay in the workspace until they are committed.
    CopyOnWrite,
}

/// Why a directory cannot be had again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryError {
    /// Nothing was ever mounted there.
    #[error("workspace `{0}` was not mounted over a directory yet; name one with --dir HOST[:GUEST]")]
    None(String),
    /// It is not where it was.
    #[error(
        "`{}` is not there any more; it was mounted at {mount}. If it was moved, say where it is now: \
         --dir HOST:{mount}", .host.display()
    )]
    Gone {
        /// Where it was.
        host: PathBuf,
        /// Where guests saw it.
        mount: MountPoint,
    },
    /// A link, or something else, or another directory has its place.
    #[error(
        "`{}` is not the directory any more that was mounted at {mount}: {what}. Nothing was read or \
         written there; if it is the right one all the same, say so: --dir HOST:{mount}", .host.display()
    )]
    Other {
        /// Where it was.
        host: PathBuf,
        /// Where guests saw it.
        mount: MountPoint,
        /// What is there instead.
        what: &'static str,
    },
    /// Changes to another directory wait under the same place.
    #[error(
        "workspace `{workspace}` keeps changes to `{}` under {mount}; commit them with `ws commit`, drop \
         them with `ws discard`, or mount the other directory elsewhere", .host.display()
    )]
    Taken {
        /// The workspace.
        workspace: String,
        /// The directory whose changes they are.
        host: PathBuf,
        /// Where guests see it.
        mount: MountPoint,
    },
    /// It cannot be opened.
    #[error("could not open `{}`", .host.display())]
    Open {
        /// Where it is.
        host: PathBuf,
        /// What the host said.
        #[source]
        cause: io::Error,
    },
    /// The workspace cannot be read.
    #[error("could not read what the workspace remembers")]
    Workspace(#[from] FileError),
}

impl Directory {
    /// The directory at a path of the host, as it is now.
    pub fn at(host: &Path, mount: MountPoint, access: Mounting) -> Result<Self, DirectoryError> {
        let open = |cause| DirectoryError::Open { host: host.to_owned(), cause };
        let whole = host.canonicalize().map_err(open)?;
        let facts = fs::symlink_metadata(&whole).map_err(open)?;
        if !facts.is_dir() {
            return Err(open(io::ErrorKind::NotADirectory.into()));
        }
        Ok(Self { mount, host: whole, access, device: facts.dev(), inode: facts.ino() })
    }

    /// Opens it to write, if it still is the one that was mounted.
    pub fn open(&self, quota: Quota) -> Result<HostDir, DirectoryError> {
        let (host, mount) = (self.host.clone(), self.mount.clone());
        let facts = match fs::symlink_metadata(&host) {
            Ok(facts) => facts,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Err(DirectoryError::Gone { host, mount });
            }
            Err(cause) => return Err(DirectoryError::Open { host, cause }),
        };
        let whole =
            host.canonicalize().map_err(|cause| DirectoryError::Open { host: host.clone(), cause })?;
        let what = match () {
            () if facts.is_symlink() => "a symbolic link has its place",
            () if whole != host => "a symbolic link is on the way to it",
            () if !facts.is_dir() => "it is no directory",
            () if (facts.dev(), facts.ino()) != (self.device, self.inode) => {
                "another directory has its place"
            }
            () => {
                let opened = HostDir::within(&host, Access::ReadWrite, quota);
                return opened.map_err(|cause| DirectoryError::Open { host, cause });
            }
        };
        Err(DirectoryError::Other { host, mount, what })
    }
}

impl Workspace {
    /// Remembers that it was mounted over a directory. While changes to another directory wait under
    /// the same place, that one is kept, and this is refused.
    pub fn remember(&self, directory: &Directory) -> Result<(), DirectoryError> {
        if let Some(before) = self.directory(&directory.mount)?
            && (before.device, before.inode) != (directory.device, directory.inode)
            && self.has_changes(&directory.mount)?
        {
            let workspace = self.name.to_string();
            return Err(DirectoryError::Taken { workspace, host: before.host, mount: before.mount });
        }
        let text = "INSERT OR REPLACE INTO directory(mount, host, access, device, inode)
            VALUES (?1, ?2, ?3, ?4, ?5)";
        let it = directory;
        let done = self.db.with_connection(|conn| {
            let (device, inode) = (it.device.cast_signed(), it.inode.cast_signed());
            let host = it.host.as_os_str().as_bytes();
            conn.execute(text, params![it.mount.as_str(), host, code(it.access), device, inode]).sql()
        });
        done.map(|_| ()).map_err(DirectoryError::from)
    }

    /// The directories it was mounted over, by their place.
    pub fn directories(&self) -> FileResult<Vec<Directory>> {
        self.db.with_connection(|conn| {
            let text = "SELECT mount, host, access, device, inode FROM directory ORDER BY mount";
            let mut statement = conn.prepare(text).sql()?;
            let rows = statement.query_map([], row).sql()?.collect::<rusqlite::Result<Vec<_>>>().sql()?;
            Ok(rows.into_iter().flatten().collect())
        })
    }

    fn directory(&self, mount: &MountPoint) -> FileResult<Option<Directory>> {
        self.db.with_connection(|conn| {
            let text = "SELECT mount, host, access, device, inode FROM directory WHERE mount = ?1";
            Ok(conn.query_row(text, params![mount.as_str()], row).optional().sql()?.flatten())
        })
    }

    fn has_changes(&self, mount: &MountPoint) -> FileResult<bool> {
        let upper = SqliteFiles::new(&self.db, &super::mounted::volume(mount), self.quota)?;
        Ok(!upper.read_dir(&TreePath::root())?.is_empty())
    }
}

fn row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Option<Directory>> {
    let (mount, host): (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
    let number = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
    let access = match row.get::<_, i64>(2)? {
        0 => Mounting::ReadOnly,
        1 => Mounting::ReadWrite,
        _ => Mounting::CopyOnWrite,
    };
    let (device, inode) = (number(3)?, number(4)?);
    let host = PathBuf::from(OsStr::from_bytes(&host));
    // The root is the empty text here.
    Ok(format!("/{mount}").parse().ok().map(|mount| Directory { mount, host, access, device, inode }))
}

const fn code(access: Mounting) -> i64 {
    match access {
        Mounting::ReadOnly => 0,
        Mounting::ReadWrite => 1,
        Mounting::CopyOnWrite => 2,
    }
}
