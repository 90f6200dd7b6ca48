//! Where a guest's calls wait for the runner, and their answers for the guest.

use std::{
    collections::{HashMap, VecDeque},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use drydock_contract::{BoxFuture, ToolAnswer, ToolRequest, Tools};
use parking_lot::Mutex;

/// A call is laid down here and answered by the runner.
#[derive(Default)]
pub(super) struct Desk(Mutex<State>);

#[derive(Default)]
struct State {
    tickets: u64,
    calls: VecDeque<(u64, ToolRequest)>,
    slots: HashMap<u64, Slot>,
    runner: Option<Waker>,
}

#[derive(Default)]
struct Slot {
    answer: Option<ToolAnswer>,
    guest: Option<Waker>,
}

impl Desk {
    /// The next call that nobody has looked at, or a wake-up when there is one.
    pub(super) fn poll_call(&self, cx: &mut Context<'_>) -> Poll<(u64, ToolRequest)> {
        let mut state = self.0.lock();
        match state.calls.pop_front() {
            Some(call) => Poll::Ready(call),
            None => {
                state.runner = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Answers a call. One that was given up gets nothing.
    pub(super) fn deliver(&self, ticket: u64, answer: ToolAnswer) {
        let mut state = self.0.lock();
        if let Some(slot) = state.slots.get_mut(&ticket) {
            slot.answer = Some(answer);
            if let Some(waker) = slot.guest.take() {
                drop(state);
                waker.wake();
            }
        }
    }
}

/// The desk as a guest sees it.
pub(super) struct GuestTools(pub(super) Arc<Desk>);

impl Tools for GuestTools {
    fn call(&self, request: ToolRequest) -> BoxFuture<'_, ToolAnswer> {
        let mut state = self.0.0.lock();
        state.tickets += 1;
        let ticket = state.tickets;
        state.calls.push_back((ticket, request));
        state.slots.insert(ticket, Slot::default());
        let waker = state.runner.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        Box::pin(Waiting { desk: Arc::clone(&self.0), ticket })
    }
}

struct Waiting {
    desk: Arc<Desk>,
    ticket: u64,
}

impl Future for Waiting {
    type Output = ToolAnswer;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<ToolAnswer> {
        let mut state = self.desk.0.lock();
        let slot = state.slots.entry(self.ticket).or_default();
        match slot.answer.take() {
            Some(answer) => Poll::Ready(answer),
            None => {
                slot.guest = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.desk.0.lock().slots.remove(&self.ticket);
    }
}
