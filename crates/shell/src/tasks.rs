//! Everything of a line that runs at once: stages, background jobs, substitutions, deep calls.
//!
//! One future polls them all on the calling thread, so the shell needs no runtime, and dropping that
//! one future ends the line. Each task is polled from the top, so the depth of a script is not the
//! depth of the stack.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
};

use drydock_contract::{
    BoxFuture, SteppedClock,
    schedule::{self, Schedule, Turn},
};
use futures_util::stream::{FuturesUnordered, Stream as _};
use parking_lot::Mutex;

/// Turns after which the thread is given back.
const TURNS_MAX: usize = 256;

/// Tasks waiting to be picked up, and how many there are in all.
#[derive(Default)]
pub(crate) struct Tasks {
    spawned: Mutex<Vec<BoxFuture<'static, ()>>>,
    live: AtomicUsize,
}

struct Place<T> {
    value: Option<T>,
    waker: Option<Waker>,
}

/// The result of a task, once it is there.
pub(crate) struct Handle<T>(Arc<Mutex<Place<T>>>);

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Handle<T> {
    /// The result, if the task is done and nobody took it yet.
    pub(crate) fn take(&self) -> Option<T> {
        self.0.lock().value.take()
    }

    pub(crate) fn is_done(&self) -> bool {
        self.0.lock().value.is_some()
    }

    /// Whether the task is done; if not, the caller is woken when it is.
    pub(crate) fn poll_done(&self, cx: &Context<'_>) -> bool {
        let mut place = self.0.lock();
        if place.value.is_none() {
            place.waker = Some(cx.waker().clone());
        }
        place.value.is_some()
    }
}

impl<T> Future for Handle<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let mut place = self.0.lock();
        match place.value.take() {
            Some(value) => Poll::Ready(value),
            None => {
                place.waker = Some(cx.waker().clone());
                schedule::waits_inside();
                Poll::Pending
            }
        }
    }
}

impl Tasks {
    pub(crate) fn live(&self) -> usize {
        self.live.load(Ordering::Relaxed)
    }

    /// Starts a task beside the others.
    pub(crate) fn spawn<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Handle<T> {
        let place = Arc::new(Mutex::new(Place { value: None, waker: None }));
        let handle = Handle(Arc::clone(&place));
        let tasks = Arc::clone(self);
        self.live.fetch_add(1, Ordering::Relaxed);
        let task = async move {
            let value = work.await;
            tasks.live.fetch_sub(1, Ordering::Relaxed);
            let mut place = place.lock();
            place.value = Some(value);
            if let Some(waker) = place.waker.take() {
                waker.wake();
            }
        };
        self.spawned.lock().push(Box::pin(task));
        handle
    }

    /// Polls every task until none is left, or until `stop` says so: as they are woken, or, by a clock that stands
    /// still, in an order that does not depend on the machine.
    pub(crate) async fn drive(&self, clock: Option<&SteppedClock>, stop: impl Fn() -> bool) {
        match clock {
            None => self.drive_as_woken(stop).await,
            Some(clock) => {
                let mut schedule = Schedule::default();
                poll_fn(|cx| schedule::moving(clock, || self.poll_in_order(&mut schedule, clock, cx, &stop)))
                    .await;
            }
        }
        self.spawned.lock().clear();
        self.live.store(0, Ordering::Relaxed);
    }

    fn poll_in_order(
        &self,
        schedule: &mut Schedule<()>,
        clock: &SteppedClock,
        cx: &mut Context<'_>,
        stop: &impl Fn() -> bool,
    ) -> Poll<()> {
        for _ in 0..TURNS_MAX {
            for task in self.spawned.lock().drain(..) {
                schedule.push(task);
            }
            if stop() {
                return Poll::Ready(());
            }
            match schedule.turn(clock, cx) {
                Turn::Ended(()) | Turn::Next => {}
                Turn::AllInside if schedule.is_empty() => return Poll::Ready(()),
                Turn::AllInside | Turn::Slice | Turn::World => return Poll::Pending,
            }
        }
        schedule::gives_thread_back();
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    async fn drive_as_woken(&self, stop: impl Fn() -> bool) {
        let mut running = FuturesUnordered::new();
        poll_fn(|cx| {
            loop {
                running.extend(self.spawned.lock().drain(..));
                if stop() {
                    return Poll::Ready(());
                }
                match Pin::new(&mut running).poll_next(cx) {
                    Poll::Ready(Some(())) => {}
                    Poll::Ready(None) if self.spawned.lock().is_empty() => return Poll::Ready(()),
                    Poll::Pending if self.spawned.lock().is_empty() => return Poll::Pending,
                    Poll::Ready(None) | Poll::Pending => {}
                }
            }
        })
        .await;
    }
}
