//! `env.host_exec(req, req_len, out, out_cap) -> n`: the exec wire, from inside a run.

use drydock_contract::{Call, Sink, Source, Streams};
use wasmtime::{Caller, Linker};

use super::reply::{code_for_guest, give, refuse};
use crate::{guest::Guest, memory, wasi::write_stderr};

/// Larger requests are refused before a byte of them is copied: stdin, argv, and room for lengths.
const REQUEST_BYTES_MAX: u32 = (64 << 20) + (1 << 20);

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async("env", "host_exec", |mut caller: Caller<'_, Guest>, (at, count, out, cap): (u32, u32, u32, u32)| {
        Box::new(async move { host_exec(&mut caller, at, count, out, cap).await })
    })?;
    Ok(())
}

async fn host_exec(caller: &mut Caller<'_, Guest>, at: u32, count: u32, out: u32, cap: u32) -> wasmtime::Result<i32> {
    if count > REQUEST_BYTES_MAX {
        return Ok(refuse(caller, "too_large"));
    }
    // The copy is the guest's doing, so it is on the guest's bill.
    let held = Held::take(caller, u64::from(count));
    let Some(_held) = held else { return Ok(refuse(caller, "too_large")) };
    let payload = match memory::split(caller).and_then(|(memory, _)| memory.bytes(at, count).map(<[u8]>::to_vec)) {
        Ok(payload) => payload,
        Err(_) => return Ok(refuse(caller, "bad_pointer")),
    };
    let door = std::sync::Arc::clone(&caller.data().door);
    let streams = Streams { stdin: Source::Empty, stdout: Sink::capture(), stderr: Sink::capture() };
    let answer = door.dispatch(Call { operation: "exec.start", payload: &payload, streams }).await;
    match answer {
        Err(error) => Ok(refuse(caller, code_for_guest(&error))),
        Ok(reply) => {
            let errors = reply.streams.stderr.into_captured();
            write_stderr(caller, &errors).await?;
            Ok(give(caller, out, cap, &reply.streams.stdout.into_captured()))
        }
    }
}

/// Bytes charged to a run for as long as this lives.
struct Held {
    meter: std::sync::Arc<drydock_contract::Meter>,
    bytes: u64,
}

impl Held {
    fn take(caller: &Caller<'_, Guest>, bytes: u64) -> Option<Self> {
        let meter = std::sync::Arc::clone(&caller.data().meter);
        meter.try_hold(bytes).then_some(Self { meter, bytes })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.meter.release(self.bytes);
    }
}
