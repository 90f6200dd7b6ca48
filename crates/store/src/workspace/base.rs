//! What a mounted directory had when a workspace first changed something of it, kept in the
//! workspace: so that a commit another day can tell whether somebody else changed it since.

use std::{collections::HashMap, sync::Arc};

use drydock_contract::{
    Timestamp,
    port::{FileKind, FileResult, Mode, Stat, TreePath},
};
use rusqlite::params;

use crate::{
    MountPoint,
    overlay::{Notes, Seen},
    sqlite::{Db, Sql as _},
};

/// The notes of one mount.
#[derive(Clone)]
pub(super) struct Bases {
    pub(super) db: Arc<Db>,
    pub(super) mount: MountPoint,
}

impl Bases {
    /// All of them, by path.
    pub(super) fn all(&self) -> FileResult<HashMap<String, Seen>> {
        self.db.with_connection(|conn| {
            let text = "SELECT path, kind, size, mtime, ctime, inode, hash, mode FROM base WHERE mount = ?1";
            let mut statement = conn.prepare_cached(text).sql()?;
            let rows = statement.query_map(params![self.mount.as_str()], |row| {
                let number = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
                let facts = Stat {
                    kind: kind(row.get(1)?),
                    mode: Mode::new(row.get(7)?),
                    size: number(2)?,
                    modified: Timestamp(number(3)?),
                    changed: Timestamp(number(4)?),
                    inode: number(5)?,
                    links: 1,
                    accessed: Timestamp(0),
                };
                Ok((row.get(0)?, Seen { facts, hash: row.get(6)? }))
            });
            rows.sql()?.collect::<rusqlite::Result<_>>().sql()
        })
    }

    /// Forgets one.
    pub(super) fn remove(&self, path: &TreePath) -> FileResult<()> {
        self.db.with_connection(|conn| {
            let mut statement =
                conn.prepare_cached("DELETE FROM base WHERE mount = ?1 AND path = ?2").sql()?;
            statement.execute(params![self.mount.as_str(), path.as_str()]).sql().map(|_| ())
        })
    }
}

impl Notes for Bases {
    fn note(&self, path: &TreePath, seen: &Seen) -> FileResult<()> {
        let text = "INSERT OR REPLACE INTO base(mount, path, kind, size, mtime, ctime, inode, hash, mode)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let it = &seen.facts;
        let number = |it: u64| it.cast_signed();
        self.db.with_connection(|conn| {
            let mut statement = conn.prepare_cached(text).sql()?;
            let values = params![
                self.mount.as_str(),
                path.as_str(),
                code(it.kind),
                number(it.size),
                number(it.modified.0),
                number(it.changed.0),
                number(it.inode),
                seen.hash,
                it.mode.bits(),
            ];
            statement.execute(values).sql().map(|_| ())
        })
    }
}

const fn code(kind: FileKind) -> i64 {
    match kind {
        FileKind::File => 0,
        FileKind::Directory => 1,
        FileKind::Symlink => 2,
    }
}

const fn kind(code: i64) -> FileKind {
    match code {
        1 => FileKind::Directory,
        2 => FileKind::Symlink,
        _ => FileKind::File,
    }
}
