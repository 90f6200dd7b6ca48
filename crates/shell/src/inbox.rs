//! Signals as messages: what `kill` sends reaches a shell or a job between two of its steps, or
//! while it waits for a command.
//!
//! There are no processes. Whoever has a number of its own (the shell, a job, a shell inside the
//! shell) has an inbox; subshells look into the one of the shell they belong to.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::Waker,
};

use parking_lot::Mutex;

/// Most signals that wait; more are lost, as pending ones are.
const PENDING_MAX: usize = 64;

/// Signals that do nothing unless someone asked for them: CHLD, CONT, the stops, URG, WINCH.
const QUIET: [u8; 8] = [17, 18, 19, 20, 21, 22, 23, 28];

#[derive(Default)]
pub(crate) struct Inbox {
    any: AtomicBool,
    pending: Mutex<VecDeque<u8>>,
    /// A bit for each signal the owner has a trap for.
    handled: AtomicU64,
    waiting: Mutex<Vec<Waker>>,
    /// Somebody pressed Ctrl-C: whoever waits for a command gives it up, though there is a trap.
    is_interrupted: AtomicBool,
}

/// The signal of Ctrl-C.
pub(crate) const SIGINT: u8 = 2;

/// Hands Ctrl-C on to a shell.
#[derive(Clone)]
pub struct Interrupter(pub(crate) Arc<Inbox>);

impl Interrupter {
    /// Somebody pressed it.
    pub fn interrupt(&self) {
        self.0.is_interrupted.store(true, Ordering::Relaxed);
        self.0.send(SIGINT);
    }
}

impl Inbox {
    /// Whether a command is to be given up.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.any() && self.is_interrupted.load(Ordering::Relaxed)
    }

    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    pub(crate) fn send(&self, signal: u8) {
        let mut pending = self.pending.lock();
        if pending.len() < PENDING_MAX {
            pending.push_back(signal);
        }
        self.any.store(true, Ordering::Relaxed);
        drop(pending);
        for waker in std::mem::take(&mut *self.waiting.lock()) {
            waker.wake();
        }
    }

    pub(crate) fn take(&self) -> Option<u8> {
        let mut pending = self.pending.lock();
        let signal = pending.pop_front();
        if signal == Some(SIGINT) {
            self.is_interrupted.store(false, Ordering::Relaxed);
        }
        self.any.store(!pending.is_empty(), Ordering::Relaxed);
        signal
    }

    pub(crate) fn first(&self) -> Option<u8> {
        self.pending.lock().front().copied()
    }

    /// The signal that ends whoever reads this, if there is one.
    pub(crate) fn deadly(&self) -> Option<u8> {
        if !self.any() {
            return None;
        }
        let handled = self.handled.load(Ordering::Relaxed);
        self.pending.lock().iter().copied().find(|signal| handled & bit(*signal) == 0 && is_deadly(*signal))
    }

    pub(crate) fn handle(&self, signals: impl Iterator<Item = u8>) {
        self.handled.store(signals.fold(0, |all, signal| all | bit(signal)), Ordering::Relaxed);
    }

    /// Wakes that caller no more. Without this a shell that stays would remember everybody who ever waited.
    pub(crate) fn leave(&self, waker: &Waker) {
        let mut waiting = self.waiting.lock();
        if let Some(at) = waiting.iter().position(|it| it.will_wake(waker)) {
            waiting.swap_remove(at);
        }
    }

    /// Wakes the caller when something comes.
    pub(crate) fn listen(&self, waker: &Waker) {
        let mut waiting = self.waiting.lock();
        if !waiting.iter().any(|it| it.will_wake(waker)) {
            waiting.push(waker.clone());
        }
    }
}

fn bit(signal: u8) -> u64 {
    1 << (signal & 63)
}

/// Whether a signal ends whoever has no trap for it.
pub(crate) fn is_deadly(signal: u8) -> bool {
    !QUIET.contains(&signal)
}

/// Who has which number.
#[derive(Default)]
pub(crate) struct Directory(Mutex<HashMap<u32, Weak<Inbox>>>);

impl Directory {
    pub(crate) fn enter(&self, id: u32, inbox: &Arc<Inbox>) {
        let mut all = self.0.lock();
        all.retain(|_, it| it.strong_count() > 0);
        all.insert(id, Arc::downgrade(inbox));
    }

    /// The inbox of a number, while there is somebody to read it.
    pub(crate) fn find(&self, id: u32) -> Option<Arc<Inbox>> {
        self.0.lock().get(&id).and_then(Weak::upgrade)
    }
}
