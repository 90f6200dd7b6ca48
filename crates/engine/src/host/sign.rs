//! `env.host_sign(name, name_len, data, data_len, out, out_cap) -> n`: a signature by a secret that the guest cannot read: 32
//! bytes of HMAC-SHA256, or 64 of Ed25519 where the secret is such a key.

use drydock_abi::secret::{SIGN, SIGN_REQUEST_BYTES_MAX, SignRequest, Signed};
use wasmtime::{Caller, Linker};

use super::{
    broker::{ask, copy, malformed, text},
    reply::{REFUSED, give},
};
use crate::guest::Guest;

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async("env", "host_sign", |mut caller: Caller<'_, Guest>, arguments: Arguments| {
        Box::new(async move { sign(&mut caller, arguments).await })
    })?;
    Ok(())
}

/// The arguments, in their order.
type Arguments = (u32, u32, u32, u32, u32, u32);

async fn sign(
    caller: &mut Caller<'_, Guest>,
    (name, name_len, at, count, out, cap): Arguments,
) -> wasmtime::Result<i32> {
    let copied = copy(caller, SIGN, SIGN_REQUEST_BYTES_MAX, [(name, name_len), (at, count)]).await?;
    let Some(asked) = copied else { return Ok(REFUSED) };
    let [name, data] = asked.parts;
    let name = match text(caller, SIGN, name).await {
        Ok(name) => name,
        Err(refused) => return Ok(refused),
    };
    let Ok(name) = name.parse() else { return Ok(malformed(caller, SIGN).await) };
    let request = SignRequest { name, data: data.into(), algorithm: None };
    Ok(match ask::<Signed>(caller, SIGN, request, asked.bytes).await {
        Ok(signed) => give(caller, out, cap, &signed.signature.0),
        Err(refused) => refused,
    })
}
