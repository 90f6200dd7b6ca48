//! Several trees under one root, each at its place: what a guest sees as `/`.
//!
//! Paths are walked here, so that `..` and links lead from one tree into another and never out of
//! the root; each tree is then asked for a path without links, `..` or surprises. A tree that changes
//! in between can only answer with an error, because it confines itself. Moving from one tree into
//! another is `CrossDevice`. A mounted tree, and a directory that leads to one, cannot be removed or
//! renamed. Trees may be mounted inside others, in any order.

mod branch;
mod handle;
mod point;

use std::{collections::BTreeMap, fmt, sync::Arc};

use drydock_contract::{
    Meter, Timestamp,
    port::{
        DirEntry, FileError, FileKind, FileResult, FileTimes, Files, Follow, Interrupt, Mode, OpenFile,
        OpenHow, Stat, TreePath,
    },
};

use branch::{Dir, Leaf, salted, way};
use handle::Handle;
pub use point::{MountError, MountPoint};

use crate::{
    MemoryFiles,
    tree::{self, Last, Node, Opening, Spot},
};

/// Several trees under one root.
pub struct Mounts {
    /// The first is the root itself.
    trees: Vec<Arc<dyn Files>>,
    /// The first is the root's.
    points: Arc<Vec<Point>>,
    root_is_fixed: bool,
    /// Something was mounted at `/` in the place of what was there.
    root_is_mounted: bool,
}

/// A mount point, or a directory on the way to one.
#[derive(Debug, Clone, Default)]
struct Point {
    tree: Option<usize>,
    below: BTreeMap<String, usize>,
}

/// Where something is, or would be, in one tree.
struct Place {
    tree: usize,
    path: TreePath,
}

impl Mounts {
    /// Nothing mounted yet, and nothing can be made beside the mounts.
    pub fn new() -> Self {
        let nothing = MemoryFiles::with(Arc::new(Meter::new(0)));
        Self { root_is_fixed: true, ..Self::over(Arc::new(nothing)) }
    }

    /// Mounts over a tree that is the root, and stays writable if it is.
    pub fn over(root: Arc<dyn Files>) -> Self {
        let top = Point { tree: Some(0), below: BTreeMap::new() };
        Self { trees: vec![root], points: Arc::new(vec![top]), root_is_fixed: false, root_is_mounted: false }
    }

    /// Shows a tree at `/path`, hiding what is there, and making the way to it visible.
    pub fn mount(&mut self, path: &str, files: Arc<dyn Files>) -> Result<(), MountError> {
        let place: MountPoint = path.parse()?;
        let (mut at, points) = (0, Arc::make_mut(&mut self.points));
        for name in place.names() {
            let next = points.len();
            at = *points[at].below.entry(name.to_owned()).or_insert(next);
            if at == next {
                points.push(Point::default());
            }
        }
        let taken = if place.is_root() { self.root_is_mounted } else { points[at].tree.is_some() };
        if taken {
            return Err(MountError::Taken(place));
        }
        if place.is_root() {
            self.trees[0] = files;
            (self.root_is_fixed, self.root_is_mounted) = (false, true);
            return Ok(());
        }
        points[at].tree = Some(self.trees.len());
        self.trees.push(files);
        Ok(())
    }

    fn tree(&self, place: &Place) -> &dyn Files {
        &*self.trees[place.tree]
    }

    fn point_below(&self, dir: &Dir, name: &str) -> Option<usize> {
        self.points[dir.point?].below.get(name).copied()
    }

    /// Where a name is about to change.
    fn changes(&self, dir: &Dir, name: &str) -> FileResult<Place> {
        if self.point_below(dir, name).is_some() {
            return Err(FileError::Denied);
        }
        if !dir.real || (dir.tree == 0 && self.root_is_fixed) {
            return Err(FileError::ReadOnly);
        }
        Ok(Place { tree: dir.tree, path: dir.path.join(name)? })
    }

    fn spot(&self, spot: &Spot<Arc<Dir>, Leaf>) -> FileResult<Place> {
        self.changes(&spot.parent, &spot.name)
    }

    /// Where the facts of something are about to change.
    fn changes_facts(&self, path: &TreePath, follow: Follow) -> FileResult<Place> {
        let place = match tree::node(self, path, follow)? {
            Node::Dir(dir) if !dir.real => return Err(FileError::ReadOnly),
            Node::Dir(dir) => Place { tree: dir.tree, path: dir.path.clone() },
            Node::File(leaf) | Node::Link(leaf) => place_of(leaf),
        };
        if place.tree == 0 && self.root_is_fixed {
            return Err(FileError::ReadOnly);
        }
        Ok(place)
    }

    fn stat_node(&self, node: &Node<Arc<Dir>, Leaf>) -> FileResult<Stat> {
        let (tree, path) = match node {
            Node::Dir(dir) if !dir.real => return Ok(way(dir.point.unwrap_or_default())),
            Node::Dir(dir) => (dir.tree, &dir.path),
            Node::File(leaf) | Node::Link(leaf) => (leaf.tree, &leaf.path),
        };
        let facts = self.trees[tree].stat(path, Follow::No)?;
        Ok(Stat { inode: salted(tree, facts.inode), ..facts })
    }
}

impl Default for Mounts {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Mounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mounts").field(&self.points).finish()
    }
}

impl Files for Mounts {
    fn stat(&self, path: &TreePath, follow: Follow) -> FileResult<Stat> {
        self.stat_node(&tree::node(self, path, follow)?)
    }

    fn open(&self, path: &TreePath, how: OpenHow, now: Timestamp) -> FileResult<Arc<dyn OpenFile>> {
        let place = match tree::for_open(self, path, how)? {
            Opening::There(leaf) => place_of(leaf),
            Opening::Make(dir, name) => self.changes(&dir, &name)?,
        };
        let file = self.tree(&place).open(&place.path, OpenHow { nofollow: true, ..how }, now)?;
        Ok(if place.tree == 0 { file } else { Arc::new(Handle { file, tree: place.tree }) })
    }

    fn read_dir(&self, path: &TreePath) -> FileResult<Vec<DirEntry>> {
        let Node::Dir(dir) = tree::node(self, path, Follow::Yes)? else {
            return Err(FileError::NotADirectory);
        };
        let mut entries = if dir.real { self.trees[dir.tree].read_dir(&dir.path)? } else { Vec::new() };
        for entry in &mut entries {
            entry.inode = salted(dir.tree, entry.inode);
        }
        let Some(point) = dir.point.map(|at| &self.points[at]).filter(|it| !it.below.is_empty()) else {
            return Ok(entries);
        };
        entries.retain(|it| !point.below.contains_key(&it.name));
        for name in point.below.keys() {
            if let Some(node) = tree::Branches::look(self, &dir, name)? {
                let inode = self.stat_node(&node)?.inode;
                entries.push(DirEntry { name: name.clone(), kind: FileKind::Directory, inode });
            }
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn create_dir(&self, path: &TreePath, mode: Mode, now: Timestamp) -> FileResult<()> {
        let (dir, name) = tree::for_new(self, path)?;
        let place = self.changes(&dir, &name)?;
        self.tree(&place).create_dir(&place.path, mode, now)
    }

    fn remove_dir(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let (dir, name, _) = tree::for_rmdir(self, path)?;
        let place = self.changes(&dir, &name)?;
        self.tree(&place).remove_dir(&place.path, now)
    }

    fn unlink(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let (dir, name, _) = tree::for_unlink(self, path)?;
        let place = self.changes(&dir, &name)?;
        self.tree(&place).unlink(&place.path, now)
    }

    fn rename(&self, from: &TreePath, to: &TreePath, now: Timestamp) -> FileResult<()> {
        let old = tree::walk(self, from, Last::Itself)?;
        if old.node.is_none() {
            return Err(FileError::NotFound);
        }
        let new = tree::walk(self, to, Last::Itself)?;
        tree::can_move(from, &old, to, &new)?;
        let (old, new) = (self.spot(&old)?, self.spot(&new)?);
        if old.tree != new.tree {
            return Err(FileError::CrossDevice);
        }
        self.tree(&old).rename(&old.path, &new.path, now)
    }

    fn link(&self, from: &TreePath, follow: Follow, to: &TreePath, now: Timestamp) -> FileResult<()> {
        let old = match tree::node(self, from, follow)? {
            Node::Dir(_) => return Err(FileError::Denied),
            Node::File(leaf) | Node::Link(leaf) => place_of(leaf),
        };
        let (dir, name) = tree::for_link(self, to)?;
        let new = self.changes(&dir, &name)?;
        if old.tree != new.tree {
            return Err(FileError::CrossDevice);
        }
        self.tree(&old).link(&old.path, Follow::No, &new.path, now)
    }

    fn symlink(&self, target: &str, path: &TreePath, now: Timestamp) -> FileResult<()> {
        tree::sayable(target)?;
        let (dir, name) = tree::for_link(self, path)?;
        let place = self.changes(&dir, &name)?;
        self.tree(&place).symlink(target, &place.path, now)
    }

    fn read_link(&self, path: &TreePath) -> FileResult<String> {
        tree::target(self, path)
    }

    fn set_times(&self, path: &TreePath, follow: Follow, times: FileTimes, now: Timestamp) -> FileResult<()> {
        let place = self.changes_facts(path, follow)?;
        self.tree(&place).set_times(&place.path, Follow::No, times, now)
    }

    fn set_mode(&self, path: &TreePath, follow: Follow, mode: Mode, now: Timestamp) -> FileResult<()> {
        let place = self.changes_facts(path, follow)?;
        self.tree(&place).set_mode(&place.path, Follow::No, mode, now)
    }

    fn trail(&self, path: &TreePath) -> Vec<FileKind> {
        tree::trail(self, path)
    }

    fn until(&self, time_is_up: &Interrupt) -> Option<Arc<dyn Files>> {
        let view = |it: &Arc<dyn Files>| it.until(time_is_up).unwrap_or_else(|| Arc::clone(it));
        let trees = self.trees.iter().map(view).collect();
        let points = Arc::clone(&self.points);
        let (root_is_fixed, root_is_mounted) = (self.root_is_fixed, self.root_is_mounted);
        Some(Arc::new(Self { trees, points, root_is_fixed, root_is_mounted }))
    }
}

fn place_of(leaf: Leaf) -> Place {
    Place { tree: leaf.tree, path: leaf.path }
}

#[cfg(test)]
mod tests;
