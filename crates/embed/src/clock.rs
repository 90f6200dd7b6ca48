//! The time of day. The one place where the gate's clock is the real one.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use drydock_contract::{Timestamp, port::Clock};

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// A clock that was set to a chosen moment when it was made, and goes on from there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShiftedClock {
    start: Timestamp,
    made: Instant,
}

impl ShiftedClock {
    pub(crate) fn starting(start: Timestamp) -> Self {
        Self { start, made: Instant::now() }
    }
}

impl Clock for ShiftedClock {
    fn now(&self) -> Timestamp {
        let passed = u64::try_from(self.made.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Timestamp(self.start.0.saturating_add(passed))
    }
}
