//! Verified artifacts held in memory, the least recently used thrown out first.
//!
//! A hit takes a shared lock and one atomic store, because every run may come by here. Throwing
//! out looks at all of them: there are few, and it happens next to reading a file.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU64, Ordering},
};

use drydock_contract::{Artifact, Digest};
use parking_lot::RwLock;

#[derive(Debug)]
pub(super) struct Hot {
    slots: RwLock<HashMap<Digest, Slot>>,
    clock: AtomicU64,
    bytes_max: u64,
}

#[derive(Debug)]
struct Slot {
    artifact: Artifact,
    used: AtomicU64,
}

impl Slot {
    fn bytes(&self) -> u64 {
        self.artifact.bytes().len() as u64
    }
}

impl Hot {
    pub(super) fn new(bytes_max: u64) -> Self {
        Self { slots: RwLock::default(), clock: AtomicU64::new(0), bytes_max }
    }

    pub(super) fn get(&self, digest: Digest) -> Option<Artifact> {
        let slots = self.slots.read();
        let slot = slots.get(&digest)?;
        slot.used.store(self.tick(), Ordering::Relaxed);
        Some(slot.artifact.clone())
    }

    pub(super) fn insert(&self, artifact: Artifact) {
        let slot = Slot { artifact, used: AtomicU64::new(self.tick()) };
        if slot.bytes() > self.bytes_max {
            return;
        }
        let mut slots = self.slots.write();
        slots.insert(slot.artifact.digest(), slot);
        let mut held: u64 = slots.values().map(Slot::bytes).sum();
        while held > self.bytes_max {
            let oldest = slots.iter().min_by_key(|(_, it)| it.used.load(Ordering::Relaxed));
            let Some(digest) = oldest.map(|(digest, _)| *digest) else { return };
            held -= slots.remove(&digest).map_or(0, |gone| gone.bytes());
        }
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_goes_first_and_the_sum_stays_bounded() {
        let hot = Hot::new(10);
        let [a, b, c, huge] =
            [&b"aaaa"[..], b"bbbb", b"cccc", &[0; 11]].map(|it| Artifact::hash(it.to_vec()));
        hot.insert(a.clone());
        hot.insert(b.clone());
        assert!(hot.get(a.digest()).is_some());
        hot.insert(c.clone());
        hot.insert(huge.clone());
        let there = [&a, &b, &c, &huge].map(|it| hot.get(it.digest()).is_some());
        assert_eq!(there, [true, false, true, false]);
    }
}
