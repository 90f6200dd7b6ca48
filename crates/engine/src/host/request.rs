//! What a guest asks for, copied out of its memory, and what it is told where there is no answer.

use std::sync::Arc;

use drydock_abi::exec::REQUEST_BYTES_MAX;
use drydock_contract::{Call, CallError, Dispatch, Outcome};
use wasmtime::Caller;

use super::reply::{REFUSED, code_for_guest, refuse};
use crate::{
    guest::{Guest, Held},
    memory,
    outcome::Stop,
};

/// A request, and the bill for its copy.
pub(super) struct Request {
    pub(super) payload: Vec<u8>,
    pub(super) door: Arc<dyn Dispatch>,
    pub(super) held: Held,
}

/// Copies the request out of the guest's memory; `None` if it was refused, and the guest was told.
pub(super) async fn take(
    caller: &mut Caller<'_, Guest>,
    operation: &'static str,
    at: u32,
    count: u32,
) -> wasmtime::Result<Option<Request>> {
    caller.data().check_time()?;
    caller.data_mut().last_status = REFUSED;
    let door = Arc::clone(&caller.data().door);
    if u64::from(count) > REQUEST_BYTES_MAX {
        // Refused by the gate, not by us, so that it is recorded; not a byte of it is copied.
        let answer = door.dispatch(Call::oversized(operation, u64::from(count))).await;
        refuse(caller, answer.err().as_ref().map_or("too_large", code_for_guest));
        return Ok(None);
    }
    // The copy is the guest's doing, so it is on the guest's bill.
    let held = Held::take(&caller.data().meter, u64::from(count)).ok_or(Stop::OutOfMemory)?;
    let copied = memory::split(caller).and_then(|(memory, _)| memory.bytes(at, count).map(<[u8]>::to_vec));
    let Ok(payload) = copied else {
        refuse(caller, "bad_pointer");
        return Ok(None);
    };
    Ok(Some(Request { payload, door, held }))
}

/// Answers for a command that something else ended: the guest gets the code, and the status that a shell shows.
pub(super) fn ended(caller: &mut Caller<'_, Guest>, outcome: &Outcome) -> i32 {
    caller.data_mut().last_status = i32::from(outcome.exit_status());
    refuse(caller, outcome.code())
}

/// Answers a call that the gate refused or that failed.
pub(super) fn refuse_call(caller: &mut Caller<'_, Guest>, error: &CallError) -> i32 {
    if let CallError::Failed(fault) = error {
        // The guest sees a code; what happened is for whoever runs us.
        tracing::debug!("a nested command failed: {fault}");
    }
    caller.data_mut().last_status = i32::from(error.exit_status());
    refuse(caller, code_for_guest(error))
}
