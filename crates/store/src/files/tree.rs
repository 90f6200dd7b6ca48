//! Directories and what they name. Directories live in one map and know their parents, so that
//! neither walking nor dropping a deep tree recurses.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use drydock_contract::{
    Meter, Timestamp,
    port::{DirEntry, FileError, FileKind, FileLimit, FileResult, Follow, Mode, Stat, TreePath},
};

use super::{
    DEPTH_MAX, FILES_MAX,
    charge::{Charge, NODE_BYTES, name_bytes},
    leaf::{Leaf, Times},
    walk::{Last, Spot},
};

/// A directory's inode.
pub(super) type DirId = u64;
pub(super) const ROOT: DirId = 1;

/// What a name stands for.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Dir(DirId),
    Leaf(Arc<Leaf>),
}

#[derive(Debug)]
pub(super) struct Dir {
    pub(super) parent: DirId,
    pub(super) names: BTreeMap<Box<str>, Named>,
    pub(super) mode: Mode,
    pub(super) times: Times,
    /// The root is free: it is part of the tree.
    _charge: Option<Charge>,
}

/// A name's node, and what the name costs.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) node: Node,
    charge: Charge,
}

#[derive(Debug)]
pub(super) struct Tree {
    pub(super) meter: Arc<Meter>,
    root: Dir,
    dirs: HashMap<DirId, Dir>,
    names: usize,
    last_inode: u64,
}

impl Tree {
    /// Allocates nothing: maps do not until something is put in.
    pub(super) fn new(meter: Arc<Meter>) -> Self {
        let times = Times::born(Timestamp::default());
        let root = Dir { parent: ROOT, names: BTreeMap::new(), mode: Mode::DIRECTORY, times, _charge: None };
        Self { meter, root, dirs: HashMap::new(), names: 0, last_inode: ROOT }
    }

    pub(super) fn dir(&self, id: DirId) -> FileResult<&Dir> {
        if id == ROOT { Ok(&self.root) } else { self.dirs.get(&id).ok_or(FileError::NotFound) }
    }

    pub(super) fn dir_mut(&mut self, id: DirId) -> FileResult<&mut Dir> {
        if id == ROOT { Ok(&mut self.root) } else { self.dirs.get_mut(&id).ok_or(FileError::NotFound) }
    }

    /// What the path stands for.
    pub(super) fn node(&self, path: &TreePath, follow: Follow) -> FileResult<Node> {
        let last = if follow == Follow::Yes { Last::Target } else { Last::ItselfUnlessSlash };
        let spot = self.walk(path, last)?;
        match spot.node.ok_or(FileError::NotFound)? {
            Node::Leaf(_) if spot.slash => Err(FileError::NotADirectory),
            node => Ok(node),
        }
    }

    pub(super) fn add_file(
        &mut self,
        parent: DirId,
        name: Box<str>,
        mode: Mode,
        now: Timestamp,
    ) -> FileResult<Arc<Leaf>> {
        let leaf = Arc::new(Leaf::new(self.next_inode(), (FileKind::File, mode), &self.meter, now)?);
        self.add_link(parent, name, Arc::clone(&leaf), now)?;
        Ok(leaf)
    }

    pub(super) fn add_symlink(
        &mut self,
        parent: DirId,
        name: Box<str>,
        target: &str,
        now: Timestamp,
    ) -> FileResult<()> {
        let leaf = Leaf::new(self.next_inode(), (FileKind::Symlink, Mode::LINK), &self.meter, now)?;
        leaf.append(target.as_bytes(), now)?;
        self.add_link(parent, name, Arc::new(leaf), now)
    }

    pub(super) fn add_link(
        &mut self,
        parent: DirId,
        name: Box<str>,
        leaf: Arc<Leaf>,
        now: Timestamp,
    ) -> FileResult<()> {
        self.insert(parent, name, Node::Leaf(Arc::clone(&leaf)), now)?;
        leaf.add_name(now);
        Ok(())
    }

    pub(super) fn add_dir(
        &mut self,
        parent: DirId,
        name: Box<str>,
        mode: Mode,
        now: Timestamp,
    ) -> FileResult<()> {
        if self.depth(parent)? >= DEPTH_MAX {
            return Err(FileError::Quota(FileLimit::Depth));
        }
        let charge = Charge::new(&self.meter, NODE_BYTES)?;
        let id = self.next_inode();
        self.insert(parent, name, Node::Dir(id), now)?;
        let times = Times::born(now);
        let dir = Dir { parent, names: BTreeMap::new(), mode, times, _charge: Some(charge) };
        self.dirs.insert(id, dir);
        Ok(())
    }

    pub(super) fn remove_leaf(&mut self, parent: DirId, name: &str, now: Timestamp) -> FileResult<()> {
        if let Node::Leaf(leaf) = self.take(parent, name, now)? {
            leaf.remove_name(now);
        }
        Ok(())
    }

    pub(super) fn remove_dir(
        &mut self,
        parent: DirId,
        name: &str,
        id: DirId,
        now: Timestamp,
    ) -> FileResult<()> {
        if !self.dir(id)?.names.is_empty() {
            return Err(FileError::NotEmpty);
        }
        self.take(parent, name, now)?;
        self.forget_dir(id);
        Ok(())
    }

    /// Puts a name that is not there yet into a directory.
    pub(super) fn insert(
        &mut self,
        parent: DirId,
        name: Box<str>,
        node: Node,
        now: Timestamp,
    ) -> FileResult<()> {
        if self.names >= FILES_MAX {
            return Err(FileError::Quota(FileLimit::Files));
        }
        let charge = Charge::new(&self.meter, name_bytes(&name))?;
        let dir = self.dir_mut(parent)?;
        dir.names.insert(name, Named { node, charge });
        dir.times.modify(now);
        self.names += 1;
        Ok(())
    }

    /// Takes a name out of a directory.
    pub(super) fn take(&mut self, parent: DirId, name: &str, now: Timestamp) -> FileResult<Node> {
        let dir = self.dir_mut(parent)?;
        let named = dir.names.remove(name).ok_or(FileError::NotFound)?;
        dir.times.modify(now);
        self.names -= 1;
        Ok(named.node)
    }

    /// Charges a name as if it were another one already.
    pub(super) fn recharge(&mut self, parent: DirId, name: &str, new_name: &str) -> FileResult<()> {
        let named = self.dir_mut(parent)?.names.get_mut(name).ok_or(FileError::NotFound)?;
        named.charge.set(name_bytes(new_name))
    }

    /// Moves a name, with its charge, to where no name is.
    pub(super) fn move_name(
        &mut self,
        old: &Spot,
        parent: DirId,
        name: Box<str>,
        now: Timestamp,
    ) -> FileResult<()> {
        let dir = self.dir_mut(old.parent)?;
        let named = dir.names.remove(&old.name).ok_or(FileError::NotFound)?;
        dir.times.modify(now);
        let dir = self.dir_mut(parent)?;
        dir.names.insert(name, named);
        dir.times.modify(now);
        Ok(())
    }

    /// Drops a directory that has no name any more.
    pub(super) fn forget_dir(&mut self, id: DirId) {
        self.dirs.remove(&id);
    }

    /// How many directories are above this one.
    pub(super) fn depth(&self, mut id: DirId) -> FileResult<usize> {
        let mut depth = 0;
        while id != ROOT {
            id = self.dir(id)?.parent;
            depth += 1;
        }
        Ok(depth)
    }

    fn next_inode(&mut self) -> u64 {
        self.last_inode += 1;
        self.last_inode
    }
}

impl Dir {
    pub(super) fn stat(&self, id: DirId) -> Stat {
        Stat {
            inode: id,
            kind: FileKind::Directory,
            mode: self.mode,
            links: 1,
            size: 0,
            accessed: self.times.accessed,
            modified: self.times.modified,
            changed: self.times.changed,
        }
    }

    pub(super) fn list(&self) -> Vec<DirEntry> {
        let entries = self.names.iter().map(|(name, named)| {
            let (kind, inode) = match &named.node {
                Node::Dir(id) => (FileKind::Directory, *id),
                Node::Leaf(leaf) => (leaf.kind(), leaf.inode()),
            };
            DirEntry { name: name.to_string(), kind, inode }
        });
        entries.collect()
    }
}
