//! Which call this is: ids that depend on nothing but what was asked, and in which order.
//!
//! A call's id is made of its parent's and its ordinal among the parent's calls. Two runs with the same root make
//! the same ids, whatever runs beside them: that is what a replay compares, and what a run's randomness is drawn by.

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use crate::{Principal, Tenant, Waited};

/// Who asks: a principal of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Who {
    /// The tenant.
    pub tenant: Tenant,
    /// Its principal.
    pub principal: Principal,
}

/// Everything that came of one beginning has the same: 32 hex digits, as W3C's trace context spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TraceId(pub u128);

/// One call: 16 hex digits, as W3C's trace context spells a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub u64);

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl TraceId {
    /// The trace of a session whose randomness comes from a seed.
    pub fn seeded(seed: u64) -> Self {
        Self(u128::from(mix(seed, 0x7472_6163)) << 64 | u128::from(mix(seed, 0x6964)))
    }

    /// The id of what stands above all calls of the trace.
    pub fn root(self) -> CallId {
        CallId(mix((self.0 >> 64) as u64, self.0 as u64))
    }
}

impl CallId {
    /// The id of this call's `ordinal`th call.
    #[must_use]
    pub fn child(self, ordinal: u64) -> Self {
        Self(mix(self.0, ordinal))
    }
}

/// A bijection of 64 bits that spreads every bit over all (the finaliser of splitmix64), twice.
fn mix(one: u64, other: u64) -> u64 {
    let spread = |mut word: u64| {
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    };
    spread(spread(one.wrapping_add(0x9e37_79b9_7f4a_7c15)) ^ other.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Where calls come from: a session, or a run in it. Each call takes the next ordinal.
#[derive(Debug)]
pub struct Lineage {
    /// What all of it belongs to.
    pub trace: TraceId,
    /// The call that these are made by.
    pub call: CallId,
    /// How many runs lie between the host and here.
    pub depth: u32,
    /// Made with the first call, or shared with the first clone: most runs make no call.
    calls: OnceLock<Arc<AtomicU64>>,
}

impl Clone for Lineage {
    /// Clones count together.
    fn clone(&self) -> Self {
        let calls = OnceLock::from(Arc::clone(self.calls()));
        Self { trace: self.trace, call: self.call, depth: self.depth, calls }
    }
}

impl Lineage {
    fn calls(&self) -> &Arc<AtomicU64> {
        self.calls.get_or_init(Arc::default)
    }

    /// The beginning of a trace.
    pub fn root(trace: TraceId) -> Self {
        Self { trace, call: trace.root(), depth: 0, calls: OnceLock::new() }
    }

    /// The next call that is made here, and the id of who makes it.
    pub fn next(&self) -> (CallId, CallId) {
        (self.call.child(self.calls().fetch_add(1, Ordering::Relaxed)), self.call)
    }

    /// The same for a caller that numbers its calls itself, because it makes them from several places at once.
    pub fn next_or(&self, ordinal: Option<u64>) -> (CallId, CallId) {
        match ordinal {
            Some(ordinal) => (self.call.child(ordinal), self.call),
            None => self.next(),
        }
    }

    /// The same trace, where what belongs to a call elsewhere is counted, at least so deep.
    #[must_use]
    pub fn at(&self, call: CallId, depth_min: u32) -> Self {
        Self { trace: self.trace, call, depth: self.depth.max(depth_min), calls: OnceLock::new() }
    }

    /// Where the calls of `call` come from, one run deeper.
    #[must_use]
    pub fn within(&self, call: CallId) -> Self {
        Self { trace: self.trace, call, depth: self.depth.saturating_add(1), calls: OnceLock::new() }
    }

    /// A further beginning of the same trace and depth, such as the next line of a shell: its ids are its own.
    #[must_use]
    pub fn branch(&self) -> Self {
        self.at(self.next().0, self.depth)
    }
}

/// When time is up. It moves while code is compiled, which is nobody's time.
#[derive(Debug, Clone)]
pub struct Deadline {
    /// When it would be up if nobody waited.
    until: Instant,
    waited: Waited,
}

/// As good as never, for a wall limit beyond what the clock can say.
const A_YEAR: std::time::Duration = std::time::Duration::from_secs(365 * 86_400);

impl Deadline {
    /// So long after it started, and later by what is waited.
    pub fn new(started: Instant, wall_max: std::time::Duration, waited: Waited) -> Self {
        Self { until: started.checked_add(wall_max).unwrap_or_else(|| started + A_YEAR), waited }
    }

    /// Where it lies now; it never comes nearer.
    pub fn at(&self) -> Instant {
        // What is beyond what the clock can say is far enough.
        self.until.checked_add(self.waited.so_far()).unwrap_or(self.until)
    }

    /// Whether the time is up. Looks at what was waited only if it has to: this is asked at every host call.
    pub fn is_over(&self, now: Instant) -> bool {
        now >= self.until && now >= self.at()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_depend_on_the_root_and_the_order_and_on_nothing_else() {
        let ids = |seed: u64| {
            let root = Lineage::root(TraceId::seeded(seed));
            let (first, parent) = root.next();
            let below = root.within(first);
            (root.trace, parent, first, below.next(), root.next(), below.depth)
        };
        assert_eq!(ids(7), ids(7));
        assert_ne!(ids(7).2, ids(8).2);
        let (_, parent, first, nested, second, depth) = ids(7);
        assert_eq!((nested.1, second.1, depth), (first, parent, 1));
    }

    #[test]
    fn a_deadline_beyond_what_the_clock_can_say_is_far_away_and_no_panic() {
        let now = Instant::now();
        // As far as the clock goes, to the nanosecond.
        let seconds = (0..63).rev().map(|bits| std::time::Duration::from_secs(1 << bits));
        let nanos = (0..30).rev().map(|bits| std::time::Duration::from_nanos(1 << bits));
        let further = |at: Instant, step| at.checked_add(step).unwrap_or(at);
        let farthest = seconds.chain(nanos).fold(now, further);
        let preparing = Arc::new(crate::Preparing::default());
        let waited = Waited::from_now(Some(Arc::clone(&preparing)));
        let deadline = Deadline::new(now, farthest - now, waited);
        let _waiting = preparing.begin();
        while preparing.total().is_zero() {
            std::hint::spin_loop();
        }
        assert!(deadline.at() >= farthest && !deadline.is_over(now));
        let beyond = Deadline::new(now, std::time::Duration::MAX, Waited::default());
        assert!(beyond.at() > now && !beyond.is_over(now));
    }

    #[test]
    fn clones_count_together_whoever_calls_first() {
        let root = Lineage::root(TraceId(1));
        let below = root.within(root.next().0);
        let clone = below.clone();
        let ids = [below.next(), clone.next(), below.clone().next()];
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 3);
    }

    #[test]
    fn ids_of_a_deep_and_wide_tree_are_distinct() {
        let mut seen = HashSet::new();
        let root = Lineage::root(TraceId(1));
        for _ in 0..100 {
            let below = root.within(root.next().0);
            (0..100).for_each(|_| assert!(seen.insert(below.next().0)));
        }
    }
}
