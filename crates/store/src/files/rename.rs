//! Renaming as POSIX has it: one step, replacing what may be replaced, never a directory into
//! itself. Every refusal comes before the first change.

use drydock_contract::{
    Timestamp,
    port::{FileError, FileLimit, FileResult, TreePath},
};

use super::{
    DEPTH_MAX, spot_has_a_name,
    tree::{DirId, Node, ROOT, Tree},
    walk::{Last, Spot},
};

impl Tree {
    pub(super) fn rename(&mut self, from: &TreePath, to: &TreePath, now: Timestamp) -> FileResult<()> {
        let old = self.walk(from, Last::Itself)?;
        let node = old.node.clone().ok_or(FileError::NotFound)?;
        let new = self.walk(to, Last::Itself)?;
        spot_has_a_name(&old.name, from).and_then(|()| spot_has_a_name(&new.name, to)).map_err(busy)?;
        match &node {
            Node::Leaf(_) if old.slash || new.slash => return Err(FileError::NotADirectory),
            Node::Leaf(_) => {}
            Node::Dir(id) => self.check_dir_move(*id, &new)?,
        }
        match (&node, &new.node) {
            (_, None) => {}
            (Node::Leaf(a), Some(Node::Leaf(b))) if a.inode() == b.inode() => return Ok(()),
            (Node::Dir(a), Some(Node::Dir(b))) if a == b => return Ok(()),
            (Node::Leaf(_), Some(Node::Leaf(_))) => {}
            (Node::Leaf(_), Some(Node::Dir(_))) => return Err(FileError::IsADirectory),
            (Node::Dir(_), Some(Node::Leaf(_))) => return Err(FileError::NotADirectory),
            (Node::Dir(_), Some(Node::Dir(id))) if self.dir(*id)?.names.is_empty() => {}
            (Node::Dir(_), Some(Node::Dir(_))) => return Err(FileError::NotEmpty),
        }
        self.carry_out(&old, new, node, now)
    }

    fn carry_out(&mut self, old: &Spot, new: Spot, node: Node, now: Timestamp) -> FileResult<()> {
        // The one step that can be refused. The name keeps its charge while it moves, because
        // room that is given back may be gone the next moment: guest memory shares the meter.
        self.recharge(old.parent, &old.name, &new.name)?;
        let replaced = match &new.node {
            Some(_) => Some(self.take(new.parent, &new.name, now)?),
            None => None,
        };
        self.move_name(old, new.parent, new.name, now)?;
        match replaced {
            Some(Node::Leaf(leaf)) => leaf.remove_name(now),
            Some(Node::Dir(id)) => self.forget_dir(id),
            None => {}
        }
        match node {
            Node::Leaf(leaf) => leaf.renamed(now),
            Node::Dir(id) => {
                let dir = self.dir_mut(id)?;
                dir.parent = new.parent;
                dir.times.changed = now;
            }
        }
        Ok(())
    }

    fn check_dir_move(&self, id: DirId, new: &Spot) -> FileResult<()> {
        let mut above = new.parent;
        while above != ROOT {
            if above == id {
                return Err(FileError::Invalid);
            }
            above = self.dir(above)?.parent;
        }
        if self.depth(new.parent)? + self.height(id)? > DEPTH_MAX {
            return Err(FileError::Quota(FileLimit::Depth));
        }
        Ok(())
    }

    /// How many directories deep this one goes, itself included.
    fn height(&self, id: DirId) -> FileResult<usize> {
        let (mut height, mut level) = (0, vec![id]);
        while !level.is_empty() {
            height += 1;
            let mut below = Vec::new();
            for id in level {
                below.extend(self.dir(id)?.names.values().filter_map(|it| match it.node {
                    Node::Dir(id) => Some(id),
                    Node::Leaf(_) => None,
                }));
            }
            level = below;
        }
        Ok(height)
    }
}

/// What rmdir calls not empty, a busy `..`, rename calls invalid.
fn busy(error: FileError) -> FileError {
    if error == FileError::NotEmpty { FileError::Invalid } else { error }
}
