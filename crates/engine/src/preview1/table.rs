//! The table of open descriptors, what each may still do, and the calls that treat them all alike.
//!
//! A descriptor has the rights of its kind, less what the guest gave up for it or for the directory it was
//! opened through. The rights that `path_open` asks for only decide whether a file is read or written.

use std::sync::Arc;

use drydock_contract::{
    Cap, CapSet, Numbered,
    port::{OpenFile, TreePath},
};
use wasmtime::{Caller, Linker};

use super::{
    SPACE, answer,
    layout::{fdflag, fdstat, filetype, rights},
};
use crate::{
    guest::Guest,
    memory::Memory,
    wasi::{Descriptor, Door, Errno, OpenedDirectory, OpenedFile, Position, Web, working_directory},
};

/// Most descriptors open at once.
const OPEN_MAX: usize = 1024;
/// The directory a run starts with: the root of its own tree.
const ROOT: (u32, &[u8]) = (3, b"/");
/// The second one, for programs that know no working directory. It comes last because libc takes the last of
/// several that fit equally well (decision 0045).
const HERE: (u32, &[u8]) = (4, b".");

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
    /// Its `fdflags`.
    flags: u16,
}

impl Slot {
    fn new(descriptor: Descriptor, rights: Rights) -> Self {
        Self { descriptor, rights, flags: 0 }
    }

    /// Takes the flags, and what of them a file does. Only files have any.
    fn set_flags(&mut self, flags: u16) {
        if let Descriptor::File(file) = &mut self.descriptor {
            (file.append, file.synced) = (flags & fdflag::APPEND != 0, flags & fdflag::SYNCED != 0);
            self.flags = flags;
        }
    }
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
        // The streams and at most two directories, and a file: more would miss the allocator's fast path for every run.
        let mut slots = Vec::with_capacity(if caps.contains(Cap::Vfs) { 6 } else { 3 });
        let streams = [Descriptor::Stdin, Descriptor::Stdout, Descriptor::Stderr];
        slots.extend(streams.map(|descriptor| Some(Slot::new(descriptor, Rights::STREAM))));
        if caps.contains(Cap::Vfs) {
            let here = here.and_then(working_directory).map(|path| (path, true));
            for (path, here) in [(TreePath::root(), false)].into_iter().chain(here) {
                let directory = OpenedDirectory { here, ..OpenedDirectory::new(path) };
                slots.push(Some(Slot::new(Descriptor::Directory(directory), Rights::ROOT)));
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
        let Slot { descriptor, rights, .. } = self.slot(fd)?;
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

    pub(super) fn web(&mut self, fd: u32, needed: u64) -> Result<&mut Web, Errno> {
        match self.with(fd, needed)? {
            Descriptor::Web(web) => Ok(web),
            _ => Err(Errno::Badf),
        }
    }

    /// A stream that was opened by its number.
    pub(crate) fn numbered(&mut self, fd: u32) -> Result<&Numbered, Errno> {
        match &self.slot(fd)?.descriptor {
            Descriptor::Numbered(_, stream) => Ok(stream),
            _ => Err(Errno::Badf),
        }
    }

    pub(super) fn directory(&mut self, fd: u32, needed: u64) -> Result<&mut OpenedDirectory, Errno> {
        let Slot { descriptor, rights, .. } = self.slot(fd)?;
        match descriptor {
            Descriptor::Directory(directory) => rights.has(needed).map(|()| directory),
            _ => Err(Errno::Notdir),
        }
    }

    /// A file that may be read or written, to share its position: the file, the position, and whether it is appended to.
    pub(crate) fn shared_file(
        &mut self,
        fd: u32,
        is_read: bool,
    ) -> Option<(Arc<dyn OpenFile>, Arc<Position>, bool)> {
        let needed = if is_read { rights::FD_READ } else { rights::FD_WRITE };
        let file = self.file(fd, needed).ok()?;
        Some((Arc::clone(&file.file), Arc::clone(&file.position), file.append))
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
    pub(super) fn insert(
        &mut self,
        descriptor: Descriptor,
        rights: Rights,
        flags: u16,
    ) -> Result<u32, Errno> {
        let free = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        if free >= OPEN_MAX {
            return Err(Errno::Mfile);
        }
        if free == self.slots.len() {
            self.slots.push(None);
        }
        let mut slot = Slot::new(descriptor, rights);
        slot.set_flags(flags);
        self.slots[free] = Some(slot);
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
                guest.descriptors.slot(fd)?.set_flags(flags);
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
    let Slot { descriptor, rights: Rights { base, inheriting }, flags } = guest.descriptors.slot(fd)?;
    let (base, inheriting, flags) = (*base, *inheriting, *flags);
    let kind = match descriptor {
        Descriptor::Stdin | Descriptor::Door(_) | Descriptor::Web(_) | Descriptor::Numbered(..) => {
            filetype::UNKNOWN
        }
        Descriptor::Stdout => stream(guest.streams.stdout.columns()),
        Descriptor::Stderr => stream(guest.streams.stderr.columns()),
        Descriptor::Directory(_) => filetype::DIRECTORY,
        Descriptor::File(_) => filetype::REGULAR_FILE,
    };
    memory.put(out, &fdstat(kind, flags, base, inheriting))
}
