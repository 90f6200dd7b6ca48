//! A directory of the host as a tree of files, to look at or to write into.
//!
//! `..`, absolute paths and symbolic links lead nowhere outside, whatever other processes do to the
//! directory meanwhile (see [`place`]). An absolute link starts at this directory. Pipes, sockets
//! and devices are refused, and names that are not UTF-8 are not shown.
//!
//! `changed` times are the host's own; the other times are the ones it is told.

mod fact;
mod handle;
mod held;
mod install;
mod place;

pub(crate) use install::Installed;

use std::{io, path::Path, sync::Arc};

use drydock_contract::{
    Meter, Timestamp,
    port::{
        DirEntry, FileError, FileKind, FileLimit, FileResult, FileTimes, Files, Follow, OpenFile, OpenHow,
        Stat, TreePath,
    },
};
use parking_lot::Mutex;
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};

use fact::Sys as _;
use handle::{Handle, Shared};
use held::Held;
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
#[derive(Debug)]
pub struct HostDir {
    root: Arc<Dir>,
    access: Access,
    shared: Arc<Shared>,
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
        let fd = fs::open(path.as_ref(), flags, Mode::empty())?;
        let device = fs::fstat(&fd)?.st_dev;
        let (room, names) = (Meter::new(quota.bytes_max), Meter::new(quota.files_max));
        let shared = Shared { room, names, quota, device, growing: Mutex::new(()) };
        Ok(Self { root: Dir::root(fd), access, shared: Arc::new(shared) })
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

    fn open_there(&self, place: &Place, how: OpenHow, now: Timestamp) -> FileResult<Handle> {
        if how.write {
            self.writable()?;
        }
        let held = Held::take()?;
        let mode = match (how.read, how.write) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            (_, false) => OFlags::RDONLY,
        };
        // Without NONBLOCK a pipe that took the file's place would make us wait for ever.
        let flags = mode | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = fs::openat(&place.dir.fd, place.name.as_str(), flags, Mode::empty()).sys()?;
        if FileType::from_raw_mode(fs::fstat(&fd).sys()?.st_mode) != FileType::RegularFile {
            return Err(FileError::Denied);
        }
        let handle = Handle { file: fd.into(), how, shared: Arc::clone(&self.shared), _held: held };
        if how.truncate {
            handle.set_len(0, now)?;
        }
        Ok(handle)
    }

    fn open_new(&self, dir: &Arc<Dir>, name: &str, how: OpenHow, now: Timestamp) -> FileResult<Handle> {
        let held = Held::take()?;
        let mode = if how.write { OFlags::RDWR } else { OFlags::RDONLY };
        let flags = mode | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = fs::openat(&dir.fd, name, flags, Mode::from_raw_mode(0o666)).sys()?;
        fs::futimens(&fd, &fact::born(now)).sys()?;
        touch(dir, now)?;
        Ok(Handle { file: fd.into(), how, shared: Arc::clone(&self.shared), _held: held })
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
            let Ok(name) = entry.file_name().to_str() else { continue };
            if matches!(name, "." | "..") {
                continue;
            }
            if entries.len() >= ENTRIES_MAX {
                return Err(FileError::TooBig);
            }
            let (kind, inode) = match entry.file_type() {
                // What is mounted there has another inode than the name does.
                FileType::Unknown | FileType::Directory => {
                    let Some(facts) = dir.stat(name)? else { continue };
                    let Ok(it) = fact::stat(&facts, self.shared.device) else { continue };
                    (Some(it.kind), it.inode)
                }
                known => (fact::kind(known), entry.ino()),
            };
            entries.extend(kind.map(|kind| DirEntry { name: name.to_owned(), kind, inode }));
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn create_dir(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let (dir, name) = tree::for_new(&self.tree(), path)?;
        self.writable()?;
        if dir.depth >= DEPTH_MAX.min(self.shared.quota.depth_max) {
            return Err(FileError::Quota(FileLimit::Depth));
        }
        self.make(path, || fs::mkdirat(&dir.fd, name.as_str(), Mode::from_raw_mode(0o777)).sys())?;
        fs::utimensat(&dir.fd, name.as_str(), &fact::born(now), AtFlags::SYMLINK_NOFOLLOW).sys()?;
        touch(&dir, now)
    }

    fn remove_dir(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let (dir, name, _) = tree::for_rmdir(&self.tree(), path)?;
        self.writable()?;
        fs::unlinkat(&dir.fd, name.as_str(), AtFlags::REMOVEDIR).sys()?;
        self.shared.names.release(1);
        touch(&dir, now)
    }

    fn unlink(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let (dir, name, _) = tree::for_unlink(&self.tree(), path)?;
        self.writable()?;
        fs::unlinkat(&dir.fd, name.as_str(), AtFlags::empty()).sys()?;
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
        // How deep the moved directory goes is not asked: walking it is bounded anyway.
        fs::renameat(&old.parent.fd, old.name.as_str(), &new.parent.fd, new.name.as_str()).sys()?;
        touch(&old.parent, now)?;
        touch(&new.parent, now)
    }

    fn link(&self, from: &TreePath, follow: Follow, to: &TreePath, now: Timestamp) -> FileResult<()> {
        let place = match tree::node(&self.tree(), from, follow)? {
            Node::Dir(_) => return Err(FileError::Denied),
            Node::File(place) | Node::Link(place) => place,
        };
        let (dir, name) = tree::for_link(&self.tree(), to)?;
        let old = place.name.as_str();
        self.make(to, || fs::linkat(&place.dir.fd, old, &dir.fd, name.as_str(), AtFlags::empty()).sys())?;
        touch(&dir, now)
    }

    fn symlink(&self, target: &str, path: &TreePath, now: Timestamp) -> FileResult<()> {
        tree::sayable(target)?;
        let (dir, name) = tree::for_link(&self.tree(), path)?;
        self.make(path, || fs::symlinkat(target, &dir.fd, name.as_str()).sys())?;
        fs::utimensat(&dir.fd, name.as_str(), &fact::born(now), AtFlags::SYMLINK_NOFOLLOW).sys()?;
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
                fs::utimensat(&it.dir.fd, it.name.as_str(), &times, AtFlags::SYMLINK_NOFOLLOW).sys()
            }
        }
    }

    fn trail(&self, path: &TreePath) -> Vec<FileKind> {
        tree::trail(&self.tree(), path)
    }
}

fn touch(dir: &Dir, now: Timestamp) -> FileResult<()> {
    fs::futimens(&dir.fd, &fact::modified(now)).sys()
}

#[cfg(test)]
mod tests;
