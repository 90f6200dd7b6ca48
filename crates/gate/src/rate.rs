//! Calls counted in a fixed window of time, in one atomic word.
//!
//! The count is of this process. What it may reach is leased from the ledger in large pieces, where there is one, so
//! that all processes of a home share one limit; the first calls of a window need no lease.

use std::sync::atomic::{AtomicU64, Ordering};

use drydock_contract::{
    Timestamp, Who,
    port::{Ledger, LedgerError},
};
use parking_lot::Mutex;

/// How many calls a principal may make in how many seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) calls_max: u32,
    pub(crate) window_s: u32,
}

impl Rate {
    fn window(self, now: Timestamp) -> u32 {
        // The cut to 32 bits wraps after thousands of years of one-second windows.
        (now.0 / 1_000_000_000 / u64::from(self.window_s.max(1))) as u32
    }
}

/// Calls of a window that a process makes before it asks the ledger: a command line that runs one command never does.
const UNLEASED_CALLS: u32 = 1_000;
/// A lease is this part of the limit.
const LEASES: u32 = 16;

/// The window's number in the high half, its count in the low half: one compare-and-swap decides,
/// so two callers can never both take the last call.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    counted: AtomicU64,
    /// The window and how many calls of it may be made here.
    allowed: AtomicU64,
    /// The window of which the ledger has nothing more to give, so that it is not asked for each refusal.
    used_up: AtomicU64,
    leasing: Mutex<()>,
}

impl Counter {
    /// Counts one call, unless the window is full.
    pub(crate) fn admit(&self, rate: Rate, now: Timestamp, ledger: Option<(&dyn Ledger, &Who)>) -> bool {
        let window = rate.window(now);
        let unleased = ledger.map_or(rate.calls_max, |_| rate.calls_max.min(UNLEASED_CALLS));
        loop {
            let allowed = in_window(self.allowed.load(Ordering::Acquire), window).unwrap_or(unleased);
            let count_one = |word: u64| {
                let count = in_window(word, window).unwrap_or(0);
                (count < allowed).then(|| word_of(window, count + 1))
            };
            if self.counted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count_one).is_ok() {
                return true;
            }
            let is_used_up = in_window(self.used_up.load(Ordering::Acquire), window).is_some();
            let may_ask = allowed < rate.calls_max && !is_used_up;
            let Some((ledger, who)) = ledger.filter(|_| may_ask) else { return false };
            let _turn = self.leasing.lock();
            if in_window(self.allowed.load(Ordering::Acquire), window).unwrap_or(unleased) != allowed {
                continue;
            }
            let first = if allowed == unleased { unleased } else { 0 };
            let wanted = first + (rate.calls_max / LEASES).max(1);
            // A ledger that does not answer gives nothing: the limit holds.
            let leased = lease(ledger, who, window, wanted, rate.calls_max).unwrap_or_else(|error| {
                tracing::error!("no calls could be leased: {error}");
                0
            });
            let more = leased.saturating_sub(first);
            if leased < wanted {
                self.used_up.store(word_of(window, 1), Ordering::Release);
            }
            if more == 0 {
                return false;
            }
            self.allowed.store(word_of(window, allowed.saturating_add(more)), Ordering::Release);
        }
    }

    /// Whether nothing was counted in the window of `now`.
    pub(crate) fn is_idle(&self, rate: Rate, now: Timestamp) -> bool {
        in_window(self.counted.load(Ordering::Relaxed), rate.window(now)).is_none()
    }
}

const fn word_of(window: u32, count: u32) -> u64 {
    (window as u64) << 32 | count as u64
}

/// The count of a word, if it is of that window.
fn in_window(word: u64, window: u32) -> Option<u32> {
    ((word >> 32) as u32 == window && word as u32 > 0).then_some(word as u32)
}

/// Takes calls of a window from what all processes share. The cell holds the window and what was leased of it.
fn lease(ledger: &dyn Ledger, who: &Who, window: u32, wanted: u32, max: u32) -> Result<u32, LedgerError> {
    let key = format!("rate/{}", who.principal);
    loop {
        let before = ledger.cell(&who.tenant, &key)?;
        let word = before.as_deref().and_then(|it| it.try_into().ok()).map_or(0, u64::from_le_bytes);
        let leased = in_window(word, window).unwrap_or(0);
        let more = wanted.min(max.saturating_sub(leased));
        let after = word_of(window, leased + more).to_le_bytes();
        if more == 0 || ledger.swap(&who.tenant, &key, before.as_deref(), Some(&after))? {
            return Ok(more);
        }
    }
}

#[cfg(test)]
mod tests {
    use drydock_contract::Tenant;
    use drydock_testkit::MemoryLedger;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_window_admits_its_number_and_the_next_window_starts_afresh() {
        let rate = Rate { calls_max: 2, window_s: 60 };
        let counter = Counter::default();
        let at = |second: u64| counter.admit(rate, Timestamp(second * SECOND), None);
        assert_eq!([at(120), at(121), at(122), at(179)], [true, true, false, false]);
        assert!(at(180));
        assert!(!counter.is_idle(rate, Timestamp(181 * SECOND)));
        assert!(counter.is_idle(rate, Timestamp(240 * SECOND)));
    }

    #[test]
    fn processes_of_a_home_share_one_limit_and_ask_for_it_in_large_pieces() {
        let (ledger, rate) = (MemoryLedger::default(), Rate { calls_max: 16_000, window_s: 60 });
        let who = Who { tenant: Tenant::default(), principal: "me".parse().unwrap() };
        let processes = [Counter::default(), Counter::default()];
        let calls = |second: u64, counter: &Counter, count: usize| {
            (0..count)
                .filter(|_| counter.admit(rate, Timestamp(second * SECOND), Some((&ledger, &who))))
                .count()
        };
        assert_eq!(calls(1, &processes[0], 1_000), 1_000);
        assert_eq!(ledger.asked(), 0, "the first calls need no lease");
        let admitted: usize = processes.iter().map(|it| calls(1, it, 20_000)).sum();
        // Each process may have its first calls without anybody hearing of them.
        assert!((15_000..=17_000).contains(&(admitted + 1_000)), "{admitted} of 16,000");
        let asked = ledger.asked();
        assert!(asked < 100, "{asked} questions for 40,000 calls");
        assert_eq!(processes.iter().map(|it| calls(2, it, 5_000)).sum::<usize>(), 0);
        assert_eq!(ledger.asked(), asked, "what is used up is not asked for again");
        assert_eq!(calls(61, &processes[1], 100), 100, "the next window starts afresh");
    }

    #[test]
    fn a_ledger_that_does_not_answer_leaves_a_process_its_first_calls() {
        let (ledger, rate) = (MemoryLedger::default(), Rate { calls_max: 16_000, window_s: 60 });
        ledger.break_down();
        let who = Who { tenant: Tenant::default(), principal: "me".parse().unwrap() };
        let counter = Counter::default();
        let ask = || counter.admit(rate, Timestamp(SECOND), Some((&ledger, &who)));
        assert_eq!((0..2_000).filter(|_| ask()).count(), 1_000);
    }

    #[test]
    fn many_threads_together_never_get_more_than_the_window_holds() {
        let rate = Rate { calls_max: 1000, window_s: 60 };
        let counter = Counter::default();
        let admitted = std::thread::scope(|scope| {
            let work = || (0..500).filter(|_| counter.admit(rate, Timestamp(SECOND), None)).count();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(|it| it.join().unwrap()).sum::<usize>()
        });
        assert_eq!(admitted, 1000);
    }
}
