//! Calls on one open file: positions, sizes, times. None of them waits; bytes are moved in `transfer`.

use drydock_contract::{Timestamp, port::Follow};
use wasmtime::{Caller, Linker};

use super::{
    Errno, SPACE, answer,
    descriptor::Descriptor,
    device::Device,
    layout::{self, rights},
    slowly,
};
use crate::{guest::Guest, memory::Memory};

type Ctx<'a> = Caller<'a, Guest>;

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap(SPACE, "fd_seek", |mut c: Ctx<'_>, fd: u32, by: i64, whence: u32, out: u32| {
        answer(&mut c, |memory, guest| {
            // Asking where one is takes less than going elsewhere.
            let needed = if by == 0 && whence == 1 { rights::FD_TELL } else { rights::FD_SEEK };
            let file = guest.descriptors.file(fd, needed)?;
            let from = match whence {
                0 => 0,
                1 => file.position,
                2 => file.file.stat()?.size,
                _ => return Err(Errno::Inval),
            };
            file.position = from.checked_add_signed(by).ok_or(Errno::Inval)?;
            memory.put_u64(out, file.position)
        })
    })?;
    linker.func_wrap(SPACE, "fd_tell", |mut c: Ctx<'_>, fd: u32, out: u32| {
        answer(&mut c, |memory, guest| {
            memory.put_u64(out, guest.descriptors.file(fd, rights::FD_TELL)?.position)
        })
    })?;
    linker.func_wrap(SPACE, "fd_filestat_get", |mut c: Ctx<'_>, fd: u32, out: u32| {
        answer(&mut c, |memory, guest| filestat(memory, guest, fd, out))
    })?;
    linker.func_wrap_async(SPACE, "fd_filestat_set_size", |c: Ctx<'_>, (fd, size): (u32, u64)| {
        slowly(c, move |_, guest| {
            let now = now(guest);
            Ok(guest.descriptors.file(fd, rights::FD_FILESTAT_SET_SIZE)?.file.set_len(size, now)?)
        })
    })?;
    linker.func_wrap(
        SPACE,
        "fd_filestat_set_times",
        |mut c: Ctx<'_>, fd: u32, atime: u64, mtime: u64, flags: u32| {
            answer(&mut c, |_, guest| set_times(guest, fd, atime, mtime, flags))
        },
    )?;
    linker.func_wrap_async(SPACE, "fd_allocate", |c: Ctx<'_>, (fd, offset, len): (u32, u64, u64)| {
        slowly(c, move |_, guest| {
            let now = now(guest);
            let end = offset.checked_add(len).ok_or(Errno::Fbig)?;
            let file = &guest.descriptors.file(fd, rights::FD_ALLOCATE)?.file;
            if file.stat()?.size < end {
                file.set_len(end, now)?;
            }
            Ok(())
        })
    })?;
    linker.func_wrap(SPACE, "fd_advise", |mut c: Ctx<'_>, fd: u32, _: u64, _: u64, advice: u32| {
        answer(&mut c, |_, guest| {
            guest.descriptors.file(fd, rights::FD_ADVISE)?;
            if advice > 5 { Err(Errno::Inval) } else { Ok(()) }
        })
    })?;
    for (name, needed) in [("fd_sync", rights::FD_SYNC), ("fd_datasync", rights::FD_DATASYNC)] {
        linker.func_wrap(SPACE, name, move |mut c: Ctx<'_>, fd: u32| {
            answer(&mut c, |_, guest| match guest.descriptors.get(fd)? {
                Descriptor::Directory(directory) if directory.here => {
                    directory.stand_for_the_root();
                    Ok(())
                }
                Descriptor::Stdin | Descriptor::Stdout | Descriptor::Stderr | Descriptor::Door(_) => {
                    Err(Errno::Inval)
                }
                _ => sync(guest.descriptors.with(fd, needed)?),
            })
        })?;
    }
    Ok(())
}

fn sync(descriptor: &Descriptor) -> Result<(), Errno> {
    match descriptor {
        Descriptor::File(file) => Ok(file.file.sync()?),
        _ => Ok(()),
    }
}

/// The time a change is recorded with.
pub(super) fn now(guest: &mut Guest) -> Timestamp {
    Timestamp(guest.clock.realtime_ns())
}

fn filestat(memory: &mut Memory<'_>, guest: &mut Guest, fd: u32, out: u32) -> Result<(), Errno> {
    let stream = match guest.descriptors.with(fd, rights::FD_FILESTAT_GET)? {
        Descriptor::File(file) => return memory.put(out, &layout::filestat(&file.file.stat()?)),
        Descriptor::Directory(directory) => {
            let path = directory.path.clone();
            let stat = guest.files().stat(&path, Follow::Yes)?;
            return memory.put(out, &layout::filestat(&stat));
        }
        Descriptor::Door(_) => return memory.put(out, &layout::filestat(&Device::Door.stat())),
        Descriptor::Stdin => guest.streams.stdin.file(),
        Descriptor::Stdout => guest.streams.stdout.file(),
        Descriptor::Stderr => guest.streams.stderr.file(),
    };
    memory.put(out, &layout::stream_filestat(stream))
}

fn set_times(guest: &mut Guest, fd: u32, atime: u64, mtime: u64, flags: u32) -> Result<(), Errno> {
    let now = now(guest);
    let times = layout::times(atime, mtime, flags, now)?;
    let path = match guest.descriptors.get(fd)? {
        Descriptor::File(_) => {
            let file = guest.descriptors.file(fd, rights::FD_FILESTAT_SET_TIMES)?;
            return Ok(file.file.set_times(times, now)?);
        }
        Descriptor::Directory(_) => {
            guest.descriptors.directory(fd, rights::FD_FILESTAT_SET_TIMES)?.path.clone()
        }
        _ => return Err(Errno::Inval),
    };
    Ok(guest.files().set_times(&path, Follow::Yes, times, now)?)
}
