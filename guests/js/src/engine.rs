//! The C side: QuickJS's public functions that we use, and our doors in `native/engine.c`.
//!
//! One context, one thread. What is declared here is checked by nobody but the linker, so it is short.

use core::ffi::{c_char, c_int};
use core::sync::atomic::{AtomicPtr, Ordering};

/// QuickJS's `JSValue`, as it passes it around.
#[cfg(target_pointer_width = "32")]
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Raw(u64);

/// QuickJS's `JSValue`, as it passes it around.
#[cfg(target_pointer_width = "64")]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Raw(u64, i64);

/// QuickJS's context; only ever behind a pointer.
pub enum Context {}

/// QuickJS's runtime; only ever behind a pointer.
pub enum Runtime {}

/// A function of ours that the program can call.
pub type Native = unsafe extern "C" fn(*mut Context, Raw, c_int, *const Raw, c_int, *const Raw) -> Raw;

/// Property flags: configurable and writable, and enumerable too.
pub const HIDDEN: c_int = 0b011;
/// As an assignment makes them.
pub const PLAIN: c_int = 0b111;

#[allow(non_snake_case, reason = "QuickJS's names")]
unsafe extern "C" {
    pub fn engine_new() -> *mut Context;
    pub fn engine_seal(ctx: *mut Context);
    pub fn globals_copy(ctx: *mut Context) -> bool;
    pub fn globals_use(ctx: *mut Context, other: bool);
    pub fn engine_open(ctx: *mut Context, seed: u64, stack_bytes_max: usize);
    pub fn engine_memory_ran_out() -> bool;
    pub fn engine_allow_imports(allowed: bool);
    pub fn script_run(ctx: *mut Context, text: *const c_char, length: usize, name: *const c_char) -> Raw;
    pub fn throw_type_error(ctx: *mut Context, text: *const c_char);
    pub fn throw_range_error(ctx: *mut Context, text: *const c_char);
    pub fn program_compile(
        ctx: *mut Context,
        text: *const c_char,
        length: usize,
        name: *const c_char,
        first_line: c_int,
    ) -> Raw;

    pub fn value_free(ctx: *mut Context, value: Raw);
    pub fn value_dup(ctx: *mut Context, value: Raw) -> Raw;
    pub fn value_kind(value: Raw) -> c_int;
    pub fn value_is_same_object(one: Raw, other: Raw) -> bool;
    pub fn value_undefined() -> Raw;
    pub fn value_exception() -> Raw;
    pub fn value_int(number: i32) -> Raw;
    pub fn value_as_int(value: Raw) -> i32;
    pub fn value_float(number: f64) -> Raw;
    pub fn value_error_stack(ctx: *mut Context, value: Raw) -> Raw;
    pub fn value_own_data(ctx: *mut Context, object: Raw, name: *const c_char) -> Raw;

    pub fn JS_GetRuntime(ctx: *mut Context) -> *mut Runtime;
    pub fn JS_ExecutePendingJob(runtime: *mut Runtime, ctx: *mut *mut Context) -> c_int;
    pub fn JS_GetGlobalObject(ctx: *mut Context) -> Raw;
    pub fn JS_GetException(ctx: *mut Context) -> Raw;
    pub fn JS_Throw(ctx: *mut Context, value: Raw) -> Raw;
    pub fn JS_NewObject(ctx: *mut Context) -> Raw;
    pub fn JS_NewError(ctx: *mut Context) -> Raw;
    pub fn JS_NewStringLen(ctx: *mut Context, text: *const c_char, length: usize) -> Raw;
    pub fn JS_NewCFunctionData2(
        ctx: *mut Context,
        function: Native,
        name: *const c_char,
        length: c_int,
        magic: c_int,
        data_length: c_int,
        data: *const Raw,
    ) -> Raw;
    pub fn promise_new(ctx: *mut Context) -> Raw;
    pub fn promise_settle(ctx: *mut Context, promise: Raw, value: Raw, is_reject: bool);
    pub fn value_plain_json(ctx: *mut Context, value: Raw, room: *mut u8, count: usize) -> c_int;
    pub fn JS_PromiseState(ctx: *mut Context, promise: Raw) -> c_int;
    pub fn JS_PromiseResult(ctx: *mut Context, promise: Raw) -> Raw;
    pub fn JS_Call(ctx: *mut Context, function: Raw, this: Raw, count: c_int, args: *const Raw) -> Raw;
    pub fn JS_ParseJSON(ctx: *mut Context, text: *const c_char, length: usize, name: *const c_char) -> Raw;
    pub fn JS_JSONStringify(ctx: *mut Context, value: Raw, replacer: Raw, space: Raw) -> Raw;
    pub fn JS_ToString(ctx: *mut Context, value: Raw) -> Raw;
    pub fn JS_ToCStringLen2(ctx: *mut Context, length: *mut usize, value: Raw, cesu8: bool) -> *const c_char;
    pub fn JS_FreeCString(ctx: *mut Context, text: *const c_char);
    pub fn JS_NewUint8ArrayCopy(ctx: *mut Context, bytes: *const u8, count: usize) -> Raw;
    pub fn JS_GetUint8Array(ctx: *mut Context, count: *mut usize, array: Raw) -> *mut u8;
    pub fn JS_IsFunction(ctx: *mut Context, value: Raw) -> bool;
    pub fn JS_IsError(value: Raw) -> bool;
    pub fn JS_GetPropertyStr(ctx: *mut Context, object: Raw, name: *const c_char) -> Raw;
    pub fn JS_GetPropertyUint32(ctx: *mut Context, object: Raw, index: u32) -> Raw;
    pub fn JS_DefinePropertyValueStr(
        ctx: *mut Context,
        object: Raw,
        name: *const c_char,
        value: Raw,
        flags: c_int,
    ) -> c_int;
    pub fn JS_NewAtomLen(ctx: *mut Context, text: *const c_char, length: usize) -> u32;
    pub fn JS_FreeAtom(ctx: *mut Context, atom: u32);
    pub fn JS_HasProperty(ctx: *mut Context, object: Raw, atom: u32) -> c_int;
    pub fn JS_DeleteProperty(ctx: *mut Context, object: Raw, atom: u32, flags: c_int) -> c_int;
}

static CONTEXT: AtomicPtr<Context> = AtomicPtr::new(core::ptr::null_mut());

/// The one context; null before [`create`].
#[inline(always)]
pub fn context() -> *mut Context {
    CONTEXT.load(Ordering::Relaxed)
}

/// Makes the one context, if there is none yet. False when there is no memory for it.
pub fn create() -> bool {
    if context().is_null() {
        // SAFETY: the first call into the library, on the only thread.
        CONTEXT.store(unsafe { engine_new() }, Ordering::Relaxed);
    }
    !context().is_null()
}

/// The image is complete: programs leave it alone where they can.
pub fn seal() {
    // SAFETY: there is a context.
    unsafe { engine_seal(context()) }
}

/// A run begins on this stack. Without a seed, randomness is the host's.
pub fn open(seed: Option<u64>, stack_bytes_max: usize) {
    // SAFETY: there is a context, and the caller's stack goes on for that long.
    unsafe { engine_open(context(), seed.map_or(0, |it| it.max(1)), stack_bytes_max) }
}

/// Whether QuickJS was ever refused memory. The program cannot undo it.
pub fn memory_ran_out() -> bool {
    // SAFETY: reads a flag.
    unsafe { engine_memory_ran_out() }
}

/// Runs what promises have queued, until there is nothing left.
pub fn run_jobs() {
    let mut of = core::ptr::null_mut();
    // SAFETY: there is a context. A job that throws has rejected its promise; nobody else is told.
    while unsafe { JS_ExecutePendingJob(JS_GetRuntime(context()), &mut of) } != 0 {
        if memory_ran_out() {
            return;
        }
    }
}
