//! The work of a pattern, counted in positions looked at.

use std::sync::atomic::{AtomicU64, Ordering};

/// A second or so. Text that people match stays far below.
const POSITIONS_MAX: u64 = 300_000_000;

/// What a pattern has left. A copy starts afresh, and patterns are equal whatever they have left.
#[derive(Debug)]
pub(super) struct Effort(AtomicU64);

impl Effort {
    /// Takes some; false if there is none left, now and from now on.
    pub(super) fn spend(&self, positions: usize) -> bool {
        let left = self.0.load(Ordering::Relaxed).saturating_sub(positions as u64);
        self.0.store(left, Ordering::Relaxed);
        left > 0
    }

    pub(super) fn is_spent(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

impl Default for Effort {
    fn default() -> Self {
        Self(AtomicU64::new(POSITIONS_MAX))
    }
}

impl Clone for Effort {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Effort {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Effort {}
