//! The host's facts and errors in the port's words.

use std::borrow::Cow;

use drydock_contract::{
    Timestamp,
    port::{FileError, FileKind, FileResult, FileTimes, Mode, Stat},
    text,
};
use rustix::{
    fs::{self, FileType, Timespec, Timestamps, UTIME_OMIT},
    io::Errno,
};

pub(super) trait Sys<T> {
    fn sys(self) -> FileResult<T>;
}

impl<T> Sys<T> for rustix::io::Result<T> {
    fn sys(self) -> FileResult<T> {
        self.map_err(error)
    }
}

impl<T> Sys<T> for std::io::Result<T> {
    fn sys(self) -> FileResult<T> {
        self.map_err(|it| {
            it.raw_os_error().map_or(FileError::Io, |code| error(Errno::from_raw_os_error(code)))
        })
    }
}

fn error(errno: Errno) -> FileError {
    match errno {
        Errno::NOENT => FileError::NotFound,
        Errno::EXIST => FileError::Exists,
        Errno::NOTDIR => FileError::NotADirectory,
        Errno::ISDIR => FileError::IsADirectory,
        Errno::NOTEMPTY => FileError::NotEmpty,
        // A pipe without a reader, a device without a driver.
        Errno::ACCESS | Errno::PERM | Errno::NXIO | Errno::NODEV | Errno::BUSY | Errno::TXTBSY => {
            FileError::Denied
        }
        Errno::ROFS => FileError::ReadOnly,
        Errno::NOSPC | Errno::DQUOT | Errno::MLINK | Errno::NFILE | Errno::MFILE => FileError::NoSpace,
        Errno::FBIG | Errno::OVERFLOW => FileError::TooBig,
        Errno::NAMETOOLONG => FileError::NameTooLong,
        Errno::LOOP => FileError::Loop,
        Errno::INVAL => FileError::Invalid,
        Errno::OPNOTSUPP | Errno::NOSYS => FileError::Unsupported,
        Errno::XDEV => FileError::CrossDevice,
        _ => FileError::Io,
    }
}

/// A name or a target of the host's as the port has it.
pub(super) fn name(bytes: &[u8]) -> Cow<'_, str> {
    text::from_bytes(bytes)
}

/// A name or a target as the host has it.
pub(super) fn raw(name: &str) -> Cow<'_, [u8]> {
    text::to_bytes(name)
}

/// Facts of the host as a guest sees them. A special file has none.
#[allow(clippy::unnecessary_cast)] // Not every system has these numbers in 64 bits.
pub(super) fn stat(facts: &fs::Stat, root_device: u64) -> FileResult<Stat> {
    let kind = kind(FileType::from_raw_mode(facts.st_mode)).ok_or(FileError::Denied)?;
    let at = |seconds: i64, nanos: u64| {
        Timestamp(u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000_000).saturating_add(nanos))
    };
    Ok(Stat {
        // Other file systems may be mounted below; their inodes are not ours.
        inode: facts.st_ino ^ (facts.st_dev ^ root_device).rotate_left(40),
        kind,
        mode: if kind == FileKind::Symlink { Mode::LINK } else { Mode::new(facts.st_mode as u32) },
        links: facts.st_nlink as u64,
        size: u64::try_from(facts.st_size).unwrap_or(0),
        accessed: at(facts.st_atime, facts.st_atime_nsec as u64),
        modified: at(facts.st_mtime, facts.st_mtime_nsec as u64),
        changed: at(facts.st_ctime, facts.st_ctime_nsec as u64),
    })
}

/// The bits to set on the host: never setuid, setgid or sticky, whatever a guest asks for.
pub(super) fn mode(mode: Mode) -> fs::Mode {
    fs::Mode::from_raw_mode(mode.plain().bits() as _)
}

pub(super) fn kind(kind: FileType) -> Option<FileKind> {
    match kind {
        FileType::RegularFile => Some(FileKind::File),
        FileType::Directory => Some(FileKind::Directory),
        FileType::Symlink => Some(FileKind::Symlink),
        _ => None,
    }
}

pub(super) fn times(times: FileTimes) -> Timestamps {
    let at = |it: Option<Timestamp>| match it {
        None => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        Some(Timestamp(nanos)) => Timespec {
            tv_sec: i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: (nanos % 1_000_000_000) as _,
        },
    };
    Timestamps { last_access: at(times.accessed), last_modification: at(times.modified) }
}

pub(super) fn modified(now: Timestamp) -> Timestamps {
    times(FileTimes { accessed: None, modified: Some(now) })
}

pub(super) fn born(now: Timestamp) -> Timestamps {
    times(FileTimes { accessed: Some(now), modified: Some(now) })
}
