//! Arguments, environment, randomness, exit, and the sockets that are not there.

use drydock_contract::{schedule, yield_now};
use wasmtime::{Caller, Linker};

use super::{SPACE, answer, errno};
use crate::{
    guest::{Guest, breathe},
    memory::{self, Memory},
    outcome::Stop,
    wasi::Errno,
};

/// Randomness made at a time.
const RANDOM_PIECE_BYTES: usize = 256 << 10;

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap(SPACE, "args_sizes_get", |mut caller: Caller<'_, Guest>, count: u32, size: u32| {
        answer(&mut caller, |memory, guest| sizes(memory, &guest.argv, count, size))
    })?;
    linker.func_wrap(SPACE, "args_get", |mut caller: Caller<'_, Guest>, list: u32, bytes: u32| {
        answer(&mut caller, |memory, guest| strings(memory, &guest.argv, list, bytes))
    })?;
    linker.func_wrap(
        SPACE,
        "environ_sizes_get",
        |mut caller: Caller<'_, Guest>, count: u32, size: u32| {
            answer(&mut caller, |memory, guest| sizes(memory, &guest.env, count, size))
        },
    )?;
    linker.func_wrap(SPACE, "environ_get", |mut caller: Caller<'_, Guest>, list: u32, bytes: u32| {
        answer(&mut caller, |memory, guest| strings(memory, &guest.env, list, bytes))
    })?;
    linker.func_wrap_async(
        SPACE,
        "random_get",
        |mut caller: Caller<'_, Guest>, (at, count): (u32, u32)| {
            Box::new(async move { random_get(&mut caller, at, count).await })
        },
    )?;
    linker.func_wrap_async(SPACE, "sched_yield", |caller: Caller<'_, Guest>, (): ()| {
        Box::new(async move {
            caller.data().check_time()?;
            match caller.data().clock.stepped() {
                None => yield_now().await,
                Some(_) => schedule::slice_done().await,
            }
            wasmtime::Result::Ok(0i32)
        })
    })?;
    linker.func_wrap(SPACE, "proc_exit", |status: i32| -> wasmtime::Result<()> {
        Err(Stop::Exit(status).into())
    })?;
    linker.func_wrap(SPACE, "proc_raise", |signal: i32| -> wasmtime::Result<i32> {
        // What a shell would report of a process that a signal ended.
        Err(Stop::Exit(128i32.saturating_add(signal & 0x7f)).into())
    })?;
    // There are no sockets, so every descriptor is something else or nothing.
    linker.func_wrap(SPACE, "sock_accept", |caller: Caller<'_, Guest>, fd: u32, _: u32, _: u32| {
        errno::code(caller.data().descriptors.no_socket(fd))
    })?;
    linker.func_wrap(
        SPACE,
        "sock_recv",
        |caller: Caller<'_, Guest>, fd: u32, _: u32, _: u32, _: u32, _: u32, _: u32| {
            errno::code(caller.data().descriptors.no_socket(fd))
        },
    )?;
    linker.func_wrap(
        SPACE,
        "sock_send",
        |caller: Caller<'_, Guest>, fd: u32, _: u32, _: u32, _: u32, _: u32| {
            errno::code(caller.data().descriptors.no_socket(fd))
        },
    )?;
    linker.func_wrap(SPACE, "sock_shutdown", |caller: Caller<'_, Guest>, fd: u32, _: u32| {
        errno::code(caller.data().descriptors.no_socket(fd))
    })?;
    Ok(())
}

/// Fills the buffer piece by piece, so that a large one does not keep the thread.
async fn random_get(caller: &mut Caller<'_, Guest>, at: u32, count: u32) -> wasmtime::Result<i32> {
    let mut done = 0;
    loop {
        breathe(caller).await?;
        let filled = memory::split(caller).and_then(|(mut memory, guest)| {
            let rest = &mut memory.bytes_mut(at, count)?[done..];
            let piece = rest.len().min(RANDOM_PIECE_BYTES);
            guest.random.fill(&mut rest[..piece]).then_some(piece).ok_or(Errno::Io)
        });
        match filled {
            Ok(0) => return Ok(0),
            Ok(piece) => done += piece,
            Err(errno) => return Ok(errno::code(errno)),
        }
    }
}

fn sizes(memory: &mut Memory<'_>, all: &[Vec<u8>], count: u32, size: u32) -> Result<(), Errno> {
    let total: u64 = all.iter().map(|it| it.len() as u64 + 1).sum();
    memory.put_u32(count, u32::try_from(all.len()).map_err(|_| Errno::Overflow)?)?;
    memory.put_u32(size, u32::try_from(total).map_err(|_| Errno::Overflow)?)
}

/// A list of pointers at `list`, the strings with their terminators at `bytes`.
fn strings(memory: &mut Memory<'_>, all: &[Vec<u8>], list: u32, bytes: u32) -> Result<(), Errno> {
    let (mut pointer, mut place) = (list, bytes);
    let step =
        |at: u32, by: usize| u32::try_from(by).ok().and_then(|by| at.checked_add(by)).ok_or(Errno::Fault);
    for text in all {
        memory.put_u32(pointer, place)?;
        memory.put(place, text)?;
        let end = step(place, text.len())?;
        memory.put_u8(end, 0)?;
        place = step(end, 1)?;
        pointer = step(pointer, 4)?;
    }
    Ok(())
}
