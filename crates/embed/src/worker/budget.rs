//! One budget of memory for all compile workers of a process: they share the machine, and each may take as much as
//! its module is allowed.
//!
//! A worker that would go beyond the budget waits until others have ended. One that is allowed more than the whole
//! budget is not refused: it waits until it is alone.

use std::{
    sync::{
        LazyLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::{Condvar, Mutex};

/// Between two looks at whether anybody still wants the result.
const POLL: Duration = Duration::from_millis(20);
/// The budget, whatever the machine: the usual limit of two workers.
const BYTES_MIN: u64 = 2 << 30;

/// This process's.
pub(super) static OURS: LazyLock<Budget> = LazyLock::new(|| Budget::holding(bytes_for_this_machine()));

/// Half of the memory there is.
fn bytes_for_this_machine() -> u64 {
    let info = rustix::system::sysinfo();
    let memory = info.totalram.saturating_mul(u64::from(info.mem_unit.max(1)));
    (memory / 2).max(BYTES_MIN)
}

pub(super) struct Budget {
    bytes_max: u64,
    held: Mutex<u64>,
    freed: Condvar,
}

impl Budget {
    pub(super) fn holding(bytes_max: u64) -> Self {
        Self { bytes_max, held: Mutex::new(0), freed: Condvar::new() }
    }

    /// Waits until there is room for a worker with so much memory; none if nobody wants its result any more.
    pub(super) fn take(&self, bytes: u64, abandoned: &AtomicBool) -> Option<Share<'_>> {
        let mut held = self.held.lock();
        while *held > 0 && held.saturating_add(bytes) > self.bytes_max {
            if abandoned.load(Ordering::Relaxed) {
                return None;
            }
            self.freed.wait_for(&mut held, POLL);
        }
        *held = held.saturating_add(bytes);
        Some(Share { of: self, bytes })
    }
}

/// A worker's part of the budget, for as long as it lives.
pub(super) struct Share<'a> {
    of: &'a Budget,
    bytes: u64,
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        let mut held = self.of.held.lock();
        *held = held.saturating_sub(self.bytes);
        self.of.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_share_the_budget_and_one_that_needs_more_than_all_of_it_runs_alone() {
        let budget = Budget::holding(100);
        let wanted = AtomicBool::new(false);
        let gone = AtomicBool::new(true);
        let first = budget.take(60, &wanted).unwrap();
        let second = budget.take(40, &wanted).unwrap();
        assert!(budget.take(1, &gone).is_none(), "there is no room, and nobody waits");
        drop(first);
        assert!(budget.take(61, &gone).is_none());
        let third = budget.take(60, &wanted).unwrap();
        drop((second, third));
        let huge = budget.take(1000, &wanted).expect("it is alone");
        assert!(budget.take(1, &gone).is_none(), "and stays so");
        drop(huge);
        assert_eq!(*budget.held.lock(), 0);
    }

    #[test]
    fn a_worker_that_waits_begins_when_another_has_ended() {
        let budget = Budget::holding(10);
        let wanted = AtomicBool::new(false);
        let first = budget.take(10, &wanted).unwrap();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| budget.take(10, &wanted).is_some());
            drop(first);
            assert!(waits.join().unwrap());
        });
    }
}
