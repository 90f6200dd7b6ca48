//! A volume's directories, for walking.

use drydock_contract::port::FileResult;

use super::{
    db::Tx,
    node::{DIR, LINK, Volume},
};
use crate::tree::{Branches, Node};

/// A volume as one transaction sees it.
pub(super) struct Volumed<'t, 'a> {
    pub(super) tx: &'t Tx<'a>,
    pub(super) volume: &'t Volume,
}

impl Branches for Volumed<'_, '_> {
    type Dir = i64;
    type Leaf = i64;

    fn root(&self) -> FileResult<i64> {
        Ok(self.volume.root)
    }

    fn parent(&self, dir: &i64) -> FileResult<i64> {
        if *dir == self.volume.root { Ok(*dir) } else { self.tx.parent_of(*dir) }
    }

    fn look(&self, dir: &i64, name: &str) -> FileResult<Option<Node<i64, i64>>> {
        Ok(self.tx.look_up(*dir, name)?.map(|(node, kind)| match kind {
            DIR => Node::Dir(node),
            LINK => Node::Link(node),
            _ => Node::File(node),
        }))
    }

    fn target(&self, link: &i64) -> FileResult<String> {
        self.tx.target_of(*link)
    }
}
