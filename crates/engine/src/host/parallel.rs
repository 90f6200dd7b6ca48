//! `env.host_parallel_map(req, req_len, out, out_cap) -> n`: one command over many inputs, in the wire of
//! [`drydock_abi::parallel`], and `env.host_parallel_status(index) -> status`, what a task of the last map exited with: the
//! wire has its output alone.

use drydock_abi::parallel::{MAP, MapAnswer, Mapped, REQUEST_BYTES_MAX, decode_map, encode_mapped};
use wasmtime::{Caller, Linker};

use super::{
    broker::{self, Parts},
    reply::{REFUSED, give, refuse, room},
};
use crate::guest::{Guest, Held};

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        "env",
        "host_parallel_map",
        |mut caller: Caller<'_, Guest>, (at, count, out, cap): (u32, u32, u32, u32)| {
            Box::new(async move { host_parallel_map(&mut caller, at, count, out, cap).await })
        },
    )?;
    linker.func_wrap("env", "host_parallel_status", |caller: Caller<'_, Guest>, index: u32| -> i32 {
        caller.data().last_mapped.get(index as usize).copied().unwrap_or(REFUSED)
    })?;
    Ok(())
}

async fn host_parallel_map(
    caller: &mut Caller<'_, Guest>,
    at: u32,
    count: u32,
    out: u32,
    cap: u32,
) -> wasmtime::Result<i32> {
    let cap = room(cap);
    caller.data_mut().last_mapped = Vec::new();
    let Some(asked) = broker::copy(caller, MAP, REQUEST_BYTES_MAX, [(at, count)]).await? else {
        return Ok(REFUSED);
    };
    let Parts { parts: [wire], bytes, .. } = &asked;
    let Ok(request) = decode_map(wire) else { return Ok(broker::malformed(caller, MAP).await) };
    let bytes = *bytes;
    let waiting = caller.data().running.waits();
    let answer = broker::ask::<MapAnswer>(caller, MAP, request, bytes).await;
    drop(waiting);
    drop(asked);
    let answer = match answer {
        Ok(answer) => answer,
        Err(refused) => return Ok(refused),
    };
    let status = |it: &Mapped| match it {
        Mapped::Exited { status, .. } => *status,
        Mapped::Failed { .. } => REFUSED,
    };
    let length = |it: &Mapped| match it {
        Mapped::Exited { stdout, .. } => 4 + stdout.0.len() as u64,
        Mapped::Failed { .. } => 4,
    };
    caller.data_mut().last_mapped = answer.results.iter().map(status).collect();
    // Nothing is put together that cannot be handed over.
    if 4 + answer.results.iter().map(length).sum::<u64>() > u64::from(cap) {
        return Ok(refuse(caller, "reply_too_large"));
    }
    let Some(held) = Held::take(&caller.data().meter, cap.into()) else {
        return Ok(refuse(caller, "reply_too_large"));
    };
    let Ok(reply) = encode_mapped(&answer) else { return Ok(refuse(caller, "reply_too_large")) };
    let given = give(caller, out, cap, &reply);
    drop(held);
    Ok(given)
}
