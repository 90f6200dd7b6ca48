//! The handful of names in `/dev` that scripts take for granted. They are not in the tree: each leads
//! back to what the run holds already, or to nothing.

use std::sync::Arc;

use drydock_contract::{
    Timestamp,
    port::{FileKind, FileResult, FileTimes, Mode, OpenFile, Stat, TreePath},
};
use parking_lot::Mutex;
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore as _, SeedableRng as _};

use super::{Descriptor, Door, Errno, OpenedFile};
use crate::guest::Guest;

/// What a name in `/dev` stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Device {
    Stdin,
    Stdout,
    Stderr,
    Null,
    Zero,
    Random,
    /// The way to the tools of a guest that can only speak WASI.
    Door,
}

/// Whether the path is a device's, granted or not.
pub(super) fn is_name(path: &TreePath) -> bool {
    by_name(path).is_some()
}

/// The device of that path, if the run has one there.
pub(super) fn named(guest: &Guest, path: &TreePath) -> Option<Device> {
    by_name(path).filter(|it| *it != Device::Door || guest.has_tools)
}

fn by_name(path: &TreePath) -> Option<Device> {
    Some(match path.as_str().strip_prefix("dev/")? {
        "drydock" => Device::Door,
        "stdin" | "fd/0" => Device::Stdin,
        "stdout" | "fd/1" => Device::Stdout,
        "stderr" | "fd/2" => Device::Stderr,
        "null" => Device::Null,
        "zero" => Device::Zero,
        "random" | "urandom" => Device::Random,
        _ => return None,
    })
}

impl Device {
    /// Opens it for a run.
    pub(super) fn open(self, guest: &mut Guest) -> Result<Descriptor, Errno> {
        let endless = match self {
            Self::Stdin => return Ok(Descriptor::Stdin),
            Self::Stdout => return Ok(Descriptor::Stdout),
            Self::Stderr => return Ok(Descriptor::Stderr),
            Self::Door => return Ok(Descriptor::Door(Door::default())),
            Self::Null => Endless::Nothing,
            Self::Zero => Endless::Zeros,
            Self::Random => {
                // A stream of its own, that depends on nothing but the run's.
                let mut seed = [0; 32];
                guest.random.fill(&mut seed).then_some(()).ok_or(Errno::Io)?;
                Endless::Random(Mutex::new(Box::new(ChaCha20Rng::from_seed(seed))))
            }
        };
        Ok(Descriptor::File(OpenedFile::new(Arc::new(endless))))
    }

    /// Its facts: an empty file.
    pub(super) fn stat(self) -> Stat {
        Stat {
            inode: u64::MAX - self as u64,
            kind: FileKind::File,
            mode: Mode::new(0o666),
            links: 1,
            size: 0,
            accessed: Timestamp(0),
            modified: Timestamp(0),
            changed: Timestamp(0),
        }
    }
}

/// The facts of `/dev/drydock` once it is open.
pub(crate) fn door_stat() -> Stat {
    Device::Door.stat()
}

/// A file that swallows everything and gives nothing, or the same for ever.
enum Endless {
    Nothing,
    Zeros,
    Random(Mutex<Box<ChaCha20Rng>>),
}

impl OpenFile for Endless {
    fn read_at(&self, _: u64, buffer: &mut [u8]) -> FileResult<usize> {
        match self {
            Self::Nothing => return Ok(0),
            Self::Zeros => buffer.fill(0),
            Self::Random(stream) => stream.lock().fill_bytes(buffer),
        }
        Ok(buffer.len())
    }

    fn write_at(&self, _: u64, _: &[u8], _: Timestamp) -> FileResult<()> {
        Ok(())
    }

    fn append(&self, _: &[u8], _: Timestamp) -> FileResult<u64> {
        Ok(0)
    }

    fn set_len(&self, _: u64, _: Timestamp) -> FileResult<()> {
        Ok(())
    }

    fn stat(&self) -> FileResult<Stat> {
        Ok(Device::Null.stat())
    }

    fn set_times(&self, _: FileTimes, _: Timestamp) -> FileResult<()> {
        Ok(())
    }

    fn set_mode(&self, _: Mode, _: Timestamp) -> FileResult<()> {
        Ok(())
    }

    fn sync(&self) -> FileResult<()> {
        Ok(())
    }
}
