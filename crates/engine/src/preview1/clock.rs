//! Clocks. All four of preview 1's are one of two: the time of day, or time since the start.

use wasmtime::{Caller, Linker};

use super::{SPACE, answer};
use crate::{
    guest::Guest,
    wasi::{Clock, Errno, RESOLUTION_NS},
};

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap(SPACE, "clock_res_get", |mut caller: Caller<'_, Guest>, clock: u32, out: u32| {
        answer(&mut caller, |memory, _| {
            clock_of(clock)?;
            memory.put_u64(out, RESOLUTION_NS)
        })
    })?;
    linker.func_wrap(
        SPACE,
        "clock_time_get",
        |mut caller: Caller<'_, Guest>, clock: u32, _: u64, out: u32| {
            answer(&mut caller, |memory, guest| {
                let time = clock_of(clock)?.read(&guest.clock);
                memory.put_u64(out, time)
            })
        },
    )?;
    Ok(())
}

/// The clock of that `clockid`.
pub(super) fn clock_of(id: u32) -> Result<Clock, Errno> {
    match id {
        0 => Ok(Clock::Realtime),
        // Processor time: a run has no other work to be charged for.
        1..=3 => Ok(Clock::Monotonic),
        _ => Err(Errno::Inval),
    }
}
