//! Looking into a workspace, and putting into it: by the paths a guest would use.

use drydock_contract::{
    Timestamp,
    port::{FileError, FileKind, FileResult, Files as _, Follow, Mode, OpenFile, OpenHow, TreePath},
};
use std::{
    io::{Read, Write},
    sync::Arc,
};

use super::{Volume, Workspace};
use crate::{FILE_BYTES_MAX, Mounts, StreamError, sqlite::Sql as _};

/// One name, for a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// What it stands for.
    pub kind: FileKind,
    /// Its length.
    pub size: u64,
    /// When its content last changed.
    pub modified: Timestamp,
}

/// How much one tree holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VolumeFacts {
    /// `workspace`, `memory`, `tmp`, or `cow:` and the name of a mount.
    pub name: String,
    /// Regular files, by name.
    pub files: u64,
    /// Directories, the root not counted.
    pub directories: u64,
    /// Symbolic links.
    pub links: u64,
    /// Bytes of all files.
    pub bytes: u64,
}

/// How much a workspace holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceFacts {
    /// Its trees.
    pub volumes: Vec<VolumeFacts>,
    /// Bytes of content after equal content is counted once.
    pub stored_bytes: u64,
    /// Bytes of its database.
    pub database_bytes: u64,
    /// Mounts whose commit was begun and not finished.
    pub pending: Vec<String>,
}

impl Workspace {
    /// The trees as a guest sees them: `/workspace`, `/memory` and `/tmp`.
    pub fn mounts(&self) -> FileResult<Mounts> {
        let mut mounts = Mounts::new();
        for volume in Volume::ALL {
            mounts.mount(volume.name(), Arc::new(self.files(volume).clone()))?;
        }
        Ok(mounts)
    }

    /// What a path means: `/memory/x` is in `memory`, `x` is in `workspace`.
    pub fn locate(&self, path: &str) -> FileResult<(Volume, TreePath)> {
        let Some(absolute) = path.strip_prefix('/') else {
            return Ok((Volume::Workspace, TreePath::new(path)?));
        };
        let (first, rest) = absolute.split_once('/').unwrap_or((absolute, ""));
        let volume = Volume::ALL.into_iter().find(|it| it.name() == first).ok_or(FileError::NotFound)?;
        Ok((volume, TreePath::new(rest)?))
    }

    /// The names in a directory, or the one name of a file.
    pub fn ls(&self, path: &str) -> FileResult<Vec<Entry>> {
        let (volume, path) = self.locate(path)?;
        let files = self.files(volume);
        let facts = files.stat(&path, Follow::Yes)?;
        if facts.kind != FileKind::Directory {
            let name = path.names().last().unwrap_or_default().to_owned();
            return Ok(vec![Entry { name, kind: facts.kind, size: facts.size, modified: facts.modified }]);
        }
        let mut entries = Vec::new();
        for it in files.read_dir(&path)? {
            // It may have gone since it was listed.
            match files.stat(&path.join(&it.name)?, Follow::No) {
                Ok(facts) => entries.push(Entry {
                    name: it.name,
                    kind: facts.kind,
                    size: facts.size,
                    modified: facts.modified,
                }),
                Err(FileError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(entries)
    }

    /// The content of a file.
    pub fn get(&self, path: &str) -> FileResult<Vec<u8>> {
        let (volume, path) = self.locate(path)?;
        self.files(volume).get(&path, FILE_BYTES_MAX)
    }

    /// Opens a file for whoever reads it a piece at a time. It can be read to its end though its name goes away meanwhile;
    /// what others write into it is seen by the pieces that come after.
    pub fn open_to_read(&self, path: &str, now: Timestamp) -> FileResult<Arc<dyn OpenFile>> {
        let (volume, path) = self.locate(path)?;
        self.files(volume).open(&path, OpenHow { read: true, ..OpenHow::NONE }, now)
    }

    /// Puts a file there, making the directories above it. Answered `Ok`, it survives.
    pub fn put(&self, path: &str, bytes: &[u8], now: Timestamp) -> FileResult<()> {
        let (volume, path) = self.locate(path)?;
        self.files(volume).put(&path, bytes, now)
    }

    /// Puts a file there with all that `source` has; see [`SqliteFiles::put_from`](crate::SqliteFiles::put_from).
    pub fn put_from(&self, path: &str, source: &mut dyn Read, now: Timestamp) -> Result<u64, StreamError> {
        let (volume, path) = self.locate(path)?;
        self.files(volume).put_from(&path, source, now)
    }

    /// Writes the content of a file to `sink`.
    pub fn get_into(&self, path: &str, sink: &mut dyn Write) -> Result<u64, StreamError> {
        let (volume, path) = self.locate(path)?;
        self.files(volume).get_into(&path, sink)
    }

    /// The permissions of what a path names.
    pub fn mode(&self, path: &str) -> FileResult<Mode> {
        let (volume, path) = self.locate(path)?;
        Ok(self.files(volume).stat(&path, Follow::Yes)?.mode)
    }

    /// Removes a file, a link, or a directory with all that is in it.
    pub fn rm(&self, path: &str, now: Timestamp) -> FileResult<()> {
        let (volume, path) = self.locate(path)?;
        self.files(volume).remove_all(&path, now)
    }

    /// How much it holds.
    pub fn show(&self) -> FileResult<WorkspaceFacts> {
        self.db.with_connection(|conn| {
            let text = "SELECT v.name, count(*) FILTER (WHERE t.kind = 'file'),
                    count(*) FILTER (WHERE t.kind = 'dir'), count(*) FILTER (WHERE t.kind = 'link'),
                    coalesce(sum(t.size) FILTER (WHERE t.kind = 'file'), 0)
                FROM volume v LEFT JOIN tree t ON t.volume = v.name GROUP BY v.id ORDER BY v.id";
            let mut statement = conn.prepare(text).sql()?;
            let number = |row: &rusqlite::Row<'_>, at| row.get::<_, i64>(at).map(i64::cast_unsigned);
            let rows = statement.query_map([], |row| {
                Ok(VolumeFacts {
                    name: row.get(0)?,
                    files: number(row, 1)?,
                    directories: number(row, 2)?,
                    links: number(row, 3)?,
                    bytes: number(row, 4)?,
                })
            });
            let volumes = rows.sql()?.collect::<rusqlite::Result<_>>().sql()?;
            let text = "SELECT (SELECT coalesce(sum(length(bytes)), 0) FROM content),
                (SELECT page_count * page_size FROM pragma_page_count, pragma_page_size)";
            let (stored_bytes, database_bytes) =
                conn.query_row(text, [], |row| Ok((number(row, 0)?, number(row, 1)?))).sql()?;
            let mut statement = conn.prepare("SELECT mount FROM pending ORDER BY mount").sql()?;
            let pending =
                statement.query_map([], |row| row.get(0)).sql()?.collect::<rusqlite::Result<_>>().sql()?;
            Ok(WorkspaceFacts { volumes, stored_bytes, database_bytes, pending })
        })
    }
}
