//! `env.host_vfs_write(path, plen, data, dlen) -> 0` and `env.host_vfs_read(path, plen, out, cap) -> n`: whole files of the
//! session, for modules that have no libc to open them with.
//!
//! They see the tree that WASI sees, under the same rules and limits: a path without a slash in front is below the working
//! directory, links do not lead out, devices are no files. Directories that a written path lacks are made.

use drydock_contract::port::{FileKind, Follow, TreePath};
use wasmtime::{Caller, Linker};

use super::reply::{refuse, room};
use crate::{
    guest::{Guest, breathe},
    memory,
    outcome::Stop,
    wasi::{self, Descriptor, Errno, OpenedFile, Opening, PIECE_BYTES},
};

type Four = (u32, u32, u32, u32);

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async("env", "host_vfs_write", |mut caller: Caller<'_, Guest>, asked: Four| {
        Box::new(async move {
            breathe(&mut caller).await?;
            let written = write(&mut caller, asked).await?;
            Ok(answer(&mut caller, written.map(|()| 0)))
        })
    })?;
    linker.func_wrap_async("env", "host_vfs_read", |mut caller: Caller<'_, Guest>, asked: Four| {
        Box::new(async move {
            breathe(&mut caller).await?;
            let read = read(&mut caller, asked).await?;
            Ok(answer(&mut caller, read))
        })
    })?;
    Ok(())
}

/// Why a file is not read or written.
enum Refused {
    Errno(Errno),
    Code(&'static str),
}

impl From<Errno> for Refused {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno)
    }
}

fn answer(caller: &mut Caller<'_, Guest>, done: Result<i32, Refused>) -> i32 {
    match done {
        Ok(count) => {
            caller.data_mut().last_error = "".into();
            count
        }
        Err(Refused::Code(code)) => refuse(caller, code),
        Err(Refused::Errno(errno)) => {
            if let Some(limit) = errno.limit() {
                caller.data_mut().quota.get_or_insert(limit);
            }
            refuse(caller, code(errno))
        }
    }
}

async fn write(
    caller: &mut Caller<'_, Guest>,
    (path, path_bytes, at, count): Four,
) -> wasmtime::Result<Result<(), Refused>> {
    // Looked at before the file is emptied: who points nowhere changes nothing.
    let opened = memory::split(caller).map_err(Refused::from).and_then(|(memory, guest)| {
        memory.bytes(at, count)?;
        let path = place(guest, memory.bytes(path, path_bytes)?, true)?;
        make_parents(guest, &path)?;
        open(guest, &path, Opening { write: true, create: true, truncate: true, ..LOOK })
    });
    let file = match opened {
        Ok(file) => file,
        Err(refused) => return Ok(Err(refused)),
    };
    let mut done = 0;
    while done < count {
        breathe(caller).await?;
        let piece = (count - done).min(PIECE_BYTES as u32);
        let wrote = memory::split(caller).and_then(|(memory, guest)| {
            let now = wasi::now(guest);
            file.write(Some(done.into()), memory.bytes(at + done, piece)?, now)
        });
        match wrote {
            Ok(()) => done += piece,
            Err(Errno::PastFileLimit) => return Err(Stop::FILE_LIMIT.into()),
            Err(errno) => return Ok(Err(errno.into())),
        }
    }
    Ok(Ok(()))
}

async fn read(
    caller: &mut Caller<'_, Guest>,
    (path, path_bytes, out, cap): Four,
) -> wasmtime::Result<Result<i32, Refused>> {
    let cap = room(cap);
    let opened = memory::split(caller).map_err(Refused::from).and_then(|(memory, guest)| {
        let path = place(guest, memory.bytes(path, path_bytes)?, false)?;
        let file = open(guest, &path, Opening { read: true, ..LOOK })?;
        match file.file.stat().map_err(Errno::from)?.size {
            size if size > u64::from(cap) => Err(Refused::Code("reply_too_large")),
            _ => Ok(file),
        }
    });
    let file = match opened {
        Ok(file) => file,
        Err(refused) => return Ok(Err(refused)),
    };
    let mut done = 0;
    loop {
        breathe(caller).await?;
        let piece = (cap - done).min(PIECE_BYTES as u32);
        let got = memory::split(caller).and_then(|(mut memory, _)| match piece {
            // No room is left: somebody may have written more meanwhile.
            0 => file.read(Some(done.into()), &mut [0]),
            _ => {
                let place = out.checked_add(done).ok_or(Errno::Fault)?;
                file.read(Some(done.into()), memory.bytes_mut(place, piece)?)
            }
        });
        match got {
            Ok(0) => return Ok(i32::try_from(done).map_err(|_| Refused::Code("reply_too_large"))),
            Ok(_) if piece == 0 => return Ok(Err(Refused::Code("reply_too_large"))),
            Ok(got) => done += u32::try_from(got).unwrap_or(piece),
            Err(errno) => return Ok(Err(errno.into())),
        }
    }
}

/// Nothing but a look.
const LOOK: Opening = Opening {
    follow: Follow::Yes,
    read: false,
    write: false,
    create: false,
    exclusive: false,
    truncate: false,
    directory: false,
};

/// Where in the tree a path leads. Without a slash in front it begins at the working directory.
fn place(guest: &mut Guest, path: &[u8], making: bool) -> Result<TreePath, Refused> {
    let path = std::str::from_utf8(path).map_err(|_| Errno::Inval)?;
    let text = match path.strip_prefix('/') {
        Some(below) => below.to_owned(),
        None => {
            let pwd = guest.env.iter().find_map(|it| it.strip_prefix(b"PWD="));
            let here = pwd.and_then(wasi::working_directory).unwrap_or_else(TreePath::root);
            here.join(path).map_err(Errno::from)?.as_str().to_owned()
        }
    };
    Ok(wasi::resolve(guest, (&TreePath::root(), false), &text, Follow::Yes, making)?)
}

fn make_parents(guest: &mut Guest, path: &TreePath) -> Result<(), Refused> {
    let names: Vec<&str> = path.names().collect();
    let Some((_, parents)) = names.split_last() else { return Ok(()) };
    for end in 1..=parents.len() {
        let parent = TreePath::new(&parents[..end].join("/")).map_err(Errno::from)?;
        if wasi::stat(guest, &parent, Follow::Yes) == Err(Errno::Noent) {
            wasi::create_dir(guest, &parent)?;
        }
    }
    Ok(())
}

fn open(guest: &mut Guest, path: &TreePath, how: Opening) -> Result<OpenedFile, Refused> {
    // What a name such as `/dev/fd/0` stands for is a stream, and no bytes of the tree.
    match wasi::stat(guest, path, Follow::Yes).map(|it| it.kind) {
        Ok(FileKind::Directory) => return Err(Errno::Isdir.into()),
        Ok(FileKind::File) => {}
        Err(Errno::Noent) if how.create => {}
        Ok(FileKind::Symlink) => return Err(Errno::Loop.into()),
        Err(errno) => return Err(errno.into()),
    }
    match wasi::open(guest, path, how)? {
        Descriptor::File(file) => Ok(file),
        _ => Err(Refused::Code("not_a_file")),
    }
}

/// What the guest is told, in words that `env.host_error` gives.
const fn code(errno: Errno) -> &'static str {
    match errno {
        Errno::Fault => "bad_pointer",
        Errno::Inval => "invalid_path",
        Errno::Noent => "not_found",
        Errno::Isdir => "is_a_directory",
        Errno::Notdir => "not_a_directory",
        Errno::Loop => "too_many_links",
        Errno::Acces | Errno::Perm | Errno::Notcapable => "not_permitted",
        Errno::Rofs => "read_only",
        Errno::Nametoolong | Errno::FullPath | Errno::FullDepth => "path_too_long",
        Errno::FullBytes | Errno::FullFileBytes | Errno::FullFiles | Errno::Nospc | Errno::Fbig => {
            "quota_exceeded"
        }
        _ => "io_error",
    }
}
