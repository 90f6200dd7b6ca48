//! The mounted trees, for walking.
//!
//! Beside the trees there is a second, small tree: that of the mount points. A directory knows where
//! it stands in both. Where a mount point has to be reached and no tree has the directory, there is
//! one all the same, that shows nothing but the way.

use std::sync::Arc;

use drydock_contract::{
    Timestamp,
    port::{FileError, FileKind, FileResult, Follow, Mode, Stat, TreePath},
};

use super::Mounts;
use crate::tree::{self, Branches, Node};

/// A directory: where it is in a tree, and where among the mount points.
#[derive(Debug)]
pub(crate) struct Dir {
    pub(super) tree: usize,
    pub(super) path: TreePath,
    /// Its place among the mount points, if it is one or leads to one.
    pub(super) point: Option<usize>,
    /// Whether the tree has it. If not, it only leads to a mount.
    pub(super) real: bool,
    parent: Option<Arc<Dir>>,
}

/// A file or a link of one of the trees.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    pub(super) tree: usize,
    pub(super) path: TreePath,
}

/// An inode of one tree, told apart from the same number in another.
pub(super) const fn salted(tree: usize, inode: u64) -> u64 {
    inode ^ ((tree as u64) << 52)
}

/// What is told of a directory that only leads to a mount. Such a number no tree uses.
pub(super) const fn way(point: usize) -> Stat {
    Stat {
        inode: !(point as u64),
        kind: FileKind::Directory,
        mode: Mode::DIRECTORY,
        links: 1,
        size: 0,
        accessed: Timestamp(0),
        modified: Timestamp(0),
        changed: Timestamp(0),
    }
}

impl Branches for Mounts {
    type Dir = Arc<Dir>;
    type Leaf = Leaf;

    fn root(&self) -> FileResult<Arc<Dir>> {
        Ok(Arc::new(Dir { tree: 0, path: TreePath::root(), point: Some(0), real: true, parent: None }))
    }

    fn parent(&self, dir: &Arc<Dir>) -> FileResult<Arc<Dir>> {
        Ok(Arc::clone(dir.parent.as_ref().unwrap_or(dir)))
    }

    fn look(&self, dir: &Arc<Dir>, name: &str) -> FileResult<Option<Node<Arc<Dir>, Leaf>>> {
        let point = self.point_below(dir, name);
        let below = |tree, path, real| {
            let parent = Some(Arc::clone(dir));
            Ok(Some(Node::Dir(Arc::new(Dir { tree, path, point, real, parent }))))
        };
        if let Some(tree) = point.and_then(|at| self.points[at].tree) {
            return below(tree, TreePath::root(), true);
        }
        let path = dir.path.join(name)?;
        let found = match dir.real {
            true => self.trees[dir.tree].stat(&path, Follow::No),
            false => Err(FileError::NotFound),
        };
        let leaf = |path| Leaf { tree: dir.tree, path };
        match (found.map(|it| it.kind), point) {
            (Ok(FileKind::Directory), _) => below(dir.tree, path, true),
            // Whatever else the tree has there gives way to the mount below.
            (_, Some(_)) => below(dir.tree, path, false),
            (Ok(FileKind::File), None) => Ok(Some(Node::File(leaf(path)))),
            (Ok(FileKind::Symlink), None) => Ok(Some(Node::Link(leaf(path)))),
            (Err(FileError::NotFound), None) => Ok(None),
            (Err(error), None) => Err(error),
        }
    }

    fn target(&self, link: &Leaf) -> FileResult<String> {
        self.trees[link.tree].read_link(&link.path)
    }

    fn look_ahead(&self, dir: &Arc<Dir>, rest: &str) -> Vec<Node<Arc<Dir>, Leaf>> {
        let names: Vec<&str> = tree::plain(rest).collect();
        // Below a name that leads to no mount there is only the one tree.
        let alone = dir.real && names.first().is_some_and(|it| self.point_below(dir, it).is_none());
        let Some(path) = alone.then(|| dir.path.join(&names.join("/")).ok()).flatten() else {
            return Vec::new();
        };
        let kinds = self.trees[dir.tree].trail(&path).into_iter().skip(dir.path.names().count());
        let (mut nodes, mut at) = (Vec::new(), Arc::clone(dir));
        for (name, kind) in names.into_iter().zip(kinds) {
            let Ok(path) = at.path.join(name) else { break };
            let leaf = |path| Leaf { tree: dir.tree, path };
            nodes.push(match kind {
                FileKind::File => Node::File(leaf(path)),
                FileKind::Symlink => Node::Link(leaf(path)),
                FileKind::Directory => {
                    at = Arc::new(Dir { tree: dir.tree, path, point: None, real: true, parent: Some(at) });
                    Node::Dir(Arc::clone(&at))
                }
            });
        }
        nodes
    }
}
