//! A tree of files in memory, charged to the run it is for.
//!
//! An empty one costs nothing to make: it happens for every run. Content is charged by what is
//! really allocated, nodes and names by a flat fee, before anything is allocated; it is given back
//! when the last name and the last handle are gone. A full meter is a full disk to the guest.
//!
//! One lock for names, one for each file's content: handles read and write without the tree.
//! Nothing here reads a clock, so the same calls leave the same tree; reading is not recorded.

mod charge;
mod convenience;
mod handle;
mod leaf;
mod rename;
mod tree;
mod walk;

use std::{fmt, sync::Arc};

use drydock_contract::{
    Meter, Timestamp,
    port::{
        DirEntry, FileError, FileKind, FileResult, FileTimes, Files, Follow, Mode, OpenFile, OpenHow, Stat,
        TreePath,
    },
};
use parking_lot::Mutex;

use handle::Handle;
use leaf::Leaf;
use tree::{Node, Tree};
use walk::{Last, Spot};

/// The most names in one tree.
pub const FILES_MAX: usize = 65_536;
/// The most directories inside one another.
pub const DEPTH_MAX: usize = 128;

/// A tree of files in memory.
pub struct MemoryFiles {
    tree: Mutex<Tree>,
}

impl MemoryFiles {
    /// An empty tree that charges what it holds to `meter`.
    pub fn with(meter: Arc<Meter>) -> Self {
        Self { tree: Mutex::new(Tree::new(meter)) }
    }
}

impl fmt::Debug for MemoryFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryFiles(..)")
    }
}

impl Files for MemoryFiles {
    fn stat(&self, path: &TreePath, follow: Follow) -> FileResult<Stat> {
        let tree = self.tree.lock();
        match tree.node(path, follow)? {
            Node::Dir(id) => Ok(tree.dir(id)?.stat(id)),
            Node::Leaf(leaf) => Ok(leaf.stat()),
        }
    }

    fn open(&self, path: &TreePath, how: OpenHow, now: Timestamp) -> FileResult<Arc<dyn OpenFile>> {
        if how.truncate && !how.write {
            return Err(FileError::Invalid);
        }
        let mut tree = self.tree.lock();
        let exclusive = how.create && how.exclusive;
        let last = match (exclusive, how.nofollow) {
            (true, _) => Last::Itself,
            (false, true) => Last::ItselfUnlessSlash,
            (false, false) => Last::Target,
        };
        let leaf = match tree.walk(path, last)? {
            Spot { node: Some(_), .. } if exclusive => return Err(FileError::Exists),
            Spot { node: Some(Node::Dir(_)), .. } => return Err(FileError::IsADirectory),
            Spot { node: Some(Node::Leaf(_)), slash: true, .. } => return Err(FileError::NotADirectory),
            Spot { node: Some(Node::Leaf(leaf)), .. } => leaf,
            Spot { node: None, .. } if !how.create => return Err(FileError::NotFound),
            Spot { node: None, slash: true, .. } => return Err(FileError::IsADirectory),
            Spot { parent, name, .. } => tree.add_file(parent, name, how.mode, now)?,
        };
        drop(tree);
        match leaf.kind() {
            FileKind::Symlink => return Err(FileError::Loop),
            _ if how.truncate => leaf.set_len(0, now)?,
            _ => {}
        }
        Ok(Arc::new(Handle { leaf, read: how.read, write: how.write }))
    }

    fn read_dir(&self, path: &TreePath) -> FileResult<Vec<DirEntry>> {
        let tree = self.tree.lock();
        match tree.node(path, Follow::Yes)? {
            Node::Dir(id) => Ok(tree.dir(id)?.list()),
            Node::Leaf(_) => Err(FileError::NotADirectory),
        }
    }

    fn create_dir(&self, path: &TreePath, mode: Mode, now: Timestamp) -> FileResult<()> {
        let mut tree = self.tree.lock();
        let spot = tree.walk(path, Last::Itself)?;
        match spot.node {
            Some(_) => Err(FileError::Exists),
            None if path.as_str().ends_with("/.") => Err(FileError::NotFound),
            None => tree.add_dir(spot.parent, spot.name, mode, now),
        }
    }

    fn remove_dir(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let mut tree = self.tree.lock();
        let spot = tree.walk(path, Last::Itself)?;
        match spot.node {
            None => Err(FileError::NotFound),
            Some(Node::Leaf(_)) => Err(FileError::NotADirectory),
            Some(Node::Dir(id)) => {
                spot_has_a_name(&spot.name, path)?;
                tree.remove_dir(spot.parent, &spot.name, id, now)
            }
        }
    }

    fn unlink(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let mut tree = self.tree.lock();
        let spot = tree.walk(path, Last::Itself)?;
        match spot.node {
            None => Err(FileError::NotFound),
            Some(Node::Dir(_)) => Err(FileError::IsADirectory),
            Some(Node::Leaf(_)) if spot.slash => Err(FileError::NotADirectory),
            Some(Node::Leaf(_)) => tree.remove_leaf(spot.parent, &spot.name, now),
        }
    }

    fn rename(&self, from: &TreePath, to: &TreePath, now: Timestamp) -> FileResult<()> {
        self.tree.lock().rename(from, to, now)
    }

    fn link(&self, from: &TreePath, follow: Follow, to: &TreePath, now: Timestamp) -> FileResult<()> {
        let mut tree = self.tree.lock();
        // A second name for a directory would make the tree a graph.
        let Node::Leaf(leaf) = tree.node(from, follow)? else { return Err(FileError::Denied) };
        let spot = tree.walk(to, Last::Itself)?;
        match spot.node {
            Some(_) => Err(FileError::Exists),
            None if spot.slash => Err(FileError::NotFound),
            None => tree.add_link(spot.parent, spot.name, leaf, now),
        }
    }

    fn symlink(&self, target: &str, path: &TreePath, now: Timestamp) -> FileResult<()> {
        if target.is_empty() {
            return Err(FileError::NotFound);
        }
        if target.contains('\0') {
            return Err(FileError::Invalid);
        }
        if target.len() > TreePath::BYTES_MAX {
            return Err(FileError::NameTooLong);
        }
        let mut tree = self.tree.lock();
        let spot = tree.walk(path, Last::Itself)?;
        match spot.node {
            Some(_) => Err(FileError::Exists),
            None if spot.slash => Err(FileError::NotFound),
            None => tree.add_symlink(spot.parent, spot.name, target, now),
        }
    }

    fn read_link(&self, path: &TreePath) -> FileResult<String> {
        match self.tree.lock().node(path, Follow::No)? {
            Node::Leaf(leaf) => leaf.target().ok_or(FileError::Invalid),
            Node::Dir(_) => Err(FileError::Invalid),
        }
    }

    fn set_times(&self, path: &TreePath, follow: Follow, times: FileTimes, now: Timestamp) -> FileResult<()> {
        let mut tree = self.tree.lock();
        match tree.node(path, follow)? {
            Node::Dir(id) => tree.dir_mut(id)?.times.set(times, now),
            Node::Leaf(leaf) => leaf.set_times(times, now),
        }
        Ok(())
    }

    fn set_mode(&self, path: &TreePath, follow: Follow, mode: Mode, now: Timestamp) -> FileResult<()> {
        let mut tree = self.tree.lock();
        match tree.node(path, follow)? {
            Node::Dir(id) => {
                let dir = tree.dir_mut(id)?;
                (dir.mode, dir.times.changed) = (mode, now);
            }
            Node::Leaf(leaf) if leaf.kind() == FileKind::Symlink => return Err(FileError::Unsupported),
            Node::Leaf(leaf) => leaf.set_mode(mode, now),
        }
        Ok(())
    }

    fn trail(&self, path: &TreePath) -> Vec<FileKind> {
        self.tree.lock().trail(path)
    }
}

/// The root, and what ends in `.` or `..`, cannot be removed or moved by that name.
fn spot_has_a_name(name: &str, path: &TreePath) -> FileResult<()> {
    if path.as_str().ends_with("/.") || path.as_str() == "." {
        return Err(FileError::Invalid);
    }
    match (name.is_empty(), path.names().last()) {
        (false, _) => Ok(()),
        (true, Some("..")) => Err(FileError::NotEmpty),
        (true, _) => Err(FileError::Denied),
    }
}

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;
