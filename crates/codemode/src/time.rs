//! Time as this room needs it: how much has passed, and waiting for some.

use std::time::Duration;

use drydock_contract::BoxFuture;

/// A clock that can be waited for. Whoever has a runtime gives one.
pub trait Time: Send + Sync {
    /// Time since some fixed moment; never goes back.
    fn now(&self) -> Duration;

    /// Ends after this long.
    fn sleep(&self, span: Duration) -> BoxFuture<'static, ()>;
}

/// Milliseconds, as messages count them.
pub(crate) fn milliseconds(span: Duration) -> f64 {
    (span.as_secs_f64() * 1e6).round() / 1e3
}
