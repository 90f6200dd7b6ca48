//! The mounted trees, for walking.

use drydock_contract::port::{FileError, FileKind, FileResult, Follow, TreePath};

use super::Mounts;
use crate::tree::{Branches, Node};

/// A path without links or `..`, in one of the trees.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(super) tree: usize,
    pub(super) path: TreePath,
}

impl Place {
    pub(super) fn is_root(&self) -> bool {
        self.tree == 0 && self.path.as_str().is_empty()
    }

    pub(super) fn below(&self, name: &str) -> FileResult<Self> {
        Ok(Self { tree: self.tree, path: self.path.join(name)? })
    }
}

/// An inode of one tree, told apart from the same number in another.
pub(super) const fn salted(tree: usize, inode: u64) -> u64 {
    inode ^ ((tree as u64) << 52)
}

impl Branches for Mounts {
    type Dir = Place;
    type Leaf = Place;

    fn root(&self) -> FileResult<Place> {
        Ok(Place { tree: 0, path: TreePath::root() })
    }

    fn parent(&self, dir: &Place) -> FileResult<Place> {
        match dir.path.as_str().rsplit_once('/') {
            Some((above, _)) => Ok(Place { tree: dir.tree, path: TreePath::new(above)? }),
            None if dir.path.as_str().is_empty() => self.root(),
            None => Ok(Place { tree: dir.tree, path: TreePath::root() }),
        }
    }

    fn look(&self, dir: &Place, name: &str) -> FileResult<Option<Node<Place, Place>>> {
        if dir.is_root()
            && let Some(tree) = self.names.get(name)
        {
            return Ok(Some(Node::Dir(Place { tree: *tree, path: TreePath::root() })));
        }
        let place = dir.below(name)?;
        match self.tree(dir).stat(&place.path, Follow::No) {
            Err(FileError::NotFound) => Ok(None),
            Err(error) => Err(error),
            Ok(facts) => Ok(Some(match facts.kind {
                FileKind::Directory => Node::Dir(place),
                FileKind::File => Node::File(place),
                FileKind::Symlink => Node::Link(place),
            })),
        }
    }

    fn target(&self, link: &Place) -> FileResult<String> {
        self.tree(link).read_link(&link.path)
    }
}
