//! A tree that can be written over one that is not: what changes goes into the upper tree, and the
//! lower one is never touched.
//!
//! A name of the lower tree is hidden by a whiteout, a file in the upper tree whose name starts with
//! `.wh.`; such names are nobody else's. A whiteout hides the lower tree under that name even where
//! the upper tree has something there, so a directory that was removed and made again starts empty.
//! A file is copied up when it is first written, and handles that were open before see what is
//! written after. Hard links that the lower tree has are copied up one name at a time.

mod branch;
mod change;
mod copy;
mod handle;
mod note;
mod rename;

use std::{collections::HashMap, fmt, sync::Arc};

use drydock_contract::{
    Timestamp,
    port::{
        DirEntry, FileError, FileKind, FileResult, FileTimes, Files, Follow, Interrupt, Mode, OpenFile,
        OpenHow, Stat, TreePath,
    },
};
use parking_lot::Mutex;

use branch::Layers;
pub(crate) use change::same_bytes;
pub use change::{Change, ChangeKind};
use handle::{Handle, Known};
pub(crate) use note::{Notes, Seen};

use crate::tree::{self, Node, Opening};

/// Copy-on-write over any tree.
#[derive(Clone)]
pub struct Overlay {
    layers: Arc<Layers>,
    /// Asked by what takes long; see [`Files::until`].
    time_is_up: Option<Interrupt>,
}

impl Overlay {
    /// What `lower` holds, changed as `upper` says; `upper` takes the changes.
    pub fn new(lower: Arc<dyn Files>, upper: Arc<dyn Files>) -> Self {
        Self::layered(lower, upper, None)
    }

    /// The same, and what `lower` was before something of it changed is noted.
    pub(crate) fn noting(lower: Arc<dyn Files>, upper: Arc<dyn Files>, notes: Arc<dyn Notes>) -> Self {
        Self::layered(lower, upper, Some(notes))
    }

    fn layered(lower: Arc<dyn Files>, upper: Arc<dyn Files>, notes: Option<Arc<dyn Notes>>) -> Self {
        let known = Known { open: HashMap::new(), inodes: HashMap::new(), time_is_up: None };
        let layers = Layers { lower, upper, notes, known: Mutex::new(known) };
        Self { layers: Arc::new(layers), time_is_up: None }
    }

    /// What is different from the lower tree, sorted by path.
    pub fn changes(&self) -> FileResult<Vec<Change>> {
        let _still = self.layers.lock(None)?;
        self.layers.changes()
    }
}

impl fmt::Debug for Overlay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Overlay(..)")
    }
}

impl Files for Overlay {
    fn stat(&self, path: &TreePath, follow: Follow) -> FileResult<Stat> {
        let known = self.layers.lock(self.time_is_up.as_ref())?;
        match tree::node(&*self.layers, path, follow)? {
            Node::Dir(dir) => self.layers.stat_dir(&dir),
            Node::File(leaf) | Node::Link(leaf) => self.layers.stat_leaf(&known, &leaf),
        }
    }

    fn open(&self, path: &TreePath, how: OpenHow, now: Timestamp) -> FileResult<Arc<dyn OpenFile>> {
        let layers = &self.layers;
        let mut known = layers.lock(self.time_is_up.as_ref())?;
        let how_upper = OpenHow { nofollow: true, ..how };
        let opened = match tree::for_open(&**layers, path, how)? {
            Opening::There(leaf) if !leaf.upper && !how.truncate => {
                let lower = known.lower(layers, &leaf)?;
                return Ok(Arc::new(Handle::of_lower(layers, lower, how, self.time_is_up.clone())));
            }
            Opening::There(leaf) => {
                if !leaf.upper {
                    layers.copy_up(&mut known, &leaf, Some(0), now)?;
                }
                layers.upper.open(&leaf.path, how_upper, now)
            }
            Opening::Make(dir, name) => {
                layers.raise(&dir, now)?;
                layers.upper.open(&dir.below(&name)?, how_upper, now)
            }
        };
        Ok(Arc::new(Handle::of_upper(layers, opened?, how)))
    }

    fn read_dir(&self, path: &TreePath) -> FileResult<Vec<DirEntry>> {
        let known = self.layers.lock(self.time_is_up.as_ref())?;
        let Node::Dir(dir) = tree::node(&*self.layers, path, Follow::Yes)? else {
            return Err(FileError::NotADirectory);
        };
        self.layers.list(&known, &dir)
    }

    fn create_dir(&self, path: &TreePath, mode: Mode, now: Timestamp) -> FileResult<()> {
        let _known = self.layers.lock(self.time_is_up.as_ref())?;
        let (dir, name) = tree::for_new(&*self.layers, path)?;
        self.layers.raise(&dir, now)?;
        self.layers.upper.create_dir(&dir.below(&name)?, mode, now)
    }

    fn remove_dir(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let known = self.layers.lock(self.time_is_up.as_ref())?;
        let (parent, name, dir) = tree::for_rmdir(&*self.layers, path)?;
        if !self.layers.list(&known, &dir)?.is_empty() {
            return Err(FileError::NotEmpty);
        }
        self.layers.remove_dir(&parent, &name, &dir, now)
    }

    fn unlink(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let mut known = self.layers.lock(self.time_is_up.as_ref())?;
        let (dir, name, leaf) = tree::for_unlink(&*self.layers, path)?;
        self.layers.hide(&dir, &name, now)?;
        if !leaf.upper {
            return known.detach(&leaf);
        }
        self.layers.forget_inode(&mut known, &leaf)?;
        self.layers.upper.unlink(&leaf.path, now)
    }

    fn rename(&self, from: &TreePath, to: &TreePath, now: Timestamp) -> FileResult<()> {
        let mut known = self.layers.lock(self.time_is_up.as_ref())?;
        self.layers.rename(&mut known, from, to, now)
    }

    fn link(&self, from: &TreePath, follow: Follow, to: &TreePath, now: Timestamp) -> FileResult<()> {
        let mut known = self.layers.lock(self.time_is_up.as_ref())?;
        let leaf = match tree::node(&*self.layers, from, follow)? {
            Node::Dir(_) => return Err(FileError::Denied),
            Node::File(leaf) | Node::Link(leaf) => leaf,
        };
        let (dir, name) = tree::for_link(&*self.layers, to)?;
        if !leaf.upper {
            self.layers.copy_up(&mut known, &leaf, None, now)?;
        }
        self.layers.raise(&dir, now)?;
        self.layers.upper.link(&leaf.path, Follow::No, &dir.below(&name)?, now)
    }

    fn symlink(&self, target: &str, path: &TreePath, now: Timestamp) -> FileResult<()> {
        tree::sayable(target)?;
        let _known = self.layers.lock(self.time_is_up.as_ref())?;
        let (dir, name) = tree::for_link(&*self.layers, path)?;
        self.layers.raise(&dir, now)?;
        self.layers.upper.symlink(target, &dir.below(&name)?, now)
    }

    fn read_link(&self, path: &TreePath) -> FileResult<String> {
        let _known = self.layers.lock(self.time_is_up.as_ref())?;
        tree::target(&*self.layers, path)
    }

    fn set_times(&self, path: &TreePath, follow: Follow, times: FileTimes, now: Timestamp) -> FileResult<()> {
        let mut known = self.layers.lock(self.time_is_up.as_ref())?;
        let node = tree::node(&*self.layers, path, follow)?;
        let path = self.layers.raise_node(&mut known, node, now)?;
        self.layers.upper.set_times(&path, Follow::No, times, now)
    }

    fn set_mode(&self, path: &TreePath, follow: Follow, mode: Mode, now: Timestamp) -> FileResult<()> {
        let mut known = self.layers.lock(self.time_is_up.as_ref())?;
        let node = tree::node(&*self.layers, path, follow)?;
        if matches!(node, Node::Link(_)) {
            return Err(FileError::Unsupported);
        }
        let path = self.layers.raise_node(&mut known, node, now)?;
        self.layers.upper.set_mode(&path, Follow::No, mode, now)
    }

    fn trail(&self, path: &TreePath) -> Vec<FileKind> {
        let Ok(_known) = self.layers.lock(self.time_is_up.as_ref()) else { return Vec::new() };
        tree::trail(&*self.layers, path)
    }

    fn until(&self, time_is_up: &Interrupt) -> Option<Arc<dyn Files>> {
        let layers = Arc::clone(&self.layers);
        Some(Arc::new(Self { layers, time_is_up: Some(Arc::clone(time_is_up)) }))
    }
}

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;
