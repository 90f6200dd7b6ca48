//! Fuel that several runs share: what one spends, the others do not have.

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

    /// Takes up to `wanted` out and answers how much it got. Give back what was not spent.
    #[must_use]
    pub fn draw(&self, wanted: u64) -> u64 {
        let less = |left: u64| Some(left.saturating_sub(wanted));
        let before = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).unwrap_or_default();
        before.min(wanted)
    }

    /// Puts unspent fuel back.
    pub fn give_back(&self, fuel: u64) {
        self.0.fetch_add(fuel, Ordering::Relaxed);
    }
}
