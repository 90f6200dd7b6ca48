//! Time as this room needs it: how much has passed, and waiting for some.

use std::{sync::Arc, time::Duration};

use drydock_contract::{BoxFuture, SteppedClock};

/// A clock that can be waited for. Whoever has a runtime gives one.
pub trait Time: Send + Sync {
    /// Time since some fixed moment; never goes back.
    fn now(&self) -> Duration;

    /// Ends after this long.
    fn sleep(&self, span: Duration) -> BoxFuture<'static, ()>;

    /// The clock of the programs, if their time is not the real one: then their calls go on in an order that does not
    /// depend on the machine.
    fn stepped(&self) -> Option<Arc<SteppedClock>> {
        None
    }
}

/// Milliseconds, as messages count them.
pub(crate) fn milliseconds(span: Duration) -> f64 {
    (span.as_secs_f64() * 1e6).round() / 1e3
}
