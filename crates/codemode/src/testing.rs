//! A clock that stands still until everybody waits for it: tests of timeouts without waiting, and of
//! wake-ups without luck.

use std::{
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use drydock_contract::BoxFuture;
use parking_lot::Mutex;

use crate::Time;

/// Time that jumps to the next alarm whenever nothing else can happen.
#[derive(Clone, Default)]
pub struct VirtualTime(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    now: Duration,
    sleepers: Vec<(Duration, Waker)>,
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl VirtualTime {
    /// Runs a future to its end. A future that waits for something that cannot happen is a broken test,
    /// or a wake-up that was forgotten.
    ///
    /// # Panics
    /// If nothing can ever wake the future.
    pub fn run<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        let waker = Waker::from(Arc::clone(&woken));
        let mut cx = Context::from_waker(&waker);
        loop {
            while woken.0.swap(false, Ordering::SeqCst) {
                if let Poll::Ready(value) = future.as_mut().poll(&mut cx) {
                    return value;
                }
            }
            assert!(self.jump(), "nothing will ever happen again");
        }
    }

    /// Lets time pass while something happens.
    pub fn pass(&self, span: Duration) {
        self.0.lock().now += span;
    }

    /// Moves to the next alarm.
    fn jump(&self) -> bool {
        let mut state = self.0.lock();
        let Some(next) = state.sleepers.iter().map(|it| it.0).min() else { return false };
        state.now = state.now.max(next);
        let now = state.now;
        let due: Vec<_> = state.sleepers.extract_if(.., |it| it.0 <= now).collect();
        drop(state);
        due.into_iter().for_each(|(_, waker)| waker.wake());
        true
    }
}

impl Time for VirtualTime {
    fn now(&self) -> Duration {
        self.0.lock().now
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'static, ()> {
        Box::pin(Sleep { until: self.now() + span, time: self.clone() })
    }
}

struct Sleep {
    until: Duration,
    time: VirtualTime,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.time.0.lock();
        if state.now >= self.until {
            return Poll::Ready(());
        }
        state.sleepers.push((self.until, cx.waker().clone()));
        Poll::Pending
    }
}
