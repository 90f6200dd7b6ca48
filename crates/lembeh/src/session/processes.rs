//! The processes that the guest started, and how long each is told of: until its grace period is over and all its handles
//! are closed, whichever is later.

use std::collections::{BTreeMap, VecDeque};

use drydock_abi::lembeh::exec::{State, Status};

/// One process.
struct Process {
    /// How it ended, and when.
    ended: Option<(Status, u64)>,
    /// Handles of it that the guest has not seen the end of.
    open: u32,
    /// Its stdin, if the guest has one.
    stdin: u32,
    /// Its grace period is over: it is forgotten with its last handle.
    is_overdue: bool,
}

/// All of them, by numbers from 1 that none has twice. What is asked at each start is counted as it changes: a guest may
/// start thousands within one grace period.
#[derive(Default)]
pub(super) struct Processes {
    all: BTreeMap<u32, Process>,
    started: u32,
    running: u32,
    open: u32,
    /// Those that ended, in that order, whose grace period is not over.
    ended: VecDeque<u32>,
}

impl Processes {
    /// How many were ever started.
    pub(super) const fn started(&self) -> u32 {
        self.started
    }

    /// How many go on.
    pub(super) const fn running(&self) -> u32 {
        self.running
    }

    /// Handles that are open.
    pub(super) const fn handles(&self) -> u32 {
        self.open
    }

    /// The number of the next process; nothing after four thousand million of them.
    pub(super) fn next_id(&self) -> Option<u32> {
        self.started.checked_add(1)
    }

    /// A process goes on, with so many handles, and that stdin or 0.
    pub(super) fn add(&mut self, open: u32, stdin: u32) {
        self.started += 1;
        self.running += 1;
        self.open += open;
        self.all.insert(self.started, Process { ended: None, open, stdin, is_overdue: false });
    }

    /// It ended so; its stdin, for whoever closes that. What ended stays as it is.
    pub(super) fn end(&mut self, exec_id: u32, status: Status, now_ms: u64) -> Option<u32> {
        let process = self.all.get_mut(&exec_id)?;
        if process.ended.is_none() {
            process.ended = Some((status, now_ms));
            self.running -= 1;
            self.ended.push_back(exec_id);
        }
        Some(process.stdin).filter(|it| *it != 0)
    }

    /// One of its handles is closed.
    pub(super) fn close(&mut self, exec_id: u32) {
        let Some(process) = self.all.get_mut(&exec_id).filter(|it| it.open > 0) else { return };
        process.open -= 1;
        self.open -= 1;
        if process.is_overdue && process.open == 0 {
            self.all.remove(&exec_id);
        }
    }

    /// How it stands; nothing of a process that is forgotten or never was.
    pub(super) fn status(&self, exec_id: u32) -> Option<Status> {
        let process = self.all.get(&exec_id)?;
        Some(process.ended.map_or(Status { state: State::Running, code: 0 }, |(status, _)| status))
    }

    /// Forgets what nobody has to be told of any more.
    pub(super) fn forget(&mut self, now_ms: u64, grace_ms: u64) {
        while let Some(exec_id) = self.ended.front() {
            if let Some(process) = self.all.get_mut(exec_id) {
                if process.ended.is_some_and(|(_, ended_ms)| now_ms.saturating_sub(ended_ms) < grace_ms) {
                    return;
                }
                process.is_overdue = true;
                if process.open == 0 {
                    self.all.remove(exec_id);
                }
            }
            self.ended.pop_front();
        }
    }

    /// Lets go of all of them.
    pub(super) fn clear(&mut self) {
        let started = self.started;
        *self = Self { started, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_moves_once_and_is_kept_for_its_grace_period_or_until_its_handles_are_closed() {
        let mut table = Processes::default();
        let running = Status { state: State::Running, code: 0 };
        let exited = Status { state: State::Exited, code: 3 };
        table.add(2, 9);
        table.add(0, 0);
        assert_eq!((table.status(1), table.status(2), table.status(3)), (Some(running), Some(running), None));
        assert_eq!(table.end(1, exited, 100), Some(9));
        assert_eq!(table.end(1, Status { state: State::Killed, code: 137 }, 200), Some(9));
        assert_eq!(table.status(1), Some(exited), "an end is final");
        assert_eq!(table.end(2, exited, 100), None);
        table.forget(599, 500);
        assert_eq!(table.status(2), Some(exited));
        table.forget(600, 500);
        assert_eq!((table.status(1), table.status(2)), (Some(exited), None), "handles of the first are open");
        assert_eq!((table.running(), table.handles()), (0, 2));
        table.close(1);
        table.close(1);
        table.close(1);
        table.forget(601, 500);
        assert_eq!(table.status(1), None);
        assert_eq!(
            (table.next_id(), table.started(), table.running()),
            (Some(3), 2, 0),
            "no number comes again"
        );
    }
}
