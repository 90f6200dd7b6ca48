//! Calls that name files.

use drydock_contract::{
    Timestamp,
    port::{FileError, Files, Follow, TreePath},
    text,
};
use wasmtime::{Caller, Linker};

use super::{
    SPACE, Slowly,
    layout::{self, rights},
    slowly,
    table::{Rights, flags_of},
};
use crate::{
    guest::Guest,
    memory::Memory,
    wasi::{self, Descriptor, Errno, Opening, now},
};

type Ctx<'a> = Caller<'a, Guest>;

const LOOKUP_SYMLINK_FOLLOW: u32 = 1;

/// `oflags` bits.
const CREATE: u32 = 1;
const DIRECTORY: u32 = 2;
const EXCLUSIVE: u32 = 4;
const TRUNCATE: u32 = 8;

/// A list, and long for no other reason: one entry a function, each with its arguments in the order of preview 1, what
/// it needs of the descriptor, and one call of the semantics. Entries have nothing to do with each other.
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
                let flags = flags_of(fdflags)?;
                let path = resolve(memory, guest, (fd, opening(oflags)), (path, len), follow(lookup))?;
                let inherited = guest.descriptors.rights(fd)?.inheriting;
                if base & rights::INHERITED & !inherited != 0 {
                    return Err(Errno::Notcapable);
                }
                let (opened, rights) = open(guest, &path, lookup, oflags, base)?;
                let rights =
                    Rights { base: rights.base & inherited, inheriting: rights.inheriting & inherited };
                let fd = guest.descriptors.insert(opened, rights, flags)?;
                memory.put_u32(out, fd)
            })
        },
    )?;
    linker.func_wrap_async(
        SPACE,
        "path_create_directory",
        |c: Ctx<'_>, (fd, path, len): (u32, u32, u32)| {
            slowly(c, move |memory, guest| {
                let needed = rights::PATH_CREATE_DIRECTORY;
                let path = resolve(memory, guest, (fd, needed), (path, len), Follow::No)?;
                wasi::create_dir(guest, &path)
            })
        },
    )?;
    linker.func_wrap_async(
        SPACE,
        "path_remove_directory",
        |c: Ctx<'_>, (fd, path, len): (u32, u32, u32)| {
            change(c, (fd, rights::PATH_REMOVE_DIRECTORY), (path, len), |files, path, now| {
                files.remove_dir(path, now)
            })
        },
    )?;
    linker.func_wrap_async(SPACE, "path_unlink_file", |c: Ctx<'_>, (fd, path, len): (u32, u32, u32)| {
        change(c, (fd, rights::PATH_UNLINK_FILE), (path, len), |files, path, now| files.unlink(path, now))
    })?;
    linker.func_wrap_async(
        SPACE,
        "path_rename",
        |c: Ctx<'_>, (fd, old, old_len, to, new, new_len): (u32, u32, u32, u32, u32, u32)| {
            slowly(c, move |memory, guest| {
                let from =
                    resolve(memory, guest, (fd, rights::PATH_RENAME_SOURCE), (old, old_len), Follow::No)?;
                let to =
                    resolve(memory, guest, (to, rights::PATH_RENAME_TARGET), (new, new_len), Follow::No)?;
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
                let lookup = follow(lookup);
                let from = resolve(memory, guest, (fd, rights::PATH_LINK_SOURCE), (old, old_len), lookup)?;
                let to = resolve(memory, guest, (to, rights::PATH_LINK_TARGET), (new, new_len), Follow::No)?;
                let now = now(guest);
                Ok(guest.files().link(&from, lookup, &to, now)?)
            })
        },
    )?;
    linker.func_wrap_async(
        SPACE,
        "path_symlink",
        |c: Ctx<'_>, (target, target_len, fd, path, len): (u32, u32, u32, u32, u32)| {
            slowly(c, move |memory, guest| {
                let target = text::from_bytes(memory.bytes(target, target_len)?).into_owned();
                let path = resolve(memory, guest, (fd, rights::PATH_SYMLINK), (path, len), Follow::No)?;
                let directory = guest.descriptors.directory(fd, 0)?;
                let (base, here) = (directory.path.clone(), directory.here);
                wasi::symlink(guest, (&base, here), &target, &path)
            })
        },
    )?;
    linker.func_wrap_async(
        SPACE,
        "path_readlink",
        |c: Ctx<'_>, (fd, path, len, buffer, cap, out): (u32, u32, u32, u32, u32, u32)| {
            slowly(c, move |memory, guest| {
                let path = resolve(memory, guest, (fd, rights::PATH_READLINK), (path, len), Follow::No)?;
                let target = wasi::read_link(guest, &path)?;
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
                let lookup = follow(lookup);
                let path = resolve(memory, guest, (fd, rights::PATH_FILESTAT_GET), (path, len), lookup)?;
                memory.put(out, &layout::filestat(&wasi::stat(guest, &path, lookup)?))
            })
        },
    )?;
    linker.func_wrap_async(
        SPACE,
        "path_filestat_set_times",
        |c: Ctx<'_>, (fd, lookup, path, len, atime, mtime, flags): (u32, u32, u32, u32, u64, u64, u32)| {
            slowly(c, move |memory, guest| {
                let (lookup, needed) = (follow(lookup), rights::PATH_FILESTAT_SET_TIMES);
                let path = resolve(memory, guest, (fd, needed), (path, len), lookup)?;
                let now = now(guest);
                let times = layout::times(atime, mtime, flags, now)?;
                Ok(guest.files().set_times(&path, lookup, times, now)?)
            })
        },
    )?;
    Ok(())
}

fn change<'a>(
    caller: Ctx<'a>,
    fd: (u32, u64),
    path: (u32, u32),
    act: impl FnOnce(&dyn Files, &TreePath, Timestamp) -> Result<(), FileError> + Send + 'a,
) -> Slowly<'a> {
    slowly(caller, move |memory, guest| {
        let path = resolve(memory, guest, fd, path, Follow::No)?;
        let now = now(guest);
        Ok(act(&*guest.files(), &path, now)?)
    })
}

/// The path in the tree that the guest means, from a directory that may be used for what is `needed`. An
/// absolute one is refused, as preview 1 demands: libc has taken the preopened directory's name off already.
pub(super) fn resolve(
    memory: &Memory<'_>,
    guest: &mut Guest,
    (fd, needed): (u32, u64),
    (path, len): (u32, u32),
    follow: Follow,
) -> Result<TreePath, Errno> {
    let text = text::from_bytes(memory.bytes(path, len)?);
    if text.starts_with('/') {
        return Err(Errno::Notcapable);
    }
    if text.is_empty() {
        return Err(Errno::Noent);
    }
    let directory = guest.descriptors.directory(fd, needed)?;
    let (base, here) = (directory.path.clone(), directory.here);
    wasi::resolve(guest, (&base, here), &text, follow, needed & rights::MAKING != 0)
}

fn follow(lookup: u32) -> Follow {
    if lookup & LOOKUP_SYMLINK_FOLLOW != 0 { Follow::Yes } else { Follow::No }
}

/// What a directory has to allow for a file to be opened that way.
fn opening(oflags: u32) -> u64 {
    let mut needed = rights::PATH_OPEN;
    if oflags & CREATE != 0 {
        needed |= rights::PATH_CREATE_FILE;
    }
    if oflags & TRUNCATE != 0 {
        needed |= rights::PATH_FILESTAT_SET_SIZE;
    }
    needed
}

/// Opens it; the rights that go with it are those of its kind.
fn open(
    guest: &mut Guest,
    path: &TreePath,
    lookup: u32,
    oflags: u32,
    base: u64,
) -> Result<(Descriptor, Rights), Errno> {
    let write = base & rights::WRITING != 0;
    let read = base & rights::FD_READ != 0 || !write;
    let how = Opening {
        follow: follow(lookup),
        read,
        write,
        create: oflags & CREATE != 0,
        exclusive: oflags & EXCLUSIVE != 0,
        truncate: oflags & TRUNCATE != 0,
        directory: oflags & DIRECTORY != 0,
    };
    let opened = wasi::open(guest, path, how)?;
    if matches!(opened, Descriptor::Directory(_)) {
        return Ok((opened, Rights { base: rights::DIRECTORY, inheriting: rights::INHERITED }));
    }
    let mut base = rights::FILE;
    if !read {
        base &= !rights::FD_READ;
    }
    if !write {
        base &= !rights::WRITING;
    }
    Ok((opened, Rights { base, inheriting: 0 }))
}
