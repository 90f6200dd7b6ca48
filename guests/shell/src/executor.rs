//! Polls the line until it is done. When nothing in here can go on, the host is asked to wait.

use crate::{host, inside};
use drydock_abi::shell::{BLOCK, Ended, Event, InsideStart, POLL, SLICE, decode};
use drydock_shell::Interrupter;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Room for events at first; a long one says how much it needs.
const EVENT_BYTES: usize = 4 << 10;

/// What is known of commands that were started.
#[derive(Default)]
struct Calls {
    ended: BTreeMap<u32, Ended>,
    waiting: BTreeMap<u32, Waker>,
}

thread_local! {
    /// Where events are put, as long as the longest so far.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// Whether a slice of work was done since the host was last asked.
    static IS_SLICE_DONE: Cell<bool> = const { Cell::new(false) };
    /// Shells that commands started and that do not run yet.
    static BEGUN: RefCell<Vec<InsideStart>> = const { RefCell::new(Vec::new()) };
    /// Who waits for a handle.
    static HANDLES: RefCell<BTreeMap<u32, Vec<Waker>>> = const { RefCell::new(BTreeMap::new()) };
    /// To whom Ctrl-C is handed on.
    static INTERRUPTER: RefCell<Option<Interrupter>> = const { RefCell::new(None) };
    static CALLS: RefCell<Calls> = const { RefCell::new(Calls { ended: BTreeMap::new(), waiting: BTreeMap::new() }) };
}

/// The host is told of it when it is next asked.
pub(crate) fn slice_done() {
    IS_SLICE_DONE.set(true);
}

/// The next event of that handle wakes this task.
pub(crate) fn listen(handle: u32, cx: &Context<'_>) {
    HANDLES.with_borrow_mut(|all| {
        let wakers = all.entry(handle).or_default();
        if !wakers.iter().any(|it| it.will_wake(cx.waker())) {
            wakers.push(cx.waker().clone());
        }
    });
}

/// How a command ended, once it did.
pub(crate) fn poll_ended(call: u32, cx: &Context<'_>) -> Poll<Ended> {
    CALLS.with_borrow_mut(|calls| match calls.ended.remove(&call) {
        Some(ended) => {
            calls.waiting.remove(&call);
            Poll::Ready(ended)
        }
        None => {
            calls.waiting.insert(call, cx.waker().clone());
            Poll::Pending
        }
    })
}

/// Nobody waits for that command any more.
pub(crate) fn forget(call: u32) {
    CALLS.with_borrow_mut(|calls| {
        calls.waiting.remove(&call);
        calls.ended.remove(&call);
    });
}

#[derive(Default)]
struct Root(AtomicBool);

impl Wake for Root {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Polls the line, and the shells that its commands start beside it.
pub(crate) fn drive<T>(
    line: impl Future<Output = T>,
    inside: &mut inside::Shells,
    interrupter: Interrupter,
) -> T {
    INTERRUPTER.set(Some(interrupter));
    let mut line = pin!(line);
    let root = Arc::new(Root::default());
    let waker = Waker::from(Arc::clone(&root));
    let mut cx = Context::from_waker(&waker);
    let done = loop {
        root.0.store(false, Ordering::Relaxed);
        // First, because what they begin is a task of the line's.
        inside.poll(&mut cx);
        if let Poll::Ready(done) = line.as_mut().poll(&mut cx) {
            break done;
        }
        let how = match (root.0.load(Ordering::Relaxed), IS_SLICE_DONE.take()) {
            (true, true) => SLICE,
            (true, false) => POLL,
            (false, _) => BLOCK,
        };
        take_events(how);
        for start in BEGUN.take() {
            inside.begin(start);
        }
    };
    INTERRUPTER.take();
    HANDLES.take();
    CALLS.take();
    BEGUN.take();
    done
}

/// Takes what has happened already.
pub(crate) fn hear() {
    take_events(POLL);
}

fn take_events(how: u32) {
    let events = BUFFER.with_borrow_mut(|buffer| {
        if buffer.is_empty() {
            buffer.resize(EVENT_BYTES, 0);
        }
        events(how, buffer)
    });
    events.into_iter().for_each(take);
}

/// What happened.
fn events(how: u32, buffer: &mut Vec<u8>) -> Vec<Event> {
    loop {
        match host::wait(how, buffer) {
            Ok(0) => return Vec::new(),
            Ok(count) => return decode(&buffer[..count]).unwrap_or_default(),
            Err(needed) if needed > buffer.len() => buffer.resize(needed, 0),
            Err(_) => return Vec::new(),
        }
    }
}

fn take(event: Event) {
    match event {
        Event::Ready(handle) => {
            for waker in HANDLES.with_borrow_mut(|all| all.remove(&handle)).unwrap_or_default() {
                waker.wake();
            }
        }
        Event::Ended(call, ended) => {
            let waker = CALLS.with_borrow_mut(|calls| {
                calls.ended.insert(call, ended);
                calls.waiting.remove(&call)
            });
            if let Some(waker) = waker {
                waker.wake();
            }
        }
        Event::Interrupted => {
            if let Some(interrupter) = INTERRUPTER.with_borrow(Clone::clone) {
                interrupter.interrupt();
            }
        }
        Event::Inside(start) => BEGUN.with_borrow_mut(|begun| begun.push(*start)),
    }
}
