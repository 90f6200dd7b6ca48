//! Turns: at most so many at once, the others in the order they came.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use drydock_contract::schedule;
use parking_lot::Mutex;

/// A number of turns that come back.
#[derive(Debug)]
pub(crate) struct Turns(Mutex<State>);

#[derive(Debug)]
struct State {
    free: usize,
    next: u64,
    waiting: VecDeque<(u64, Waker)>,
}

/// A turn. Dropping it gives it to whoever waits longest.
#[derive(Debug)]
pub(crate) struct Turn(Arc<Turns>);

impl Turns {
    pub(crate) fn new(free: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State { free, next: 0, waiting: VecDeque::new() })))
    }

    pub(crate) fn take(self: &Arc<Self>) -> Taking {
        Taking { turns: Arc::clone(self), ticket: None }
    }

    /// Wakes the first in line, if it can have a turn.
    fn wake_first(state: &State) {
        if state.free > 0
            && let Some((_, waker)) = state.waiting.front()
        {
            waker.wake_by_ref();
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.0.0.lock();
        state.free += 1;
        Turns::wake_first(&state);
    }
}

/// Waits for a turn.
pub(crate) struct Taking {
    turns: Arc<Turns>,
    ticket: Option<u64>,
}

impl Future for Taking {
    type Output = Turn;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Turn> {
        let turns = Arc::clone(&self.turns);
        let mut state = turns.0.lock();
        let first = match self.ticket {
            Some(ticket) => state.waiting.front().is_some_and(|it| it.0 == ticket),
            None => state.waiting.is_empty(),
        };
        if first && state.free > 0 {
            state.free -= 1;
            if self.ticket.take().is_some() {
                state.waiting.pop_front();
            }
            Turns::wake_first(&state);
            return Poll::Ready(Turn(Arc::clone(&turns)));
        }
        match self.ticket {
            Some(ticket) => {
                if let Some(place) = state.waiting.iter_mut().find(|it| it.0 == ticket) {
                    place.1 = cx.waker().clone();
                }
            }
            None => {
                state.next += 1;
                let ticket = state.next;
                state.waiting.push_back((ticket, cx.waker().clone()));
                self.ticket = Some(ticket);
            }
        }
        schedule::waits_inside();
        Poll::Pending
    }
}

impl Drop for Taking {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket else { return };
        let mut state = self.turns.0.lock();
        state.waiting.retain(|it| it.0 != ticket);
        Turns::wake_first(&state);
    }
}
