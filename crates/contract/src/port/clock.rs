//! The time as the host tells it. Fixed in tests.

use crate::Timestamp;

/// Tells the time of day. Only the binary's wiring implements it with the real clock.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}
