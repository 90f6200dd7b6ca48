//! The two clocks there are: the time of day, and time since the start.

use crate::guest::GuestClock;

/// What a tick is, as far as a guest may know.
pub(crate) const RESOLUTION_NS: u64 = 1_000;

/// Which clock a guest asks for.
#[derive(Clone, Copy)]
pub(crate) enum Clock {
    Realtime,
    Monotonic,
}

impl Clock {
    pub(crate) fn read(self, clock: &GuestClock) -> u64 {
        match self {
            Self::Realtime => clock.realtime_ns(),
            Self::Monotonic => clock.monotonic_ns(),
        }
    }
}
