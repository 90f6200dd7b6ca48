//! Pipes with a name, as `mkfifo` makes them. In the tree each is a link that leads nowhere and says which pipe it is; so
//! nothing is asked about one unless a path leads nowhere, or ends at a link.

use std::sync::Arc;

use drydock_contract::{
    NamedPipes, OpenPipeError, PipeName, Ways,
    port::{FileKind, Files, Follow, Stat, TreePath},
};

use super::{Descriptor, Errno, Opening};
use crate::guest::Guest;

/// How many links may lead to one.
const HOPS_MAX: usize = 8;

/// The facts of a pipe at a path, and which it is.
pub(super) fn at(files: &dyn Files, path: &TreePath, follow: Follow) -> Option<(Stat, PipeName)> {
    let mut path = path.clone();
    for _ in 0..HOPS_MAX {
        let target = files.read_link(&path).ok()?;
        if let Some(name) = PipeName::of(&target) {
            let link = files.stat(&path, Follow::No).ok()?;
            return Some((Stat { kind: FileKind::File, mode: name.mode.of_pipe(), size: 0, ..link }, name));
        }
        if follow == Follow::No {
            return None;
        }
        path = match target.strip_prefix('/') {
            Some(rest) => TreePath::new(rest).ok()?,
            None => {
                let above = path.as_str().trim_end_matches('/').rsplit_once('/').map_or("", |it| it.0);
                TreePath::new(&format!("{above}/{target}")).ok()?
            }
        };
    }
    None
}

/// Opens it. Nobody waits for the other side here: the first byte does.
pub(super) fn open(guest: &Guest, name: PipeName, how: Opening) -> Result<Descriptor, Errno> {
    if how.create && how.exclusive {
        return Err(Errno::Exist);
    }
    if how.directory {
        return Err(Errno::Notdir);
    }
    let ways = match (how.read, how.write) {
        (true, true) => Ways::Both,
        (_, true) => Ways::Write,
        (_, false) => Ways::Read,
    };
    // Outside of a line there is nobody whom it could be a pipe to.
    let pipes = of(guest).ok_or(Errno::Acces)?;
    match pipes.open(name.id, ways) {
        Ok(stream) => Ok(Descriptor::Numbered(stream_number(name), stream)),
        Err(OpenPipeError::TooMany) => Err(Errno::Mfile),
        Err(OpenPipeError::OutOfMemory) => Err(Errno::FullBytes),
    }
}

/// A run has its line's; the shell of a line has them as the line's own.
fn of(guest: &Guest) -> Option<Arc<NamedPipes>> {
    let own = guest.streams.named.as_ref();
    own.or_else(|| guest.line.as_ref()?.named_pipes()).map(Arc::clone)
}

/// What tells it from other streams that are open.
const fn stream_number(name: PipeName) -> u32 {
    (name.id as u32) | (1 << 31)
}
