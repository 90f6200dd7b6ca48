//! A moment, as nanoseconds since the Unix epoch, and the clock of a session whose time is not the real one.

use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use crate::{port::Clock, schedule};

/// Nanoseconds since 1970-01-01 UTC. Plain data: only a [`Clock`](crate::port::Clock) makes one of "now".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize)]
#[serde(transparent)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The moment `later` after this one, or the last one there is.
    #[must_use]
    pub fn plus(self, later: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(later.as_nanos()).unwrap_or(u64::MAX)))
    }

    /// Whole milliseconds since the epoch.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }
}

/// The clock of a session whose time is not the real one: the shell, its commands, its files and its tools all go by
/// it. It moves by being looked at, and when everybody who could do something sleeps: then to the first of them. So
/// sleeping takes no real time, and whoever sleeps longer wakes later.
#[derive(Debug)]
pub struct SteppedClock {
    now: AtomicU64,
    /// When the first of the sleepers wakes: looked at with every look at the clock.
    first_due: AtomicU64,
    sleepers: Mutex<Sleepers>,
}

#[derive(Debug, Default)]
struct Sleepers {
    /// By the moment they are due, and by who came first.
    by_moment: BTreeMap<(u64, u64), Waker>,
    came: u64,
}

/// How far such a clock moves when it is looked at.
const LOOK_NS: u64 = 1_000;

impl SteppedClock {
    /// A clock that stands at `start`.
    pub const fn starting(start: Timestamp) -> Self {
        let sleepers = Mutex::new(Sleepers { by_moment: BTreeMap::new(), came: 0 });
        Self { now: AtomicU64::new(start.0), first_due: AtomicU64::new(u64::MAX), sleepers }
    }

    /// Where it stands, without moving it.
    pub fn stands_at(&self) -> Timestamp {
        Timestamp(self.now.load(Ordering::Relaxed))
    }

    /// It is at least that late.
    pub fn reach(&self, moment: Timestamp) {
        self.now.fetch_max(moment.0, Ordering::Relaxed);
        self.wake_due(moment.0);
    }

    /// Ends at `due`. Where nobody waits for the clock to move ([`schedule::moving`]), it moves at once.
    pub fn sleep_until(self: &Arc<Self>, due: Timestamp) -> Sleep {
        Sleep { clock: Arc::clone(self), due: due.0, place: None }
    }

    /// Everybody waits: it becomes as late as the first of them waits for. False if nobody sleeps.
    pub(crate) fn move_to_next(&self) -> bool {
        let first = self.sleepers().by_moment.first_key_value().map(|(key, _)| key.0);
        let Some(due) = first else { return false };
        self.reach(Timestamp(due));
        true
    }

    /// Some work was done, which takes time for those who sleep. Where nobody does, nobody could tell.
    pub fn lapse(&self, span: Duration) {
        if self.first_due.load(Ordering::Relaxed) != u64::MAX {
            self.reach(self.stands_at().plus(span));
        }
    }

    /// Wakes everybody who is due, in order.
    fn wake_due(&self, now: u64) {
        if now < self.first_due.load(Ordering::Relaxed) {
            return;
        }
        let mut sleepers = self.sleepers();
        let later = match now.checked_add(1) {
            Some(next) => sleepers.by_moment.split_off(&(next, 0)),
            None => BTreeMap::new(),
        };
        let due = std::mem::replace(&mut sleepers.by_moment, later);
        self.note_first(&sleepers);
        drop(sleepers);
        due.into_values().for_each(Waker::wake);
    }

    fn note_first(&self, sleepers: &Sleepers) {
        let first = sleepers.by_moment.first_key_value().map_or(u64::MAX, |(key, _)| key.0);
        self.first_due.store(first, Ordering::Relaxed);
    }

    fn sleepers(&self) -> MutexGuard<'_, Sleepers> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for SteppedClock {
    fn now(&self) -> Timestamp {
        let moved = self.now.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |it| it.checked_add(LOOK_NS));
        let now = moved.map_or(u64::MAX, |before| before + LOOK_NS);
        self.wake_due(now);
        Timestamp(now)
    }

    fn stepped(&self) -> Option<&SteppedClock> {
        Some(self)
    }
}

/// Waits until a stepped clock is that late.
#[derive(Debug)]
pub struct Sleep {
    clock: Arc<SteppedClock>,
    due: u64,
    place: Option<(u64, u64)>,
}

impl Sleep {
    fn leave(&mut self) {
        if let Some(place) = self.place.take() {
            let mut sleepers = self.clock.sleepers();
            sleepers.by_moment.remove(&place);
            self.clock.note_first(&sleepers);
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if !schedule::is_moved(&self.clock) {
            self.clock.reach(Timestamp(self.due));
        }
        if self.clock.stands_at().0 >= self.due {
            self.leave();
            return Poll::Ready(());
        }
        let clock = Arc::clone(&self.clock);
        let mut sleepers = clock.sleepers();
        let place = match self.place {
            Some(place) => place,
            None => {
                sleepers.came += 1;
                (self.due, sleepers.came)
            }
        };
        sleepers.by_moment.insert(place, cx.waker().clone());
        clock.note_first(&sleepers);
        self.place = Some(place);
        schedule::waits_inside();
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stepped_clock_moves_by_being_looked_at_and_never_back() {
        let clock = SteppedClock::starting(Timestamp(5_000));
        assert_eq!(
            (clock.stands_at(), clock.now(), clock.now()),
            (Timestamp(5_000), Timestamp(6_000), Timestamp(7_000))
        );
        clock.reach(Timestamp(6_500));
        assert_eq!(clock.stands_at(), Timestamp(7_000));
        clock.reach(Timestamp(u64::MAX));
        assert_eq!(clock.now(), Timestamp(u64::MAX));
    }
}
