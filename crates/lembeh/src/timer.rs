//! Time as a session sees it: milliseconds since it began, and somebody who wakes at one of them.

use drydock_contract::BoxFuture;

/// Tells the time of a session. Whoever wires it decides what stands behind it.
pub trait Timer: Send + Sync {
    /// Milliseconds since some moment; never less than before.
    fn now_ms(&self) -> u64;

    /// Ends when that moment has come.
    fn at(&self, ms: u64) -> BoxFuture<'static, ()>;
}
