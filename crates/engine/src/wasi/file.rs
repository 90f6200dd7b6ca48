//! Calls on one open file: positions, sizes, times. None of them waits.

use drydock_contract::{Timestamp, port::Follow};
use wasmtime::{Caller, Linker};

use super::{
    Errno, SPACE, answer,
    descriptor::{Descriptor, OpenedFile},
    layout, slowly,
    stdio::IOVECS_MAX,
};
use crate::{guest::Guest, memory::Memory};

type Ctx<'a> = Caller<'a, Guest>;

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap(
        SPACE,
        "fd_pread",
        |mut c: Ctx<'_>, fd: u32, list: u32, n: u32, at: u64, out: u32| {
            answer(&mut c, |memory, guest| pread(memory, guest, fd, (list, n), at, out))
        },
    )?;
    linker.func_wrap(
        SPACE,
        "fd_pwrite",
        |mut c: Ctx<'_>, fd: u32, list: u32, n: u32, at: u64, out: u32| {
            answer(&mut c, |memory, guest| pwrite(memory, guest, fd, (list, n), at, out))
        },
    )?;
    linker.func_wrap(SPACE, "fd_seek", |mut c: Ctx<'_>, fd: u32, by: i64, whence: u32, out: u32| {
        answer(&mut c, |memory, guest| {
            let file = guest.descriptors.file(fd)?;
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
        answer(&mut c, |memory, guest| memory.put_u64(out, guest.descriptors.file(fd)?.position))
    })?;
    linker.func_wrap(SPACE, "fd_filestat_get", |mut c: Ctx<'_>, fd: u32, out: u32| {
        answer(&mut c, |memory, guest| filestat(memory, guest, fd, out))
    })?;
    linker.func_wrap_async(SPACE, "fd_filestat_set_size", |c: Ctx<'_>, (fd, size): (u32, u64)| {
        slowly(c, move |_, guest| {
            let now = now(guest);
            Ok(writable(guest, fd)?.file.set_len(size, now)?)
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
            let file = &writable(guest, fd)?.file;
            if file.stat()?.size < end {
                file.set_len(end, now)?;
            }
            Ok(())
        })
    })?;
    linker.func_wrap(SPACE, "fd_advise", |mut c: Ctx<'_>, fd: u32, _: u64, _: u64, advice: u32| {
        answer(&mut c, |_, guest| {
            guest.descriptors.file(fd)?;
            if advice > 5 { Err(Errno::Inval) } else { Ok(()) }
        })
    })?;
    for name in ["fd_sync", "fd_datasync"] {
        linker.func_wrap(SPACE, name, |mut c: Ctx<'_>, fd: u32| {
            answer(&mut c, |_, guest| match guest.descriptors.get(fd)? {
                Descriptor::File(file) => Ok(file.file.sync()?),
                Descriptor::Directory(_) => Ok(()),
                _ => Err(Errno::Inval),
            })
        })?;
    }
    Ok(())
}

/// The time a change is recorded with.
pub(super) fn now(guest: &mut Guest) -> Timestamp {
    Timestamp(guest.clock.realtime_ns())
}

fn writable(guest: &mut Guest, fd: u32) -> Result<&mut OpenedFile, Errno> {
    let file = guest.descriptors.file(fd)?;
    if !file.write {
        return Err(Errno::Badf);
    }
    Ok(file)
}

fn pread(
    memory: &mut Memory<'_>,
    guest: &mut Guest,
    fd: u32,
    (list, count): (u32, u32),
    mut at: u64,
    out: u32,
) -> Result<(), Errno> {
    let file = guest.descriptors.file(fd)?;
    if !file.read {
        return Err(Errno::Badf);
    }
    if count > IOVECS_MAX {
        return Err(Errno::Inval);
    }
    let mut total = 0u32;
    for index in 0..count {
        let (place, length) = memory.iovec(list, index)?;
        let buffer = memory.bytes_mut(place, length)?;
        let got = file.file.read_at(at, buffer)?;
        at = at.saturating_add(got as u64);
        total = total.saturating_add(got as u32);
        if got < length as usize {
            break;
        }
    }
    memory.put_u32(out, total)
}

fn pwrite(
    memory: &mut Memory<'_>,
    guest: &mut Guest,
    fd: u32,
    (list, count): (u32, u32),
    mut at: u64,
    out: u32,
) -> Result<(), Errno> {
    let now = now(guest);
    let file = writable(guest, fd)?;
    if count > IOVECS_MAX {
        return Err(Errno::Inval);
    }
    let mut total = 0u32;
    for index in 0..count {
        let (place, length) = memory.iovec(list, index)?;
        file.file.write_at(at, memory.bytes(place, length)?, now)?;
        at = at.saturating_add(u64::from(length));
        total = total.saturating_add(length);
    }
    memory.put_u32(out, total)
}

fn filestat(memory: &mut Memory<'_>, guest: &mut Guest, fd: u32, out: u32) -> Result<(), Errno> {
    let stream = match guest.descriptors.get(fd)? {
        Descriptor::File(file) => return memory.put(out, &layout::filestat(&file.file.stat()?)),
        Descriptor::Directory(directory) => {
            let path = directory.path.clone();
            let stat = guest.files().stat(&path, Follow::Yes)?;
            return memory.put(out, &layout::filestat(&stat));
        }
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
        Descriptor::File(file) => return Ok(file.file.set_times(times, now)?),
        Descriptor::Directory(directory) => directory.path.clone(),
        _ => return Err(Errno::Inval),
    };
    Ok(guest.files().set_times(&path, Follow::Yes, times, now)?)
}
