//! A directory of the host as a tree of files, to look at or to write into.
//!
//! `..`, absolute paths and symbolic links lead nowhere outside, whatever other processes do to the
//! directory meanwhile (see [`place`]). An absolute link starts at this directory. Pipes, sockets
//! and devices are refused. Names and targets that are not UTF-8 are escaped (decision 0029).
//!
//! `changed` times are the host's own; the other times are the ones it is told.

mod fact;
mod handle;
mod install;
mod links;
mod place;

pub(crate) use install::Installed;
pub use links::Links;
pub(crate) use links::stays_inside;

use std::{fmt, io, path::Path, sync::Arc};

use drydock_contract::{
    Meter, Timestamp,
    port::{
        DirEntry, FileError, FileKind, FileLimit, FileResult, FileTimes, Files, Follow, Interrupt, Mode,
        OpenFile, OpenHow, Stat, TreePath,
    },
};
use parking_lot::Mutex;
use rustix::fs::{self, AtFlags, FileType, OFlags};

use fact::{Sys as _, raw};
use handle::{Handle, Shared};
use place::{Dir, Place, Rooted};

use crate::{
    DEPTH_MAX, Quota,
    tree::{self, Last, Node, Opening},
};

/// The most names of one directory that are shown.
const ENTRIES_MAX: usize = 1 << 20;
/// How often an open is tried again when someone else makes and removes the file meanwhile.
const TRIES_MAX: usize = 16;

/// What may be done to a host directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Look.
    ReadOnly,
    /// Look and change.
    ReadWrite,
}

/// A directory of the host.
pub struct HostDir {
    root: Arc<Dir>,
    access: Access,
    links: Links,
    shared: Arc<Shared>,
    /// Asked by what takes long; see [`Files::until`].
    time_is_up: Option<Interrupt>,
}

impl HostDir {
    /// Opens it. The path is trusted, and followed; what lies below is neither.
    pub fn open(path: impl AsRef<Path>, access: Access) -> io::Result<Self> {
        Self::within(path, access, Quota::default())
    }

    /// The same, and what is made through it stays within a quota: bytes that files grow by and names
    /// that are made. What was there before does not count, and what others do to it neither.
    pub fn within(path: impl AsRef<Path>, access: Access, quota: Quota) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = fs::open(path.as_ref(), flags, fs::Mode::empty())?;
        let device = fs::fstat(&fd)?.st_dev;
        let (room, names) = (Meter::new(quota.bytes_max), Meter::new(quota.files_max));
        let shared = Shared { room, names, quota, device, growing: Mutex::new(()) };
        let root = Dir::root(fd);
        Ok(Self { root, access, links: Links::Inside, shared: Arc::new(shared), time_is_up: None })
    }

    /// The same directory, in which guests may make these links.
    #[must_use]
    pub fn with_links(self, links: Links) -> Self {
        Self { links, ..self }
    }

    /// Whether a link may lie in a directory.
    fn may_lie(&self, target: &str, dir: &Dir) -> FileResult<()> {
        let may = self.links == Links::Any || stays_inside(target, dir.depth);
        if may { Ok(()) } else { Err(FileError::Denied) }
    }

    fn tree(&self) -> Rooted<'_> {
        Rooted(&self.root)
    }

    fn writable(&self) -> FileResult<()> {
        if self.access == Access::ReadWrite { Ok(()) } else { Err(FileError::ReadOnly) }
    }

    /// Makes a name, if there may be one more.
    fn make<T>(&self, path: &TreePath, act: impl FnOnce() -> FileResult<T>) -> FileResult<T> {
        self.writable()?;
        if path.as_str().len() > self.shared.quota.path_bytes_max {
            return Err(FileError::Quota(FileLimit::PathBytes));
        }
        if !self.shared.names.try_hold(1) {
            return Err(FileError::Quota(FileLimit::Files));
        }
        act().inspect_err(|_| self.shared.names.release(1))
    }

    fn handle(&self, file: std::fs::File, how: OpenHow) -> Handle {
        let changeable = self.access == Access::ReadWrite;
        Handle { file, how, changeable, shared: Arc::clone(&self.shared) }
    }

    fn open_there(&self, place: &Place, how: OpenHow, now: Timestamp) -> FileResult<Handle> {
        if how.write {
            self.writable()?;
        }
        let mode = match (how.read, how.write) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            (_, false) => OFlags::RDONLY,
        };
        // Without NONBLOCK a pipe that took the file's place would make us wait for ever.
        let flags = mode | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = fs::openat(&place.dir.fd, &*raw(&place.name), flags, fs::Mode::empty()).sys()?;
        if FileType::from_raw_mode(fs::fstat(&fd).sys()?.st_mode) != FileType::RegularFile {
            return Err(FileError::Denied);
        }
        let handle = self.handle(fd.into(), how);
        if how.truncate {
            handle.set_len(0, now)?;
        }
        Ok(handle)
    }

    fn open_new(&self, dir: &Arc<Dir>, name: &str, how: OpenHow, now: Timestamp) -> FileResult<Handle> {
        let mode = if how.write { OFlags::RDWR } else { OFlags::RDONLY };
        let flags = mode | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // The host's own mask has no say: the guest's has had it.
        let fd = fs::openat(&dir.fd, &*raw(name), flags, fs::Mode::from_raw_mode(0o600)).sys()?;
        fs::fchmod(&fd, fact::mode(how.mode)).sys()?;
        fs::futimens(&fd, &fact::born(now)).sys()?;
        touch(dir, now)?;
        Ok(self.handle(fd.into(), how))
    }
}

impl fmt::Debug for HostDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostDir({:?}, {:?})", self.access, self.links)
    }
}

impl Files for HostDir {
    fn stat(&self, path: &TreePath, follow: Follow) -> FileResult<Stat> {
        let facts = match tree::node(&self.tree(), path, follow)? {
            Node::Dir(dir) => fs::fstat(&dir.fd).sys()?,
            Node::File(it) | Node::Link(it) => it.dir.stat(&it.name)?.ok_or(FileError::NotFound)?,
        };
        fact::stat(&facts, self.shared.device)
    }

    fn open(&self, path: &TreePath, how: OpenHow, now: Timestamp) -> FileResult<Arc<dyn OpenFile>> {
        for _ in 0..TRIES_MAX {
            let opened = match tree::for_open(&self.tree(), path, how)? {
                Opening::There(place) => self.open_there(&place, how, now),
                Opening::Make(dir, name) => self.make(path, || self.open_new(&dir, &name, how, now)),
            };
            match opened {
                // It came or went between our look and our step.
                Err(FileError::Exists) if !how.exclusive => {}
                Err(FileError::NotFound) if how.create => {}
                Ok(handle) => return Ok(Arc::new(handle)),
                Err(error) => return Err(error),
            }
        }
        Err(FileError::NotFound)
    }

    fn read_dir(&self, path: &TreePath) -> FileResult<Vec<DirEntry>> {
        let Node::Dir(dir) = tree::node(&self.tree(), path, Follow::Yes)? else {
            return Err(FileError::NotADirectory);
        };
        let mut entries = Vec::new();
        for entry in fs::Dir::read_from(&dir.fd).sys()? {
            let entry = entry.sys()?;
            let name = fact::name(entry.file_name().to_bytes());
            if matches!(&*name, "." | "..") {
                continue;
            }
            if entries.len() >= ENTRIES_MAX {
                return Err(FileError::TooBig);
            }
            let (kind, inode) = match entry.file_type() {
                // What is mounted there has another inode than the name does.
                FileType::Unknown | FileType::Directory => {
                    let Some(facts) = dir.stat(&name)? else { continue };
                    let Ok(it) = fact::stat(&facts, self.shared.device) else { continue };
                    (Some(it.kind), it.inode)
                }
                known => (fact::kind(known), entry.ino()),
            };
            entries.extend(kind.map(|kind| DirEntry { name: name.into_owned(), kind, inode }));
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn create_dir(&self, path: &TreePath, mode: Mode, now: Timestamp) -> FileResult<()> {
        let (dir, name) = tree::for_new(&self.tree(), path)?;
        self.writable()?;
        if dir.depth >= DEPTH_MAX.min(self.shared.quota.depth_max) {
            return Err(FileError::Quota(FileLimit::Depth));
        }
        self.make(path, || {
            fs::mkdirat(&dir.fd, &*raw(&name), fs::Mode::from_raw_mode(0o700)).sys()?;
            dir.enter(&name).and_then(|made| fs::fchmod(&made.fd, fact::mode(mode)).sys())
        })?;
        fs::utimensat(&dir.fd, &*raw(&name), &fact::born(now), AtFlags::SYMLINK_NOFOLLOW).sys()?;
        touch(&dir, now)
    }

    fn remove_dir(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let (dir, name, _) = tree::for_rmdir(&self.tree(), path)?;
        self.writable()?;
        fs::unlinkat(&dir.fd, &*raw(&name), AtFlags::REMOVEDIR).sys()?;
        self.shared.names.release(1);
        touch(&dir, now)
    }

    fn unlink(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let (dir, name, _) = tree::for_unlink(&self.tree(), path)?;
        self.writable()?;
        fs::unlinkat(&dir.fd, &*raw(&name), AtFlags::empty()).sys()?;
        self.shared.names.release(1);
        touch(&dir, now)
    }

    fn rename(&self, from: &TreePath, to: &TreePath, now: Timestamp) -> FileResult<()> {
        let old = tree::walk(&self.tree(), from, Last::Itself)?;
        if old.node.is_none() {
            return Err(FileError::NotFound);
        }
        let new = tree::walk(&self.tree(), to, Last::Itself)?;
        tree::can_move(from, &old, to, &new)?;
        self.writable()?;
        if to.as_str().len() > self.shared.quota.path_bytes_max {
            return Err(FileError::Quota(FileLimit::PathBytes));
        }
        if let (Links::Inside, Some(node)) = (self.links, &old.node) {
            links::check_move(node, old.parent.depth, new.parent.depth, self.time_is_up.as_ref())?;
        }
        // How deep the moved directory goes is not asked: walking it is bounded anyway.
        fs::renameat(&old.parent.fd, &*raw(&old.name), &new.parent.fd, &*raw(&new.name)).sys()?;
        touch(&old.parent, now)?;
        touch(&new.parent, now)
    }

    fn link(&self, from: &TreePath, follow: Follow, to: &TreePath, now: Timestamp) -> FileResult<()> {
        let place = match tree::node(&self.tree(), from, follow)? {
            Node::Dir(_) => return Err(FileError::Denied),
            Node::File(place) | Node::Link(place) => place,
        };
        let (dir, name) = tree::for_link(&self.tree(), to)?;
        if let Ok(target) = tree::Branches::target(&self.tree(), &place) {
            self.may_lie(&target, &dir)?;
        }
        let old = raw(&place.name);
        self.make(to, || fs::linkat(&place.dir.fd, &*old, &dir.fd, &*raw(&name), AtFlags::empty()).sys())?;
        touch(&dir, now)
    }

    fn symlink(&self, target: &str, path: &TreePath, now: Timestamp) -> FileResult<()> {
        tree::sayable(target)?;
        let (dir, name) = tree::for_link(&self.tree(), path)?;
        self.writable()?;
        self.may_lie(target, &dir)?;
        self.make(path, || fs::symlinkat(&*raw(target), &dir.fd, &*raw(&name)).sys())?;
        fs::utimensat(&dir.fd, &*raw(&name), &fact::born(now), AtFlags::SYMLINK_NOFOLLOW).sys()?;
        touch(&dir, now)
    }

    fn read_link(&self, path: &TreePath) -> FileResult<String> {
        tree::target(&self.tree(), path)
    }

    fn set_times(
        &self,
        path: &TreePath,
        follow: Follow,
        times: FileTimes,
        _now: Timestamp,
    ) -> FileResult<()> {
        let node = tree::node(&self.tree(), path, follow)?;
        self.writable()?;
        let times = fact::times(times);
        match node {
            Node::Dir(dir) => fs::futimens(&dir.fd, &times).sys(),
            Node::File(it) | Node::Link(it) => {
                fs::utimensat(&it.dir.fd, &*raw(&it.name), &times, AtFlags::SYMLINK_NOFOLLOW).sys()
            }
        }
    }

    fn set_mode(&self, path: &TreePath, follow: Follow, mode: Mode, _now: Timestamp) -> FileResult<()> {
        let node = tree::node(&self.tree(), path, follow)?;
        self.writable()?;
        match node {
            Node::Dir(dir) => fs::fchmod(&dir.fd, fact::mode(mode)).sys(),
            Node::Link(_) => Err(FileError::Unsupported),
            Node::File(it) => it.set_mode(fact::mode(mode)),
        }
    }

    fn trail(&self, path: &TreePath) -> Vec<FileKind> {
        tree::trail(&self.tree(), path)
    }

    fn until(&self, time_is_up: &Interrupt) -> Option<Arc<dyn Files>> {
        let (root, shared) = (Arc::clone(&self.root), Arc::clone(&self.shared));
        let time_is_up = Some(Arc::clone(time_is_up));
        Some(Arc::new(Self { root, shared, time_is_up, access: self.access, links: self.links }))
    }
}

fn touch(dir: &Dir, now: Timestamp) -> FileResult<()> {
    fs::futimens(&dir.fd, &fact::modified(now)).sys()
}

#[cfg(test)]
mod tests;
