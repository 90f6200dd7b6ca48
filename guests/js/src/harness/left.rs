//! What a run would give back at its end, and leaves: its memory goes as a whole. Only a run that starts in
//! this memory has to give it back first, or a context that stays would grow with every program.

use super::request::Request;
use core::cell::UnsafeCell;
use js::value::Value;

struct Left(UnsafeCell<(Option<Request>, Option<Value>)>);

// SAFETY: a guest has one thread.
unsafe impl Sync for Left {}

static LEFT: Left = Left(UnsafeCell::new((None, None)));

/// Leaves a request that was carried out.
pub fn request(request: Request) {
    // SAFETY: one thread, and the reference ends here.
    unsafe { (*LEFT.0.get()).0 = Some(request) }
}

/// Leaves a program's promise, and with it what it returned.
pub fn promise(promise: Value) {
    // SAFETY: one thread, and the reference ends here.
    unsafe { (*LEFT.0.get()).1 = Some(promise) }
}

/// Gives back what the run before has left. Nothing of the program runs.
pub fn give_back() {
    // SAFETY: one thread, and the reference ends here.
    drop(unsafe { core::mem::take(&mut *LEFT.0.get()) });
}
