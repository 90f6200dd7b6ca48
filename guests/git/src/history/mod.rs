//! Commits and how they hang together: names, walks, common ancestors, and how they are shown.

pub mod blame;
pub mod graph;
pub mod names;
pub mod pretty;
pub mod rev;
pub mod walk;

use std::collections::{BinaryHeap, HashMap, HashSet};

use crate::Oid;
use crate::fail::Done;
use crate::repo::Repo;

impl Repo {
    /// Everything that leads to these commits, themselves too.
    pub fn ancestors(&self, tips: &[Oid]) -> Done<HashSet<Oid>> {
        let mut all = HashSet::new();
        let mut left = tips.to_vec();
        while let Some(id) = left.pop() {
            if all.insert(id) {
                left.extend(self.commit(id)?.parents);
            }
        }
        Ok(all)
    }

    /// Whether one commit leads to another.
    pub fn is_ancestor(&self, old: Oid, new: Oid) -> Done<bool> {
        if old == new {
            return Ok(true);
        }
        let when = self.commit(old)?.committer.seconds;
        let mut seen = HashSet::new();
        let mut left = vec![new];
        while let Some(id) = left.pop() {
            if id == old {
                return Ok(true);
            }
            // A day of doubt about other people's clocks.
            if seen.insert(id) {
                let commit = self.commit(id)?;
                if commit.committer.seconds + 86_400 >= when {
                    left.extend(commit.parents);
                }
            }
        }
        Ok(false)
    }

    /// The best common ancestors of two commits, the newest first.
    pub fn merge_bases(&self, left: Oid, right: Oid) -> Done<Vec<Oid>> {
        const LEFT: u8 = 1;
        const RIGHT: u8 = 2;
        const STALE: u8 = 4;
        let mut flags: HashMap<Oid, u8> = HashMap::new();
        let mut queue = BinaryHeap::new();
        for (id, flag) in [(left, LEFT), (right, RIGHT)] {
            *flags.entry(id).or_insert(0) |= flag;
            queue.push((self.commit(id)?.committer.seconds, id));
        }
        let mut found: Vec<(i64, Oid)> = Vec::new();
        while let Some((when, id)) = queue.pop() {
            let mut here = flags.get(&id).copied().unwrap_or(0);
            if here & (LEFT | RIGHT) == LEFT | RIGHT && here & STALE == 0 {
                if !found.contains(&(when, id)) {
                    found.push((when, id));
                }
                here |= STALE;
            }
            for parent in self.commit(id)?.parents {
                let old = flags.get(&parent).copied().unwrap_or(0);
                if old | here != old {
                    flags.insert(parent, old | here);
                    queue.push((self.commit(parent)?.committer.seconds, parent));
                }
            }
        }
        found.sort_by(|a, b| b.cmp(a));
        let ids: Vec<Oid> = found.into_iter().map(|it| it.1).collect();
        let mut best = Vec::new();
        for id in &ids {
            let mut behind = false;
            for other in ids.iter().filter(|it| *it != id) {
                behind |= self.is_ancestor(*id, *other)?;
            }
            if !behind {
                best.push(*id);
            }
        }
        Ok(best)
    }
}
