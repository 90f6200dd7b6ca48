//! A host directory that a run changed without touching it: what changed, writing it there, or
//! forgetting it. The changes lie in a volume of the workspace, `cow:` and the mount's name.
//!
//! Committing needs no undoing: changes are told by comparing content, so what was written before a
//! kill is no change any more, and what was not is one still. The journal only remembers the
//! temporary files that may lie about.

use std::sync::Arc;

use drydock_contract::{
    Timestamp,
    port::{FileError, FileKind, FileResult, Files as _, Follow, OpenHow, TreePath},
};
use rusqlite::{OptionalExtension as _, params};

use super::{Workspace, WorkspaceName};
use crate::{Change, ChangeKind, HostDir, Overlay, SqliteFiles, host::Installed, sqlite::Sql as _};

const READ: OpenHow =
    OpenHow { read: true, write: false, create: false, exclusive: false, truncate: false, nofollow: true };

/// A host directory under copy-on-write.
#[derive(Debug)]
pub struct Mounted {
    workspace: Workspace,
    name: WorkspaceName,
    host: Arc<HostDir>,
    upper: SqliteFiles,
    overlay: Overlay,
}

impl Workspace {
    /// The host directory as this workspace changed it, under the name of a mount. To be committed,
    /// the directory must have been opened to write.
    pub fn mount(&self, name: &WorkspaceName, host: Arc<HostDir>) -> FileResult<Mounted> {
        let upper = SqliteFiles::new(&self.db, &format!("cow:{name}"), self.quota)?;
        let overlay = Overlay::new(Arc::clone(&host) as _, Arc::new(upper.clone()));
        Ok(Mounted { workspace: self.clone(), name: name.clone(), host, upper, overlay })
    }
}

impl Mounted {
    /// The tree to give to a guest.
    pub fn files(&self) -> Overlay {
        self.overlay.clone()
    }

    /// What is different from the host directory.
    pub fn diff(&self) -> FileResult<Vec<Change>> {
        self.overlay.changes()
    }

    /// Writes what is different to the host directory, and then forgets it here. Each file is the
    /// old one or the new one at every moment; after a kill, call it again. Answers what it wrote.
    pub fn commit(&self, now: Timestamp) -> FileResult<Vec<Change>> {
        self.tidy()?;
        let changes = self.diff()?;
        let nonce = getrandom::u64().map_err(|_| FileError::Io)?;
        let temporary = format!(".drydock-{nonce:016x}");
        self.begin(&temporary, &changes)?;
        // What takes a name from another kind of thing makes room first.
        let gives_way = |it: &Change| it.was.is_some() && it.is.is_some() && it.was != it.is;
        for change in changes.iter().rev() {
            let below = |it: &Change| change.path.starts_with(&format!("{}/", it.path));
            let in_the_way =
                change.kind == ChangeKind::Removed && changes.iter().any(|it| gives_way(it) && below(it));
            let dir = change.was == Some(FileKind::Directory) || change.is == Some(FileKind::Directory);
            if in_the_way || (gives_way(change) && dir) {
                self.remove(change, now)?;
            }
        }
        for change in changes.iter().filter(|it| it.kind != ChangeKind::Removed) {
            self.write(change, &temporary, now)?;
        }
        // Deepest first: the list is sorted.
        for change in changes.iter().rev().filter(|it| it.kind == ChangeKind::Removed) {
            self.remove(change, now)?;
        }
        self.forget(now)?;
        Ok(changes)
    }

    /// Forgets what is different.
    pub fn discard(&self, now: Timestamp) -> FileResult<()> {
        self.tidy()?;
        self.forget(now)
    }

    fn write(&self, change: &Change, temporary: &str, now: Timestamp) -> FileResult<()> {
        let path = TreePath::new(&change.path)?;
        match change.is {
            None => Ok(()),
            Some(FileKind::Directory) => match self.host.create_dir(&path, now) {
                Err(FileError::Exists) => Ok(()),
                done => done,
            },
            Some(FileKind::Symlink) => {
                let target = self.overlay.read_link(&path)?;
                self.host.install(&path, &Installed::Link { target: &target }, temporary)
            }
            Some(FileKind::File) => {
                let modified = self.overlay.stat(&path, Follow::No)?.modified;
                let source = self.overlay.open(&path, READ, now)?;
                self.host.install(&path, &Installed::File { source: &*source, modified }, temporary)
            }
        }
    }

    fn remove(&self, change: &Change, now: Timestamp) -> FileResult<()> {
        let path = TreePath::new(&change.path)?;
        let done = match change.was {
            None => return Ok(()),
            Some(FileKind::Directory) => self.host.remove_dir(&path, now),
            Some(FileKind::File | FileKind::Symlink) => self.host.unlink(&path, now),
        };
        match done {
            // Removed already, by the first round or before a kill.
            Err(FileError::NotFound | FileError::NotADirectory) => Ok(()),
            done => done,
        }
    }

    fn begin(&self, temporary: &str, changes: &[Change]) -> FileResult<()> {
        let paths: Vec<&str> =
            changes.iter().filter(|it| it.is.is_some()).map(|it| it.path.as_str()).collect();
        let paths = serde_json::to_string(&paths).map_err(|_| FileError::Io)?;
        self.workspace.db.with_connection(|conn| {
            let text = "INSERT OR REPLACE INTO pending(mount, nonce, paths) VALUES (?1, ?2, ?3)";
            conn.execute(text, params![self.name.as_str(), temporary, paths]).sql().map(|_| ())
        })
    }

    /// Removes the temporary file a killed commit may have left.
    fn tidy(&self) -> FileResult<()> {
        let found: Option<(String, String)> = self.workspace.db.with_connection(|conn| {
            let text = "SELECT nonce, paths FROM pending WHERE mount = ?1";
            conn.query_row(text, params![self.name.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
                .sql()
        })?;
        let Some((temporary, paths)) = found else { return Ok(()) };
        let paths: Vec<String> = serde_json::from_str(&paths).map_err(|_| FileError::Io)?;
        for path in paths {
            self.host.tidy(&TreePath::new(&path)?, &temporary)?;
        }
        Ok(())
    }

    fn forget(&self, now: Timestamp) -> FileResult<()> {
        self.upper.clear(now)?;
        self.workspace.db.with_connection(|conn| {
            conn.execute("DELETE FROM pending WHERE mount = ?1", params![self.name.as_str()])
                .sql()
                .map(|_| ())
        })
    }
}
