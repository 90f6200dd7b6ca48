//! The two trees as one, for walking and listing.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use drydock_contract::port::{
    DirEntry, FileError, FileKind, FileResult, Files, Follow, Interrupt, Stat, TreePath,
};
use parking_lot::{Mutex, MutexGuard};

use super::{handle::Known, note::Notes};
use crate::tree::{self, Branches, Node};

/// How long somebody waits before looking at the clock.
const WAIT: Duration = Duration::from_millis(5);
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
        if OURS.len() + drydock_contract::text::byte_len(name) <= TreePath::NAME_BYTES_MAX {
            return self.below(&format!("{OURS}{name}"));
        }
        self.below(&format!("{OURS}#{}", blake3::hash(name.as_bytes()).to_hex()))
    }
}

impl Layers {
    /// Nobody else looks at names or changes them until the guard is dropped. Who has a time limit waits
    /// no longer than that for somebody who copies much.
    pub(super) fn lock(&self, time_is_up: Option<&Interrupt>) -> FileResult<MutexGuard<'_, Known>> {
        let mut known = loop {
            match self.known.try_lock_for(WAIT) {
                Some(known) => break known,
                None if time_is_up.is_some_and(|it| it()) => return Err(FileError::Interrupted),
                None => {}
            }
        };
        known.time_is_up = time_is_up.cloned();
        Ok(known)
    }

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

    /// What names in a row stand for, up to where one of the trees that have the directory does not
    /// tell: there it may lack the name, or fail.
    fn ahead(&self, dir: &Arc<Dir>, names: &[&str]) -> FileResult<Vec<Node<Arc<Dir>, Leaf>>> {
        let (mut nodes, mut at) = (Vec::new(), Arc::clone(dir));
        let path = dir.below(&names.join("/"))?;
        let start = dir.path.names().count();
        let trail = |files: &dyn Files, has: bool| if has { files.trail(&path) } else { Vec::new() };
        let (uppers, lowers) = (trail(&*self.upper, dir.upper), trail(&*self.lower, dir.lower));
        for (depth, name) in names.iter().enumerate().map(|(below, name)| (start + below, name)) {
            let told = |has: bool, kinds: &[FileKind]| if has { kinds.get(depth).copied() } else { None };
            let (above, below) = (told(at.upper, &uppers), told(at.lower, &lowers));
            if (at.upper && above.is_none()) || name.starts_with(OURS) {
                break;
            }
            let below = match above {
                Some(FileKind::File | FileKind::Symlink) => None,
                _ if !self.lower_visible(&at, name)? => None,
                _ if below.is_none() => break,
                _ => below,
            };
            let Some(node) = merged(&at, at.below(name)?, above, below) else { break };
            let next = if let Node::Dir(below) = &node { Some(Arc::clone(below)) } else { None };
            nodes.push(node);
            match next {
                Some(below) => at = below,
                None => break,
            }
        }
        Ok(nodes)
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

/// What a name stands for that one of the trees has, or both have.
fn merged(
    dir: &Arc<Dir>,
    path: TreePath,
    above: Option<FileKind>,
    below: Option<FileKind>,
) -> Option<Node<Arc<Dir>, Leaf>> {
    let upper = above.is_some();
    Some(match above.or(below)? {
        FileKind::File => Node::File(Leaf { path, upper }),
        FileKind::Symlink => Node::Link(Leaf { path, upper }),
        FileKind::Directory => {
            let (lower, parent) = (below == Some(FileKind::Directory), Some(Arc::clone(dir)));
            Node::Dir(Arc::new(Dir { path, upper, lower, parent }))
        }
    })
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
        let below = match above {
            Some(FileKind::File | FileKind::Symlink) => Ok(None),
            _ if self.lower_visible(dir, name)? => kind(&*self.lower, &path),
            _ => Ok(None),
        };
        // What the upper tree has is there, whatever is wrong with the lower one.
        let below = if above.is_some() { below.unwrap_or(None) } else { below? };
        Ok(merged(dir, path, above, below))
    }

    fn look_ahead(&self, dir: &Arc<Dir>, rest: &str) -> Vec<Node<Arc<Dir>, Leaf>> {
        self.ahead(dir, &tree::plain(rest).collect::<Vec<_>>()).unwrap_or_default()
    }

    fn target(&self, link: &Leaf) -> FileResult<String> {
        let files = if link.upper { &self.upper } else { &self.lower };
        files.read_link(&link.path)
    }
}
