//! Renaming over both trees. What is moved is copied up first, a directory with all that is in it;
//! then the lower names are hidden, and only then does the upper tree move: at no moment is there
//! less than the old name or the new. Copying that fails, or for which there is no time, is undone.

use std::sync::Arc;

use drydock_contract::{
    Timestamp,
    port::{FileError, FileKind, FileLimit, FileResult, Follow, TreePath},
};

use super::{
    branch::{Dir, Layers, Leaf},
    handle::Known,
};
use crate::{
    FILES_MAX,
    tree::{self, Branches as _, Last, Node},
};

impl Layers {
    pub(super) fn rename(
        &self,
        known: &mut Known,
        from: &TreePath,
        to: &TreePath,
        now: Timestamp,
    ) -> FileResult<()> {
        let old = tree::walk(self, from, Last::Itself)?;
        if old.node.is_none() {
            return Err(FileError::NotFound);
        }
        let new = tree::walk(self, to, Last::Itself)?;
        tree::can_move(from, &old, to, &new)?;
        let (old_path, new_path) = (old.parent.below(&old.name)?, new.parent.below(&new.name)?);
        let into =
            |path: &TreePath| path.as_str().strip_prefix(old_path.as_str()).map(|it| it.starts_with('/'));
        match (&old.node, &new.node) {
            _ if old_path == new_path => return Ok(()),
            (Some(Node::Dir(_)), _) if into(&new_path) == Some(true) => return Err(FileError::Invalid),
            (Some(Node::Dir(_)), Some(Node::Dir(there))) if self.list(known, there)?.is_empty() => {}
            (Some(Node::Dir(_)), Some(Node::Dir(_))) => return Err(FileError::NotEmpty),
            (Some(Node::Dir(_)), Some(_)) => return Err(FileError::NotADirectory),
            (Some(Node::File(_) | Node::Link(_)), Some(Node::Dir(_))) => return Err(FileError::IsADirectory),
            (Some(Node::File(a) | Node::Link(a)), Some(Node::File(b) | Node::Link(b)))
                if self.stat_leaf(known, a)?.inode == self.stat_leaf(known, b)?.inode =>
            {
                return Ok(());
            }
            _ => {}
        }
        match &old.node {
            Some(Node::Dir(dir)) => self.raise_all(known, dir, now)?,
            Some(Node::File(leaf) | Node::Link(leaf)) if !leaf.upper => {
                self.copy_up(known, leaf, None, now)?
            }
            _ => {}
        }
        // Looked at again: copying made directories in the upper tree.
        let (old_dir, new_dir) = (self.again(&old.parent)?, self.again(&new.parent)?);
        self.raise(&new_dir, now)?;
        let new_dir = self.again(&new_dir)?;
        self.hide(&old_dir, &old.name, now)?;
        match &new.node {
            Some(Node::Dir(there)) => {
                self.hide(&new_dir, &new.name, now)?;
                if there.upper {
                    self.clear_whiteouts(there, now)?;
                }
            }
            Some(Node::File(leaf) | Node::Link(leaf)) if !leaf.upper => {
                self.hide(&new_dir, &new.name, now)?;
                known.detach(leaf)?;
            }
            Some(Node::File(leaf) | Node::Link(leaf)) => self.forget_inode(known, leaf)?,
            _ => {}
        }
        self.upper.rename(&old_path, &new_path, now)
    }

    /// Copies a directory up with all that is in it, or takes back what it copied.
    fn raise_all(&self, known: &mut Known, dir: &Dir, now: Timestamp) -> FileResult<()> {
        let mut made = Vec::new();
        let done = self.raise_each(known, dir, &mut made, now);
        if done.is_err() {
            self.take_back(known, made, now)?;
        }
        done
    }

    /// `made` has what was not in the upper tree before, in the order in which it was made.
    fn raise_each(
        &self,
        known: &mut Known,
        dir: &Dir,
        made: &mut Vec<TreePath>,
        now: Timestamp,
    ) -> FileResult<()> {
        let mut dirs = if dir.lower { vec![dir.path.clone()] } else { Vec::new() };
        while let Some(path) = dirs.pop() {
            let Node::Dir(dir) = tree::node(self, &path, Follow::No)? else {
                return Err(FileError::NotADirectory);
            };
            if !dir.upper {
                self.raise(&dir, now)?;
                made.push(path);
            }
            if !dir.lower {
                continue;
            }
            let entries = self.list(known, &dir)?;
            // More than any tree may have: no need to begin.
            if made.len() + entries.len() > FILES_MAX {
                return Err(FileError::Quota(FileLimit::Files));
            }
            for entry in entries {
                known.check_time()?;
                let path = dir.below(&entry.name)?;
                if entry.kind == FileKind::Directory {
                    dirs.push(path);
                } else if let Some(Node::File(leaf) | Node::Link(leaf)) = self.lower_leaf(&path)? {
                    // A copy that somebody has open stays: it is theirs from then on.
                    let ours = !known.is_open(leaf.path.as_str());
                    self.copy_up(known, &leaf, None, now)?;
                    if ours {
                        made.push(leaf.path);
                    }
                }
            }
        }
        Ok(())
    }

    /// Removes copies from the upper tree; the lower tree shows the same in their place.
    fn take_back(&self, known: &mut Known, made: Vec<TreePath>, now: Timestamp) -> FileResult<()> {
        for path in made.into_iter().rev() {
            let facts = self.upper.stat(&path, Follow::No)?;
            let gone = match facts.kind {
                FileKind::Directory => self.upper.remove_dir(&path, now),
                FileKind::File | FileKind::Symlink => {
                    known.inodes.remove(&facts.inode);
                    self.upper.unlink(&path, now)
                }
            };
            match gone {
                // Something in it stays, and so does it.
                Err(FileError::NotEmpty) => {}
                gone => gone?,
            }
        }
        Ok(())
    }

    /// The leaf at a path, if it is only in the lower tree.
    fn lower_leaf(&self, path: &TreePath) -> FileResult<Option<Node<Arc<Dir>, Leaf>>> {
        match tree::node(self, path, Follow::No)? {
            Node::File(leaf) | Node::Link(leaf) if leaf.upper => Ok(None),
            Node::Dir(_) => Ok(None),
            node => Ok(Some(node)),
        }
    }

    fn again(&self, dir: &Arc<Dir>) -> FileResult<Arc<Dir>> {
        if dir.path.as_str().is_empty() {
            return self.root();
        }
        match tree::node(self, &dir.path, Follow::No)? {
            Node::Dir(dir) => Ok(dir),
            Node::File(_) | Node::Link(_) => Err(FileError::NotADirectory),
        }
    }
}
