//! `env.host_command(req, req_len, stdin) -> status`: a command in an environment of its
//! own, whose streams are the caller's. What `find -exec`, `xargs`, `env` and `timeout` are made of.
//!
//! Nothing is captured: the child writes where the caller writes, and counts against the caller's
//! limits as well as its own. It cannot outlive the call.

use std::sync::Arc;

use drydock_abi::exec::{COMMAND, REQUEST_BYTES_MAX, decode_report};
use drydock_contract::{Call, CallError, Outcome};
use wasmtime::{Caller, Linker};

use super::{
    lent::Lent,
    reply::{REFUSED, code_for_guest, refuse},
};
use crate::{
    guest::{Guest, Held},
    memory,
    outcome::Stop,
};

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        "env",
        "host_command",
        |mut caller: Caller<'_, Guest>, (at, count, stdin): (u32, u32, u32)| {
            Box::new(async move { host_command(&mut caller, at, count, stdin).await })
        },
    )?;
    Ok(())
}

/// What the third argument says: the child reads what the caller would have read.
const STDIN_OURS: u32 = 1;

async fn host_command(
    caller: &mut Caller<'_, Guest>,
    at: u32,
    count: u32,
    stdin: u32,
) -> wasmtime::Result<i32> {
    caller.data().check_time()?;
    caller.data_mut().last_status = REFUSED;
    let door = Arc::clone(&caller.data().door);
    if u64::from(count) > REQUEST_BYTES_MAX {
        // Refused by the gate, not by us, so that it is recorded; not a byte of it is copied.
        let answer = door.dispatch(Call::oversized(COMMAND, u64::from(count))).await;
        return Ok(refuse(caller, answer.err().as_ref().map_or("too_large", code_for_guest)));
    }
    // The copy is the guest's doing, so it is on the guest's bill.
    let _held = Held::take(&caller.data().meter, u64::from(count)).ok_or(Stop::OutOfMemory)?;
    let payload =
        match memory::split(caller).and_then(|(memory, _)| memory.bytes(at, count).map(<[u8]>::to_vec)) {
            Ok(payload) => payload,
            Err(_) => return Ok(refuse(caller, "bad_pointer")),
        };
    let lent = Lent::take(caller.data_mut());
    let streams = lent.streams(stdin == STDIN_OURS);
    let answer = door.dispatch(Call::new(COMMAND, &payload, streams)).await;
    if let Some(stop) = lent.give_back(caller.data_mut()) {
        return Err(stop.into());
    }
    let reply = match answer {
        Ok(reply) => reply,
        Err(error) => {
            if let CallError::Failed(fault) = &error {
                // The guest sees a code; what happened is for whoever runs us.
                tracing::debug!("a nested command failed: {fault}");
            }
            return Ok(refuse(caller, code_for_guest(&error)));
        }
    };
    match decode_report(&reply.payload).map(|report| report.outcome) {
        Ok(Outcome::Exited(status)) => {
            caller.data_mut().last_status = status;
            caller.data_mut().last_error = "";
            // As much of it as a shell shows, so that none looks like a refusal.
            Ok(status & 0xff)
        }
        Ok(other) => Ok(refuse(caller, other.code())),
        Err(_) => Ok(refuse(caller, "internal_error")),
    }
}
