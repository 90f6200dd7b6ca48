//! What the variables of all shells of a line hold together. Subshells share scopes until they write;
//! what each holds beyond that is counted once, and given back when it ends. It is part of the memory
//! that the line's commands share.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use drydock_contract::Meter;
use parking_lot::Mutex;

/// How many times the variables of one shell all shells together may hold.
pub(super) const SHELLS_MAX: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Held {
    all: Arc<All>,
    mine: usize,
}

#[derive(Debug, Default)]
struct All {
    bytes: AtomicUsize,
    charge: Mutex<Option<Charge>>,
}

/// What a line's meter was charged; given back when it is dropped.
#[derive(Debug)]
struct Charge {
    meter: Arc<Meter>,
    bytes: u64,
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.meter.release(self.bytes);
    }
}

impl Held {
    pub(super) fn all(&self) -> usize {
        self.all.bytes.load(Ordering::Relaxed)
    }

    pub(super) fn set_mine(&mut self, bytes: usize) {
        self.all.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.all.bytes.fetch_sub(self.mine, Ordering::Relaxed);
        self.mine = bytes;
    }

    pub(super) fn grow(&mut self, new: usize, old: usize) {
        self.set_mine((self.mine + new).saturating_sub(old));
    }

    /// Charges the line for what is held now; false if it has no room for it.
    pub(super) fn charge(&self, meter: &Arc<Meter>) -> bool {
        let now = self.all() as u64;
        let mut charge = self.all.charge.lock();
        if !charge.as_ref().is_some_and(|it| Arc::ptr_eq(&it.meter, meter)) {
            *charge = Some(Charge { meter: Arc::clone(meter), bytes: 0 });
        }
        let Some(charge) = &mut *charge else { return true };
        if now < charge.bytes {
            meter.release(charge.bytes - now);
        } else if !meter.try_hold(now - charge.bytes) {
            return false;
        }
        charge.bytes = now;
        true
    }
}

impl Clone for Held {
    /// A fork holds nothing of its own yet.
    fn clone(&self) -> Self {
        Self { all: Arc::clone(&self.all), mine: 0 }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.set_mine(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_charged_for_what_its_shells_hold_now() {
        let meter = Arc::new(Meter::new(100));
        let mut one = Held::default();
        one.set_mine(60);
        let mut two = one.clone();
        two.set_mine(30);
        assert!(one.charge(&meter) && meter.held() == 90);
        two.set_mine(50);
        assert!(!two.charge(&meter), "110 of 100");
        drop(two);
        assert!(one.charge(&meter) && meter.held() == 60);
        let next = Arc::new(Meter::new(100));
        assert!(one.charge(&next));
        assert_eq!((meter.held(), next.held()), (0, 60), "a new line, a new meter");
        drop(one);
        assert_eq!(next.held(), 0);
    }
}
