//! Several trees under one root, each under its name: what a guest sees as `/`.
//!
//! Paths are walked here, so that `..` and links lead from one tree into another and never out of
//! the root; each tree is then asked for a path without links, `..` or surprises. A tree that changes
//! in between can only answer with an error, because it confines itself. Moving from one tree into
//! another is `CrossDevice`. A mounted tree cannot be removed or renamed.

mod branch;
mod handle;

use std::{collections::BTreeMap, fmt, sync::Arc};

use drydock_contract::{
    Meter, Timestamp,
    port::{
        DirEntry, FileError, FileKind, FileResult, FileTimes, Files, Follow, OpenFile, OpenHow, Stat,
        TreePath,
    },
};

use branch::{Place, salted};
use handle::Handle;

use crate::{
    MemoryFiles,
    tree::{self, Last, Node, Opening, Spot},
};

/// Several trees under one root.
pub struct Mounts {
    /// The first is the root itself; names are positions here.
    trees: Vec<Arc<dyn Files>>,
    names: BTreeMap<String, usize>,
    root_is_fixed: bool,
}

impl Mounts {
    /// Nothing mounted yet, and nothing can be made beside the mounts.
    pub fn new() -> Self {
        let nothing = MemoryFiles::with(Arc::new(Meter::new(0)));
        Self { trees: vec![Arc::new(nothing)], names: BTreeMap::new(), root_is_fixed: true }
    }

    /// Mounts over a tree that is the root, and stays writable if it is.
    pub fn over(root: Arc<dyn Files>) -> Self {
        Self { trees: vec![root], names: BTreeMap::new(), root_is_fixed: false }
    }

    /// Shows a tree as `/name`, hiding what the root has under that name.
    pub fn mount(&mut self, name: &str, files: Arc<dyn Files>) -> FileResult<()> {
        let path = TreePath::new(name)?;
        if path.names().ne([name]) || name == ".." {
            return Err(FileError::Invalid);
        }
        if self.names.contains_key(name) {
            return Err(FileError::Exists);
        }
        self.names.insert(name.to_owned(), self.trees.len());
        self.trees.push(files);
        Ok(())
    }

    fn tree(&self, place: &Place) -> &dyn Files {
        &*self.trees[place.tree]
    }

    /// Where a name is about to change.
    fn changes(&self, dir: &Place, name: &str) -> FileResult<Place> {
        if dir.is_root() && self.names.contains_key(name) {
            return Err(FileError::Denied);
        }
        if dir.tree == 0 && self.root_is_fixed {
            return Err(FileError::ReadOnly);
        }
        dir.below(name)
    }
}

impl Default for Mounts {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Mounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mounts").field(&self.names).finish()
    }
}

impl Files for Mounts {
    fn stat(&self, path: &TreePath, follow: Follow) -> FileResult<Stat> {
        let place = place_of(tree::node(self, path, follow)?);
        let mut facts = self.tree(&place).stat(&place.path, Follow::No)?;
        facts.inode = salted(place.tree, facts.inode);
        Ok(facts)
    }

    fn open(&self, path: &TreePath, how: OpenHow, now: Timestamp) -> FileResult<Arc<dyn OpenFile>> {
        let place = match tree::for_open(self, path, how)? {
            Opening::There(place) => place,
            Opening::Make(dir, name) => self.changes(&dir, &name)?,
        };
        let file = self.tree(&place).open(&place.path, OpenHow { nofollow: true, ..how }, now)?;
        Ok(if place.tree == 0 { file } else { Arc::new(Handle { file, tree: place.tree }) })
    }

    fn read_dir(&self, path: &TreePath) -> FileResult<Vec<DirEntry>> {
        let Node::Dir(dir) = tree::node(self, path, Follow::Yes)? else {
            return Err(FileError::NotADirectory);
        };
        let mut entries = self.tree(&dir).read_dir(&dir.path)?;
        for entry in &mut entries {
            entry.inode = salted(dir.tree, entry.inode);
        }
        if dir.is_root() {
            entries.retain(|it| !self.names.contains_key(&it.name));
            for (name, at) in &self.names {
                let facts = self.trees[*at].stat(&TreePath::root(), Follow::No)?;
                let inode = salted(*at, facts.inode);
                entries.push(DirEntry { name: name.clone(), kind: FileKind::Directory, inode });
            }
            entries.sort_by(|a, b| a.name.cmp(&b.name));
        }
        Ok(entries)
    }

    fn create_dir(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let (dir, name) = tree::for_new(self, path)?;
        let place = self.changes(&dir, &name)?;
        self.tree(&place).create_dir(&place.path, now)
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
            Node::File(place) | Node::Link(place) => place,
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
        let place = place_of(tree::node(self, path, follow)?);
        if place.tree == 0 && self.root_is_fixed {
            return Err(FileError::ReadOnly);
        }
        self.tree(&place).set_times(&place.path, Follow::No, times, now)
    }
}

impl Mounts {
    fn spot(&self, spot: &Spot<Place, Place>) -> FileResult<Place> {
        self.changes(&spot.parent, &spot.name)
    }
}

fn place_of(node: Node<Place, Place>) -> Place {
    match node {
        Node::Dir(place) | Node::File(place) | Node::Link(place) => place,
    }
}

#[cfg(test)]
mod tests;
