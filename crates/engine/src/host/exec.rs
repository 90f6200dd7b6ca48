//! `env.host_exec(req, req_len, out, out_cap) -> n`: the exec wire, from inside a run, and
//! `env.host_status() -> status` of the last command: what it exited with, or what a shell shows for its end.

use bytes::Bytes;
use drydock_abi::exec::{START, decode_request, take_report};
use drydock_contract::{Call, Outcome, Sink, Source, Streams, exit};
use wasmtime::{Caller, Linker};

use super::{
    reply::{REFUSED, give, refuse},
    request::{self, Request},
};
use crate::{guest::Guest, wait::wait_for_others, wasi::write_stderr};

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        "env",
        "host_exec",
        |mut caller: Caller<'_, Guest>, (at, count, out, cap): (u32, u32, u32, u32)| {
            Box::new(async move { host_exec(&mut caller, at, count, out, cap).await })
        },
    )?;
    linker.func_wrap("env", "host_status", |caller: Caller<'_, Guest>| caller.data().last_status)?;
    Ok(())
}

/// Larger inputs travel beside the call.
const STDIN_BESIDE_BYTES_MIN: usize = 4096;

async fn host_exec(
    caller: &mut Caller<'_, Guest>,
    at: u32,
    count: u32,
    out: u32,
    cap: u32,
) -> wasmtime::Result<i32> {
    let Some(Request { payload, door, held: _held }) = request::take(caller, START, at, count).await? else {
        return Ok(REFUSED);
    };
    // Stdin goes beside the call, as a view of the one copy there is.
    let (head, stdin) = split_stdin(Bytes::from(payload));
    let (numbered, named) = (caller.data().streams.numbered.clone(), caller.data().streams.named.clone());
    let (stdout, stderr) = (Sink::capture(), Sink::capture());
    let streams = Streams { stdin: Source::Bytes(stdin), stdout, stderr, numbered, named };
    let file_rules = caller.data().file_rules;
    let waiting = caller.data().running.waits();
    let call = Call::new(START, &head, streams).with_file_rules(file_rules).answered_typed();
    let answer = wait_for_others(caller, door.dispatch(call)).await;
    drop(waiting);
    let mut reply = match answer {
        Ok(reply) => reply,
        Err(error) => return Ok(request::refuse_call(caller, &error)),
    };
    let report = take_report(&mut reply);
    let errors = reply.streams.stderr.into_captured();
    write_stderr(caller.data_mut(), &errors).await?;
    match report.map(|it| it.outcome) {
        Ok(Outcome::Exited(status)) => {
            caller.data_mut().last_status = status;
            let given = give(caller, out, cap, &reply.streams.stdout.into_captured());
            if given == REFUSED {
                // It ran well, perhaps; that nobody can have its output is no success.
                caller.data_mut().last_status = i32::from(exit::LIMITED);
            }
            Ok(given)
        }
        Ok(other) => Ok(request::ended(caller, &other)),
        Err(_) => Ok(refuse(caller, "internal_error")),
    }
}

/// The request without its stdin, and the stdin. What is no request stays whole, for the gate to say
/// so; one whose stdin is small is not worth the trouble.
fn split_stdin(payload: Bytes) -> (Bytes, Bytes) {
    let stdin = match decode_request(&payload) {
        Ok(request) if request.stdin.len() >= STDIN_BESIDE_BYTES_MIN => payload.slice_ref(request.stdin),
        _ => return (payload, Bytes::new()),
    };
    // Trailing bytes are ignored, so stdin ends where its own length says: find its start from the
    // front of the payload.
    let at = stdin.as_ptr() as usize - payload.as_ptr() as usize;
    let mut head = payload[..at - 4].to_vec();
    head.extend_from_slice(&0u32.to_le_bytes());
    (head.into(), stdin)
}
