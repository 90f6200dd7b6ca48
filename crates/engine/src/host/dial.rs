//! `env.host_tcp`, `env.host_tls` and `env.host_udp(host, host_len, port, req, req_len, out, out_cap) -> n`: bytes to a host
//! and port, and what it sends back.
//!
//! A reply is whole or -1: where it does not fit, or where there may be more of it than is read, the code is
//! `reply_too_large`. What came until time was up, or until the connection broke, is a reply, and `env.host_error` then
//! says `timed_out` or `reset` beside it: those who speak to servers that never close go by that.

use drydock_abi::{
    exchange::{
        DATAGRAM_REQUEST_BYTES_MAX, DatagramRequest, EXCHANGE_REQUEST_BYTES_MAX, Ended, ExchangeRequest,
        Exchanged,
    },
    tcp, tls, udp,
};
use wasmtime::{Caller, Linker};

use super::{
    broker::{ask, copy, text},
    reply::{REFUSED, give, refuse},
};
use crate::guest::Guest;

pub(super) fn link_tcp(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    link(linker, "host_tcp", tcp::REQUEST)
}

pub(super) fn link_tls(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    link(linker, "host_tls", tls::REQUEST)
}

pub(super) fn link_udp(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    link(linker, "host_udp", udp::REQUEST)
}

/// The arguments, in their order.
type Arguments = (u32, u32, u32, u32, u32, u32, u32);

fn link(linker: &mut Linker<Guest>, import: &'static str, operation: &'static str) -> wasmtime::Result<()> {
    linker.func_wrap_async("env", import, move |mut caller: Caller<'_, Guest>, arguments: Arguments| {
        Box::new(async move { dial(&mut caller, operation, arguments).await })
    })?;
    Ok(())
}

async fn dial(
    caller: &mut Caller<'_, Guest>,
    operation: &'static str,
    (host, host_len, port, at, count, out, cap): Arguments,
) -> wasmtime::Result<i32> {
    let is_datagram = operation == udp::REQUEST;
    let bytes_max = if is_datagram { DATAGRAM_REQUEST_BYTES_MAX } else { EXCHANGE_REQUEST_BYTES_MAX };
    let copied = copy(caller, operation, bytes_max, [(host, host_len), (at, count)]).await?;
    let Some(asked) = copied else { return Ok(REFUSED) };
    let [host, data] = asked.parts;
    let host = match text(caller, operation, host).await {
        Ok(host) => host,
        Err(refused) => return Ok(refused),
    };
    // What is no port makes no request; the gate refuses it, so that it is on record.
    let port = u16::try_from(port).unwrap_or(0);
    let data = data.into();
    let answered = match is_datagram {
        true => {
            let request = DatagramRequest { host, port, data, timeout_ms: None };
            ask::<Exchanged>(caller, operation, request, asked.bytes).await
        }
        false => {
            let request = ExchangeRequest { host, port, data, ..ExchangeRequest::default() };
            ask::<Exchanged>(caller, operation, request, asked.bytes).await
        }
    };
    let Exchanged { data, ended } = match answered {
        Ok(exchanged) => exchanged,
        Err(refused) => return Ok(refused),
    };
    if ended == Ended::Full {
        return Ok(refuse(caller, "reply_too_large"));
    }
    let given = give(caller, out, cap, &data.0);
    if given != REFUSED {
        caller.data_mut().last_error = match ended {
            Ended::TimedOut => "timed_out",
            Ended::Reset => "reset",
            Ended::Closed | Ended::Full => "",
        }
        .into();
    }
    Ok(given)
}
