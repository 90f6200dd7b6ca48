//! `env.host_kv_put(key, key_len, val, val_len) -> 0`, and `env.host_kv_get(key, key_len, out, out_cap) -> n`; -1 where there
//! is no answer, and `env.host_error` tells the code.

use drydock_abi::kv::{GET, Get, KvRequest, KvValue, PUT, PUT_REQUEST_BYTES_MAX, Put, REQUEST_BYTES_MAX};
use wasmtime::{Caller, Linker};

use super::{
    broker::{ask, copy, text},
    reply::{REFUSED, give, refuse},
};
use crate::guest::Guest;

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        "env",
        "host_kv_put",
        |mut caller: Caller<'_, Guest>, (key, key_len, at, count): (u32, u32, u32, u32)| {
            Box::new(async move { put(&mut caller, (key, key_len), (at, count)).await })
        },
    )?;
    linker.func_wrap_async(
        "env",
        "host_kv_get",
        |mut caller: Caller<'_, Guest>, (key, key_len, out, cap): (u32, u32, u32, u32)| {
            Box::new(async move { get(&mut caller, (key, key_len), out, cap).await })
        },
    )?;
    Ok(())
}

async fn put(caller: &mut Caller<'_, Guest>, key: (u32, u32), value: (u32, u32)) -> wasmtime::Result<i32> {
    let Some(taken) = copy(caller, PUT, PUT_REQUEST_BYTES_MAX, [key, value]).await? else {
        return Ok(REFUSED);
    };
    let [key, value] = taken.parts;
    let key = match text(caller, PUT, key).await {
        Ok(key) => key,
        Err(refused) => return Ok(refused),
    };
    let put = Put { key, value: value.into(), if_version: None, ttl_ms: None };
    match ask::<KvValue>(caller, PUT, KvRequest::Put(put), taken.bytes).await {
        Ok(_) => Ok(0),
        Err(refused) => Ok(refused),
    }
}

async fn get(caller: &mut Caller<'_, Guest>, key: (u32, u32), out: u32, cap: u32) -> wasmtime::Result<i32> {
    let Some(taken) = copy(caller, GET, REQUEST_BYTES_MAX, [key]).await? else { return Ok(REFUSED) };
    let [key] = taken.parts;
    let key = match text(caller, GET, key).await {
        Ok(key) => key,
        Err(refused) => return Ok(refused),
    };
    match ask(caller, GET, KvRequest::Get(Get { key }), taken.bytes).await {
        Ok(KvValue::Value(found)) => Ok(give(caller, out, cap, &found.value.0)),
        Ok(_) => Ok(refuse(caller, "internal_error")),
        Err(refused) => Ok(refused),
    }
}
