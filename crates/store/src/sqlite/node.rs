//! Nodes and names: what directories hold, and what is known of each file.

use drydock_contract::{
    Timestamp,
    port::{DirEntry, FileError, FileKind, FileLimit, FileResult, FileTimes, Mode, Stat},
};
use rusqlite::{OptionalExtension as _, params};

use super::{
    db::{Sql as _, Tx},
    usage::{Quota, Usage},
};

pub(super) const FILE: i64 = 0;
pub(super) const DIR: i64 = 1;
pub(super) const LINK: i64 = 2;

/// What is to be made.
pub(super) struct New<'a> {
    pub(super) kind: i64,
    pub(super) mode: Mode,
    pub(super) target: Option<&'a str>,
    pub(super) now: Timestamp,
}

impl<'a> New<'a> {
    pub(super) const fn file(mode: Mode, now: Timestamp) -> Self {
        Self { kind: FILE, mode, target: None, now }
    }

    pub(super) const fn dir(mode: Mode, now: Timestamp) -> Self {
        Self { kind: DIR, mode, target: None, now }
    }

    pub(super) const fn link(target: &'a str, now: Timestamp) -> Self {
        Self { kind: LINK, mode: Mode::LINK, target: Some(target), now }
    }
}

/// The volume a transaction works in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Volume {
    pub(super) id: i64,
    pub(super) root: i64,
    pub(super) quota: Quota,
}

impl Tx<'_> {
    /// The volume of that name, made if it is missing.
    pub(super) fn volume(&mut self, name: &str, quota: Quota) -> FileResult<Volume> {
        if let Some(it) = self.find_volume(name, quota)? {
            return Ok(it);
        }
        let make = "INSERT INTO volume(name, root) VALUES (?1, 0)";
        self.conn.execute(make, params![name]).sql()?;
        let id = self.conn.last_insert_rowid();
        let new = New::dir(Mode::DIRECTORY, Timestamp::default());
        let root = self.insert_node(id, None, &new)?;
        self.conn.execute("UPDATE volume SET root = ?2 WHERE id = ?1", params![id, root]).sql()?;
        Ok(Volume { id, root, quota })
    }

    pub(super) fn find_volume(&self, name: &str, quota: Quota) -> FileResult<Option<Volume>> {
        let text = "SELECT id, root FROM volume WHERE name = ?1";
        let get = |row: &rusqlite::Row<'_>| Ok(Volume { id: row.get(0)?, root: row.get(1)?, quota });
        self.conn.query_row(text, params![name], get).optional().sql()
    }

    pub(super) fn look_up(&self, parent: i64, name: &str) -> FileResult<Option<(i64, i64)>> {
        let text = "SELECT node, kind FROM name WHERE parent = ?1 AND name = ?2";
        let mut statement = self.conn.prepare_cached(text).sql()?;
        statement.query_row(params![parent, name], |row| Ok((row.get(0)?, row.get(1)?))).optional().sql()
    }

    pub(super) fn list(&self, dir: i64) -> FileResult<Vec<DirEntry>> {
        let text = "SELECT name, kind, node FROM name WHERE parent = ?1 ORDER BY name";
        let mut statement = self.conn.prepare_cached(text).sql()?;
        let entry = |row: &rusqlite::Row<'_>| {
            Ok(DirEntry {
                name: row.get(0)?,
                kind: kind(row.get(1)?),
                inode: row.get::<_, i64>(2)?.cast_unsigned(),
            })
        };
        let rows = statement.query_map(params![dir], entry).sql()?;
        rows.collect::<rusqlite::Result<_>>().sql()
    }

    pub(super) fn is_empty(&self, dir: i64) -> FileResult<bool> {
        let text = "SELECT NOT EXISTS (SELECT 1 FROM name WHERE parent = ?1)";
        self.conn.prepare_cached(text).sql()?.query_row(params![dir], |row| row.get(0)).sql()
    }

    pub(super) fn parent_of(&self, dir: i64) -> FileResult<i64> {
        let mut statement = self.conn.prepare_cached("SELECT parent FROM node WHERE id = ?1").sql()?;
        let found: Option<Option<i64>> =
            statement.query_row(params![dir], |row| row.get(0)).optional().sql()?;
        Ok(found.ok_or(FileError::NotFound)?.unwrap_or(dir))
    }

    pub(super) fn target_of(&self, link: i64) -> FileResult<String> {
        let mut statement = self.conn.prepare_cached("SELECT target FROM node WHERE id = ?1").sql()?;
        statement.query_row(params![link], |row| row.get(0)).sql()
    }

    /// Facts about a node; `NotFound` if another process removed it for good.
    pub(super) fn facts(&self, node: i64) -> FileResult<Stat> {
        let text = "SELECT kind, links, size, atime, mtime, ctime, mode FROM node WHERE id = ?1";
        let mut statement = self.conn.prepare_cached(text).sql()?;
        let found = statement.query_row(params![node], |row| {
            let at = |column| row.get::<_, i64>(column).map(|it| Timestamp(it.cast_unsigned()));
            Ok(Stat {
                inode: node.cast_unsigned(),
                kind: kind(row.get(0)?),
                mode: Mode::new(row.get(6)?),
                links: row.get::<_, i64>(1)?.cast_unsigned(),
                size: row.get::<_, i64>(2)?.cast_unsigned(),
                accessed: at(3)?,
                modified: at(4)?,
                changed: at(5)?,
            })
        });
        found.optional().sql()?.ok_or(FileError::NotFound)
    }

    /// Makes a node and names it.
    pub(super) fn make(
        &mut self,
        volume: &Volume,
        parent: i64,
        name: &str,
        new: &New<'_>,
    ) -> FileResult<i64> {
        let bytes = new.target.map_or(0, |it| it.len() as u64);
        self.grow(volume, bytes)?;
        let node = self.insert_node(volume.id, Some(parent), new)?;
        self.add_name(volume, parent, name, (node, new.kind), new.now)?;
        Ok(node)
    }

    /// Makes a node without a name: it goes when nobody has the workspace open any more.
    pub(super) fn nameless(&mut self, volume: &Volume, new: &New<'_>) -> FileResult<i64> {
        let node = self.insert_node(volume.id, None, new)?;
        self.conn.execute("UPDATE node SET links = 0 WHERE id = ?1", params![node]).sql()?;
        Ok(node)
    }

    fn insert_node(&mut self, volume: i64, parent: Option<i64>, new: &New<'_>) -> FileResult<i64> {
        let text = "INSERT INTO node(volume, kind, links, size, atime, mtime, ctime, parent, target, mode)
            VALUES (?1, ?2, 1, ?3, ?4, ?4, ?4, ?5, ?6, ?7)";
        let parent = parent.filter(|_| new.kind == DIR);
        let size = new.target.map_or(0, str::len);
        let now = new.now.0.cast_signed();
        let mut statement = self.conn.prepare_cached(text).sql()?;
        statement.execute(params![volume, new.kind, size, now, parent, new.target, new.mode.bits()]).sql()?;
        Ok(self.conn.last_insert_rowid())
    }

    pub(super) fn add_name(
        &mut self,
        volume: &Volume,
        parent: i64,
        name: &str,
        (node, kind): (i64, i64),
        now: Timestamp,
    ) -> FileResult<()> {
        if self.usage(volume.id)?.files.cast_unsigned() >= volume.quota.files_max {
            return Err(FileError::Quota(FileLimit::Files));
        }
        self.grown.entry(volume.id).or_default().files += 1;
        let text = "INSERT INTO name(parent, name, node, kind) VALUES (?1, ?2, ?3, ?4)";
        self.conn.prepare_cached(text).sql()?.execute(params![parent, name, node, kind]).sql()?;
        self.touch(parent, now)
    }

    pub(super) fn remove_name(
        &mut self,
        volume: i64,
        parent: i64,
        name: &str,
        now: Timestamp,
    ) -> FileResult<()> {
        self.grown.entry(volume).or_default().files -= 1;
        let text = "DELETE FROM name WHERE parent = ?1 AND name = ?2";
        self.conn.prepare_cached(text).sql()?.execute(params![parent, name]).sql()?;
        self.touch(parent, now)
    }

    /// Records that a directory's names, or a file's content, changed.
    pub(super) fn touch(&self, node: i64, now: Timestamp) -> FileResult<()> {
        let text = "UPDATE node SET mtime = ?2, ctime = ?2 WHERE id = ?1";
        self.conn.prepare_cached(text).sql()?.execute(params![node, now.0.cast_signed()]).sql().map(|_| ())
    }

    /// One name more or less; answers how many are left.
    pub(super) fn count_link(&self, node: i64, more: i64, now: Timestamp) -> FileResult<i64> {
        let text = "UPDATE node SET links = links + ?2, ctime = ?3 WHERE id = ?1 RETURNING links";
        let mut statement = self.conn.prepare_cached(text).sql()?;
        statement.query_row(params![node, more, now.0.cast_signed()], |row| row.get(0)).sql()
    }

    pub(super) fn set_times(&self, node: i64, times: FileTimes, now: Timestamp) -> FileResult<()> {
        let text = "UPDATE node SET atime = coalesce(?2, atime), mtime = coalesce(?3, mtime), ctime = ?4
            WHERE id = ?1";
        let at = |it: Option<Timestamp>| it.map(|it| it.0.cast_signed());
        let (accessed, modified, now) = (at(times.accessed), at(times.modified), now.0.cast_signed());
        let mut statement = self.conn.prepare_cached(text).sql()?;
        match statement.execute(params![node, accessed, modified, now]).sql()? {
            0 => Err(FileError::NotFound),
            _ => Ok(()),
        }
    }

    pub(super) fn set_mode(&self, node: i64, mode: Mode, now: Timestamp) -> FileResult<()> {
        let text = "UPDATE node SET mode = ?2, ctime = ?3 WHERE id = ?1";
        let mut statement = self.conn.prepare_cached(text).sql()?;
        match statement.execute(params![node, mode.bits(), now.0.cast_signed()]).sql()? {
            0 => Err(FileError::NotFound),
            _ => Ok(()),
        }
    }

    /// Takes room for that many bytes more.
    pub(super) fn grow(&mut self, volume: &Volume, bytes: u64) -> FileResult<()> {
        if bytes == 0 {
            return Ok(());
        }
        let used = self.usage(volume.id)?.bytes.max(0).cast_unsigned();
        if used.saturating_add(bytes) > volume.quota.bytes_max {
            return Err(FileError::Quota(FileLimit::Bytes));
        }
        self.shrink(volume.id, -bytes.cast_signed());
        Ok(())
    }

    pub(super) fn shrink(&mut self, volume: i64, bytes: i64) {
        let grown = self.grown.entry(volume).or_default();
        *grown = grown.less(Usage { bytes, files: 0 });
    }
}

fn kind(code: i64) -> FileKind {
    match code {
        DIR => FileKind::Directory,
        LINK => FileKind::Symlink,
        _ => FileKind::File,
    }
}
