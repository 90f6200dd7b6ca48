//! What a run draws from the budget that it shares with others: always ahead of what it can burn, and what it did not
//! burn goes back when it ends.
//!
//! Between two looks a guest burns at most one interval: it yields after so much fuel, or with every tick. So before
//! each turn it must have drawn what it may have burnt so far and one interval more. What it has really burnt is seen
//! at host calls, where its fuel can be read; between them each turn counts as a whole interval. A guest that waits in a
//! host call burns nothing, however often it is polled, and keeps no more than the interval that it needs to go on.
//! Where instructions are not counted, the time that it computed is charged instead (decision 0073).

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use drydock_contract::{Budget, FUEL_PER_MICROSECOND, Unit};

use crate::config::FUEL_BETWEEN_YIELDS;

/// What is drawn at a time, where there is so much: several turns, so that runs do not meet at the budget in each.
const DRAWN_AT_ONCE: u64 = 16 * FUEL_BETWEEN_YIELDS;

/// What a run has drawn and burnt, as far as it was seen. Shared by whoever lets it run, its host calls and its store;
/// settled when the last of them is gone, so that it is the store's own last word.
#[derive(Debug)]
pub(crate) struct Burnt {
    budget: Arc<Budget>,
    drawn: AtomicU64,
    fuel: AtomicU64,
    /// How often it was seen.
    looks: AtomicU64,
    /// More than none where it stands in a host call that waits, and was seen there.
    waits: AtomicU32,
    /// Of its present turn, what others took who pay for themselves.
    beside_ns: AtomicU64,
    /// Whether time is charged, and fuel is not counted.
    timed: bool,
}

impl Burnt {
    /// Whether time is charged, and fuel is not counted.
    pub(crate) fn is_timed(&self) -> bool {
        self.timed
    }

    /// So much was burnt by now.
    pub(crate) fn see(&self, fuel: u64) {
        if !self.timed {
            self.fuel.store(fuel, Ordering::Relaxed);
            self.looks.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What a turn that took so long was of its own computing.
    fn own_time(&self, turn: Duration) -> Duration {
        turn.saturating_sub(Duration::from_nanos(self.beside_ns.swap(0, Ordering::Relaxed)))
    }

    /// Gives back what was drawn ahead, but for two intervals: with one it goes on, and with the other it says what came
    /// of what it waited for, if that left nothing.
    fn keep_some(&self) {
        let (seen, drawn) = (self.fuel.load(Ordering::Relaxed), self.drawn.load(Ordering::Relaxed));
        let kept = seen.saturating_add(2 * FUEL_BETWEEN_YIELDS);
        if drawn > kept {
            self.drawn.store(kept, Ordering::Relaxed);
            self.budget.settle(Unit::Fuel, drawn - kept);
        }
    }

    fn compute(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.fuel.fetch_add(micros.saturating_mul(FUEL_PER_MICROSECOND), Ordering::Relaxed);
    }
}

impl Drop for Burnt {
    fn drop(&mut self) {
        let (spent, drawn) = (*self.fuel.get_mut(), *self.drawn.get_mut());
        match spent > drawn {
            // Time that was measured after the last turn.
            true => drop(self.budget.reserve_up_to(Unit::Fuel, spent - drawn)),
            false => self.budget.settle(Unit::Fuel, drawn - spent),
        }
    }
}

/// A host call of a run that waits, until it is dropped.
pub(crate) struct Waits(Arc<Burnt>);

impl Waits {
    /// Begins when the run was just seen: from here on it burns nothing.
    pub(crate) fn begin(burnt: &Arc<Burnt>) -> Self {
        burnt.waits.fetch_add(1, Ordering::Relaxed);
        burnt.keep_some();
        Self(Arc::clone(burnt))
    }

    /// Does work of others, while the run waits.
    pub(crate) fn beside<T>(&self, work: impl FnOnce() -> T) -> T {
        if !self.0.timed {
            return work();
        }
        let began = Instant::now();
        let done = work();
        let took = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.0.beside_ns.fetch_add(took, Ordering::Relaxed);
        done
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.waits.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One run's share of a budget.
pub(crate) struct Spending {
    burnt: Arc<Burnt>,
    /// Most that it may burn.
    fuel_max: u64,
    /// Turns in which it burnt something since its fuel was last seen, and which look that was.
    turns: u64,
    look: u64,
}

impl Spending {
    /// Of a run that may burn so much. `timed` where time is charged, and then there is no most.
    pub(crate) fn new(budget: Arc<Budget>, fuel_max: u64, timed: bool) -> Self {
        let (drawn, fuel, looks, waits, beside_ns) = Default::default();
        let burnt = Arc::new(Burnt { budget, drawn, fuel, looks, waits, beside_ns, timed });
        Self { burnt, fuel_max: if timed { u64::MAX } else { fuel_max }, turns: 0, look: 0 }
    }

    /// What the run's host calls tell.
    pub(crate) fn burnt(&self) -> &Arc<Burnt> {
        &self.burnt
    }

    /// Makes sure that one more turn is paid for; false if there is not enough.
    pub(crate) fn cover_turn(&mut self) -> bool {
        let (seen, drawn) =
            (self.burnt.fuel.load(Ordering::Relaxed), self.burnt.drawn.load(Ordering::Relaxed));
        let unseen = self.turns.saturating_add(1).saturating_mul(FUEL_BETWEEN_YIELDS);
        let needed = seen.saturating_add(unseen).min(self.fuel_max);
        if needed <= drawn {
            return true;
        }
        let more = (needed - drawn).max(DRAWN_AT_ONCE).min(self.fuel_max - drawn);
        let drawn = drawn + self.burnt.budget.reserve_up_to(Unit::Fuel, more);
        self.burnt.drawn.store(drawn, Ordering::Relaxed);
        needed <= drawn
    }

    /// A turn is over, which began then.
    pub(crate) fn end_turn(&mut self, began: Instant) {
        if self.burnt.timed {
            self.burnt.compute(self.burnt.own_time(began.elapsed()));
            return;
        }
        let look = self.burnt.looks.load(Ordering::Relaxed);
        self.turns = match (self.burnt.waits.load(Ordering::Relaxed) > 0, look == self.look) {
            // It was seen where it stands.
            (true, _) => 0,
            // After the look it went on, nobody knows for how long.
            (false, false) => 1,
            (false, true) => self.turns.saturating_add(1),
        };
        self.look = look;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fuel: u64) -> Arc<Budget> {
        Arc::new(Budget::of([(Unit::Fuel, fuel)]))
    }

    #[test]
    fn two_runs_never_spend_the_same_unit_and_what_is_not_burnt_goes_back() {
        let budget = of(40 * FUEL_BETWEEN_YIELDS);
        let mut runs: Vec<_> = (0..3).map(|_| Spending::new(Arc::clone(&budget), u64::MAX, false)).collect();
        let covered: Vec<_> = runs.iter_mut().map(Spending::cover_turn).collect();
        assert_eq!(covered, [true, true, true], "each gets a part, however much it may burn");
        let drawn: u64 = runs.iter().map(|it| it.burnt.drawn.load(Ordering::Relaxed)).sum();
        assert_eq!(drawn + budget.left(Unit::Fuel).unwrap(), 40 * FUEL_BETWEEN_YIELDS);
        runs[0].burnt().see(5);
        drop(runs);
        assert_eq!(budget.left(Unit::Fuel), Some(40 * FUEL_BETWEEN_YIELDS - 5));
    }

    #[test]
    fn turns_without_a_look_count_whole_and_a_look_says_what_they_were() {
        let budget = of(3 * FUEL_BETWEEN_YIELDS + 7);
        let mut run = Spending::new(Arc::clone(&budget), u64::MAX, false);
        let mut turn = |see: Option<u64>| {
            let covered = run.cover_turn();
            see.into_iter().for_each(|it| run.burnt().see(it));
            run.end_turn(Instant::now());
            covered
        };
        assert_eq!([turn(None), turn(Some(7)), turn(None), turn(None)], [true; 4]);
        assert!(!turn(None), "it may have burnt three intervals since, and there is no fourth");
    }

    #[test]
    fn a_run_that_waits_needs_two_intervals_however_often_it_is_polled_and_gives_the_rest_back() {
        let budget = of(40 * FUEL_BETWEEN_YIELDS);
        let mut run = Spending::new(Arc::clone(&budget), u64::MAX, false);
        let left = || budget.left(Unit::Fuel).unwrap();
        assert!(run.cover_turn());
        assert_eq!(left(), 24 * FUEL_BETWEEN_YIELDS, "it draws ahead");
        run.burnt().see(FUEL_BETWEEN_YIELDS);
        let waits = Waits::begin(run.burnt());
        for _ in 0..100 {
            run.end_turn(Instant::now());
            assert!(run.cover_turn());
            assert_eq!(left(), 37 * FUEL_BETWEEN_YIELDS, "one it burnt, and two it may burn");
        }
        drop(waits);
        for _ in 0..2 {
            run.end_turn(Instant::now());
            assert!(run.cover_turn());
        }
        assert!(left() < 37 * FUEL_BETWEEN_YIELDS, "it went on, and has to be paid for");
    }

    #[test]
    fn what_others_did_in_a_turn_is_not_the_time_that_the_run_computed() {
        let mut run = Spending::new(of(1 << 40), 5, true);
        assert!(run.cover_turn());
        let began = Instant::now();
        let took = Waits::begin(run.burnt()).beside(|| {
            while began.elapsed() < Duration::from_millis(20) {
                std::hint::spin_loop();
            }
            began.elapsed()
        });
        run.end_turn(began);
        let own = run.burnt.fuel.load(Ordering::Relaxed) / FUEL_PER_MICROSECOND;
        let whole = began.elapsed().as_micros() as u64;
        assert!(own <= whole - took.as_micros() as u64 + 1, "{own} of {whole}");
    }

    #[test]
    fn a_guest_whose_fuel_is_not_counted_is_charged_for_the_time_it_computed() {
        let budget = of(1 << 40);
        let mut run = Spending::new(Arc::clone(&budget), 5, true);
        assert!(run.cover_turn());
        run.burnt().see(0);
        run.burnt().compute(Duration::from_millis(3));
        drop(run);
        assert_eq!(budget.left(Unit::Fuel), Some((1 << 40) - 3_000 * FUEL_PER_MICROSECOND));
    }

    #[test]
    fn a_run_that_may_burn_little_needs_no_whole_interval() {
        let mut run = Spending::new(of(500), 500, false);
        assert!(run.cover_turn());
        assert_eq!(run.burnt.drawn.load(Ordering::Relaxed), 500);
    }
}
