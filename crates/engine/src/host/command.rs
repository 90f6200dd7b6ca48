//! `env.host_command(req, req_len, stdin) -> status`: a command in an environment of its
//! own, whose streams are the caller's. What `find -exec`, `xargs`, `env` and `timeout` are made of.
//!
//! Nothing is captured: the child writes where the caller writes, and counts against the caller's
//! limits as well as its own. It cannot outlive the call.

use drydock_abi::exec::{COMMAND, take_report};
use drydock_contract::{Call, Outcome};
use wasmtime::{Caller, Linker};

use super::{
    lent::Lent,
    reply::{REFUSED, refuse},
    request,
};
use crate::{guest::Guest, wait::wait_for_others};

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        "env",
        "host_command",
        |mut caller: Caller<'_, Guest>, (at, count, stdin): (u32, u32, u32)| {
            Box::new(async move { host_command(&mut caller, at, count, stdin).await })
        },
    )?;
    Ok(())
}

/// What the third argument says: the child reads what the caller would have read.
const STDIN_OURS: u32 = 1;

async fn host_command(
    caller: &mut Caller<'_, Guest>,
    at: u32,
    count: u32,
    stdin: u32,
) -> wasmtime::Result<i32> {
    let Some(asked) = request::take(caller, COMMAND, at, count).await? else { return Ok(REFUSED) };
    let lent = Lent::take(caller.data_mut());
    let streams = lent.streams(stdin == STDIN_OURS);
    let call = Call::new(COMMAND, &asked.payload, streams)
        .with_file_rules(caller.data().file_rules)
        .answered_typed();
    let waiting = caller.data().running.waits();
    let answer = wait_for_others(caller, asked.door.dispatch(call)).await;
    drop(waiting);
    if let Some(stop) = lent.give_back(caller.data_mut()) {
        return Err(stop.into());
    }
    let mut reply = match answer {
        Ok(reply) => reply,
        Err(error) => return Ok(request::refuse_call(caller, &error)),
    };
    match take_report(&mut reply).map(|report| report.outcome) {
        Ok(Outcome::Exited(status)) => {
            caller.data_mut().last_status = status;
            caller.data_mut().last_error = "".into();
            // As much of it as a shell shows, so that none looks like a refusal.
            Ok(status & 0xff)
        }
        Ok(other) => Ok(request::ended(caller, &other)),
        Err(_) => Ok(refuse(caller, "internal_error")),
    }
}
