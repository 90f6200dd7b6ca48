//! What the imports of all brokers do alike: parts of a request are copied out of the guest's memory, asked for at the gate
//! as a value, and the answer's code is kept for `env.host_error`.

use std::{any::Any, sync::Arc};

use drydock_abi::broker::Answer;
use drydock_contract::{Call, Streams};
use wasmtime::Caller;

use super::reply::{code_for_guest, refuse};
use crate::{
    guest::{Guest, Held, breathe},
    memory,
    outcome::Stop,
    wait::wait_for_others,
};

/// Parts of a request, and the bill for their copies.
pub(super) struct Parts<const N: usize> {
    pub(super) parts: [Vec<u8>; N],
    pub(super) bytes: u64,
    _held: Held,
}

/// Copies these ranges; `None` if that was refused, and the guest was told. No more than `bytes_max` are looked at: what is
/// longer is refused by the gate, so that it is on record.
pub(super) async fn copy<const N: usize>(
    caller: &mut Caller<'_, Guest>,
    operation: &str,
    bytes_max: u64,
    ranges: [(u32, u32); N],
) -> wasmtime::Result<Option<Parts<N>>> {
    breathe(caller).await?;
    let bytes = ranges.iter().map(|(_, count)| u64::from(*count)).sum();
    if bytes > bytes_max {
        let door = Arc::clone(&caller.data().door);
        let answer = door.dispatch(Call::oversized(operation, bytes)).await;
        refuse(caller, answer.err().as_ref().map_or("too_large", code_for_guest));
        return Ok(None);
    }
    let held = Held::take(&caller.data().meter, bytes).ok_or(Stop::OutOfMemory)?;
    let Ok((memory, _)) = memory::split(caller) else {
        refuse(caller, "bad_pointer");
        return Ok(None);
    };
    let mut parts = [const { Vec::new() }; N];
    for (part, (at, count)) in parts.iter_mut().zip(ranges) {
        let Ok(bytes) = memory.bytes(at, count) else {
            refuse(caller, "bad_pointer");
            return Ok(None);
        };
        part.extend_from_slice(bytes);
    }
    Ok(Some(Parts { parts, bytes, _held: held }))
}

/// Asks for it. What came of it is the value, or -1, and then the guest can ask for the code.
pub(super) async fn ask<V: 'static>(
    caller: &mut Caller<'_, Guest>,
    operation: &'static str,
    request: impl Any + Send,
    bytes: u64,
) -> Result<V, i32> {
    let door = Arc::clone(&caller.data().door);
    let call =
        Call::typed(operation, request, bytes, Streams::default()).with_file_rules(caller.data().file_rules);
    let answer = wait_for_others(caller, door.dispatch(call)).await;
    match answer.map(|mut reply| reply.value::<Answer<V>>()) {
        Ok(Some(Ok(value))) => {
            caller.data_mut().last_error = "".into();
            Ok(value)
        }
        Ok(Some(Err(failure))) => Err(refuse(caller, failure.code)),
        Ok(None) => Err(refuse(caller, "internal_error")),
        Err(error) => Err(refuse(caller, code_for_guest(&error))),
    }
}

/// A part as text; -1 and the code where it is none.
pub(super) async fn text(
    caller: &mut Caller<'_, Guest>,
    operation: &str,
    bytes: Vec<u8>,
) -> Result<String, i32> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(_) => Err(malformed(caller, operation).await),
    }
}

/// Answers parts that make no request. It is the gate that refuses them, so that it is on record and counted.
pub(super) async fn malformed(caller: &mut Caller<'_, Guest>, operation: &str) -> i32 {
    /// No JSON begins so.
    const NO_REQUEST: &[u8] = b"\0";
    let door = Arc::clone(&caller.data().door);
    let answer = door.dispatch(Call::new(operation, NO_REQUEST, Streams::default())).await;
    refuse(caller, answer.err().as_ref().map_or("malformed", code_for_guest))
}
