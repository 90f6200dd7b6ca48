//! Calls that name files. A path is relative to an open directory of the run's own tree; the tree
//! itself resolves `..` and links and cannot be left.

use drydock_contract::{
    port::{FileError, FileKind, Follow, Mode, OpenHow, TreePath},
    text,
};
use wasmtime::{Caller, Linker};

use super::{
    Errno, SPACE, Slowly,
    descriptor::{Descriptor, OpenedDirectory, OpenedFile},
    device,
    file::now,
    layout::{self, FDFLAG_APPEND, rights},
    slowly,
};
use crate::{guest::Guest, memory::Memory};

type Ctx<'a> = Caller<'a, Guest>;

const LOOKUP_SYMLINK_FOLLOW: u32 = 1;

/// `oflags` bits.
const CREATE: u32 = 1;
const DIRECTORY: u32 = 2;
const EXCLUSIVE: u32 = 4;
const TRUNCATE: u32 = 8;

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        SPACE,
        "path_open",
        |c: Ctx<'_>,
         (fd, lookup, path, len, oflags, base, _, fdflags, out): (
            u32,
            u32,
            u32,
            u32,
            u32,
            u64,
            u64,
            u32,
            u32,
        )| {
            slowly(c, move |memory, guest| {
                let path = resolve(memory, guest, fd, path, len)?;
                let opened = open(guest, path, lookup, oflags, base, fdflags)?;
                let fd = guest.descriptors.insert(opened)?;
                memory.put_u32(out, fd)
            })
        },
    )?;
    linker.func_wrap_async(
        SPACE,
        "path_create_directory",
        |c: Ctx<'_>, (fd, path, len): (u32, u32, u32)| {
            slowly(c, move |memory, guest| {
                let path = resolve(memory, guest, fd, path, len)?;
                let (now, mode) = (now(guest), Mode::new(0o777).masked(guest.umask));
                Ok(guest.files().create_dir(&path, mode, now)?)
            })
        },
    )?;
    linker.func_wrap_async(
        SPACE,
        "path_remove_directory",
        |c: Ctx<'_>, (fd, path, len): (u32, u32, u32)| {
            change(c, fd, path, len, |files, path, now| files.remove_dir(path, now))
        },
    )?;
    linker.func_wrap_async(SPACE, "path_unlink_file", |c: Ctx<'_>, (fd, path, len): (u32, u32, u32)| {
        change(c, fd, path, len, |files, path, now| files.unlink(path, now))
    })?;
    linker.func_wrap_async(
        SPACE,
        "path_rename",
        |c: Ctx<'_>, (fd, old, old_len, to, new, new_len): (u32, u32, u32, u32, u32, u32)| {
            slowly(c, move |memory, guest| {
                let from = resolve(memory, guest, fd, old, old_len)?;
                let to = resolve(memory, guest, to, new, new_len)?;
                let now = now(guest);
                Ok(guest.files().rename(&from, &to, now)?)
            })
        },
    )?;
    linker.func_wrap_async(
        SPACE,
        "path_link",
        |c: Ctx<'_>, (fd, lookup, old, old_len, to, new, new_len): (u32, u32, u32, u32, u32, u32, u32)| {
            slowly(c, move |memory, guest| {
                let from = resolve(memory, guest, fd, old, old_len)?;
                let to = resolve(memory, guest, to, new, new_len)?;
                let now = now(guest);
                Ok(guest.files().link(&from, follow(lookup), &to, now)?)
            })
        },
    )?;
    linker.func_wrap_async(
        SPACE,
        "path_symlink",
        |c: Ctx<'_>, (target, target_len, fd, path, len): (u32, u32, u32, u32, u32)| {
            slowly(c, move |memory, guest| {
                let target = text::from_bytes(memory.bytes(target, target_len)?).into_owned();
                let path = resolve(memory, guest, fd, path, len)?;
                let now = now(guest);
                Ok(guest.files().symlink(&target, &path, now)?)
            })
        },
    )?;
    linker.func_wrap_async(
        SPACE,
        "path_readlink",
        |c: Ctx<'_>, (fd, path, len, buffer, cap, out): (u32, u32, u32, u32, u32, u32)| {
            slowly(c, move |memory, guest| {
                let path = resolve(memory, guest, fd, path, len)?;
                let target = guest.files().read_link(&path)?;
                let target = text::to_bytes(&target);
                let count = target.len().min(cap as usize);
                memory.put(buffer, &target[..count])?;
                memory.put_u32(out, count as u32)
            })
        },
    )?;
    linker.func_wrap_async(
        SPACE,
        "path_filestat_get",
        |c: Ctx<'_>, (fd, lookup, path, len, out): (u32, u32, u32, u32, u32)| {
            slowly(c, move |memory, guest| {
                let path = resolve(memory, guest, fd, path, len)?;
                let stat = match device::named(&path) {
                    Some(device) => device.stat(),
                    None => guest.files().stat(&path, follow(lookup))?,
                };
                memory.put(out, &layout::filestat(&stat))
            })
        },
    )?;
    linker.func_wrap_async(
        SPACE,
        "path_filestat_set_times",
        |c: Ctx<'_>, (fd, lookup, path, len, atime, mtime, flags): (u32, u32, u32, u32, u64, u64, u32)| {
            slowly(c, move |memory, guest| {
                let path = resolve(memory, guest, fd, path, len)?;
                let now = now(guest);
                let times = layout::times(atime, mtime, flags, now)?;
                Ok(guest.files().set_times(&path, follow(lookup), times, now)?)
            })
        },
    )?;
    Ok(())
}

fn change<'a>(
    caller: Ctx<'a>,
    fd: u32,
    path: u32,
    len: u32,
    act: impl FnOnce(
        &dyn drydock_contract::port::Files,
        &TreePath,
        drydock_contract::Timestamp,
    ) -> Result<(), FileError>
    + Send
    + 'a,
) -> Slowly<'a> {
    slowly(caller, move |memory, guest| {
        let path = resolve(memory, guest, fd, path, len)?;
        let now = now(guest);
        Ok(act(&*guest.files(), &path, now)?)
    })
}

/// The path in the tree that the guest means. An absolute one is refused, as preview 1 demands:
/// libc has taken the preopened directory's name off already.
pub(super) fn resolve(
    memory: &Memory<'_>,
    guest: &mut Guest,
    fd: u32,
    path: u32,
    len: u32,
) -> Result<TreePath, Errno> {
    let text = text::from_bytes(memory.bytes(path, len)?);
    if text.starts_with('/') {
        return Err(Errno::Notcapable);
    }
    if text.is_empty() {
        return Err(Errno::Noent);
    }
    Ok(guest.descriptors.directory(fd)?.path.join(&text)?)
}

fn follow(lookup: u32) -> Follow {
    if lookup & LOOKUP_SYMLINK_FOLLOW != 0 { Follow::Yes } else { Follow::No }
}

fn open(
    guest: &mut Guest,
    path: TreePath,
    lookup: u32,
    oflags: u32,
    base: u64,
    fdflags: u32,
) -> Result<Descriptor, Errno> {
    let files = guest.files();
    let now = now(guest);
    let write = base & (rights::FD_WRITE | rights::FD_ALLOCATE | rights::FILESTAT_SET_SIZE) != 0;
    let read = base & rights::FD_READ != 0 || !write;
    if let Some(device) = device::named(&path) {
        return device.open(guest, read, write);
    }
    let as_directory = || Ok(Descriptor::Directory(OpenedDirectory { path: path.clone(), listing: None }));
    let found = files.stat(&path, follow(lookup)).map(|stat| stat.kind);
    match found {
        Ok(_) if oflags & CREATE != 0 && oflags & EXCLUSIVE != 0 => return Err(Errno::Exist),
        Ok(FileKind::Directory) if write && oflags & DIRECTORY == 0 => return Err(Errno::Isdir),
        Ok(FileKind::Directory) => return as_directory(),
        Ok(_) if oflags & DIRECTORY != 0 => return Err(Errno::Notdir),
        Ok(FileKind::Symlink) => return Err(Errno::Loop),
        Err(FileError::NotFound) if oflags & DIRECTORY != 0 => return Err(Errno::Noent),
        _ => {}
    }
    let how = OpenHow {
        read,
        write,
        create: oflags & CREATE != 0,
        exclusive: oflags & EXCLUSIVE != 0,
        truncate: oflags & TRUNCATE != 0,
        nofollow: follow(lookup) == Follow::No,
        mode: Mode::new(0o666).masked(guest.umask),
    };
    let file = files.open(&path, how, now)?;
    let append = fdflags & u32::from(FDFLAG_APPEND) != 0;
    Ok(Descriptor::File(OpenedFile { file, position: 0, read, write, append }))
}
