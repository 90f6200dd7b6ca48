//! Time that is nobody's: what runs wait while code is compiled, or a program is installed.
//!
//! A run's deadline moves by what its session waited since the run began, whoever of the session waited: a stage
//! beside the one that compiles, the command that started it, the program whose tool it is. All ask [`Waited`].
//!
//! The same runs wait for one another, so the slots they hold in the engine are counted here too: whoever has
//! some gets the next one sooner, or a pipeline would wait for a stage that never starts.
//!
//! Nobody lives for ever by it. Only modules that the host registered or handed over count, and a guest does neither: a
//! program that a guest wrote pays for its own compilation ([`crate::RunRequest::pays_for_code`]). Each is compiled once
//! and within limits of its own (60 s, unless it was registered with others). And whatever happens, a run is given no more
//! than [`WAITED_MAX`] in all.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    task::{Context, Wake, Waker},
    time::{Duration, Instant},
};

/// The most that the end of one run or one line moves.
pub const WAITED_MAX: Duration = Duration::from_secs(600);

/// How long the runs of a session waited for code to be compiled, and how many of them hold a slot. Waits that
/// overlap count once.
#[derive(Debug, Default)]
pub struct Preparing {
    waits: Mutex<Waits>,
    /// Whether anybody ever waited: mostly nobody did, and every run asks.
    any: AtomicBool,
    slots: AtomicU32,
}

#[derive(Debug, Default)]
struct Waits {
    under_way: u32,
    since: Option<Instant>,
    total: Duration,
}

impl Preparing {
    /// A wait begins, and ends when what is returned is dropped.
    pub fn begin(self: &Arc<Self>) -> PreparingGuard {
        let mut waits = self.waits();
        self.any.store(true, Ordering::Release);
        waits.under_way += 1;
        waits.since.get_or_insert_with(Instant::now);
        PreparingGuard(Arc::clone(self))
    }

    /// Waits for `work`, which is nobody's time only while it cannot go on: from a poll that said so until the wake that
    /// says otherwise. Whoever then does not poll it, because its guest computes and looks at nothing else, computes in
    /// its own time. A guard around the whole of it would give such a guest all of [`WAITED_MAX`].
    pub async fn waits_for<T>(self: &Arc<Self>, work: impl Future<Output = T>) -> T {
        let told = Arc::new(Told { preparing: Arc::clone(self), wait: Mutex::default() });
        // Wakers outlive what they wake.
        let _ends = EndsWait(Arc::clone(&told));
        let waker = Waker::from(Arc::clone(&told));
        let mut work = pin!(work);
        poll_fn(|cx| {
            told.begin(cx.waker());
            work.as_mut().poll(&mut Context::from_waker(&waker))
        })
        .await
    }

    /// All waits so far, the one under way included.
    pub fn total(&self) -> Duration {
        if !self.any.load(Ordering::Acquire) {
            return Duration::ZERO;
        }
        let waits = self.waits();
        waits.total + waits.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// How many of its runs hold a slot in the engine.
    pub fn slots_held(&self) -> u32 {
        self.slots.load(Ordering::Relaxed)
    }

    /// One of its runs got a slot.
    pub fn slot_taken(&self) {
        self.slots.fetch_add(1, Ordering::Relaxed);
    }

    /// One of its runs gave its slot back.
    pub fn slot_returned(&self) {
        self.slots.fetch_sub(1, Ordering::Relaxed);
    }

    fn waits(&self) -> MutexGuard<'_, Waits> {
        // Nothing here can leave it half changed.
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One wait of [`Preparing`].
#[derive(Debug)]
pub struct PreparingGuard(Arc<Preparing>);

impl Drop for PreparingGuard {
    fn drop(&mut self) {
        let mut waits = self.0.waits();
        waits.under_way = waits.under_way.saturating_sub(1);
        if waits.under_way == 0
            && let Some(since) = waits.since.take()
        {
            waits.total += since.elapsed();
        }
    }
}

/// Ends a wait when what is waited for can go on, and passes the wake on.
struct Told {
    preparing: Arc<Preparing>,
    wait: Mutex<Option<(PreparingGuard, Waker)>>,
}

impl Told {
    fn begin(&self, waker: &Waker) {
        let mut wait = self.wait.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *wait {
            Some((_, woken)) => woken.clone_from(waker),
            None => *wait = Some((self.preparing.begin(), waker.clone())),
        }
    }

    fn end(&self) -> Option<Waker> {
        let wait = self.wait.lock().unwrap_or_else(PoisonError::into_inner).take();
        wait.map(|(_, waker)| waker)
    }
}

impl Wake for Told {
    fn wake(self: Arc<Self>) {
        if let Some(waker) = self.end() {
            waker.wake();
        }
    }
}

/// Ends the wait of whoever no longer waits.
struct EndsWait(Arc<Told>);

impl Drop for EndsWait {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// What was waited since something began.
#[derive(Debug, Clone, Default)]
pub struct Waited {
    preparing: Option<Arc<Preparing>>,
    before: Duration,
}

impl Waited {
    /// It begins now. Without a [`Preparing`] nothing is ever waited.
    pub fn from_now(preparing: Option<Arc<Preparing>>) -> Self {
        let before = preparing.as_ref().map_or(Duration::ZERO, |it| it.total());
        Self { preparing, before }
    }

    /// How long, the wait under way included; at most [`WAITED_MAX`].
    pub fn so_far(&self) -> Duration {
        let total = self.preparing.as_ref().map_or(Duration::ZERO, |it| it.total());
        total.saturating_sub(self.before).min(WAITED_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_that_overlap_count_once_and_the_one_under_way_counts() {
        let preparing = Arc::new(Preparing::default());
        assert_eq!(preparing.total(), Duration::ZERO);
        let (first, second) = (preparing.begin(), preparing.begin());
        let begun = preparing.waits().since;
        drop(first);
        assert_eq!(preparing.waits().since, begun, "the second still waits");
        drop(second);
        let total = preparing.total();
        assert!(preparing.waits().since.is_none() && total > Duration::ZERO);
        assert_eq!(preparing.total(), total, "nobody waits, so nothing is added");
    }

    #[test]
    fn what_can_go_on_and_is_not_polled_is_somebodys_time() {
        let preparing = Arc::new(Preparing::default());
        let woken = Arc::new(Mutex::new(None::<Waker>));
        let (asked, mut polls) = (Arc::clone(&woken), 0);
        let work = poll_fn(move |cx| {
            polls += 1;
            *asked.lock().unwrap() = Some(cx.waker().clone());
            if polls == 3 { std::task::Poll::Ready(7) } else { std::task::Poll::Pending }
        });
        let mut waiting = Box::pin(preparing.waits_for(work));
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..2 {
            assert!(waiting.as_mut().poll(&mut cx).is_pending());
            assert!(preparing.waits().since.is_some(), "it cannot go on");
            woken.lock().unwrap().as_ref().unwrap().wake_by_ref();
            assert!(preparing.waits().since.is_none(), "now it can, whether or not anybody looks");
        }
        assert_eq!(waiting.as_mut().poll(&mut cx), std::task::Poll::Ready(7));
        drop(waiting);
        assert!(preparing.waits().since.is_none());

        let mut dropped = Box::pin(preparing.waits_for(std::future::pending::<()>()));
        assert!(dropped.as_mut().poll(&mut cx).is_pending());
        drop(dropped);
        assert!(preparing.waits().since.is_none(), "nobody waits any more");
    }

    #[test]
    fn only_what_was_waited_since_the_beginning_counts_and_not_without_end() {
        let preparing = Arc::new(Preparing::default());
        preparing.any.store(true, Ordering::Release);
        preparing.waits().total = Duration::from_secs(7);
        let waited = Waited::from_now(Some(Arc::clone(&preparing)));
        assert_eq!(waited.so_far(), Duration::ZERO);
        preparing.waits().total += Duration::from_secs(3);
        assert_eq!(waited.so_far(), Duration::from_secs(3));
        preparing.waits().total += WAITED_MAX;
        assert_eq!(waited.so_far(), WAITED_MAX);
        assert_eq!(Waited::default().so_far(), Duration::ZERO);
    }
}
