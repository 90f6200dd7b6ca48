//! Time as code mode wants it, from tokio.

use std::time::{Duration, Instant};

use drydock_codemode::Time;
use drydock_contract::BoxFuture;

/// The runtime's clock.
#[derive(Debug, Clone, Copy)]
pub struct TokioTime(Instant);

impl Default for TokioTime {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Time for TokioTime {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(span))
    }
}
