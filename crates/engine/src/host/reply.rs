//! How a host call answers: n ≥ 0 bytes written, or -1, and then `env.host_error` tells the code.
//!
//! A reply that does not fit is refused, never cut.

use std::borrow::Cow;

use drydock_contract::CallError;
use wasmtime::{Caller, Linker};

use crate::{guest::Guest, memory};

/// What every refused call returns.
pub(crate) const REFUSED: i32 = -1;

/// How much a guest has room for. One that says less than nothing has none: guests count in signed numbers, and what is
/// -1 to them is no four gigabytes.
pub(crate) fn room(cap: u32) -> u32 {
    if i32::try_from(cap).is_ok() { cap } else { 0 }
}

/// `env.host_error(out, out_cap) -> n`: the code of the last refusal, empty if there was none.
pub(crate) fn link_host_error(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap("env", "host_error", |mut caller: Caller<'_, Guest>, out: u32, cap: u32| -> i32 {
        let code = caller.data().last_error.clone();
        let Ok((mut memory, _)) = memory::split(&mut caller) else { return REFUSED };
        if code.len() > room(cap) as usize || memory.put(out, code.as_bytes()).is_err() {
            return REFUSED;
        }
        code.len() as i32
    })?;
    Ok(())
}

/// Writes the reply to the guest's buffer and answers its length.
pub(crate) fn give(caller: &mut Caller<'_, Guest>, out: u32, cap: u32, bytes: &[u8]) -> i32 {
    let Ok(count) = i32::try_from(bytes.len()) else { return refuse(caller, "reply_too_large") };
    if bytes.len() > room(cap) as usize {
        return refuse(caller, "reply_too_large");
    }
    let put = memory::split(caller).and_then(|(mut memory, _)| memory.put(out, bytes));
    if put.is_err() {
        return refuse(caller, "bad_pointer");
    }
    caller.data_mut().last_error = "".into();
    count
}

/// Remembers the code and answers -1.
pub(crate) fn refuse(caller: &mut Caller<'_, Guest>, code: impl Into<Cow<'static, str>>) -> i32 {
    caller.data_mut().last_error = code.into();
    REFUSED
}

/// The code a guest may see: a denial's own, and for our failures only that there was one.
pub(crate) fn code_for_guest(error: &CallError) -> &'static str {
    match error {
        CallError::Denied(denial) => denial.code(),
        CallError::Failed(fault) => match fault.code() {
            known @ ("artifact_integrity" | "bad_module" | "import_not_granted" | "saturated") => known,
            _ => "internal_error",
        },
    }
}
