//! The two trees as one, for walking and listing.

use std::{collections::BTreeMap, sync::Arc};

use drydock_contract::port::{DirEntry, FileError, FileKind, FileResult, Files, Follow, Stat, TreePath};
use parking_lot::Mutex;

use super::{handle::Known, note::Notes};
use crate::tree::{Branches, Node};

/// Names that start so are ours.
pub(super) const OURS: &str = ".wh.";

pub(super) struct Layers {
    pub(super) lower: Arc<dyn Files>,
    pub(super) upper: Arc<dyn Files>,
    pub(super) notes: Option<Arc<dyn Notes>>,
    /// Held while names are looked at or changed.
    pub(super) known: Mutex<Known>,
}

/// A directory, and which of the trees have it.
#[derive(Debug)]
pub(super) struct Dir {
    pub(super) path: TreePath,
    pub(super) upper: bool,
    pub(super) lower: bool,
    parent: Option<Arc<Dir>>,
}

/// A file or a link, and which tree it is seen in.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) path: TreePath,
    pub(super) upper: bool,
}

impl Dir {
    pub(super) fn below(&self, name: &str) -> FileResult<TreePath> {
        self.path.join(name)
    }

    /// Where the whiteout for a name is.
    pub(super) fn whiteout(&self, name: &str) -> FileResult<TreePath> {
        if OURS.len() + name.len() <= TreePath::NAME_BYTES_MAX {
            return self.below(&format!("{OURS}{name}"));
        }
        self.below(&format!("{OURS}#{}", blake3::hash(name.as_bytes()).to_hex()))
    }
}

impl Layers {
    /// Whether the lower tree shows anything under that name.
    pub(super) fn lower_shows(&self, dir: &Dir, name: &str) -> FileResult<bool> {
        Ok(self.lower_visible(dir, name)? && kind(&*self.lower, &dir.below(name)?)?.is_some())
    }

    fn lower_visible(&self, dir: &Dir, name: &str) -> FileResult<bool> {
        Ok(dir.lower && !(dir.upper && kind(&*self.upper, &dir.whiteout(name)?)?.is_some()))
    }

    /// Facts of a directory. Its inode is the lower tree's where that has it, so that it stays the
    /// same when the directory is copied up.
    pub(super) fn stat_dir(&self, dir: &Dir) -> FileResult<Stat> {
        let files = if dir.upper { &self.upper } else { &self.lower };
        let facts = files.stat(&dir.path, Follow::No)?;
        if dir.lower && dir.upper {
            let inode = self.lower.stat(&dir.path, Follow::No)?.inode;
            return Ok(Stat { inode: told(inode, false), ..facts });
        }
        Ok(Stat { inode: told(facts.inode, dir.upper), ..facts })
    }

    pub(super) fn stat_leaf(&self, known: &Known, leaf: &Leaf) -> FileResult<Stat> {
        let files = if leaf.upper { &self.upper } else { &self.lower };
        let facts = files.stat(&leaf.path, Follow::No)?;
        Ok(Stat { inode: known.inode(facts.inode, leaf.upper), ..facts })
    }

    /// For a name of the upper tree that is about to go: its number may be another file's next.
    pub(super) fn forget_inode(&self, known: &mut Known, leaf: &Leaf) -> FileResult<()> {
        let facts = self.upper.stat(&leaf.path, Follow::No)?;
        if facts.links <= 1 {
            known.inodes.remove(&facts.inode);
        }
        Ok(())
    }

    /// The names in a directory, of both trees.
    pub(super) fn list(&self, known: &Known, dir: &Dir) -> FileResult<Vec<DirEntry>> {
        let mut merged = BTreeMap::new();
        let above = if dir.upper { self.upper.read_dir(&dir.path)? } else { Vec::new() };
        if dir.lower {
            let hidden = |name: &str| -> FileResult<bool> {
                let whiteout = dir.whiteout(name)?;
                let whiteout = whiteout.as_str().rsplit('/').next().unwrap_or_default();
                Ok(above.binary_search_by(|it| it.name.as_str().cmp(whiteout)).is_ok())
            };
            for mut entry in self.lower.read_dir(&dir.path)? {
                if !entry.name.starts_with(OURS) && !hidden(&entry.name)? {
                    entry.inode = told(entry.inode, false);
                    merged.insert(entry.name.clone(), entry);
                }
            }
        }
        for mut entry in above {
            if entry.name.starts_with(OURS) {
                continue;
            }
            let both = |it: &DirEntry| it.kind == FileKind::Directory && entry.kind == FileKind::Directory;
            if merged.get(&entry.name).is_some_and(both) {
                continue;
            }
            entry.inode = known.inode(entry.inode, true);
            merged.insert(entry.name.clone(), entry);
        }
        Ok(merged.into_values().collect())
    }
}

/// An inode of one of the trees, told apart from the other's.
pub(super) const fn told(inode: u64, upper: bool) -> u64 {
    (inode << 1) | upper as u64
}

pub(super) fn kind(files: &dyn Files, path: &TreePath) -> FileResult<Option<FileKind>> {
    match files.stat(path, Follow::No) {
        Ok(facts) => Ok(Some(facts.kind)),
        Err(FileError::NotFound | FileError::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Branches for Layers {
    type Dir = Arc<Dir>;
    type Leaf = Leaf;

    fn root(&self) -> FileResult<Arc<Dir>> {
        Ok(Arc::new(Dir { path: TreePath::root(), upper: true, lower: true, parent: None }))
    }

    fn parent(&self, dir: &Arc<Dir>) -> FileResult<Arc<Dir>> {
        Ok(Arc::clone(dir.parent.as_ref().unwrap_or(dir)))
    }

    fn look(&self, dir: &Arc<Dir>, name: &str) -> FileResult<Option<Node<Arc<Dir>, Leaf>>> {
        if name.starts_with(OURS) {
            return Err(FileError::Denied);
        }
        let path = dir.below(name)?;
        let above = if dir.upper { kind(&*self.upper, &path)? } else { None };
        let leaf = |upper| Leaf { path: path.clone(), upper };
        match above {
            Some(FileKind::File) => return Ok(Some(Node::File(leaf(true)))),
            Some(FileKind::Symlink) => return Ok(Some(Node::Link(leaf(true)))),
            Some(FileKind::Directory) | None => {}
        }
        let below = if self.lower_visible(dir, name)? { kind(&*self.lower, &path) } else { Ok(None) };
        let dir = |upper, lower| {
            let parent = Some(Arc::clone(dir));
            Some(Node::Dir(Arc::new(Dir { path: path.clone(), upper, lower, parent })))
        };
        Ok(match (above, below) {
            (Some(_), below) => dir(true, matches!(below, Ok(Some(FileKind::Directory)))),
            (None, below) => match below? {
                None => None,
                Some(FileKind::Directory) => dir(false, true),
                Some(FileKind::File) => Some(Node::File(leaf(false))),
                Some(FileKind::Symlink) => Some(Node::Link(leaf(false))),
            },
        })
    }

    fn target(&self, link: &Leaf) -> FileResult<String> {
        let files = if link.upper { &self.upper } else { &self.lower };
        files.read_link(&link.path)
    }
}
