//! Putting whole files into a host directory: each is the old one or the new one at every moment,
//! whatever kills us. A temporary file beside it is written, synced and renamed over the name, and
//! then the directory is synced.

use std::{fs::File, os::unix::fs::FileExt as _, sync::Arc};

use drydock_contract::{
    Timestamp,
    port::{FileError, FileResult, Mode, OpenFile, TreePath},
};
use rustix::fs::{self, AtFlags, OFlags};

use super::{
    HostDir,
    fact::{self, Sys as _, raw},
    place::Dir,
};
use crate::tree::{self, Last, Node};

/// How much is copied at once.
const COPY_BYTES: usize = 1 << 18;

/// What is to stand under a name.
pub(crate) enum Installed<'a> {
    /// With these permissions, or else those of the file that is replaced. Setuid, setgid and sticky are
    /// never kept: the content is a guest's.
    File {
        source: &'a dyn OpenFile,
        modified: Timestamp,
        mode: Option<Mode>,
    },
    Link {
        target: &'a str,
    },
}

impl HostDir {
    /// Puts it there under `path`, replacing a file or a link, by way of `temporary` beside it.
    pub(crate) fn install(&self, path: &TreePath, what: &Installed<'_>, temporary: &str) -> FileResult<()> {
        let spot = tree::walk(&self.tree(), path, Last::Itself)?;
        self.writable()?;
        if matches!(spot.node, Some(Node::Dir(_))) {
            return Err(FileError::IsADirectory);
        }
        let dir = &spot.parent;
        discard(dir, temporary)?;
        let prepared = match what {
            Installed::File { source, modified, mode } => {
                let there = dir.stat(&spot.name)?.filter(|_| matches!(spot.node, Some(Node::File(_))));
                let kept = there.map_or(Mode::FILE, |it| Mode::new(it.st_mode as _));
                write(dir, temporary, *source, *modified, mode.unwrap_or(kept))
            }
            Installed::Link { target } => fs::symlinkat(&*raw(target), &dir.fd, temporary).sys(),
        };
        let done = prepared
            .and_then(|()| fs::renameat(&dir.fd, temporary, &dir.fd, &*raw(&spot.name)).sys())
            .and_then(|()| fs::fsync(&dir.fd).sys());
        if done.is_err() {
            let _ = discard(dir, temporary);
        }
        done
    }

    /// Removes what a killed install may have left beside `path`.
    pub(crate) fn tidy(&self, path: &TreePath, temporary: &str) -> FileResult<()> {
        match tree::walk(&self.tree(), path, Last::Itself) {
            Ok(spot) => discard(&spot.parent, temporary),
            Err(FileError::NotFound | FileError::NotADirectory) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn write(
    dir: &Arc<Dir>,
    name: &str,
    source: &dyn OpenFile,
    modified: Timestamp,
    mode: Mode,
) -> FileResult<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file: File = fs::openat(&dir.fd, name, flags, fs::Mode::from_raw_mode(0o600)).sys()?.into();
    let (mut at, mut buffer, size) = (0, vec![0; COPY_BYTES], source.stat()?.size);
    // Holes stay holes.
    file.set_len(size).sys()?;
    while at < size {
        at = source.next_data(at)?.clamp(at, size);
        let count = source.read_at(at, &mut buffer)?;
        if count == 0 {
            break;
        }
        file.write_all_at(&buffer[..count], at).sys()?;
        at += count as u64;
    }
    fs::fchmod(&file, fact::mode(mode)).sys()?;
    fs::futimens(&file, &fact::modified(modified)).sys()?;
    file.sync_all().sys()
}

fn discard(dir: &Arc<Dir>, name: &str) -> FileResult<()> {
    match fs::unlinkat(&dir.fd, name, AtFlags::empty()).sys() {
        Err(FileError::NotFound) => Ok(()),
        done => done,
    }
}
