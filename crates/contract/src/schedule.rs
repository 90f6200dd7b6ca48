//! In which order the parts of one session go on, where its time is not the real one.
//!
//! Stages of a pipeline, background jobs and parallel tool calls are futures that one task polls. What they see must
//! not depend on how fast the machine is, so each poll that ends as pending says what it waits for:
//!
//! - another part of the session, or its clock ([`waits_inside`]): the next part has its turn;
//! - a slice of its work is done, and it woke itself: the next part has its turn, and time passes for who sleeps;
//! - anything else is the world (a compilation, a disk, a tool of the embedder): all others stand still until it
//!   answered, so that the order of answers is the order of questions.
//!
//! When every part waits inside, whoever polls the outermost one ([`moving`]) moves the clock to the first that
//! sleeps. What the world may let in is listed in docs/specs/tape.md.
//!
//! This polls what it is given. It spawns nothing and knows no runtime.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, VecDeque},
    future::poll_fn,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use crate::{BoxFuture, SteppedClock};

/// How much time passes for who sleeps while another part does a slice of work: about what one takes.
pub const SLICE: Duration = Duration::from_millis(1);

/// What a poll that ended as pending waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// Nobody said: the world, or it only did a slice of its work.
    Unsaid,
    /// Another part of the session, or its clock.
    Inside,
    /// It gave the thread back at a moment that the machine chose.
    Thread,
}

thread_local! {
    static WAIT: Cell<Wait> = const { Cell::new(Wait::Unsaid) };
    /// The clocks that are moved by who is on the stack, by their addresses.
    static MOVING: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    /// The part that is being polled, by the address of its waker.
    static POLLED: Cell<usize> = const { Cell::new(0) };
    /// Whether that part woke itself since it last went on.
    static BY_ITSELF: Cell<bool> = const { Cell::new(false) };
}

/// To be said within a poll that is about to end as pending: it waits for another part of its session, or for the
/// session's clock.
pub fn waits_inside() {
    WAIT.set(Wait::Inside);
}

/// Likewise, by who gives the thread back at a moment that depends on the machine: nobody else has a turn.
pub fn gives_thread_back() {
    WAIT.set(Wait::Thread);
}

/// A slice of work is done: others have their turn, and time passes for those who sleep.
pub async fn slice_done() {
    pause(goes_on).await;
}

/// Lets everything else of the session that can go on have its turn. It takes no time.
pub async fn turn_done() {
    pause(waits_inside).await;
}

async fn pause(say: fn()) {
    let mut is_done = false;
    poll_fn(|cx| {
        if is_done {
            return Poll::Ready(());
        }
        is_done = true;
        say();
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// To be said by who goes on although something it polled did not: what that waits for is nothing to others.
pub fn goes_on() {
    WAIT.set(Wait::Unsaid);
    BY_ITSELF.set(false);
}

/// Polls something beside what was polled before, such as a timer, and leaves it said what that waits for.
pub fn beside<T>(poll: impl FnOnce() -> Poll<T>) -> Poll<T> {
    let said = WAIT.get();
    let polled = poll();
    WAIT.set(said);
    polled
}

/// Whether the poll that just ended as pending waits inside the session.
pub fn is_inside() -> bool {
    WAIT.get() == Wait::Inside
}

/// Whether it was the machine that ended the last poll as pending where it did: by the world, or by taking the thread.
pub fn is_machines() -> bool {
    match WAIT.get() {
        Wait::Unsaid => !BY_ITSELF.get(),
        Wait::Inside => false,
        Wait::Thread => true,
    }
}

/// Whether somebody moves this clock, so that sleeping can wait for it.
pub(crate) fn is_moved(clock: &SteppedClock) -> bool {
    MOVING.with_borrow(|all| all.contains(&address(clock)))
}

fn address(clock: &SteppedClock) -> usize {
    std::ptr::from_ref(clock) as usize
}

/// Polls a part of a session, or all of it. If nothing is left but to wait for the session's clock, the outermost of
/// these that has the same clock moves it and polls again.
pub fn moving<T>(clock: &SteppedClock, mut poll: impl FnMut() -> Poll<T>) -> Poll<T> {
    struct Pop;
    impl Drop for Pop {
        fn drop(&mut self) {
            MOVING.with_borrow_mut(|all| all.pop());
        }
    }
    let is_outermost = !is_moved(clock);
    MOVING.with_borrow_mut(|all| all.push(address(clock)));
    let _pop = Pop;
    loop {
        WAIT.set(Wait::Unsaid);
        if let Poll::Ready(done) = poll() {
            return Poll::Ready(done);
        }
        if !is_outermost || !is_inside() || !clock.move_to_next() {
            return Poll::Pending;
        }
    }
}

/// What came of one turn.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn<T> {
    /// A part ended.
    Ended(T),
    /// A part waits for others, and the next one may have its turn.
    Next,
    /// A part did a slice of its work. It is time to give the thread back, and to be polled again.
    Slice,
    /// Nobody can go on by itself; there may be nobody.
    AllInside,
    /// A part waits for the world, and all others with it.
    World,
}

/// Futures that have their turns in an order that depends on nothing but what they do.
pub struct Schedule<T> {
    parts: BTreeMap<u64, Part<T>>,
    begun: u64,
    /// Who waits for the world.
    holder: Option<u64>,
    ready: Arc<Mutex<Ready>>,
}

struct Part<T> {
    work: BoxFuture<'static, T>,
    bell: Arc<Bell>,
}

/// Those that can go on, the first one first, and whom to tell that there is one.
#[derive(Default)]
struct Ready {
    queue: VecDeque<u64>,
    /// Those that somebody outside rang: asked when nobody else can go on.
    called: VecDeque<u64>,
    driver: Option<Waker>,
}

/// The waker of one part.
struct Bell {
    number: u64,
    is_queued: AtomicBool,
    /// Whether somebody outside the session rang.
    is_called: AtomicBool,
    ready: Arc<Mutex<Ready>>,
}

impl Bell {
    fn is_rung(&self) -> bool {
        self.is_queued.load(Ordering::Acquire) || self.is_called.load(Ordering::Acquire)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if POLLED.get() == Arc::as_ptr(self) as usize {
            BY_ITSELF.set(true);
        }
        // Rung by the session itself it has its place in the queue. Rung by anybody else (a deadline, a runtime that
        // wants to be asked again) it must not come before those that have one: when that is, the machine says.
        let from_inside = MOVING.with_borrow(|all| !all.is_empty());
        let was_rung = match from_inside {
            true => self.is_queued.swap(true, Ordering::AcqRel),
            false => self.is_called.swap(true, Ordering::AcqRel),
        };
        if was_rung {
            return;
        }
        let mut ready = lock(&self.ready);
        match from_inside {
            true => ready.queue.push_back(self.number),
            false => ready.called.push_back(self.number),
        }
        let driver = ready.driver.take();
        drop(ready);
        if let Some(driver) = driver {
            driver.wake();
        }
    }
}

fn lock(ready: &Mutex<Ready>) -> std::sync::MutexGuard<'_, Ready> {
    ready.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Default for Schedule<T> {
    fn default() -> Self {
        Self { parts: BTreeMap::new(), begun: 0, holder: None, ready: Arc::default() }
    }
}

impl<T> Schedule<T> {
    /// One more part, whose first turn comes after those of all that can go on.
    pub fn push(&mut self, work: BoxFuture<'static, T>) {
        let number = self.begun;
        self.begun += 1;
        let (is_queued, is_called) = (AtomicBool::new(true), AtomicBool::new(false));
        let bell = Arc::new(Bell { number, is_queued, is_called, ready: Arc::clone(&self.ready) });
        self.parts.insert(number, Part { work, bell });
        lock(&self.ready).queue.push_back(number);
    }

    /// How many are left.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Gives one part its turn. Unless that was the end of one or [`Turn::Next`], the task is woken when there is
    /// something to do.
    pub fn turn(&mut self, clock: &SteppedClock, cx: &mut Context<'_>) -> Turn<T> {
        let Some(number) = self.next(cx) else {
            if self.holder.is_some() {
                gives_thread_back();
                return Turn::World;
            }
            waits_inside();
            return Turn::AllInside;
        };
        let Some(part) = self.parts.get_mut(&number) else { return Turn::Next };
        let (polled, by_itself) = part.poll();
        match polled {
            Poll::Ready(value) => {
                self.parts.remove(&number);
                self.holder = None;
                Turn::Ended(value)
            }
            Poll::Pending if is_inside() => {
                self.holder = None;
                Turn::Next
            }
            Poll::Pending if WAIT.get() == Wait::Unsaid && by_itself => {
                self.holder = None;
                clock.lapse(SLICE);
                WAIT.set(Wait::Unsaid);
                cx.waker().wake_by_ref();
                Turn::Slice
            }
            Poll::Pending => {
                self.holder = Some(number);
                lock(&self.ready).driver = Some(cx.waker().clone());
                // Around this one it is no slice of work, even if the world has answered by now.
                gives_thread_back();
                if part.bell.is_rung() {
                    cx.waker().wake_by_ref();
                }
                Turn::World
            }
        }
    }

    /// Who goes on next: whoever waits for the world if it was answered, and nobody else as long as it was not.
    fn next(&self, cx: &Context<'_>) -> Option<u64> {
        let mut ready = lock(&self.ready);
        let next = match self.holder {
            Some(holder) => {
                let answered = self.parts.get(&holder).is_some_and(|it| it.bell.is_rung());
                ready.queue.retain(|it| !answered || *it != holder);
                answered.then_some(holder)
            }
            None => {
                // A part that was polled meanwhile is no longer rung, and its place in a queue is void.
                let rung = |number: u64, of: fn(&Bell) -> &AtomicBool| {
                    self.parts.get(&number).is_some_and(|it| of(&it.bell).load(Ordering::Acquire))
                };
                let first = std::iter::from_fn(|| ready.queue.pop_front())
                    .find(|it| rung(*it, |bell| &bell.is_queued));
                first.or_else(|| {
                    std::iter::from_fn(|| ready.called.pop_front())
                        .find(|it| rung(*it, |bell| &bell.is_called))
                })
            }
        };
        if next.is_none() {
            ready.driver = Some(cx.waker().clone());
        }
        next
    }
}

impl<T> Part<T> {
    /// One poll, and whether the part woke itself in it.
    fn poll(&mut self) -> (Poll<T>, bool) {
        struct Around(usize, bool);
        impl Drop for Around {
            fn drop(&mut self) {
                POLLED.set(self.0);
                BY_ITSELF.set(self.1);
            }
        }
        self.bell.is_queued.store(false, Ordering::Release);
        self.bell.is_called.store(false, Ordering::Release);
        let waker = Waker::from(Arc::clone(&self.bell));
        let _around = Around(POLLED.replace(Arc::as_ptr(&self.bell) as usize), BY_ITSELF.replace(false));
        WAIT.set(Wait::Unsaid);
        let polled = self.work.as_mut().poll(&mut Context::from_waker(&waker));
        (polled, BY_ITSELF.get())
    }
}
