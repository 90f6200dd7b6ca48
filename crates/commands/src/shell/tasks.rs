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

use drydock_contract::BoxFuture;
use futures_util::stream::{FuturesUnordered, Stream as _};
use parking_lot::Mutex;

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
}

impl<T> Future for Handle<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let mut place = self.0.lock();
        match place.value.take() {
            Some(value) => Poll::Ready(value),
            None => {
                place.waker = Some(cx.waker().clone());
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

    /// Polls every task until none is left, or until `stop` says so.
    pub(crate) async fn drive(&self, stop: impl Fn() -> bool) {
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
        self.spawned.lock().clear();
        self.live.store(0, Ordering::Relaxed);
    }
}

/// Lets everything else run once.
pub(crate) async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
