//! What one run may spend, what several share, and the counter of what the host holds on their behalf.

use std::{
    fmt,
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// The limits of one run. The default is the seed's envelope with the smallest memory, so that
/// forgetting a field can only take power away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Guest memory, tables, and every buffer the host keeps for the guest, together.
    pub memory_bytes_max: u64,
    /// Instructions, roughly.
    pub fuel_max: u64,
    /// Wall clock, waiting included.
    pub wall_max: Duration,
    /// Bytes the guest may read from stdin.
    pub stdin_bytes_max: u64,
    /// Bytes of all arguments, each counting one more for its terminator.
    pub argv_bytes_max: u64,
    /// Bytes the guest may write to stdout.
    pub stdout_bytes_max: u64,
    /// Bytes the guest may write to stderr.
    pub stderr_bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes_max: 64 << 20,
            fuel_max: 5_000_000_000,
            wall_max: Duration::from_secs(30),
            stdin_bytes_max: 64 << 20,
            argv_bytes_max: 256 << 10,
            stdout_bytes_max: 8 << 20,
            stderr_bytes_max: 8 << 20,
        }
    }
}

/// What a budget is counted in. Wall time is none of them: it passes for all at once and cannot be divided, so it is
/// a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Instructions, roughly; where they are not counted, time that a guest computed, at [`FUEL_PER_MICROSECOND`].
    Fuel,
    /// Calls at the gate.
    Calls,
    /// Bytes of requests and replies that cross the gate.
    Bytes,
    /// What models read and write, as their servers count it.
    Tokens,
    /// What models cost, in millionths of the money in which prices are configured.
    CostMicros,
}

impl Unit {
    /// Every unit.
    pub const ALL: &'static [Unit] = &[Self::Fuel, Self::Calls, Self::Bytes, Self::Tokens, Self::CostMicros];

    /// The word in options, records and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fuel => "fuel",
            Self::Calls => "calls",
            Self::Bytes => "bytes",
            Self::Tokens => "tokens",
            Self::CostMicros => "cost_micros",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text names no unit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not what a budget is counted in: use fuel, calls, bytes, tokens or cost_micros")]
pub struct UnknownUnit(String);

impl FromStr for Unit {
    type Err = UnknownUnit;

    fn from_str(text: &str) -> Result<Self, UnknownUnit> {
        let found = Self::ALL.iter().copied().find(|it| it.as_str() == text);
        found.ok_or_else(|| UnknownUnit(text.chars().take(64).collect::<String>().escape_debug().to_string()))
    }
}

/// What a microsecond of computing costs where instructions are not counted: about what they would have been.
pub const FUEL_PER_MICROSECOND: u64 = 1_000;

/// Amounts that several runs share. What is spent is reserved before: no unit is ever spent twice.
#[derive(Debug, Default)]
pub struct Budget {
    /// A tank for each unit that has an end, at its place in [`Unit::ALL`].
    tanks: [Option<AtomicU64>; Unit::ALL.len()],
    within: Option<Arc<Budget>>,
}

impl Budget {
    /// A budget of so much of each unit that is named, and of the others without end.
    pub fn of(amounts: impl IntoIterator<Item = (Unit, u64)>) -> Self {
        let mut budget = Self::default();
        for (unit, amount) in amounts {
            budget.tanks[unit as usize] = Some(AtomicU64::new(amount));
        }
        budget
    }

    /// The same within another one, which others share: what is spent here is spent there too.
    #[must_use]
    pub fn within(self, shared: Option<Arc<Self>>) -> Self {
        Self { within: shared, ..self }
    }

    /// What is left that nobody reserved; none if there is no end to it.
    pub fn left(&self, unit: Unit) -> Option<u64> {
        let own = self.tank(unit).map(|it| it.load(Ordering::Relaxed));
        let shared = self.within.as_ref().and_then(|it| it.left(unit));
        own.into_iter().chain(shared).min()
    }

    /// Reserves all of it, or nothing and says no.
    #[must_use]
    pub fn reserve(&self, unit: Unit, amount: u64) -> bool {
        if self.within.as_ref().is_some_and(|it| !it.reserve(unit, amount)) {
            return false;
        }
        let Some(tank) = self.tank(unit) else { return true };
        let less = |left: u64| left.checked_sub(amount);
        let is_reserved = tank.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok();
        if let Some(shared) = self.within.as_ref().filter(|_| !is_reserved) {
            shared.settle(unit, amount);
        }
        is_reserved
    }

    /// Reserves as much of it as there is, and says how much that was.
    pub fn reserve_up_to(&self, unit: Unit, amount: u64) -> u64 {
        let most = self.within.as_ref().map_or(amount, |it| it.reserve_up_to(unit, amount));
        let Some(tank) = self.tank(unit) else { return most };
        let less = |left: u64| Some(left.saturating_sub(most));
        let before = tank.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).unwrap_or_default();
        let reserved = before.min(most);
        if let Some(shared) = &self.within {
            shared.settle(unit, most - reserved);
        }
        reserved
    }

    /// Gives back what was reserved and not spent.
    pub fn settle(&self, unit: Unit, unspent: u64) {
        self.add(unit, unspent);
        if let Some(shared) = &self.within {
            shared.settle(unit, unspent);
        }
    }

    /// Takes what was spent beyond what was reserved, here and wherever this stands within: down to nothing, never below.
    /// It happened, so nobody can say no to it; the next one who reserves finds less.
    pub fn charge(&self, unit: Unit, spent: u64) {
        let less = |left: u64| Some(left.saturating_sub(spent));
        if let Some(tank) = self.tank(unit) {
            // The closure always answers.
            let _ = tank.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        }
        if let Some(shared) = &self.within {
            shared.charge(unit, spent);
        }
    }

    /// Adds to it while it is in use, as a person does who was asked for more. A unit without an end stays without one, and
    /// what this stands within is somebody else's and stays as it is.
    pub fn add(&self, unit: Unit, more: u64) {
        let sum = |left: u64| Some(left.saturating_add(more));
        if let Some(tank) = self.tank(unit) {
            // The closure always answers.
            let _ = tank.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
        }
    }

    fn tank(&self, unit: Unit) -> Option<&AtomicU64> {
        self.tanks[unit as usize].as_ref()
    }
}

/// Counts the bytes held for one run, guest memory and host buffers alike. It may stand within another
/// one, which several runs share: what is held here is held there too.
#[derive(Debug)]
pub struct Meter {
    held: AtomicU64,
    peak: AtomicU64,
    max: AtomicU64,
    within: Option<Arc<Meter>>,
}

impl Meter {
    /// A meter that refuses to go past `max`.
    pub const fn new(max: u64) -> Self {
        Self { held: AtomicU64::new(0), peak: AtomicU64::new(0), max: AtomicU64::new(max), within: None }
    }

    /// A meter that also refuses what `shared` refuses. What it still holds when it is dropped is given
    /// back there.
    pub fn within(max: u64, shared: Option<Arc<Meter>>) -> Self {
        Self { held: AtomicU64::new(0), peak: AtomicU64::new(0), max: AtomicU64::new(max), within: shared }
    }

    /// Holds `bytes` more, or refuses and changes nothing.
    #[must_use]
    pub fn try_hold(&self, bytes: u64) -> bool {
        if self.within.as_ref().is_some_and(|shared| !shared.try_hold(bytes)) {
            return false;
        }
        let more = |held: u64| held.checked_add(bytes).filter(|sum| *sum <= self.max());
        match self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
            Ok(before) => {
                self.peak.fetch_max(before + bytes, Ordering::Relaxed);
                true
            }
            Err(_) => {
                if let Some(shared) = &self.within {
                    shared.release(bytes);
                }
                false
            }
        }
    }

    /// Gives `bytes` back, or what is held if that is less.
    pub fn release(&self, bytes: u64) {
        let less = |held: u64| Some(held.saturating_sub(bytes));
        let before = self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).unwrap_or_default();
        if let Some(shared) = &self.within {
            shared.release(bytes.min(before));
        }
    }

    /// Bytes held now.
    pub fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    /// The most that was ever held.
    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    /// The limit.
    pub fn max(&self) -> u64 {
        self.max.load(Ordering::Relaxed)
    }

    /// Lets it go as far as `max`, if that is further than now.
    pub fn raise(&self, max: u64) {
        self.max.fetch_max(max, Ordering::Relaxed);
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some(shared) = &self.within {
            shared.release(*self.held.get_mut());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meters_within_one_share_it_and_give_back_what_they_held() {
        let shared = Arc::new(Meter::new(100));
        let one = Meter::within(80, Some(Arc::clone(&shared)));
        let two = Meter::within(80, Some(Arc::clone(&shared)));
        assert!(one.try_hold(70));
        assert!(!two.try_hold(40), "together they would hold more than there is");
        assert_eq!((two.held(), shared.held()), (0, 70));
        assert!(two.try_hold(30));
        assert!(!one.try_hold(11), "its own limit holds too");
        assert_eq!(shared.held(), 100);
        two.release(99);
        assert_eq!((two.held(), shared.held()), (0, 70));
        drop(one);
        assert_eq!((shared.held(), shared.peak()), (0, 100));
    }

    #[test]
    fn budgets_within_one_spend_it_together_and_give_back_what_they_did_not_spend() {
        let shared = Arc::new(Budget::of([(Unit::Fuel, 100), (Unit::Calls, 1)]));
        let line = |fuel| Budget::of([(Unit::Fuel, fuel)]).within(Some(Arc::clone(&shared)));
        let (one, two) = (line(80), line(30));
        assert!(one.reserve(Unit::Fuel, 70) && !two.reserve(Unit::Fuel, 31), "there are 30 left");
        assert_eq!((two.left(Unit::Fuel), shared.left(Unit::Fuel)), (Some(30), Some(30)));
        assert_eq!(one.reserve_up_to(Unit::Fuel, 50), 10, "its own end comes first");
        assert_eq!(two.reserve_up_to(Unit::Fuel, 50), 20, "what is shared ends first");
        one.settle(Unit::Fuel, 5);
        assert_eq!((one.left(Unit::Fuel), two.left(Unit::Fuel)), (Some(5), Some(5)));
        assert!(one.reserve(Unit::Calls, 1) && !two.reserve(Unit::Calls, 1));
        assert_eq!((one.left(Unit::Calls), one.left(Unit::Bytes)), (Some(0), None));
    }

    #[test]
    fn every_unit_is_read_by_its_word_and_has_a_tank_of_its_own() {
        for (at, unit) in Unit::ALL.iter().enumerate() {
            assert_eq!((unit.as_str().parse(), *unit as usize), (Ok(*unit), at));
            let budget = Budget::of([(*unit, 7)]);
            for other in Unit::ALL {
                assert_eq!(budget.left(*other), (other == unit).then_some(7), "{unit} {other}");
            }
        }
        let told = "euro\n".parse::<Unit>().unwrap_err().to_string();
        assert!(Unit::ALL.iter().all(|it| told.contains(it.as_str())), "{told}");
    }

    #[test]
    fn what_was_spent_beyond_its_reservation_is_charged_everywhere_and_never_below_nothing() {
        let shared = Arc::new(Budget::of([(Unit::Tokens, 100)]));
        let own = Budget::of([(Unit::Tokens, 30)]).within(Some(Arc::clone(&shared)));
        own.charge(Unit::Tokens, 50);
        own.charge(Unit::CostMicros, 50);
        assert_eq!((own.left(Unit::Tokens), shared.left(Unit::Tokens)), (Some(0), Some(50)));
        assert!(!own.reserve(Unit::Tokens, 1));
        own.add(Unit::Tokens, 60);
        assert_eq!(
            (own.left(Unit::Tokens), shared.left(Unit::Tokens)),
            (Some(50), Some(50)),
            "not more than is shared"
        );
        own.add(Unit::CostMicros, 5);
        own.add(Unit::Tokens, u64::MAX);
        assert_eq!(
            (own.left(Unit::CostMicros), own.left(Unit::Tokens)),
            (None, Some(50)),
            "no end stays no end"
        );
    }

    #[test]
    fn a_meter_is_raised_and_never_lowered() {
        let meter = Meter::new(10);
        meter.raise(30);
        meter.raise(20);
        assert_eq!(meter.max(), 30);
        assert!(meter.try_hold(30) && !meter.try_hold(1));
    }

    #[test]
    fn the_default_limits_are_the_seeds_envelope() {
        let limits = Limits::default();
        assert_eq!(limits.wall_max, Duration::from_secs(30));
        assert_eq!(limits.fuel_max, 5_000_000_000);
        assert_eq!(limits.stdin_bytes_max, 64 * 1024 * 1024);
        assert_eq!(limits.argv_bytes_max, 256 * 1024);
        assert_eq!((limits.stdout_bytes_max, limits.stderr_bytes_max), (8 << 20, 8 << 20));
        assert_eq!(limits.memory_bytes_max, 64 << 20);
    }

    #[test]
    fn a_refused_charge_changes_nothing_and_sums_never_wrap() {
        let meter = Meter::new(100);
        assert!(meter.try_hold(60));
        assert!(!meter.try_hold(41));
        assert!(!meter.try_hold(u64::MAX));
        assert_eq!(meter.held(), 60);
        assert!(meter.try_hold(40));
        meter.release(100);
        meter.release(7);
        assert_eq!((meter.held(), meter.peak()), (0, 100));
    }
}
