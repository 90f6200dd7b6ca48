//! Directories of the host by handle. A name is looked up in the directory that was opened, one name
//! at a time and never through a link, and `..` goes back to the handle we came from: the kernel is
//! never asked to resolve a path, so nothing that happens to the directory meanwhile leads outside.

use std::{os::fd::AsRawFd as _, sync::Arc};

use drydock_contract::port::{FileError, FileLimit, FileResult};
use rustix::{
    fd::OwnedFd,
    fs::{self, AtFlags, FileType, Mode, OFlags},
};

use super::fact::{self, Sys as _, raw};
use crate::{
    DEPTH_MAX,
    tree::{Branches, Node},
};

/// An open directory, and the ones it was reached through.
#[derive(Debug)]
pub(super) struct Dir {
    pub(super) fd: OwnedFd,
    parent: Option<Arc<Dir>>,
    pub(super) depth: usize,
}

/// A name in an open directory.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) dir: Arc<Dir>,
    pub(super) name: String,
}

impl Place {
    /// Sets the bits of the regular file that has this name now, whatever the bits let us do with it.
    pub(super) fn set_mode(&self, mode: Mode) -> FileResult<()> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = fs::openat(&self.dir.fd, &*raw(&self.name), flags, Mode::empty()).sys()?;
        if FileType::from_raw_mode(fs::fstat(&fd).sys()?.st_mode) != FileType::RegularFile {
            return Err(FileError::Denied);
        }
        // A handle that only names the file cannot be told its bits; its other name can.
        let name = format!("/proc/self/fd/{}", fd.as_raw_fd());
        fs::chmodat(fs::CWD, name, mode, AtFlags::empty()).sys()
    }
}

impl Dir {
    pub(super) fn root(fd: OwnedFd) -> Arc<Self> {
        Arc::new(Self { fd, parent: None, depth: 0 })
    }

    pub(super) fn stat(&self, name: &str) -> FileResult<Option<fs::Stat>> {
        match fs::statat(&self.fd, &*raw(name), AtFlags::SYMLINK_NOFOLLOW) {
            Err(rustix::io::Errno::NOENT) => Ok(None),
            found => found.sys().map(Some),
        }
    }

    /// Opens a directory below this one.
    pub(super) fn enter(self: &Arc<Self>, name: &str) -> FileResult<Arc<Self>> {
        // Each level is an open handle while a path is walked.
        if self.depth >= DEPTH_MAX {
            return Err(FileError::Quota(FileLimit::Depth));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = fs::openat(&self.fd, &*raw(name), flags, Mode::empty()).sys()?;
        Ok(Arc::new(Self { fd, parent: Some(Arc::clone(self)), depth: self.depth + 1 }))
    }
}

/// A host directory, for walking.
pub(super) struct Rooted<'a>(pub(super) &'a Arc<Dir>);

impl Branches for Rooted<'_> {
    type Dir = Arc<Dir>;
    type Leaf = Place;

    fn root(&self) -> FileResult<Arc<Dir>> {
        Ok(Arc::clone(self.0))
    }

    fn parent(&self, dir: &Arc<Dir>) -> FileResult<Arc<Dir>> {
        Ok(Arc::clone(dir.parent.as_ref().unwrap_or(dir)))
    }

    fn look(&self, dir: &Arc<Dir>, name: &str) -> FileResult<Option<Node<Arc<Dir>, Place>>> {
        let Some(facts) = dir.stat(name)? else { return Ok(None) };
        let place = || Place { dir: Arc::clone(dir), name: name.to_owned() };
        match FileType::from_raw_mode(facts.st_mode) {
            FileType::Directory => dir.enter(name).map(|it| Some(Node::Dir(it))),
            FileType::RegularFile => Ok(Some(Node::File(place()))),
            FileType::Symlink => Ok(Some(Node::Link(place()))),
            // A pipe, a socket or a device is no file of a guest's.
            _ => Err(FileError::Denied),
        }
    }

    fn target(&self, link: &Place) -> FileResult<String> {
        let said = match fs::readlinkat(&link.dir.fd, &*raw(&link.name), Vec::new()) {
            // It was a link a moment ago.
            Err(rustix::io::Errno::INVAL) => return Err(FileError::NotFound),
            said => said.sys()?,
        };
        Ok(fact::name(said.as_bytes()).into_owned())
    }
}
