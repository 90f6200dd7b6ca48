//! A tree of files in one volume of a workspace's SQLite file.
//!
//! Every call is one transaction: it happened wholly and survives the process, or it did not happen.
//! Several processes may have the file open; nothing about the tree is cached. Equal content is
//! stored once, by hash. What a guest can make is counted against the volume's [`Quota`].
//!
//! This is not a network file system: a handle sees what other processes write, at once. When a snapshot is
//! restored, handles of before answer `Io`: the file they stood for may not be there any more.

mod alone;
mod branch;
mod content;
mod db;
mod forget;
mod handle;
mod node;
mod open;
mod rename;
mod schema;
mod seal;
mod stream;
mod usage;
mod whole;

use std::{fmt, sync::Arc};

use drydock_contract::{
    Timestamp,
    port::{
        DirEntry, FileError, FileKind, FileLimit, FileResult, FileTimes, Files, Follow, Mode, OpenFile,
        OpenHow, Stat, TreePath,
    },
};

pub(crate) use db::{Db, Sql};
pub use open::OpenWorkspaceError;
pub(crate) use schema::VERSION as LAYOUT;
pub use stream::StreamError;
pub use usage::{FILE_BYTES_MAX, Quota, VOLUME_BYTES_MAX};

use branch::Volumed;
use handle::Handle;
use node::{FILE, LINK, New, Volume};

use crate::tree::{self, Node, Opening};

/// One volume of a workspace.
#[derive(Clone)]
pub struct SqliteFiles {
    db: Arc<Db>,
    volume: Volume,
}

impl SqliteFiles {
    /// The volume of that name, made if it is missing.
    pub(crate) fn new(db: &Arc<Db>, name: &str, quota: Quota) -> FileResult<Self> {
        // Mostly it is there, and a disk without room has no need to know that somebody looks.
        let volume = match db.read(|tx| tx.find_volume(name, quota))? {
            Some(volume) => volume,
            None => db.write(|tx| tx.volume(name, quota))?,
        };
        Ok(Self { db: Arc::clone(db), volume })
    }

    /// The volume of that name in a file that nobody writes any more.
    pub(crate) fn frozen(db: &Arc<Db>, name: &str) -> FileResult<Option<Self>> {
        let volume = db.read(|tx| tx.find_volume(name, Quota::default()))?;
        Ok(volume.map(|volume| Self { db: Arc::clone(db), volume }))
    }

    fn makes(&self, path: &TreePath) -> FileResult<()> {
        let fits = path.as_str().len() <= self.volume.quota.path_bytes_max;
        if fits { Ok(()) } else { Err(FileError::Quota(FileLimit::PathBytes)) }
    }
}

impl fmt::Debug for SqliteFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SqliteFiles({}, volume {})", self.db.path().display(), self.volume.id)
    }
}

impl Files for SqliteFiles {
    fn stat(&self, path: &TreePath, follow: Follow) -> FileResult<Stat> {
        let volume = &self.volume;
        self.db.read(|tx| match tree::node(&Volumed { tx, volume }, path, follow)? {
            Node::Dir(node) | Node::File(node) | Node::Link(node) => tx.facts(node),
        })
    }

    fn open(&self, path: &TreePath, how: OpenHow, now: Timestamp) -> FileResult<Arc<dyn OpenFile>> {
        let volume = &self.volume;
        let handle = |tx: &db::Tx<'_>, node| Arc::new(Handle::new(&self.db, tx, *volume, node, how));
        let looked = |tx: &mut db::Tx<'_>| match tree::for_open(&Volumed { tx, volume }, path, how)? {
            Opening::There(node) => Ok(Some(handle(tx, node))),
            Opening::Make(..) => Ok(None),
        };
        // Most files that are opened are there, and need no write lock.
        if !how.truncate
            && let Some(handle) = self.db.read(looked)?
        {
            return Ok(handle);
        }
        self.makes(path)?;
        let opened: FileResult<Arc<Handle>> = self.db.write(|tx| {
            let node = match tree::for_open(&Volumed { tx, volume }, path, how)? {
                Opening::There(node) => node,
                Opening::Make(parent, name) => tx.make(volume, parent, &name, &New::file(how.mode, now))?,
            };
            if how.truncate {
                tx.set_len(volume, tx.extent(node)?, 0, now)?;
            }
            Ok(handle(tx, node))
        });
        Ok(opened?)
    }

    fn read_dir(&self, path: &TreePath) -> FileResult<Vec<DirEntry>> {
        let volume = &self.volume;
        self.db.read(|tx| match tree::node(&Volumed { tx, volume }, path, Follow::Yes)? {
            Node::Dir(dir) => tx.list(dir),
            Node::File(_) | Node::Link(_) => Err(FileError::NotADirectory),
        })
    }

    fn create_dir(&self, path: &TreePath, mode: Mode, now: Timestamp) -> FileResult<()> {
        let volume = &self.volume;
        self.db.write(|tx| {
            let (parent, name) = tree::for_new(&Volumed { tx, volume }, path)?;
            self.makes(path)?;
            if tx.depth(volume, parent)? >= volume.quota.depth_max {
                return Err(FileError::Quota(FileLimit::Depth));
            }
            tx.make(volume, parent, &name, &New::dir(mode, now)).map(|_| ())
        })
    }

    fn remove_dir(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let volume = &self.volume;
        self.db.write(|tx| {
            let (parent, name, dir) = tree::for_rmdir(&Volumed { tx, volume }, path)?;
            if !tx.is_empty(dir)? {
                return Err(FileError::NotEmpty);
            }
            tx.remove_name(volume.id, parent, &name, now)?;
            tx.forget(volume.id, dir)
        })
    }

    fn unlink(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let volume = &self.volume;
        self.db.write(|tx| {
            let (parent, name, node) = tree::for_unlink(&Volumed { tx, volume }, path)?;
            tx.remove_name(volume.id, parent, &name, now)?;
            tx.unlink(volume.id, node, now)
        })
    }

    fn rename(&self, from: &TreePath, to: &TreePath, now: Timestamp) -> FileResult<()> {
        self.makes(to)?;
        self.db.write(|tx| tx.rename(&self.volume, from, to, now))
    }

    fn link(&self, from: &TreePath, follow: Follow, to: &TreePath, now: Timestamp) -> FileResult<()> {
        let volume = &self.volume;
        self.makes(to)?;
        self.db.write(|tx| {
            let tree = Volumed { tx, volume };
            let (node, kind) = match tree::node(&tree, from, follow)? {
                // A second name for a directory would make the tree a graph.
                Node::Dir(_) => return Err(FileError::Denied),
                Node::File(node) => (node, FILE),
                Node::Link(node) => (node, LINK),
            };
            let (parent, name) = tree::for_link(&tree, to)?;
            tx.add_name(volume, parent, &name, (node, kind), now)?;
            tx.count_link(node, 1, now).map(|_| ())
        })
    }

    fn symlink(&self, target: &str, path: &TreePath, now: Timestamp) -> FileResult<()> {
        tree::sayable(target)?;
        let volume = &self.volume;
        self.makes(path)?;
        self.db.write(|tx| {
            let (parent, name) = tree::for_link(&Volumed { tx, volume }, path)?;
            tx.make(volume, parent, &name, &New::link(target, now)).map(|_| ())
        })
    }

    fn read_link(&self, path: &TreePath) -> FileResult<String> {
        let volume = &self.volume;
        self.db.read(|tx| tree::target(&Volumed { tx, volume }, path))
    }

    fn set_times(&self, path: &TreePath, follow: Follow, times: FileTimes, now: Timestamp) -> FileResult<()> {
        let volume = &self.volume;
        self.db.write(|tx| match tree::node(&Volumed { tx, volume }, path, follow)? {
            Node::Dir(node) | Node::File(node) | Node::Link(node) => tx.set_times(node, times, now),
        })
    }

    fn set_mode(&self, path: &TreePath, follow: Follow, mode: Mode, now: Timestamp) -> FileResult<()> {
        let volume = &self.volume;
        self.db.write(|tx| match tree::node(&Volumed { tx, volume }, path, follow)? {
            Node::Link(_) => Err(FileError::Unsupported),
            Node::Dir(node) | Node::File(node) => tx.set_mode(node, mode, now),
        })
    }

    fn trail(&self, path: &TreePath) -> Vec<FileKind> {
        let volume = &self.volume;
        self.db.read(|tx| Ok(tree::trail(&Volumed { tx, volume }, path))).unwrap_or_default()
    }
}

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;
