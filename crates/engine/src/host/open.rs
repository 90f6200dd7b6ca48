//! Calls that a guest began and that go on beside it, on its thread.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use drydock_contract::{
    BoxFuture, SteppedClock,
    schedule::{Schedule, Turn},
};
use futures_util::{Stream as _, stream::FuturesUnordered};

/// What came of letting one go on.
pub(super) enum Step<T> {
    /// It ended.
    Ended(T),
    /// It waits for others; the next one may go on.
    Next,
    /// It did a slice of its work.
    Slice,
    /// None can go on by itself.
    Idle,
    /// It waits for the world, and all others with it.
    World,
}

/// Open calls, and who of them goes on next.
pub(super) enum Open<T> {
    /// Whoever was woken.
    AsWoken(FuturesUnordered<BoxFuture<'static, T>>),
    /// One after the other, by a clock that is not the real one.
    InOrder(Schedule<T>, Arc<SteppedClock>),
}

impl<T> Open<T> {
    pub(super) fn by(clock: Option<&Arc<SteppedClock>>) -> Self {
        match clock {
            None => Self::AsWoken(FuturesUnordered::new()),
            Some(clock) => Self::InOrder(Schedule::default(), Arc::clone(clock)),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::AsWoken(calls) => calls.len(),
            Self::InOrder(calls, _) => calls.len(),
        }
    }

    pub(super) fn push(&mut self, call: BoxFuture<'static, T>) {
        match self {
            Self::AsWoken(calls) => calls.push(call),
            Self::InOrder(calls, _) => calls.push(call),
        }
    }

    /// Lets one of them go on, for whoever goes on beside them.
    pub(super) fn step(&mut self, cx: &mut Context<'_>) -> Step<T> {
        match self {
            Self::AsWoken(calls) => match std::pin::Pin::new(calls).poll_next(cx) {
                Poll::Ready(Some(ended)) => Step::Ended(ended),
                Poll::Ready(None) | Poll::Pending => Step::Idle,
            },
            Self::InOrder(calls, clock) => match calls.turn(clock, cx) {
                Turn::Ended(ended) => Step::Ended(ended),
                Turn::Next => Step::Next,
                Turn::Slice => Step::Slice,
                Turn::AllInside => Step::Idle,
                Turn::World => Step::World,
            },
        }
    }

    /// Whether their order is not the machine's.
    pub(super) fn is_in_order(&self) -> bool {
        matches!(self, Self::InOrder(..))
    }

    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let (calls, clock) = match self {
            Self::AsWoken(calls) => return std::pin::Pin::new(calls).poll_next(cx),
            Self::InOrder(calls, clock) => (calls, clock),
        };
        loop {
            match calls.turn(clock, cx) {
                Turn::Ended(ended) => return Poll::Ready(Some(ended)),
                Turn::Next => {}
                Turn::AllInside if calls.is_empty() => return Poll::Ready(None),
                Turn::AllInside | Turn::Slice | Turn::World => return Poll::Pending,
            }
        }
    }
}
