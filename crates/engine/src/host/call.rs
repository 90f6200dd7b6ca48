//! `env.host_llm_call` and its siblings `(op, op_len, req, req_len) -> n`: every operation of one broker, as JSON. The answer
//! waits here until `env.host_reply(out, out_cap) -> n` fetches it, so that one that does not fit is not lost.
//!
//! -1 where there is no answer: `env.host_error` tells the code, and `host_reply` has the sentence, if there is one.

use std::sync::Arc;

use drydock_abi::{
    broker::{failure_code, failure_json},
    browse, kv, llm, queue,
};
use drydock_contract::{Call, CallError, Streams};
use wasmtime::{Caller, Linker};

use super::{
    broker::{copy, malformed, text},
    reply::{REFUSED, code_for_guest, refuse, room},
};
use crate::{
    guest::{Guest, Held},
    memory,
    outcome::Stop,
    wait::wait_for_others,
};

/// The longest name of an operation.
const OPERATION_BYTES_MAX: u32 = 64;
/// The longest request of any broker; each has a bound of its own below it.
const REQUEST_BYTES_MAX: u64 = 16 << 20;

/// The power behind an import.
#[derive(Clone, Copy)]
struct Broker {
    /// What its operations begin with.
    noun: &'static str,
    /// One of them, as which a request is refused that is too long to see which one it is of.
    first: &'static str,
}

pub(super) fn link_kv(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    link(linker, "host_kv_call", Broker { noun: "kv.", first: kv::GET })
}

pub(super) fn link_queue(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    link(linker, "host_queue_call", Broker { noun: "queue.", first: queue::PUBLISH })
}

pub(super) fn link_llm(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    link(linker, "host_llm_call", Broker { noun: "llm.", first: llm::COMPLETE })
}

pub(super) fn link_browse(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    link(linker, "host_browse_call", Broker { noun: "browse.", first: browse::BROWSE })
}

fn link(linker: &mut Linker<Guest>, import: &'static str, broker: Broker) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        "env",
        import,
        move |mut caller: Caller<'_, Guest>, (op, op_len, req, req_len): (u32, u32, u32, u32)| {
            Box::new(async move { call(&mut caller, broker, (op, op_len), (req, req_len)).await })
        },
    )?;
    Ok(())
}

/// An answer that waits to be fetched, and its bill.
pub(crate) struct KeptReply {
    bytes: Vec<u8>,
    _held: Held,
}

async fn call(
    caller: &mut Caller<'_, Guest>,
    broker: Broker,
    operation: (u32, u32),
    request: (u32, u32),
) -> wasmtime::Result<i32> {
    caller.data_mut().kept_reply = None;
    if operation.1 > OPERATION_BYTES_MAX {
        return Ok(malformed(caller, broker.noun).await);
    }
    let Some(taken) = copy(caller, broker.first, REQUEST_BYTES_MAX, [operation, request]).await? else {
        return Ok(REFUSED);
    };
    let [operation, request] = taken.parts;
    let operation = match text(caller, broker.noun, operation).await {
        Ok(operation) => operation,
        Err(refused) => return Ok(refused),
    };
    // Each import leads to its own power: which other ones there are is not found out by it.
    if !operation.starts_with(broker.noun) {
        return Ok(malformed(caller, broker.noun).await);
    }
    let door = Arc::clone(&caller.data().door);
    let asked = Call::new(&operation, &request, Streams::default());
    let (bytes, code) = match wait_for_others(caller, door.dispatch(asked)).await {
        Ok(reply) => {
            let code = failure_code(&reply.payload);
            (reply.payload, code)
        }
        Err(error) => {
            let code = code_for_guest(&error);
            // What broke is for whoever runs us.
            let sentence = match &error {
                CallError::Denied(denial) => denial.to_string(),
                CallError::Failed(_) => "the host could not do this".to_owned(),
            };
            (failure_json(code, &sentence), Some(code.to_owned()))
        }
    };
    let held = Held::take(&caller.data().meter, bytes.len() as u64).ok_or(Stop::OutOfMemory)?;
    let count = i32::try_from(bytes.len());
    caller.data_mut().kept_reply = Some(KeptReply { bytes, _held: held });
    if let Some(code) = code {
        return Ok(refuse(caller, code));
    }
    caller.data_mut().last_error = "".into();
    count.or_else(|_| Ok(refuse(caller, "reply_too_large")))
}

/// `env.host_reply(out, out_cap) -> n`: the answer of the last call, once. One that does not fit stays.
pub(super) fn link_host_reply(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap("env", "host_reply", |mut caller: Caller<'_, Guest>, out: u32, cap: u32| -> i32 {
        let Some(kept) = caller.data_mut().kept_reply.take() else { return refuse(&mut caller, "no_reply") };
        if kept.bytes.len() > room(cap) as usize {
            caller.data_mut().kept_reply = Some(kept);
            return refuse(&mut caller, "reply_too_large");
        }
        let put = memory::split(&mut caller).and_then(|(mut memory, _)| memory.put(out, &kept.bytes));
        match (put, i32::try_from(kept.bytes.len())) {
            (Ok(()), Ok(count)) => count,
            _ => {
                caller.data_mut().kept_reply = Some(kept);
                refuse(&mut caller, "bad_pointer")
            }
        }
    })?;
    Ok(())
}
