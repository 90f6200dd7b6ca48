//! When a run's time is up. It moves while the run's session waits for code to be compiled.

use std::time::{Duration, Instant};

use drydock_contract::Waited;

/// As good as never, for a wall limit beyond what the clock can say.
const A_YEAR: Duration = Duration::from_secs(365 * 86_400);

/// The end of a run's time.
#[derive(Debug, Clone)]
pub(crate) struct Deadline {
    /// When it would be up if nobody waited.
    until: Instant,
    waited: Waited,
}

impl Deadline {
    pub(crate) fn new(started: Instant, wall_max: Duration, waited: Waited) -> Self {
        Self { until: started.checked_add(wall_max).unwrap_or_else(|| started + A_YEAR), waited }
    }

    /// Where it lies now; it never comes nearer.
    pub(crate) fn at(&self) -> Instant {
        self.until + self.waited.so_far()
    }

    /// Whether the time is up. Looks at what was waited only if it has to: this is asked at every host call.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        now >= self.until && now >= self.at()
    }
}
