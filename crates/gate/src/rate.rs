//! Calls counted in a fixed window of time, in one atomic word.

use std::sync::atomic::{AtomicU64, Ordering};

use drydock_contract::Timestamp;

/// How many calls a principal may make in how many seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) calls_max: u32,
    pub(crate) window_s: u32,
}

/// The window's number in the high half, its count in the low half: one compare-and-swap decides,
/// so two callers can never both take the last call.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Counts one call, unless the window is full.
    pub(crate) fn admit(&self, rate: Rate, now: Timestamp) -> bool {
        let seconds = now.0 / 1_000_000_000;
        // The cut to 32 bits wraps after thousands of years of one-second windows.
        let window = (seconds / u64::from(rate.window_s.max(1))) as u32;
        let count_one = |word: u64| {
            let (current, count) = ((word >> 32) as u32, word as u32);
            let count = if current == window { count } else { 0 };
            (count < rate.calls_max).then(|| u64::from(window) << 32 | u64::from(count + 1))
        };
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count_one).is_ok()
    }

    /// Whether nothing was counted in the window of `now`.
    pub(crate) fn is_idle(&self, rate: Rate, now: Timestamp) -> bool {
        let window = (now.0 / 1_000_000_000 / u64::from(rate.window_s.max(1))) as u32;
        (self.0.load(Ordering::Relaxed) >> 32) as u32 != window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_window_admits_its_number_and_the_next_window_starts_afresh() {
        let rate = Rate { calls_max: 2, window_s: 60 };
        let counter = Counter::default();
        let at = |second: u64| counter.admit(rate, Timestamp(second * SECOND));
        assert_eq!([at(120), at(121), at(122), at(179)], [true, true, false, false]);
        assert!(at(180));
        assert!(!counter.is_idle(rate, Timestamp(181 * SECOND)));
        assert!(counter.is_idle(rate, Timestamp(240 * SECOND)));
    }

    #[test]
    fn many_threads_together_never_get_more_than_the_window_holds() {
        let rate = Rate { calls_max: 1000, window_s: 60 };
        let counter = Counter::default();
        let admitted = std::thread::scope(|scope| {
            let work = || (0..500).filter(|_| counter.admit(rate, Timestamp(SECOND))).count();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(|it| it.join().unwrap()).sum::<usize>()
        });
        assert_eq!(admitted, 1000);
    }
}
