//! `alga.storage_get`, `storage_put`, `storage_list` and `storage_delete`: values by key for handlers that hold `kv`, in the
//! shape of the fetch: `(req, req_len, out) -> code`. The request is JSON as `kv.*` has it.
//!
//! 0 is an answer and 1 says that there is none; either way a JSON value is placed by the guest's `alloc`: the answer, or
//! `{"error": {"code", "message"}}`. What the guest got wrong about its memory ends it, before anything is asked.

use std::sync::Arc;

use drydock_abi::{
    broker::Failure,
    kv::{DELETE, GET, LIST, PUT, PUT_REQUEST_BYTES_MAX, REQUEST_BYTES_MAX},
};
use drydock_contract::{Call, CallError, Streams};
use wasmtime::{Caller, Linker};

use super::place::{Breaches, TUPLE_BYTES, place, refuse_again};
use crate::{
    guest::{Guest, Held, breathe},
    host::code_for_guest,
    memory,
    outcome::Stop,
    wait::wait_for_others,
};

/// What the functions ask for, and the longest request of each.
const STORAGE: [(&str, &str, u64); 4] = [
    ("storage_get", GET, REQUEST_BYTES_MAX),
    ("storage_put", PUT, PUT_REQUEST_BYTES_MAX),
    ("storage_list", LIST, REQUEST_BYTES_MAX),
    ("storage_delete", DELETE, REQUEST_BYTES_MAX),
];

/// The answer is there.
const ANSWERED: i32 = 0;
/// Why there is none is there.
const FAILED: i32 = 1;

const BREACHES: Breaches = Breaches {
    range: "storage: the request or the tuple is not in the guest's memory",
    place: "storage: `alloc` answered no place for the answer",
    again: "storage: called from `alloc`, which was asked for the place of an answer",
};

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    for (name, operation, bytes_max) in STORAGE {
        linker.func_wrap_async(
            "alga",
            name,
            move |mut caller: Caller<'_, Guest>, (at, count, out): (u32, u32, u32)| {
                Box::new(async move { storage(&mut caller, operation, bytes_max, (at, count), out).await })
            },
        )?;
    }
    Ok(())
}

async fn storage(
    caller: &mut Caller<'_, Guest>,
    operation: &'static str,
    bytes_max: u64,
    (at, count): (u32, u32),
    out: u32,
) -> wasmtime::Result<i32> {
    refuse_again(caller, BREACHES)?;
    breathe(caller).await?;
    let breach = || Stop::Breach(BREACHES.range);
    let (memory, guest) = memory::split(caller).map_err(|_| breach())?;
    let Ok(request) = memory.bytes(at, count) else { return Err(breach().into()) };
    if memory.bytes(out, TUPLE_BYTES).is_err() {
        return Err(breach().into());
    }
    let door = Arc::clone(&guest.door);
    let asked = u64::from(count);
    let done = if asked > bytes_max {
        // More than is read of one stays where it is: then it is refused by its size alone, and on record.
        door.dispatch(Call::oversized(operation, asked)).await
    } else {
        let held = Held::take(&guest.meter, asked).ok_or(Stop::OutOfMemory)?;
        let request = request.to_vec();
        let done =
            wait_for_others(caller, door.dispatch(Call::new(operation, &request, Streams::default()))).await;
        drop(held);
        done
    };
    let (answer, code) = match done {
        // Whether it is an answer or why there is none is told by its first member.
        Ok(reply) => {
            let code = if reply.payload.starts_with(br#"{"error":"#) { FAILED } else { ANSWERED };
            (reply.payload, code)
        }
        Err(error) => (told(&error), FAILED),
    };
    match place(caller, out, &answer, BREACHES).await? {
        true => Ok(code),
        false => Err(Stop::OutOfMemory.into()),
    }
}

/// Why there is no answer: of what broke on our side, only that it did.
fn told(error: &CallError) -> Vec<u8> {
    let message = match error {
        CallError::Denied(denial) => denial.to_string(),
        CallError::Failed(_) => "something of the host's broke".into(),
    };
    let failure = Failure { code: code_for_guest(error).into(), message };
    drydock_abi::broker::answer_json::<()>(&Err(failure))
}
