//! `env.host_commands(out, out_cap) -> n`: the names this session may run, one a line.

use drydock_contract::{Call, Streams};
use wasmtime::{Caller, Linker};

use super::reply::{code_for_guest, give, refuse};
use crate::guest::Guest;

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        "env",
        "host_commands",
        |mut caller: Caller<'_, Guest>, (out, cap): (u32, u32)| {
            Box::new(async move {
                caller.data().check_time()?;
                let door = std::sync::Arc::clone(&caller.data().door);
                let call = Call::new("commands.list", &[], Streams::default());
                match door.dispatch(call).await {
                    Ok(reply) => wasmtime::Result::Ok(give(&mut caller, out, cap, &reply.payload)),
                    Err(error) => Ok(refuse(&mut caller, code_for_guest(&error))),
                }
            })
        },
    )?;
    Ok(())
}
