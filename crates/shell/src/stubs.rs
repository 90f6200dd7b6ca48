//! Places that every system has and this one does not: `/dev`, `/bin`, `/proc`.
//!
//! Scripts ask whether `/bin/sh` is there and where `/dev/null` is before they go on. The files of a line show such places to
//! commands (`embed/src/places.rs`); where they do not, the shell's own tests and globs answer for them: `/dev` has what
//! redirections can open, `/bin` the commands there are. What is a device only the shell says: the files have no word for it.

use std::{
    io,
    task::{Context, Poll},
};

use drydock_contract::{ByteSource, CallId, Source};

use crate::{builtin, state::Env};

/// What a redirection of the shell can open besides files.
const DEVICES: [&str; 8] = ["fd", "null", "random", "stderr", "stdin", "stdout", "urandom", "zero"];

/// Where commands are elsewhere.
const PROGRAMS: [&str; 2] = ["/bin", "/usr/bin"];

/// What stands at such a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stub {
    Directory,
    Device,
    Program,
}

impl Stub {
    /// The answer of `-f`, `-x` and the others.
    pub(crate) fn test(self, op: char) -> bool {
        match op {
            'e' | 'a' | 'r' => true,
            'd' => self == Self::Directory,
            'c' => self == Self::Device,
            'f' | 's' => self == Self::Program,
            'x' => self != Self::Device,
            'w' => self == Self::Device,
            _ => false,
        }
    }
}

impl Env {
    /// What stands at a path, as text from the root, that nothing of the tree is at.
    pub(crate) fn stub(&self, path: &str) -> Option<Stub> {
        match path {
            "/dev" | "/dev/fd" | "/proc" | "/proc/self" | "/usr" => return Some(Stub::Directory),
            path if PROGRAMS.contains(&path) => return Some(Stub::Directory),
            _ => {}
        }
        let (folder, name) = path.rsplit_once('/')?;
        match folder {
            "/dev" => DEVICES.contains(&name).then_some(Stub::Device),
            "/dev/fd" => name.parse().ok().and_then(|it| self.fds.get(it)).map(|_| Stub::Device),
            folder if PROGRAMS.contains(&folder) => {
                let known = !name.is_empty()
                    && (self.shared.door.has_command(name) || builtin::answered(name).is_some());
                known.then_some(Stub::Program)
            }
            _ => None,
        }
    }

    /// The names in such a directory, and which of them are directories.
    pub(crate) fn stub_names(&self, path: &str) -> Vec<(String, bool)> {
        match path {
            "/dev" => DEVICES.iter().map(|it| ((*it).to_owned(), *it == "fd")).collect(),
            "/usr" => vec![("bin".to_owned(), true)],
            "/proc" => vec![("self".to_owned(), true)],
            "/dev/fd" => self.fds.numbers().map(|it| (it.to_string(), false)).collect(),
            path if PROGRAMS.contains(&path) => {
                let answered = builtin::answered_names().map(str::to_owned);
                self.shared.door.command_names().into_iter().chain(answered).map(|it| (it, false)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What a redirection reads from a device that never ends.
    pub(crate) fn device(&self, path: &str) -> Option<Source> {
        let next = match path {
            "/dev/zero" => None,
            "/dev/random" | "/dev/urandom" => {
                Some(CallId(self.computed.seed).child(self.identity.origin.next()).0)
            }
            _ => return None,
        };
        Some(Source::Stream(Box::new(Endless { next })))
    }
}

/// Zeros, or numbers drawn from the shell's seed: a line that is run again gives the same.
struct Endless {
    next: Option<u64>,
}

impl ByteSource for Endless {
    fn poll_read(&mut self, _cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let Some(next) = &mut self.next else {
            buffer.fill(0);
            return Poll::Ready(Ok(buffer.len()));
        };
        for chunk in buffer.chunks_mut(8) {
            *next = CallId(*next).child(1).0;
            chunk.copy_from_slice(&next.to_le_bytes()[..chunk.len()]);
        }
        Poll::Ready(Ok(buffer.len()))
    }
}
