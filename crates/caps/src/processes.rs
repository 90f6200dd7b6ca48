//! The table of processes: who owns each, how far it is, and the lease that it holds until somebody has heard of its end.
//!
//! A process belongs to the session that spawned it. Sessions are told apart by their own switch, which is as old as they
//! are. One that ended keeps its place until it is awaited or killed, until its owner lets go of it, or until its session
//! lost what let it begin; a table without such zombies would hide who spawns faster than it listens.

use std::{collections::HashMap, sync::Arc};

use drydock_contract::{
    Switch,
    port::{CallEnd, EndKind},
};
use drydock_gate::{Lease, Session, process::ProcessState};
use parking_lot::Mutex;

/// Processes that live, and those whose end nobody has heard of.
#[derive(Default)]
pub struct Processes(Mutex<Table>);

#[derive(Default)]
struct Table {
    spawned: u64,
    held: HashMap<u64, Arc<Entry>>,
}

/// One process.
pub(crate) struct Entry {
    pub(crate) number: u64,
    pub(crate) command: Arc<str>,
    /// Thrown to end it.
    pub(crate) kill: Switch,
    /// Thrown when it has ended.
    pub(crate) over: Switch,
    /// The session's own switch.
    session: Arc<Switch>,
    now: Mutex<Now>,
}

struct Now {
    state: ProcessState,
    /// Its place at the gate, given back when it is forgotten.
    lease: Option<Lease>,
    /// Nobody will ask for it any more.
    abandoned: bool,
}

impl Entry {
    /// How far it is.
    pub(crate) fn state(&self) -> ProcessState {
        self.now.lock().state.clone()
    }

    /// What let it begin is gone, though its session lives.
    pub(crate) fn lost_grant(&self) -> bool {
        self.now.lock().lease.as_ref().is_some_and(Lease::lost_grant)
    }

    /// Its run was let through.
    pub(crate) fn begin(&self) {
        let mut now = self.now.lock();
        if now.state == ProcessState::Starting {
            now.state = ProcessState::Running;
        }
    }
}

impl Processes {
    /// Enters a process that is about to start.
    pub(crate) fn enter(&self, lease: Lease, command: Arc<str>) -> Arc<Entry> {
        let [_, session] = lease.switches();
        let now = Mutex::new(Now { state: ProcessState::Starting, lease: Some(lease), abandoned: false });
        let mut table = self.0.lock();
        let number = table.spawned;
        table.spawned += 1;
        let (kill, over) = (Switch::default(), Switch::default());
        let entry = Arc::new(Entry { number, command, kill, over, session, now });
        table.held.insert(number, Arc::clone(&entry));
        entry
    }

    /// The session's own process of that number, if it runs that command.
    pub(crate) fn own(&self, session: &Session, number: u64, command: &str) -> Option<Arc<Entry>> {
        let [_, own] = session.switches();
        let is_own = |it: &&Arc<Entry>| Arc::ptr_eq(&it.session, &own) && *it.command == *command;
        self.0.lock().held.get(&number).filter(is_own).cloned()
    }

    /// It ended so, unless it had ended already. Everything that it held is closed by now.
    pub(crate) fn end(&self, entry: &Entry, state: ProcessState) {
        let mut now = entry.now.lock();
        if now.state.is_over() {
            return;
        }
        now.state = state;
        let is_orphan = now.abandoned || !now.lease.as_ref().is_some_and(Lease::still_valid);
        drop(now);
        if is_orphan {
            self.forget(entry);
        }
        entry.over.trip();
    }

    /// Nobody will ask for it any more: it is killed, and forgotten as soon as it has ended.
    pub(crate) fn abandon(&self, entry: &Entry) {
        let is_over = {
            let mut now = entry.now.lock();
            now.abandoned = true;
            now.state.is_over()
        };
        entry.kill.trip();
        if is_over {
            self.forget(entry);
        }
    }

    /// Gives the place of a process back that has ended; its record is closed.
    pub(crate) fn forget(&self, entry: &Entry) {
        self.0.lock().held.remove(&entry.number);
        let (lease, end) = {
            let mut now = entry.now.lock();
            (now.lease.take(), end_of(&now.state))
        };
        if let Some(lease) = lease {
            lease.end(end);
        }
    }

    /// How many there are.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.0.lock().held.len()
    }
}

fn end_of(state: &ProcessState) -> CallEnd {
    match state {
        ProcessState::Exited(report) => CallEnd {
            outcome: Some(report.outcome.clone()),
            stream_bytes: Some([report.stdin_bytes, report.stdout_bytes, report.stderr_bytes]),
            ..CallEnd::plain(EndKind::Done)
        },
        ProcessState::Failed { code, .. } => CallEnd::plain(EndKind::Failed(code)),
        ProcessState::Killed | ProcessState::Starting | ProcessState::Running => {
            CallEnd::plain(EndKind::Dropped)
        }
    }
}
