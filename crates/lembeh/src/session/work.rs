//! What goes on beside the guest: starts, connections, processes. Each is a future in a slot that can be emptied at once.
//!
//! A future that is cancelled is dropped there and then, not when somebody next looks at it: nothing of it may be left
//! when the guest can read that it was cancelled.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use drydock_contract::BoxFuture;
use futures_util::{Stream as _, stream::FuturesUnordered};
use parking_lot::Mutex;

/// Futures in flight.
pub(super) struct Work<T> {
    slots: FuturesUnordered<Slot<T>>,
}

/// Empties the slot of one of them.
pub(super) struct Cancel<T>(Arc<Mutex<Inside<T>>>);

struct Inside<T> {
    future: Option<BoxFuture<'static, T>>,
    waker: Option<Waker>,
}

struct Slot<T>(Arc<Mutex<Inside<T>>>);

impl<T> Default for Work<T> {
    fn default() -> Self {
        Self { slots: FuturesUnordered::new() }
    }
}

impl<T> Work<T> {
    /// Begins with the next look at them.
    pub(super) fn push(&mut self, future: BoxFuture<'static, T>) -> Cancel<T> {
        let inside = Arc::new(Mutex::new(Inside { future: Some(future), waker: None }));
        self.slots.push(Slot(Arc::clone(&inside)));
        Cancel(inside)
    }

    /// What ended next; nothing if all of them wait.
    pub(super) fn next(&mut self, cx: &mut Context<'_>) -> Option<T> {
        loop {
            match Pin::new(&mut self.slots).poll_next(cx) {
                Poll::Ready(Some(Some(done))) => return Some(done),
                // A slot that was emptied.
                Poll::Ready(Some(None)) => {}
                Poll::Ready(None) | Poll::Pending => return None,
            }
        }
    }

    /// Drops all of them.
    pub(super) fn clear(&mut self) {
        self.slots = FuturesUnordered::new();
    }
}

impl<T> Cancel<T> {
    /// Drops the future.
    pub(super) fn cancel(self) {
        let (future, waker) = {
            let mut inside = self.0.lock();
            (inside.future.take(), inside.waker.take())
        };
        drop(future);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Future for Slot<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        // Taken out while it is polled, so that whatever it does finds the slot free.
        let Some(mut future) = self.0.lock().future.take() else { return Poll::Ready(None) };
        let polled = future.as_mut().poll(cx);
        match polled {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => {
                let mut inside = self.0.lock();
                inside.waker = Some(cx.waker().clone());
                inside.future = Some(future);
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Told(Arc<Mutex<u32>>);

    impl Drop for Told {
        fn drop(&mut self) {
            *self.0.lock() += 1;
        }
    }

    #[test]
    fn what_is_cancelled_is_gone_at_once_and_the_others_go_on() {
        let mut work = Work::default();
        let dropped = Arc::new(Mutex::new(0));
        let told = Told(Arc::clone(&dropped));
        let waits = work.push(Box::pin(async move {
            std::future::pending::<()>().await;
            drop(told);
            1
        }));
        let _ready = work.push(Box::pin(std::future::ready(2)));
        let mut cx = Context::from_waker(Waker::noop());
        assert_eq!(work.next(&mut cx), Some(2));
        assert_eq!(work.next(&mut cx), None);
        assert_eq!(*dropped.lock(), 0);
        waits.cancel();
        assert_eq!(*dropped.lock(), 1);
        assert_eq!(work.next(&mut cx), None);
        assert_eq!(work.slots.len(), 0, "its slot is gone too");
    }
}
