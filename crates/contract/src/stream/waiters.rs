//! Everyone who waits for a stream, by the end of it that they hold.
//!
//! A list of wakers that only a wake empties grows with everyone who gave up waiting: a reader that is started on an
//! empty pipe and ended, again and again. So whoever lets an end go leaves the list, and the list itself has a bound.

use std::task::Waker;

/// Most of them. More than the commands and tasks that a line can have at once: if so many wait, most of them are gone
/// and only their wakers are left. All are woken then, and whoever still waits comes back.
pub(super) const WAITERS_MAX: usize = 8_192;

/// The list. Nothing here wakes or drops a waker: that may run code of others, and the list is behind a lock.
#[derive(Default)]
pub(super) struct Waiters(Vec<(u64, Waker)>);

/// What came of adding one.
pub(super) struct Added {
    /// It was not there before.
    pub(super) is_new: bool,
    /// These are to be woken, because there were too many.
    pub(super) crowded_out: Vec<Waker>,
}

impl Waiters {
    /// Adds one, unless it is there. One task may wait at two ends: letting the one go must not end its waiting at the
    /// other.
    pub(super) fn add(&mut self, end: u64, waker: &Waker) -> Added {
        if self.0.iter().any(|(at, it)| *at == end && it.will_wake(waker)) {
            return Added { is_new: false, crowded_out: Vec::new() };
        }
        let crowded_out = if self.0.len() < WAITERS_MAX { Vec::new() } else { self.take_all() };
        self.0.push((end, waker.clone()));
        Added { is_new: true, crowded_out }
    }

    /// Takes all of them out, to be woken.
    pub(super) fn take_all(&mut self) -> Vec<Waker> {
        std::mem::take(&mut self.0).into_iter().map(|(_, waker)| waker).collect()
    }

    /// Takes out what waits at an end that is let go, to be dropped.
    pub(super) fn leave(&mut self, end: u64) -> Vec<Waker> {
        let gone = self.0.extract_if(.., |(it, _)| *it == end);
        gone.map(|(_, waker)| waker).collect()
    }

    /// Takes one out that need not wait after all.
    pub(super) fn remove(&mut self, end: u64, waker: &Waker) -> Option<Waker> {
        let at = self.0.iter().rposition(|(at, it)| *at == end && it.will_wake(waker))?;
        Some(self.0.remove(at).1)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
