//! The handful of names in `/dev` that scripts take for granted. They are not in the tree: each leads
//! back to what the run holds already, or to nothing.

use std::sync::Arc;

use drydock_contract::{
    Numbered, StreamFile, Timestamp,
    port::{FileKind, FileResult, FileTimes, Mode, OpenFile, Stat, TreePath},
};
use parking_lot::Mutex;
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore as _, SeedableRng as _};

use super::{Descriptor, Door, Errno, OpenedFile, Opening, Web};
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
    /// The way to hosts out there of such a guest.
    Web,
    /// A stream that the run was given under this number.
    Numbered(u32),
}

/// Whether the path is a device's, granted or not.
pub(super) fn is_name(path: &TreePath) -> bool {
    by_name(path).is_some()
}

/// The device of that path, if the run has one there.
pub(super) fn named(guest: &Guest, path: &TreePath) -> Option<Device> {
    by_name(path).filter(|it| match it {
        Device::Door => guest.has_tools,
        Device::Web => guest.has_net,
        Device::Numbered(number) => numbered(guest, *number).is_some(),
        _ => true,
    })
}

fn by_name(path: &TreePath) -> Option<Device> {
    Some(match path.as_str().strip_prefix("dev/")? {
        "drydock" => Device::Door,
        "http" => Device::Web,
        "stdin" | "fd/0" => Device::Stdin,
        "stdout" | "fd/1" => Device::Stdout,
        "stderr" | "fd/2" => Device::Stderr,
        "null" => Device::Null,
        "zero" => Device::Zero,
        "random" | "urandom" => Device::Random,
        other => Device::Numbered(descriptor_number(other.strip_prefix("fd/")?)?),
    })
}

/// The number of a descriptor beyond the three, as it is written and no other way.
fn descriptor_number(digits: &str) -> Option<u32> {
    let is_plain = digits.bytes().all(|it| it.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|number| is_plain && *number > 2)
}

fn numbered(guest: &Guest, number: u32) -> Option<&Numbered> {
    let all = &guest.streams.numbered;
    all.binary_search_by_key(&number, |it| it.0).ok().map(|at| &all[at].1)
}

/// What tells the stream of a number from all files: no tree has so many.
const fn numbered_inode(number: u32) -> u64 {
    u64::MAX - 64 - number as u64
}

impl Device {
    /// Opens it for a run. Most of what has a number goes one way only.
    pub(super) fn open(self, guest: &mut Guest, how: Opening) -> Result<Descriptor, Errno> {
        let endless = match self {
            Self::Stdin => return Ok(Descriptor::Stdin),
            Self::Stdout => return Ok(Descriptor::Stdout),
            Self::Stderr => return Ok(Descriptor::Stderr),
            Self::Door => return Ok(Descriptor::Door(Door::default())),
            Self::Web => return Ok(Descriptor::Web(Web::default())),
            Self::Numbered(number) => {
                let stream = numbered(guest, number).ok_or(Errno::Noent)?;
                let is_its_way = (stream.is_read() || !how.read) && (stream.is_written() || !how.write);
                let opened = Descriptor::Numbered(number, stream.clone());
                return if is_its_way { Ok(opened) } else { Err(Errno::Acces) };
            }
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
        let inode = match self {
            Self::Stdin => u64::MAX,
            Self::Stdout => u64::MAX - 1,
            Self::Stderr => u64::MAX - 2,
            Self::Null => u64::MAX - 3,
            Self::Zero => u64::MAX - 4,
            Self::Random => u64::MAX - 5,
            Self::Door => u64::MAX - 6,
            Self::Web => u64::MAX - 7,
            Self::Numbered(number) => numbered_inode(number),
        };
        Stat {
            inode,
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

/// Which file a stream is that was opened by its number.
pub(crate) fn numbered_file(number: u32, stream: &Numbered) -> StreamFile {
    stream.file().unwrap_or(StreamFile { inode: numbered_inode(number), left: 0 })
}

/// The facts of `/dev/drydock` once it is open.
pub(crate) fn door_stat() -> Stat {
    Device::Door.stat()
}

/// The facts of `/dev/http` once it is open.
pub(crate) fn web_stat() -> Stat {
    Device::Web.stat()
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
