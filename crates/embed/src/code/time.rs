//! Time as code mode wants it, from tokio.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use drydock_codemode::Time;
use drydock_contract::{BoxFuture, Preparing, SteppedClock, Waited};

/// Between two looks at whether something is still being compiled.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The runtime's clock.
#[derive(Debug, Clone)]
pub struct TokioTime {
    began: Instant,
    preparing: Option<Arc<Preparing>>,
    clock: Option<Arc<SteppedClock>>,
}

impl Default for TokioTime {
    fn default() -> Self {
        Self::beside(None)
    }
}

impl TokioTime {
    /// Spans that do not count what was waited meanwhile for code to be compiled.
    pub(crate) fn beside(preparing: Option<Arc<Preparing>>) -> Self {
        Self { began: Instant::now(), preparing, clock: None }
    }

    /// For programs whose own time is this one's.
    pub(crate) fn on_clock(self, clock: Option<Arc<SteppedClock>>) -> Self {
        Self { clock, ..self }
    }
}

impl Time for TokioTime {
    fn stepped(&self) -> Option<Arc<SteppedClock>> {
        self.clock.clone()
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'static, ()> {
        let (began, waited) = (Instant::now(), Waited::from_now(self.preparing.clone()));
        Box::pin(async move {
            tokio::time::sleep(span).await;
            loop {
                let left = (span + waited.so_far()).saturating_sub(began.elapsed());
                if left.is_zero() {
                    return;
                }
                tokio::time::sleep(left.max(LOOK_AGAIN)).await;
            }
        })
    }
}
