//! `setTimeout` and `setInterval`: what waits for its time, and whose turn it is.
//!
//! Time is the session's: the host passes it, and by a fixed clock a wait is over at once (decision 0012).

use super::host;
use alloc::collections::BTreeMap;
use core::cell::UnsafeCell;
use js::value::{Kind, Value};

/// How many may wait. Each holds a function and what the function holds.
const TIMERS_MAX: usize = 10_000;

const MILLISECOND: u64 = 1_000_000;

struct Timer {
    function: Value,
    /// In nanoseconds, for one that comes again.
    every: Option<u64>,
}

#[derive(Default)]
struct State {
    /// By the moment it is due, then in the order they were set.
    queue: BTreeMap<(u64, u32), Timer>,
    /// When each is due.
    due: BTreeMap<u32, u64>,
    last: u32,
}

struct Shared(UnsafeCell<Option<State>>);

// SAFETY: a guest has one thread.
unsafe impl Sync for Shared {}

static STATE: Shared = Shared(UnsafeCell::new(None));

/// Runs `act` on the state. It must not call into the program, which could come back here.
fn with<T>(act: impl FnOnce(&mut State) -> T) -> T {
    // SAFETY: one thread, and `act` does not come back.
    unsafe { act((*STATE.0.get()).get_or_insert_default()) }
}

/// A run begins: what an earlier one in this memory left waiting is forgotten.
pub fn open() {
    // SAFETY: one thread, and the reference ends here. Dropping values runs nothing of the program.
    unsafe { *STATE.0.get() = None };
}

/// Sets a timer; its number, or none if there are too many.
pub fn set(function: Value, milliseconds: u32, repeats: bool) -> Option<u32> {
    let span = u64::from(milliseconds) * MILLISECOND;
    let now = host::now();
    with(|state| {
        if state.queue.len() >= TIMERS_MAX {
            return None;
        }
        state.last = state.last.checked_add(1).filter(|it| i32::try_from(*it).is_ok())?;
        let number = state.last;
        let due = now.saturating_add(span);
        let every = repeats.then_some(span.max(MILLISECOND));
        state.queue.insert((due, number), Timer { function, every });
        state.due.insert(number, due);
        Some(number)
    })
}

/// Takes a timer back, if it still waits.
pub fn clear(number: u32) {
    let gone = with(|state| {
        let due = state.due.remove(&number)?;
        state.queue.remove(&(due, number))
    });
    drop(gone);
}

/// How long until the next one is due; none if none waits.
pub fn next() -> Option<u64> {
    let due = with(|state| state.queue.first_key_value().map(|(key, _)| key.0))?;
    Some(due.saturating_sub(host::now()))
}

/// Runs the one that is due. What it threw, if it did.
pub fn fire() -> Result<(), Value> {
    let now = host::now();
    let function = with(|state| {
        let ((due, number), timer) = state.queue.pop_first()?;
        if due > now {
            state.queue.insert((due, number), timer);
            return None;
        }
        let function = timer.function.clone();
        match timer.every {
            None => drop(state.due.remove(&number)),
            Some(span) => {
                let next = now.saturating_add(span);
                state.due.insert(number, next);
                state.queue.insert((next, number), timer);
            }
        }
        Some(function)
    });
    let Some(function) = function else { return Ok(()) };
    let result = function.call_on(&Value::undefined());
    match result.kind() {
        Kind::Exception => Err(Value::take_exception()),
        _ => Ok(()),
    }
}
