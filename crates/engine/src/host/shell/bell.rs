//! Tells the guest which of its handles are worth another try.

use std::{
    collections::BTreeSet,
    sync::Arc,
    task::{Wake, Waker},
};

use parking_lot::Mutex;

/// The handles that were rung since the guest last asked, and who waits for that.
#[derive(Default)]
pub(super) struct Bell(Mutex<State>);

#[derive(Default)]
struct State {
    rung: BTreeSet<u32>,
    waiting: Option<Waker>,
}

impl Bell {
    fn ring(&self, handle: u32) {
        let mut state = self.0.lock();
        state.rung.insert(handle);
        if let Some(waker) = state.waiting.take() {
            drop(state);
            waker.wake();
        }
    }

    /// What was rung. If nothing was, the waker is told of the next one.
    pub(super) fn take(&self, waker: &Waker) -> BTreeSet<u32> {
        let mut state = self.0.lock();
        if state.rung.is_empty() && !state.waiting.as_ref().is_some_and(|it| it.will_wake(waker)) {
            state.waiting = Some(waker.clone());
        }
        std::mem::take(&mut state.rung)
    }
}

/// Rings for one handle.
pub(super) struct Ringer {
    pub(super) bell: Arc<Bell>,
    pub(super) handle: u32,
}

impl Wake for Ringer {
    fn wake(self: Arc<Self>) {
        self.bell.ring(self.handle);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.bell.ring(self.handle);
    }
}
