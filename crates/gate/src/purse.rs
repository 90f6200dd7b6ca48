//! Fuel that several runs share: what one has spent, the next does not have.
//!
//! A run may burn at most what is left when it starts, and pays when it ends. Runs in flight at the
//! same time can therefore overdraw the purse, by no more than what each of them was allowed.

use std::sync::atomic::{AtomicU64, Ordering};

/// A shared amount of fuel.
#[derive(Debug)]
pub struct Purse(AtomicU64);

impl Purse {
    /// A purse holding this much.
    pub const fn holding(fuel: u64) -> Self {
        Self(AtomicU64::new(fuel))
    }

    /// What is left.
    pub fn left(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Pays for fuel that was burnt.
    pub fn spend(&self, fuel: u64) {
        let less = |left: u64| Some(left.saturating_sub(fuel));
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }
}
