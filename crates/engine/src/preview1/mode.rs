//! Permission bits, which preview 1 does not carry: three imports of our own that come with the files.
//!
//! `env.host_mode_get(fd, path, path_len, follow, out) -> errno` writes the bits as a little-endian
//! `u32`; `env.host_mode_set(fd, path, path_len, follow, mode) -> errno` sets them. An empty path is
//! the descriptor itself. `env.host_umask(mask) -> mask` sets the run's mask and answers the one
//! before; a negative number only asks.

use drydock_contract::port::{Follow, Mode, TreePath};
use wasmtime::{Caller, Linker};

use super::{layout::rights, path::resolve, slowly};
use crate::{
    guest::Guest,
    memory::Memory,
    wasi::{self, Descriptor, Errno, STREAM_MODE, now},
};

type Ctx<'a> = Caller<'a, Guest>;

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        "env",
        "host_mode_get",
        |c: Ctx<'_>, (fd, path, len, follow, out): (u32, u32, u32, u32, u32)| {
            slowly(c, move |memory, guest| {
                let mode = get(memory, guest, fd, (path, len), follow)?;
                memory.put_u32(out, mode.bits())
            })
        },
    )?;
    linker.func_wrap_async(
        "env",
        "host_mode_set",
        |c: Ctx<'_>, (fd, path, len, follow, mode): (u32, u32, u32, u32, u32)| {
            slowly(c, move |memory, guest| set(memory, guest, fd, (path, len), follow, Mode::new(mode)))
        },
    )?;
    linker.func_wrap("env", "host_umask", |mut c: Ctx<'_>, mask: i32| {
        let guest = c.data_mut();
        let before = guest.file_rules.umask;
        if let Ok(mask) = u32::try_from(mask) {
            guest.file_rules.umask = Mode::new(mask).plain();
        }
        before.bits().cast_signed()
    })?;
    Ok(())
}

fn get(
    memory: &Memory<'_>,
    guest: &mut Guest,
    fd: u32,
    (path, len): (u32, u32),
    follow: u32,
) -> Result<Mode, Errno> {
    let needed = (rights::PATH_FILESTAT_GET, rights::FD_FILESTAT_GET);
    let (path, follow) = match target(memory, guest, fd, (path, len), follow, needed)? {
        Target::Named(path, follow) => (path, follow),
        Target::Opened(fd) => match guest.descriptors.get(fd)? {
            Descriptor::File(file) => return Ok(file.file.stat()?.mode),
            _ => return Ok(STREAM_MODE),
        },
    };
    Ok(wasi::stat(guest, &path, follow)?.mode)
}

fn set(
    memory: &Memory<'_>,
    guest: &mut Guest,
    fd: u32,
    (path, len): (u32, u32),
    follow: u32,
    mode: Mode,
) -> Result<(), Errno> {
    let now = now(guest);
    // A stream has no bits to be set, and no right to it.
    if len == 0
        && matches!(
            guest.descriptors.get(fd)?,
            Descriptor::Stdin | Descriptor::Stdout | Descriptor::Stderr | Descriptor::Numbered(..)
        )
    {
        return Err(Errno::Inval);
    }
    let needed = (rights::PATH_FILESTAT_SET_TIMES, rights::FD_FILESTAT_SET_TIMES);
    let (path, follow) = match target(memory, guest, fd, (path, len), follow, needed)? {
        Target::Named(path, follow) => (path, follow),
        Target::Opened(fd) => match guest.descriptors.get(fd)? {
            Descriptor::File(file) => return Ok(file.file.set_mode(mode, now)?),
            _ => return Err(Errno::Inval),
        },
    };
    wasi::set_mode(guest, &path, follow, mode, now)
}

/// Whose bits are meant.
enum Target {
    Named(TreePath, Follow),
    /// A file or a stream, by its descriptor.
    Opened(u32),
}

/// `named` and `opened` are the rights that it takes by a path and by the descriptor itself: preview 1 has
/// none for bits, so asking takes those of asking for facts, and setting those of setting times.
fn target(
    memory: &Memory<'_>,
    guest: &mut Guest,
    fd: u32,
    (path, len): (u32, u32),
    follow: u32,
    (named, opened): (u64, u64),
) -> Result<Target, Errno> {
    if len > 0 {
        let follow = if follow != 0 { Follow::Yes } else { Follow::No };
        return Ok(Target::Named(resolve(memory, guest, (fd, named), (path, len), follow)?, follow));
    }
    match guest.descriptors.with(fd, opened)? {
        Descriptor::Directory(directory) => Ok(Target::Named(directory.path.clone(), Follow::Yes)),
        _ => Ok(Target::Opened(fd)),
    }
}
