//! The time of day. The one place where the gate's clock is the real one.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use drydock_contract::{BoxFuture, Timestamp, port::Clock};

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }

    fn alarm(&self, at: Instant) -> Option<BoxFuture<'static, ()>> {
        // Without a runtime nobody would be woken.
        tokio::runtime::Handle::try_current().ok()?;
        Some(Box::pin(tokio::time::sleep_until(at.into())))
    }
}
