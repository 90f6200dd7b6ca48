//! What a volume holds, and how much it may.

use drydock_contract::port::{FileResult, TreePath};
use rusqlite::{Connection, params};

use super::db::Sql as _;

/// The most bytes in one volume, unless another [`Quota`] is given.
pub const VOLUME_BYTES_MAX: u64 = 4 << 30;
/// The most bytes in one file.
pub const FILE_BYTES_MAX: u64 = 1 << 30;

/// How much one volume may hold. A full one is a full disk to the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Bytes of all files together. Holes count: they could be filled.
    pub bytes_max: u64,
    /// Bytes of one file.
    pub file_bytes_max: u64,
    /// Names, of files, directories and links.
    pub files_max: u64,
    /// Directories inside one another.
    pub depth_max: usize,
    /// Bytes of a path under which something is made.
    pub path_bytes_max: usize,
}

impl Default for Quota {
    fn default() -> Self {
        Self {
            bytes_max: VOLUME_BYTES_MAX,
            file_bytes_max: FILE_BYTES_MAX,
            files_max: crate::FILES_MAX as u64,
            depth_max: crate::DEPTH_MAX,
            path_bytes_max: TreePath::BYTES_MAX,
        }
    }
}

/// Bytes and names; also a difference of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) bytes: i64,
    pub(super) files: i64,
}

impl Usage {
    pub(super) fn plus(self, more: Self) -> Self {
        Self { bytes: self.bytes + more.bytes, files: self.files + more.files }
    }

    pub(super) fn less(self, less: Self) -> Self {
        Self { bytes: self.bytes - less.bytes, files: self.files - less.files }
    }

    pub(super) fn count(conn: &Connection, volume: i64) -> FileResult<Self> {
        let text = "SELECT (SELECT coalesce(sum(size), 0) FROM node WHERE volume = ?1),
            (SELECT count(*) FROM node d JOIN name n ON n.parent = d.id WHERE d.volume = ?1 AND d.kind = 1)";
        let mut statement = conn.prepare_cached(text).sql()?;
        statement.query_row(params![volume], |row| Ok(Self { bytes: row.get(0)?, files: row.get(1)? })).sql()
    }
}
