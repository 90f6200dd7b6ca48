//! The table of open descriptors, what each may still do, and the calls that treat them all alike.
//!
//! A descriptor has the rights of its kind, less what the guest gave up for it or for the directory it was
//! opened through. The rights that `path_open` asks for only decide whether a file is read or written.

use std::sync::Arc;

use drydock_contract::{
    Cap, CapSet, Meter,
    port::{DirEntry, OpenFile, TreePath},
};
use wasmtime::{Caller, Linker};

use super::{
    Errno, SPACE, answer,
    door::Door,
    here,
    layout::{fdflag, fdstat, filetype, rights},
};
use crate::{
    guest::{Guest, Held},
    memory::Memory,
};

/// Most descriptors open at once.
const OPEN_MAX: usize = 1024;
/// The directory a run starts with: the root of its own tree.
const ROOT: (u32, &[u8]) = (3, b"/");
/// The second one, for programs that know no working directory. It comes last because libc takes the last of
/// several that fit equally well (see [`here`](super::here)).
const HERE: (u32, &[u8]) = (4, b".");

/// What a descriptor stands for.
pub(super) enum Descriptor {
    Stdin,
    Stdout,
    Stderr,
    File(OpenedFile),
    Directory(OpenedDirectory),
    /// `/dev/drydock`.
    Door(Door),
}

pub(super) struct OpenedFile {
    pub(super) file: Arc<dyn OpenFile>,
    pub(super) position: u64,
    /// Its `fdflags`.
    pub(super) flags: u16,
}

pub(super) struct OpenedDirectory {
    /// Plain names, no link among them: what is named through it stays beneath it.
    pub(super) path: TreePath,
    /// It is [`HERE`]: what is named through it may lie anywhere in the tree.
    pub(super) here: bool,
    /// The listing a reader is walking through, so that its cookies stay good.
    pub(super) listing: Option<Listing>,
}

impl OpenedDirectory {
    /// A program that went to its working directory itself (libc then names everything from the root) says so by a sync of
    /// [`HERE`], which means nothing otherwise: closing it is what libraries between libc and us do not survive.
    pub(super) fn stand_for_the_root(&mut self) {
        *self = Self { path: TreePath::root(), here: false, listing: None };
    }
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

/// What may be done with a descriptor, and with what is opened through it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rights {
    pub(super) base: u64,
    pub(super) inheriting: u64,
}

impl Rights {
    const STREAM: Self = Self { base: rights::STREAM, inheriting: 0 };
    const ROOT: Self = Self { base: rights::DIRECTORY, inheriting: rights::INHERITED };

    fn has(self, needed: u64) -> Result<(), Errno> {
        match needed & !self.base {
            0 => Ok(()),
            // POSIX's own word for a file that was not opened that way.
            missing if missing & (rights::FD_READ | rights::WRITING) != 0 => Err(Errno::Badf),
            _ => Err(Errno::Notcapable),
        }
    }
}

struct Slot {
    descriptor: Descriptor,
    rights: Rights,
}

/// Open descriptors by number.
pub(crate) struct Descriptors {
    slots: Vec<Option<Slot>>,
    /// The guest has asked for the directories it starts with.
    found: bool,
}

impl Descriptors {
    /// The streams, and the tree where it was granted; `here` is the working directory of a program that has to be
    /// given one.
    pub(crate) fn new(caps: CapSet, here: Option<&[u8]>) -> Self {
        let mut slots = Vec::with_capacity(8);
        let streams = [Descriptor::Stdin, Descriptor::Stdout, Descriptor::Stderr];
        slots.extend(streams.map(|descriptor| Some(Slot { descriptor, rights: Rights::STREAM })));
        if caps.contains(Cap::Vfs) {
            let here = here.and_then(here::directory).map(|path| (path, true));
            for (path, here) in [(TreePath::root(), false)].into_iter().chain(here) {
                let directory = OpenedDirectory { path, here, listing: None };
                slots.push(Some(Slot { descriptor: Descriptor::Directory(directory), rights: Rights::ROOT }));
            }
        }
        Self { slots, found: false }
    }

    fn slot(&mut self, fd: u32) -> Result<&mut Slot, Errno> {
        self.found |= fd == ROOT.0;
        self.slots.get_mut(fd as usize).and_then(Option::as_mut).ok_or(Errno::Badf)
    }

    pub(super) fn get(&mut self, fd: u32) -> Result<&mut Descriptor, Errno> {
        Ok(&mut self.slot(fd)?.descriptor)
    }

    /// The descriptor, if it may be used for that.
    pub(super) fn with(&mut self, fd: u32, needed: u64) -> Result<&mut Descriptor, Errno> {
        let slot = self.slot(fd)?;
        slot.rights.has(needed)?;
        Ok(&mut slot.descriptor)
    }

    pub(super) fn rights(&mut self, fd: u32) -> Result<Rights, Errno> {
        Ok(self.slot(fd)?.rights)
    }

    pub(super) fn file(&mut self, fd: u32, needed: u64) -> Result<&mut OpenedFile, Errno> {
        let Slot { descriptor, rights } = self.slot(fd)?;
        match descriptor {
            Descriptor::File(file) => rights.has(needed).map(|()| file),
            Descriptor::Directory(_) => Err(Errno::Isdir),
            _ => Err(Errno::Spipe),
        }
    }

    pub(super) fn door(&mut self, fd: u32, needed: u64) -> Result<&mut Door, Errno> {
        match self.with(fd, needed)? {
            Descriptor::Door(door) => Ok(door),
            _ => Err(Errno::Badf),
        }
    }

    pub(super) fn directory(&mut self, fd: u32, needed: u64) -> Result<&mut OpenedDirectory, Errno> {
        let Slot { descriptor, rights } = self.slot(fd)?;
        match descriptor {
            Descriptor::Directory(directory) => rights.has(needed).map(|()| directory),
            _ => Err(Errno::Notdir),
        }
    }

    /// Why it is no socket. A directory that the guest was given and never asked for is not there yet, so
    /// that a program without any sees the number 3 as free.
    pub(super) fn no_socket(&self, fd: u32) -> Errno {
        match self.slots.get(fd as usize) {
            Some(Some(_)) if (fd != ROOT.0 && fd != HERE.0) || self.found => Errno::Notsock,
            _ => Errno::Badf,
        }
    }

    /// Gives the descriptor the lowest free number.
    pub(super) fn insert(&mut self, descriptor: Descriptor, rights: Rights) -> Result<u32, Errno> {
        let free = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        if free >= OPEN_MAX {
            return Err(Errno::Mfile);
        }
        if free == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[free] = Some(Slot { descriptor, rights });
        Ok(free as u32)
    }

    fn close(&mut self, fd: u32) -> Result<(), Errno> {
        self.slot(fd)?;
        self.slots[fd as usize] = None;
        Ok(())
    }

    /// Closes `to` and moves `from` there.
    fn renumber(&mut self, from: u32, to: u32) -> Result<(), Errno> {
        self.slot(to)?;
        self.slot(from)?;
        if from != to {
            self.slots[to as usize] = self.slots[from as usize].take();
        }
        Ok(())
    }

    /// Gives rights up. One that is gone, or was never there, cannot be had back.
    fn set_rights(&mut self, fd: u32, base: u64, inheriting: u64) -> Result<(), Errno> {
        let slot = self.slot(fd)?;
        if base & !slot.rights.base != 0 || inheriting & !slot.rights.inheriting != 0 {
            return Err(Errno::Notcapable);
        }
        slot.rights = Rights { base, inheriting };
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
                let flags = flags_of(flags)?;
                match guest.descriptors.get(fd)? {
                    Descriptor::Directory(_) => return Err(Errno::Badf),
                    _ => guest.descriptors.with(fd, rights::FD_FDSTAT_SET_FLAGS)?,
                };
                if let Descriptor::File(file) = guest.descriptors.get(fd)? {
                    file.flags = flags;
                }
                Ok(())
            })
        },
    )?;
    linker.func_wrap(
        SPACE,
        "fd_fdstat_set_rights",
        |mut caller: Caller<'_, Guest>, fd: u32, base: u64, inheriting: u64| {
            answer(&mut caller, |_, guest| guest.descriptors.set_rights(fd, base, inheriting))
        },
    )?;
    linker.func_wrap(SPACE, "fd_prestat_get", |mut caller: Caller<'_, Guest>, fd: u32, out: u32| {
        answer(&mut caller, |memory, guest| {
            let name = preopened(guest, fd)?;
            memory.put_u32(out, 0)?;
            memory.put_u32(out.checked_add(4).ok_or(Errno::Fault)?, name.len() as u32)
        })
    })?;
    linker.func_wrap(
        SPACE,
        "fd_prestat_dir_name",
        |mut caller: Caller<'_, Guest>, fd: u32, out: u32, cap: u32| {
            answer(&mut caller, |memory, guest| {
                let name = preopened(guest, fd)?;
                if (cap as usize) < name.len() {
                    return Err(Errno::Nametoolong);
                }
                memory.put(out, name)
            })
        },
    )?;
    Ok(())
}

/// The flags, if there are no others.
pub(super) fn flags_of(flags: u32) -> Result<u16, Errno> {
    u16::try_from(flags).ok().filter(|it| it & !fdflag::ALL == 0).ok_or(Errno::Inval)
}

/// The name that the guest was given the directory by.
fn preopened(guest: &mut Guest, fd: u32) -> Result<&'static [u8], Errno> {
    match guest.descriptors.get(fd)? {
        Descriptor::Directory(_) if fd == ROOT.0 => Ok(ROOT.1),
        Descriptor::Directory(directory) if fd == HERE.0 && directory.here => Ok(HERE.1),
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
    let Rights { base, inheriting } = guest.descriptors.rights(fd)?;
    let (kind, flags) = match guest.descriptors.get(fd)? {
        Descriptor::Stdin | Descriptor::Door(_) => (filetype::UNKNOWN, 0),
        Descriptor::Stdout => (stream(guest.streams.stdout.columns()), 0),
        Descriptor::Stderr => (stream(guest.streams.stderr.columns()), 0),
        Descriptor::Directory(_) => (filetype::DIRECTORY, 0),
        Descriptor::File(file) => (filetype::REGULAR_FILE, file.flags),
    };
    memory.put(out, &fdstat(kind, flags, base, inheriting))
}
