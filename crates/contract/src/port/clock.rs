//! The time as the host tells it. Fixed in tests.

use std::time::Instant;

use crate::{BoxFuture, SteppedClock, Timestamp};

/// Tells the time of day. Only the binary's wiring implements it with the real clock.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;

    /// Wakes whoever waits for a moment of the real time; none where nobody can.
    fn alarm(&self, at: Instant) -> Option<BoxFuture<'static, ()>> {
        let _ = at;
        None
    }

    /// The clock itself, if it is one that stands still while nobody looks: who waits for it must say so.
    fn stepped(&self) -> Option<&SteppedClock> {
        None
    }
}
