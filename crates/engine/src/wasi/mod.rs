//! WASI preview 1, ours, on the session's streams, clock, randomness and file tree.
//!
//! A function answers an errno to the guest; only an exit and a reached limit end the run. Nothing
//! here opens a host file: paths go to the [`Files`](drydock_contract::port::Files) port. There are
//! no sockets.

mod clock;
mod confine;
mod descriptor;
mod device;
mod directory;
mod door;
mod errno;
mod file;
mod here;
mod layout;
mod mode;
mod path;
mod poll;
mod process;
mod stdio;
mod transfer;

use wasmtime::{Caller, Linker};

pub(crate) use descriptor::Descriptors;
pub(crate) use errno::Errno;
pub(crate) use stdio::{Failure, poll_counted, write_stderr};

use crate::{
    guest::{Guest, breathe},
    memory::{self, Memory},
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
    descriptor::link(linker)?;
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
    match result {
        Ok(()) => Ok(0),
        Err(errno) => {
            if errno == Errno::Intr {
                // The files gave up because the run's time is up: it ends by that name.
                caller.data().check_time()?;
            }
            Ok(told(caller, errno))
        }
    }
}

/// The number a guest gets for an errno. A limit of its files is noted in the run's report.
fn told(caller: &mut Caller<'_, Guest>, errno: Errno) -> i32 {
    if let Some(limit) = errno.limit() {
        caller.data_mut().quota.get_or_insert(limit);
    }
    errno.code()
}
