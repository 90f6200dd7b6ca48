//! Renaming as POSIX has it: one transaction, replacing what may be replaced, never a directory into
//! itself.

use drydock_contract::{
    Timestamp,
    port::{FileError, FileLimit, FileResult, TreePath},
};
use rusqlite::params;

use super::{
    branch::Volumed,
    db::{Sql as _, Tx},
    node::{DIR, FILE, LINK, Volume},
};
use crate::tree::{Last, Node, Spot, can_move, walk};

impl Tx<'_> {
    pub(super) fn rename(
        &mut self,
        volume: &Volume,
        from: &TreePath,
        to: &TreePath,
        now: Timestamp,
    ) -> FileResult<()> {
        let tree = Volumed { tx: self, volume };
        let old = walk(&tree, from, Last::Itself)?;
        if old.node.is_none() {
            return Err(FileError::NotFound);
        }
        let new = walk(&tree, to, Last::Itself)?;
        can_move(from, &old, to, &new)?;
        let (node, kind) = split(&old).ok_or(FileError::NotFound)?;
        if kind == DIR {
            self.check_dir_move(volume, node, new.parent)?;
        }
        if let Some((there, there_kind)) = split(&new) {
            match (kind == DIR, there_kind == DIR) {
                _ if node == there => return Ok(()),
                (false, true) => return Err(FileError::IsADirectory),
                (true, false) => return Err(FileError::NotADirectory),
                (true, true) if !self.is_empty(there)? => return Err(FileError::NotEmpty),
                _ => {}
            }
            self.remove_name(volume.id, new.parent, &new.name, now)?;
            if there_kind == DIR {
                self.forget(volume.id, there)?
            } else {
                self.unlink(volume.id, there, now)?
            }
        }
        self.remove_name(volume.id, old.parent, &old.name, now)?;
        self.add_name(volume, new.parent, &new.name, (node, kind), now)?;
        let text = "UPDATE node SET ctime = ?2, parent = iif(kind = 1, ?3, NULL) WHERE id = ?1";
        let mut statement = self.conn.prepare_cached(text).sql()?;
        statement.execute(params![node, now.0.cast_signed(), new.parent]).sql().map(|_| ())
    }

    fn check_dir_move(&self, volume: &Volume, dir: i64, into: i64) -> FileResult<()> {
        let mut above = into;
        while above != volume.root {
            if above == dir {
                return Err(FileError::Invalid);
            }
            above = self.parent_of(above)?;
        }
        if self.depth(volume, into)? + self.height(dir)? > volume.quota.depth_max {
            return Err(FileError::Quota(FileLimit::Depth));
        }
        Ok(())
    }

    /// How many directories are above this one.
    pub(super) fn depth(&self, volume: &Volume, mut dir: i64) -> FileResult<usize> {
        let mut depth = 0;
        while dir != volume.root {
            dir = self.parent_of(dir)?;
            depth += 1;
        }
        Ok(depth)
    }

    /// How many directories deep this one goes, itself included.
    fn height(&self, dir: i64) -> FileResult<usize> {
        let text = "WITH RECURSIVE below(id, depth) AS (
                SELECT ?1, 1 UNION ALL
                SELECT n.node, b.depth + 1 FROM below b JOIN name n ON n.parent = b.id WHERE n.kind = 1)
            SELECT max(depth) FROM below";
        self.conn.prepare_cached(text).sql()?.query_row(params![dir], |row| row.get(0)).sql()
    }
}

fn split(spot: &Spot<i64, i64>) -> Option<(i64, i64)> {
    spot.node.as_ref().map(|it| match it {
        Node::Dir(id) => (*id, DIR),
        Node::File(id) => (*id, FILE),
        Node::Link(id) => (*id, LINK),
    })
}
