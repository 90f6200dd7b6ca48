//! `poll_oneoff`: sleeping, and asking whether a descriptor is ready.

use wasmtime::{Caller, Linker};

use super::{SPACE, clock::clock_of, door, errno};
use crate::{
    guest::Guest,
    memory::{self, Memory},
    wasi::{self, Descriptor, Errno, Wanted},
};

const SUBSCRIPTION_BYTES: u32 = 48;
const EVENT_BYTES: u32 = 32;
/// More subscriptions than a guest can have descriptors make no sense.
const SUBSCRIPTIONS_MAX: u32 = 4096;
const ABSOLUTE: u16 = 1;
/// `eventtype` values; 0 is a clock.
const FD_READ: u8 = 1;
const FD_WRITE: u8 = 2;

/// One subscription, and the event that answers it.
struct Subscription {
    userdata: u64,
    wanted: Wanted,
    /// Its `eventtype`.
    tag: u8,
    errno: i32,
}

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        SPACE,
        "poll_oneoff",
        |mut caller: Caller<'_, Guest>, (list, events, count, out): (u32, u32, u32, u32)| {
            Box::new(async move {
                caller.data().check_time()?;
                match poll_oneoff(&mut caller, list, events, count, out).await {
                    Ok(()) => wasmtime::Result::Ok(0),
                    Err(errno) => Ok(errno::code(errno)),
                }
            })
        },
    )?;
    Ok(())
}

async fn poll_oneoff(
    caller: &mut Caller<'_, Guest>,
    list: u32,
    events: u32,
    count: u32,
    out: u32,
) -> Result<(), Errno> {
    if count == 0 || count > SUBSCRIPTIONS_MAX {
        return Err(Errno::Inval);
    }
    let all = {
        let (memory, guest) = memory::split(caller)?;
        (0..count).map(|index| read(&memory, guest, list, index)).collect::<Result<Vec<_>, _>>()?
    };
    let waited = wasi::wait(caller, all.iter().map(|it| it.wanted)).await;
    let (mut memory, _) = memory::split(caller)?;
    let mut happened = 0;
    for it in all.iter().filter(|it| waited.has(it.wanted)) {
        let at = u64::from(events) + u64::from(happened) * u64::from(EVENT_BYTES);
        let at = u32::try_from(at).map_err(|_| Errno::Fault)?;
        memory.put(at, &event(it.userdata, it.tag, it.errno))?;
        happened += 1;
    }
    memory.put_u32(out, happened)
}

fn read(memory: &Memory<'_>, guest: &mut Guest, list: u32, index: u32) -> Result<Subscription, Errno> {
    let at = u64::from(list) + u64::from(index) * u64::from(SUBSCRIPTION_BYTES);
    let bytes = memory.bytes(u32::try_from(at).map_err(|_| Errno::Fault)?, SUBSCRIPTION_BYTES)?;
    let u64_at =
        |at: usize| bytes[at..at + 8].iter().rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
    let u32_at = |at: usize| u64_at(at) as u32;
    let userdata = u64_at(0);
    let (wanted, tag, errno) = match bytes[8] {
        0 => {
            let (clock, timeout, flags) = (clock_of(u32_at(16))?, u64_at(24), u64_at(40) as u16);
            let nanos = match flags & ABSOLUTE {
                0 => timeout,
                _ => timeout.saturating_sub(clock.read(&guest.clock)),
            };
            (Wanted::Timer(nanos), 0, 0)
        }
        tag @ (FD_READ | FD_WRITE) => {
            let fd = u32_at(16);
            let found = guest.descriptors.get(fd).map(|it| matches!(it, Descriptor::Door(_)));
            match found {
                Ok(true) if tag == FD_READ && !door::is_readable(guest, fd) => (Wanted::Answer, tag, 0),
                found => (Wanted::Ready, tag, found.err().map_or(0, errno::code)),
            }
        }
        _ => return Err(Errno::Inval),
    };
    Ok(Subscription { userdata, wanted, tag, errno })
}

fn event(userdata: u64, tag: u8, errno: i32) -> [u8; EVENT_BYTES as usize] {
    let mut bytes = [0; EVENT_BYTES as usize];
    bytes[..8].copy_from_slice(&userdata.to_le_bytes());
    bytes[8..10].copy_from_slice(&(errno as u16).to_le_bytes());
    bytes[10] = tag;
    if tag != 0 {
        // "At least one byte": the true number is not known before it is read.
        bytes[16] = 1;
    }
    bytes
}
