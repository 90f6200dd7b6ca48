//! WASI preview 1, ours: pointers, layouts, error numbers, rights and descriptor numbers.
//!
//! What an operation does is in [`wasi`](crate::wasi). A function answers an errno to the guest; only an exit and a reached
//! limit end the run.

mod clock;
mod directory;
mod door;
mod errno;
mod file;
mod layout;
mod mode;
mod path;
mod poll;
mod process;
mod stdio;
mod table;
mod transfer;
mod web;

use wasmtime::{Caller, Linker};

pub(crate) use table::Descriptors;

use crate::{
    guest::{Guest, breathe},
    memory::{self, Memory},
    wasi::{Errno, Failure},
};

/// The import module of preview 1.
const SPACE: &str = "wasi_snapshot_preview1";

/// Links all of preview 1, and the modes of files beside it.
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    process::link(linker)?;
    clock::link(linker)?;
    poll::link(linker)?;
    stdio::link(linker)?;
    transfer::link(linker)?;
    table::link(linker)?;
    file::link(linker)?;
    directory::link(linker)?;
    mode::link(linker)?;
    path::link(linker)
}

/// A function's answer, once it had time to breathe.
type Slowly<'a> = Box<dyn Future<Output = wasmtime::Result<i32>> + Send + 'a>;

/// The same for a function that may have much to do: others get the thread in between.
fn slowly<'a>(
    mut caller: Caller<'a, Guest>,
    act: impl FnOnce(&mut Memory<'_>, &mut Guest) -> Result<(), Errno> + Send + 'a,
) -> Slowly<'a> {
    Box::new(async move {
        breathe(&mut caller).await?;
        answer(&mut caller, act)
    })
}

/// Runs a function that never waits, and turns its answer into the guest's errno.
fn answer(
    caller: &mut Caller<'_, Guest>,
    act: impl FnOnce(&mut Memory<'_>, &mut Guest) -> Result<(), Errno>,
) -> wasmtime::Result<i32> {
    caller.data().check_time()?;
    let result = memory::split(caller).and_then(|(mut memory, guest)| act(&mut memory, guest));
    finish(caller, result.map_err(Failure::from))
}

/// The guest's errno, or the end of the run. A limit of its files is noted in the run's report.
fn finish(caller: &mut Caller<'_, Guest>, result: Result<(), Failure>) -> wasmtime::Result<i32> {
    let errno = match result {
        Ok(()) => return Ok(0),
        Err(Failure::Stop(stop)) => return Err(stop.into()),
        Err(Failure::Errno(errno)) => errno,
    };
    if errno == Errno::Intr {
        // The files gave up because the run's time is up: it ends by that name.
        caller.data().check_time()?;
    }
    if let Some(limit) = errno.limit() {
        caller.data_mut().quota.get_or_insert(limit);
    }
    Ok(errno::code(errno))
}
