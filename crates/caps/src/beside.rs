//! Calls of one power that go on beside one another, on the thread of whoever waits for them.
//!
//! By real time whoever was woken goes on. By a clock that is not the real one they take turns, in an order that depends
//! on nothing but what they do, so that a replay sees the same one.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use drydock_contract::{
    BoxFuture, SteppedClock,
    schedule::{Schedule, Turn},
};
use futures_util::{Stream as _, stream::FuturesUnordered};

/// What goes on.
pub(crate) enum Beside<T> {
    AsWoken(FuturesUnordered<BoxFuture<'static, T>>),
    InOrder(Schedule<T>, Arc<SteppedClock>),
}

impl<T> Beside<T> {
    /// By the session's clock, if that is not the real one.
    pub(crate) fn by(clock: Option<&Arc<SteppedClock>>) -> Self {
        match clock {
            None => Self::AsWoken(FuturesUnordered::new()),
            Some(clock) => Self::InOrder(Schedule::default(), Arc::clone(clock)),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::AsWoken(work) => work.len(),
            Self::InOrder(work, _) => work.len(),
        }
    }

    pub(crate) fn push(&mut self, work: BoxFuture<'static, T>) {
        match self {
            Self::AsWoken(all) => all.push(work),
            Self::InOrder(all, _) => all.push(work),
        }
    }

    /// The next one that ends; none if there is none left.
    pub(crate) async fn next(&mut self) -> Option<T> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let (work, clock) = match self {
            Self::AsWoken(work) => return Pin::new(work).poll_next(cx),
            Self::InOrder(work, clock) => (work, clock),
        };
        loop {
            match work.turn(clock, cx) {
                Turn::Ended(ended) => return Poll::Ready(Some(ended)),
                Turn::Next => {}
                Turn::AllInside if work.is_empty() => return Poll::Ready(None),
                Turn::AllInside | Turn::Slice | Turn::World => return Poll::Pending,
            }
        }
    }
}
