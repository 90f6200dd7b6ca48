//! What a caller waits for. It comes once, is never lost in silence, and comes even if the thread that works on it does not.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use drydock_contract::port::LedgerError;
use parking_lot::Mutex;

use super::abandoned;

type Told<T> = Result<T, LedgerError>;

/// Where it is put.
pub(super) struct Slot<T>(Mutex<Inside<T>>);

struct Inside<T> {
    is: Is<T>,
    /// Gets what nobody took.
    lost: Option<Box<dyn FnOnce(T) + Send>>,
}

enum Is<T> {
    Open(Option<Waker>),
    Told(Told<T>),
    /// It was taken, or nobody waits.
    Over,
}

impl<T> Slot<T> {
    pub(super) fn new(lost: Option<Box<dyn FnOnce(T) + Send>>) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Inside { is: Is::Open(None), lost })))
    }

    /// Whether anybody waits.
    pub(super) fn is_wanted(&self) -> bool {
        !matches!(self.0.lock().is, Is::Over)
    }

    /// Tells it; nothing happens where it was told before.
    pub(super) fn tell(&self, told: Told<T>) {
        let mut inside = self.0.lock();
        match std::mem::replace(&mut inside.is, Is::Over) {
            Is::Open(waker) => {
                inside.is = Is::Told(told);
                drop(inside);
                if let Some(waker) = waker {
                    waker.wake();
                }
            }
            Is::Over => {
                let lost = inside.lost.take();
                drop(inside);
                if let (Some(lost), Ok(made)) = (lost, told) {
                    lost(made);
                }
            }
            before @ Is::Told(_) => inside.is = before,
        }
    }

    /// For whoever drops a job undone.
    pub(super) fn abandon(&self) {
        if matches!(self.0.lock().is, Is::Open(_)) {
            self.tell(Err(abandoned()));
        }
    }
}

/// The wait for it.
pub(crate) struct Answer<T> {
    slot: Arc<Slot<T>>,
    /// It is to be done although nobody waits.
    forgotten: bool,
}

impl<T> Answer<T> {
    pub(super) fn of(slot: &Arc<Slot<T>>) -> Self {
        Self { slot: Arc::clone(slot), forgotten: false }
    }

    /// Lets it be done although nobody waits.
    pub(super) fn forget(mut self) {
        self.forgotten = true;
    }
}

impl<T> Future for Answer<T> {
    type Output = Told<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Told<T>> {
        let mut inside = self.slot.0.lock();
        match std::mem::replace(&mut inside.is, Is::Over) {
            Is::Told(told) => Poll::Ready(told),
            Is::Open(_) => {
                inside.is = Is::Open(Some(cx.waker().clone()));
                Poll::Pending
            }
            Is::Over => Poll::Ready(Err(abandoned())),
        }
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        if self.forgotten {
            return;
        }
        let mut inside = self.slot.0.lock();
        if let Is::Told(Ok(made)) = std::mem::replace(&mut inside.is, Is::Over) {
            let lost = inside.lost.take();
            drop(inside);
            if let Some(lost) = lost {
                lost(made);
            }
        }
    }
}
