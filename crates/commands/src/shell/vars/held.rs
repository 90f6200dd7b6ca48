//! What the variables of all shells of a line hold together. Subshells share scopes until they write;
//! what each holds beyond that is counted once, and given back when it ends.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// How many times the variables of one shell all shells together may hold.
pub(super) const SHELLS_MAX: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Held {
    all: Arc<AtomicUsize>,
    mine: usize,
}

impl Held {
    pub(super) fn all(&self) -> usize {
        self.all.load(Ordering::Relaxed)
    }

    pub(super) fn set_mine(&mut self, bytes: usize) {
        self.all.fetch_add(bytes, Ordering::Relaxed);
        self.all.fetch_sub(self.mine, Ordering::Relaxed);
        self.mine = bytes;
    }

    pub(super) fn grow(&mut self, new: usize, old: usize) {
        self.set_mine((self.mine + new).saturating_sub(old));
    }
}

impl Clone for Held {
    /// A fork holds nothing of its own yet.
    fn clone(&self) -> Self {
        Self { all: Arc::clone(&self.all), mine: 0 }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.set_mine(0);
    }
}
