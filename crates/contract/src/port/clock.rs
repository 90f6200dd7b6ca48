//! The time as the host tells it. Fixed in tests.

use crate::Timestamp;

/// Tells the time of day. Only the binary's wiring implements it with the real clock.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;

    /// Whether it goes on while nobody looks. One that is stepped does not move while code is compiled.
    fn passes_by_itself(&self) -> bool {
        true
    }
}
