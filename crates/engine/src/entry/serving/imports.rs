//! `env.host_request_get(out, cap) -> n`, `env.host_response_set(ptr, len) -> 0` and `env.host_request_len() -> n`, which says
//! how much room the first one needs. The last response that is set is the one that is sent.

use bytes::Bytes;
use wasmtime::{Caller, Linker};

use crate::{
    guest::{Guest, Held, breathe},
    host::{REFUSED, give, refuse},
    memory,
    outcome::Stop,
};

/// Every import of this kind: module, name, type.
pub const SERVING_IMPORTS: [(&str, &str, &str); 3] = [
    ("env", "host_request_len", "() -> i32"),
    ("env", "host_request_get", "(out: i32, out_cap: i32) -> i32"),
    ("env", "host_response_set", "(ptr: i32, len: i32) -> i32"),
];

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    let [(space, len, _), (_, get, _), (_, set, _)] = SERVING_IMPORTS;
    linker.func_wrap(space, len, |caller: Caller<'_, Guest>| -> i32 {
        let exchange = caller.data().serving.as_ref().map(|it| it.exchange.request().len());
        exchange.and_then(|it| i32::try_from(it).ok()).unwrap_or(REFUSED)
    })?;
    linker.func_wrap_async(space, get, |mut caller: Caller<'_, Guest>, (out, cap): (u32, u32)| {
        Box::new(async move {
            breathe(&mut caller).await?;
            let request = caller.data().serving.as_ref().map(|it| it.exchange.request().clone());
            let Some(request) = request else { return Ok(refuse(&mut caller, "internal_error")) };
            wasmtime::Result::Ok(give(&mut caller, out, cap, &request))
        })
    })?;
    linker.func_wrap_async(space, set, |mut caller: Caller<'_, Guest>, (at, count): (u32, u32)| {
        Box::new(async move {
            breathe(&mut caller).await?;
            set_response(&mut caller, at, count)
        })
    })?;
    Ok(())
}

fn set_response(caller: &mut Caller<'_, Guest>, at: u32, count: u32) -> wasmtime::Result<i32> {
    let Some(state) = &mut caller.data_mut().serving else { return Ok(refuse(caller, "internal_error")) };
    if u64::from(count) > state.exchange.response_bytes_max() {
        return Ok(refuse(caller, "response_too_large"));
    }
    // The copy is the guest's doing, so it is on the guest's bill, and the one before is not any more.
    state.held = None;
    let held = Held::take(&caller.data().meter, count.into()).ok_or(Stop::OutOfMemory)?;
    let copied = memory::split(caller).and_then(|(memory, guest)| {
        let bytes = Bytes::copy_from_slice(memory.bytes(at, count)?);
        if let Some(state) = &mut guest.serving {
            state.exchange.answer(bytes);
            state.held = Some(held);
        }
        Ok(())
    });
    match copied {
        Ok(()) => {
            caller.data_mut().last_error = "".into();
            Ok(0)
        }
        Err(_) => Ok(refuse(caller, "bad_pointer")),
    }
}
