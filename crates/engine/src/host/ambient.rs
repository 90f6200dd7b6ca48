//! What every module with WASI may import without a grant: `env.host_now() -> i64`, the time of day in milliseconds, and
//! `env.host_log(ptr, len) -> len`, a line on stderr behind a prefix.
//!
//! The time is that of the run's own clock, so a replay tells the same. Lines are bounded in length and in number, and count
//! as what the run wrote to stderr.

use drydock_contract::text::printable;
use wasmtime::{Caller, Linker};

use super::reply::refuse;
use crate::{
    entry::handler::line,
    guest::{Guest, breathe},
    memory,
    wasi::write_stderr,
};

/// Lines of one run. Who logs more is refused, and can write to stderr itself.
const LOG_LINES_MAX: u32 = 1_000;
/// What stands before each line.
const PREFIX: &str = "[log] ";

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap("env", "host_now", |caller: Caller<'_, Guest>| -> wasmtime::Result<i64> {
        caller.data().check_time()?;
        Ok(i64::try_from(caller.data().clock.realtime_ns() / 1_000_000).unwrap_or(i64::MAX))
    })?;
    linker.func_wrap_async("env", "host_log", |mut caller: Caller<'_, Guest>, (at, count): (u32, u32)| {
        Box::new(async move { host_log(&mut caller, at, count).await })
    })?;
    Ok(())
}

async fn host_log(caller: &mut Caller<'_, Guest>, at: u32, count: u32) -> wasmtime::Result<i32> {
    breathe(caller).await?;
    let Ok(length) = i32::try_from(count) else { return Ok(refuse(caller, "bad_pointer")) };
    let text = match memory::split(caller).and_then(|(memory, _)| memory.bytes(at, count).map(line)) {
        Ok(text) => text,
        Err(_) => return Ok(refuse(caller, "bad_pointer")),
    };
    if caller.data().logged == LOG_LINES_MAX {
        return Ok(refuse(caller, "log_full"));
    }
    caller.data_mut().logged += 1;
    // One line, whatever is in it: nobody writes a second one that looks like the host's.
    let shown = format!("{PREFIX}{}\n", printable(&text));
    write_stderr(caller.data_mut(), shown.as_bytes()).await?;
    Ok(length)
}
