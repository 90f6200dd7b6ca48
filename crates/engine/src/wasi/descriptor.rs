//! The table of open descriptors, and the calls that treat them all alike.

use std::sync::Arc;

use drydock_contract::{
    Cap, CapSet, Meter,
    port::{DirEntry, OpenFile, TreePath},
};
use wasmtime::{Caller, Linker};

use super::{
    Errno, SPACE, answer,
    layout::{FDFLAG_APPEND, fdstat, filetype, rights},
};
use crate::{
    guest::{Guest, Held},
    memory::Memory,
};

/// Most descriptors open at once.
const OPEN_MAX: usize = 1024;
/// The one directory a run starts with: the root of its own tree.
const PREOPENED: (u32, &[u8]) = (3, b"/");

/// What a descriptor stands for.
pub(super) enum Descriptor {
    Stdin,
    Stdout,
    Stderr,
    File(OpenedFile),
    Directory(OpenedDirectory),
}

pub(super) struct OpenedFile {
    pub(super) file: Arc<dyn OpenFile>,
    pub(super) position: u64,
    pub(super) read: bool,
    pub(super) write: bool,
    pub(super) append: bool,
}

pub(super) struct OpenedDirectory {
    pub(super) path: TreePath,
    /// The listing a reader is walking through, so that its cookies stay good.
    pub(super) listing: Option<Listing>,
}

/// A listing, on the run's bill for as long as it is kept.
pub(super) struct Listing {
    pub(super) entries: Vec<DirEntry>,
    _held: Held,
}

impl Listing {
    /// Takes the listing on the bill, if there is room.
    pub(super) fn new(entries: Vec<DirEntry>, meter: &Arc<Meter>) -> Result<Self, Errno> {
        let bytes = entries.iter().map(|it| (size_of::<DirEntry>() + it.name.capacity()) as u64).sum();
        let held = Held::take(meter, bytes).ok_or(Errno::FullBytes)?;
        Ok(Self { entries, _held: held })
    }
}

/// Open descriptors by number.
pub(crate) struct Descriptors(Vec<Option<Descriptor>>);

impl Descriptors {
    pub(crate) fn new(caps: CapSet) -> Self {
        let mut all = Vec::with_capacity(8);
        all.extend([Some(Descriptor::Stdin), Some(Descriptor::Stdout), Some(Descriptor::Stderr)]);
        if caps.contains(Cap::Vfs) {
            all.push(Some(Descriptor::Directory(OpenedDirectory { path: TreePath::root(), listing: None })));
        }
        Self(all)
    }

    pub(super) fn get(&mut self, fd: u32) -> Result<&mut Descriptor, Errno> {
        self.0.get_mut(fd as usize).and_then(Option::as_mut).ok_or(Errno::Badf)
    }

    pub(super) fn file(&mut self, fd: u32) -> Result<&mut OpenedFile, Errno> {
        match self.get(fd)? {
            Descriptor::File(file) => Ok(file),
            Descriptor::Directory(_) => Err(Errno::Isdir),
            _ => Err(Errno::Spipe),
        }
    }

    pub(super) fn directory(&mut self, fd: u32) -> Result<&mut OpenedDirectory, Errno> {
        match self.get(fd)? {
            Descriptor::Directory(directory) => Ok(directory),
            _ => Err(Errno::Notdir),
        }
    }

    /// Gives the descriptor the lowest free number.
    pub(super) fn insert(&mut self, descriptor: Descriptor) -> Result<u32, Errno> {
        let free = self.0.iter().position(Option::is_none).unwrap_or(self.0.len());
        if free >= OPEN_MAX {
            return Err(Errno::Mfile);
        }
        if free == self.0.len() {
            self.0.push(None);
        }
        self.0[free] = Some(descriptor);
        Ok(free as u32)
    }

    fn close(&mut self, fd: u32) -> Result<(), Errno> {
        let slot = self.0.get_mut(fd as usize).ok_or(Errno::Badf)?;
        slot.take().map(drop).ok_or(Errno::Badf)
    }

    /// Closes `to` and moves `from` there.
    fn renumber(&mut self, from: u32, to: u32) -> Result<(), Errno> {
        self.get(to)?;
        self.get(from)?;
        if from != to {
            self.0[to as usize] = self.0[from as usize].take();
        }
        Ok(())
    }
}

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap(SPACE, "fd_close", |mut caller: Caller<'_, Guest>, fd: u32| {
        answer(&mut caller, |_, guest| guest.descriptors.close(fd))
    })?;
    linker.func_wrap(SPACE, "fd_renumber", |mut caller: Caller<'_, Guest>, from: u32, to: u32| {
        answer(&mut caller, |_, guest| guest.descriptors.renumber(from, to))
    })?;
    linker.func_wrap(SPACE, "fd_fdstat_get", |mut caller: Caller<'_, Guest>, fd: u32, out: u32| {
        answer(&mut caller, |memory, guest| fdstat_get(memory, guest, fd, out))
    })?;
    linker.func_wrap(
        SPACE,
        "fd_fdstat_set_flags",
        |mut caller: Caller<'_, Guest>, fd: u32, flags: u32| {
            answer(&mut caller, |_, guest| {
                if let Descriptor::File(file) = guest.descriptors.get(fd)? {
                    file.append = flags & u32::from(FDFLAG_APPEND) != 0;
                }
                Ok(())
            })
        },
    )?;
    linker.func_wrap(
        SPACE,
        "fd_fdstat_set_rights",
        |mut caller: Caller<'_, Guest>, fd: u32, base: u64, _: u64| {
            // Rights can only be given up.
            answer(&mut caller, |_, guest| {
                if let Descriptor::File(file) = guest.descriptors.get(fd)? {
                    file.read &= base & rights::FD_READ != 0;
                    file.write &= base & rights::FD_WRITE != 0;
                }
                Ok(())
            })
        },
    )?;
    linker.func_wrap(SPACE, "fd_prestat_get", |mut caller: Caller<'_, Guest>, fd: u32, out: u32| {
        answer(&mut caller, |memory, guest| {
            preopened(guest, fd)?;
            memory.put_u32(out, 0)?;
            memory.put_u32(out.checked_add(4).ok_or(Errno::Fault)?, PREOPENED.1.len() as u32)
        })
    })?;
    linker.func_wrap(
        SPACE,
        "fd_prestat_dir_name",
        |mut caller: Caller<'_, Guest>, fd: u32, out: u32, cap: u32| {
            answer(&mut caller, |memory, guest| {
                preopened(guest, fd)?;
                if (cap as usize) < PREOPENED.1.len() {
                    return Err(Errno::Nametoolong);
                }
                memory.put(out, PREOPENED.1)
            })
        },
    )?;
    Ok(())
}

fn preopened(guest: &mut Guest, fd: u32) -> Result<(), Errno> {
    match guest.descriptors.get(fd)? {
        Descriptor::Directory(_) if fd == PREOPENED.0 => Ok(()),
        _ => Err(Errno::Badf),
    }
}

/// What an output is: a terminal has a width.
const fn stream(columns: Option<u16>) -> u8 {
    match columns {
        Some(_) => filetype::CHARACTER_DEVICE,
        None => filetype::UNKNOWN,
    }
}

fn fdstat_get(memory: &mut Memory<'_>, guest: &mut Guest, fd: u32, out: u32) -> Result<(), Errno> {
    let stat = match guest.descriptors.get(fd)? {
        Descriptor::Stdin => fdstat(filetype::UNKNOWN, 0, rights::STREAM, 0),
        Descriptor::Stdout => fdstat(stream(guest.streams.stdout.columns()), 0, rights::STREAM, 0),
        Descriptor::Stderr => fdstat(stream(guest.streams.stderr.columns()), 0, rights::STREAM, 0),
        Descriptor::Directory(_) => fdstat(filetype::DIRECTORY, 0, rights::ALL, rights::ALL),
        Descriptor::File(file) => {
            let mut base = rights::ALL;
            if !file.read {
                base &= !rights::FD_READ;
            }
            if !file.write {
                base &= !(rights::FD_WRITE | rights::FD_ALLOCATE | rights::FILESTAT_SET_SIZE);
            }
            let flags = if file.append { FDFLAG_APPEND } else { 0 };
            fdstat(filetype::REGULAR_FILE, flags, base, 0)
        }
    };
    memory.put(out, &stat)
}
