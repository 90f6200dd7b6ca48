//! A moment, as nanoseconds since the Unix epoch.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use crate::port::Clock;

/// Nanoseconds since 1970-01-01 UTC. Plain data: only a [`Clock`](crate::port::Clock) makes one of "now".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize)]
#[serde(transparent)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The moment `later` after this one, or the last one there is.
    #[must_use]
    pub fn plus(self, later: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(later.as_nanos()).unwrap_or(u64::MAX)))
    }

    /// Whole milliseconds since the epoch.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }
}

/// The clock of a session whose time is not the real one. It moves by being looked at, and by what the
/// session's runs slept: the shell, its commands, its files and its tools all go by it.
///
/// A run has a clock of its own that starts here and is handed back at its end, so what a run sees depends
/// on nothing that runs beside it.
#[derive(Debug)]
pub struct SteppedClock(AtomicU64);

/// How far such a clock moves when it is looked at.
const LOOK_NS: u64 = 1_000;

impl SteppedClock {
    /// A clock that stands at `start`.
    pub const fn starting(start: Timestamp) -> Self {
        Self(AtomicU64::new(start.0))
    }

    /// Where it stands, without moving it.
    pub fn stands_at(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }

    /// A run ended at `moment`: it is at least that late.
    pub fn reach(&self, moment: Timestamp) {
        self.0.fetch_max(moment.0, Ordering::Relaxed);
    }
}

impl Clock for SteppedClock {
    fn now(&self) -> Timestamp {
        let moved = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |it| it.checked_add(LOOK_NS));
        Timestamp(moved.map_or(u64::MAX, |before| before + LOOK_NS))
    }

    fn passes_by_itself(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stepped_clock_moves_by_being_looked_at_and_never_back() {
        let clock = SteppedClock::starting(Timestamp(5_000));
        assert_eq!(
            (clock.stands_at(), clock.now(), clock.now()),
            (Timestamp(5_000), Timestamp(6_000), Timestamp(7_000))
        );
        clock.reach(Timestamp(6_500));
        assert_eq!(clock.stands_at(), Timestamp(7_000));
        clock.reach(Timestamp(u64::MAX));
        assert_eq!(clock.now(), Timestamp(u64::MAX));
    }
}
