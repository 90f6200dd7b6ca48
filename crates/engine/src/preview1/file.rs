//! Calls on one open file: positions, sizes, times. None of them waits but a sync; bytes are moved in `transfer`.

use std::sync::Arc;

use drydock_contract::port::Follow;
use wasmtime::{Caller, Linker};

use super::{
    SPACE, answer, finish,
    layout::{self, rights},
    slowly,
};
use crate::{
    guest::{Guest, breathe},
    memory::Memory,
    wasi::{self, Descriptor, Errno, Failure, Whence, now},
};

type Ctx<'a> = Caller<'a, Guest>;

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap(SPACE, "fd_seek", |mut c: Ctx<'_>, fd: u32, by: i64, whence: u32, out: u32| {
        answer(&mut c, |memory, guest| {
            // Asking where one is takes less than going elsewhere.
            let needed = if by == 0 && whence == 1 { rights::FD_TELL } else { rights::FD_SEEK };
            let file = guest.descriptors.file(fd, needed)?;
            let whence = match whence {
                0 => Whence::Start,
                1 => Whence::Here,
                2 => Whence::End,
                _ => return Err(Errno::Inval),
            };
            memory.put_u64(out, file.seek(whence, by)?)
        })
    })?;
    linker.func_wrap(SPACE, "fd_tell", |mut c: Ctx<'_>, fd: u32, out: u32| {
        answer(&mut c, |memory, guest| {
            memory.put_u64(out, guest.descriptors.file(fd, rights::FD_TELL)?.position.get())
        })
    })?;
    linker.func_wrap(SPACE, "fd_filestat_get", |mut c: Ctx<'_>, fd: u32, out: u32| {
        answer(&mut c, |memory, guest| filestat(memory, guest, fd, out))
    })?;
    linker.func_wrap_async(SPACE, "fd_filestat_set_size", |c: Ctx<'_>, (fd, size): (u32, u64)| {
        slowly(c, move |_, guest| {
            let now = now(guest);
            guest.descriptors.file(fd, rights::FD_FILESTAT_SET_SIZE)?.set_len(size, now)
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
            guest.descriptors.file(fd, rights::FD_ALLOCATE)?.reach(end, now)
        })
    })?;
    linker.func_wrap(SPACE, "fd_advise", |mut c: Ctx<'_>, fd: u32, _: u64, _: u64, advice: u32| {
        answer(&mut c, |_, guest| {
            guest.descriptors.file(fd, rights::FD_ADVISE)?;
            if advice > 5 { Err(Errno::Inval) } else { Ok(()) }
        })
    })?;
    for (name, needed) in [("fd_sync", rights::FD_SYNC), ("fd_datasync", rights::FD_DATASYNC)] {
        linker.func_wrap_async(SPACE, name, move |mut c: Ctx<'_>, (fd,): (u32,)| {
            Box::new(async move {
                let result = fd_sync(&mut c, fd, needed).await;
                finish(&mut c, result)
            })
        })?;
    }
    Ok(())
}

async fn fd_sync(caller: &mut Ctx<'_>, fd: u32, needed: u64) -> Result<(), Failure> {
    breathe(caller).await?;
    let descriptors = &mut caller.data_mut().descriptors;
    match descriptors.get(fd)? {
        Descriptor::Directory(directory) if directory.here => {
            directory.stand_for_the_root();
            return Ok(());
        }
        Descriptor::Stdin
        | Descriptor::Stdout
        | Descriptor::Stderr
        | Descriptor::Door(_)
        | Descriptor::Web(_)
        | Descriptor::Numbered(..) => {
            return Err(Errno::Inval.into());
        }
        _ => {}
    }
    match descriptors.with(fd, needed)? {
        Descriptor::File(file) => {
            let file = Arc::clone(&file.file);
            Ok(wasi::sync(file).await?)
        }
        _ => Ok(()),
    }
}

fn filestat(memory: &mut Memory<'_>, guest: &mut Guest, fd: u32, out: u32) -> Result<(), Errno> {
    let stream = match guest.descriptors.with(fd, rights::FD_FILESTAT_GET)? {
        Descriptor::File(file) => return memory.put(out, &layout::filestat(&file.file.stat()?)),
        Descriptor::Directory(directory) => {
            let path = directory.path.clone();
            let stat = guest.files().stat(&path, Follow::Yes)?;
            return memory.put(out, &layout::filestat(&stat));
        }
        Descriptor::Door(_) => return memory.put(out, &layout::filestat(&wasi::door_stat())),
        Descriptor::Web(_) => return memory.put(out, &layout::filestat(&wasi::web_stat())),
        Descriptor::Numbered(number, stream) => Some(wasi::numbered_file(*number, stream)),
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
