//! Calls counted in a fixed window of time, in one atomic word.
//!
//! The count is of this process. What it may reach is leased from the ledger in large pieces, where there is one, so
//! that all processes of a home share one limit; the first calls of a window need no lease. The next piece is asked for
//! when three quarters of the last are used, by somebody else ([`Lender`]): counting never waits.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use drydock_contract::{
    Fault, Timestamp, Who,
    port::{Ledger, LedgerError},
};

use crate::{
    account::Account,
    lender::{Lender, Round, Rounds},
};

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

    /// Calls of a window that need no lease.
    fn unleased(self, is_shared: bool) -> u32 {
        if is_shared { self.calls_max.min(UNLEASED_CALLS) } else { self.calls_max }
    }

    fn lease(self) -> u32 {
        (self.calls_max / LEASES).max(1)
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
    rounds: Arc<Rounds>,
}

/// Whether a call was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    Yes,
    /// It was, and a further lease will soon be needed.
    YesAndLow,
    /// Nothing that was leased is left, and the ledger may have more.
    Unleased,
    /// The window is full.
    Full,
}

impl Counter {
    /// Counts one call, unless the window is full or what was leased of it is used up. `is_shared` if there is a ledger
    /// to lease from.
    pub(crate) fn count(&self, rate: Rate, now: Timestamp, is_shared: bool) -> Counted {
        let window = rate.window(now);
        let allowed_now =
            || in_window(self.allowed.load(Ordering::Acquire), window).unwrap_or(rate.unleased(is_shared));
        let mut allowed = allowed_now();
        loop {
            let count_one = |word: u64| {
                let count = in_window(word, window).unwrap_or(0);
                (count < allowed).then(|| word_of(window, count + 1))
            };
            if let Ok(before) = self.counted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count_one) {
                // Just one call meets the mark, so just one asks.
                let mark = allowed - (rate.lease() / 4).min(allowed / 4);
                let is_low = allowed < rate.calls_max && in_window(before, window).unwrap_or(0) + 1 == mark;
                return if is_low { Counted::YesAndLow } else { Counted::Yes };
            }
            let is_used_up = in_window(self.used_up.load(Ordering::Acquire), window).is_some();
            if allowed_now() == allowed {
                let may_ask = allowed < rate.calls_max && !is_used_up;
                return if may_ask { Counted::Unleased } else { Counted::Full };
            }
            allowed = allowed_now();
        }
    }

    /// Leases the next piece. One at a time.
    fn refill(&self, rate: Rate, now: Timestamp, ledger: &dyn Ledger, who: &Who) -> Result<(), LedgerError> {
        let (window, unleased) = (rate.window(now), rate.unleased(true));
        let allowed = in_window(self.allowed.load(Ordering::Acquire), window).unwrap_or(unleased);
        // The first lease of a window is also for the calls that were made without one.
        let first = if allowed == unleased { unleased } else { 0 };
        let wanted = first + rate.lease();
        let leased = lease(ledger, who, window, wanted, rate.calls_max)?;
        let more = leased.saturating_sub(first);
        if more > 0 {
            self.allowed.store(word_of(window, allowed.saturating_add(more)), Ordering::Release);
        }
        if leased < wanted {
            self.used_up.store(word_of(window, 1), Ordering::Release);
        }
        Ok(())
    }

    /// Whether nothing was counted in the window of `now`.
    pub(crate) fn is_idle(&self, rate: Rate, now: Timestamp) -> bool {
        in_window(self.counted.load(Ordering::Relaxed), rate.window(now)).is_none()
    }
}

/// What a further lease is asked for with.
#[derive(Clone, Copy)]
pub(crate) struct Leasing<'a> {
    pub(crate) rate: Rate,
    pub(crate) lender: &'a Arc<Lender>,
    pub(crate) ledger: &'a Arc<dyn Ledger>,
}

impl Leasing<'_> {
    /// Has more calls leased, while the last ones are made.
    pub(crate) fn ahead(self, account: &Arc<Account>, now: Timestamp) {
        if let Some(round) = account.rate.rounds.begin() {
            self.ask(account, now, round);
        }
    }

    /// Waits until more were leased, or there are none. A ledger that cannot say is a fault, and uses nothing up.
    pub(crate) async fn done(self, account: &Arc<Account>, now: Timestamp) -> Result<(), Fault> {
        account.rate.rounds.answered(|round| self.ask(account, now, round)).await
    }

    fn ask(self, account: &Arc<Account>, now: Timestamp, round: Round) {
        let (rate, ledger, own) = (self.rate, Arc::clone(self.ledger), Arc::clone(account));
        let question = move || round.finish(own.rate.refill(rate, now, &*ledger, &own.who));
        self.lender.ask(&account.who.tenant, Box::new(question));
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

    fn me() -> Who {
        Who { tenant: Tenant::default(), principal: "me".parse().unwrap() }
    }

    /// Counts a call and leases what it takes, as the ladder and the lender do together.
    fn admit(counter: &Counter, rate: Rate, second: u64, ledger: Option<&MemoryLedger>) -> bool {
        let now = Timestamp(second * SECOND);
        loop {
            let counted = counter.count(rate, now, ledger.is_some());
            let wants = matches!(counted, Counted::YesAndLow | Counted::Unleased);
            let leased = match ledger.filter(|_| wants) {
                Some(ledger) => counter.refill(rate, now, ledger, &me()).is_ok(),
                None => false,
            };
            match counted {
                Counted::Yes | Counted::YesAndLow => return true,
                Counted::Unleased if leased => {}
                Counted::Unleased | Counted::Full => return false,
            }
        }
    }

    #[test]
    fn a_window_admits_its_number_and_the_next_window_starts_afresh() {
        let rate = Rate { calls_max: 2, window_s: 60 };
        let counter = Counter::default();
        let at = |second: u64| admit(&counter, rate, second, None);
        assert_eq!([at(120), at(121), at(122), at(179)], [true, true, false, false]);
        assert!(at(180));
        assert!(!counter.is_idle(rate, Timestamp(181 * SECOND)));
        assert!(counter.is_idle(rate, Timestamp(240 * SECOND)));
    }

    #[test]
    fn processes_of_a_home_share_one_limit_and_ask_for_it_in_large_pieces() {
        let (ledger, rate) = (MemoryLedger::default(), Rate { calls_max: 16_000, window_s: 60 });
        let processes = [Counter::default(), Counter::default()];
        let calls = |second: u64, counter: &Counter, count: usize| {
            (0..count).filter(|_| admit(counter, rate, second, Some(&ledger))).count()
        };
        assert_eq!(calls(1, &processes[0], 700), 700);
        assert_eq!(ledger.asked(), 0, "the first calls need no lease");
        assert_eq!(calls(1, &processes[0], 300), 300);
        assert!(ledger.asked() > 0, "the next ones are leased before they are needed");
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
    fn a_ledger_that_does_not_answer_uses_nothing_up() {
        let (ledger, rate) = (MemoryLedger::default(), Rate { calls_max: 16_000, window_s: 60 });
        ledger.break_down();
        let counter = Counter::default();
        let ask = || admit(&counter, rate, 1, Some(&ledger));
        assert_eq!((0..2_000).filter(|_| ask()).count(), 1_000, "its first calls");
        assert_eq!(counter.count(rate, Timestamp(SECOND), true), Counted::Unleased, "and it is not full");
        ledger.mend();
        assert_eq!((0..2_000).filter(|_| ask()).count(), 2_000, "in the same window");
    }

    #[test]
    fn many_threads_together_never_get_more_than_the_window_holds() {
        let rate = Rate { calls_max: 1000, window_s: 60 };
        let counter = Counter::default();
        let admitted = std::thread::scope(|scope| {
            let work = || (0..500).filter(|_| admit(&counter, rate, 1, None)).count();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(|it| it.join().unwrap()).sum::<usize>()
        });
        assert_eq!(admitted, 1000);
    }
}
