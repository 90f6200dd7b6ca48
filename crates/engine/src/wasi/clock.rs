//! Clocks. All four of preview 1's are one of two: the time of day, or time since the start.

use wasmtime::{Caller, Linker};

use super::{Errno, SPACE, answer};
use crate::guest::{Guest, GuestClock};

/// What a tick is, as far as a guest may know.
const RESOLUTION_NS: u64 = 1_000;

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap(SPACE, "clock_res_get", |mut caller: Caller<'_, Guest>, clock: u32, out: u32| {
        answer(&mut caller, |memory, _| {
            Clock::of(clock)?;
            memory.put_u64(out, RESOLUTION_NS)
        })
    })?;
    linker.func_wrap(
        SPACE,
        "clock_time_get",
        |mut caller: Caller<'_, Guest>, clock: u32, _: u64, out: u32| {
            answer(&mut caller, |memory, guest| {
                let time = Clock::of(clock)?.read(&mut guest.clock);
                memory.put_u64(out, time)
            })
        },
    )?;
    Ok(())
}

/// Which clock a guest asks for.
#[derive(Clone, Copy)]
pub(super) enum Clock {
    Realtime,
    Monotonic,
}

impl Clock {
    pub(super) fn of(id: u32) -> Result<Self, Errno> {
        match id {
            0 => Ok(Self::Realtime),
            // Processor time: a run has no other work to be charged for.
            1..=3 => Ok(Self::Monotonic),
            _ => Err(Errno::Inval),
        }
    }

    pub(super) fn read(self, clock: &mut GuestClock) -> u64 {
        match self {
            Self::Realtime => clock.realtime_ns(),
            Self::Monotonic => clock.monotonic_ns(),
        }
    }
}
