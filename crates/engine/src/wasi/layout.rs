//! The structs of preview 1 as bytes in guest memory.

use drydock_contract::{
    StreamFile, Timestamp,
    port::{FileKind, FileTimes, Mode, Stat},
};

use super::Errno;

/// `filetype` values.
pub(super) mod filetype {
    /// A stream that is no terminal.
    pub(in crate::wasi) const UNKNOWN: u8 = 0;
    /// A terminal: only the output that really is one, so that `ls` has columns there and nowhere else.
    pub(in crate::wasi) const CHARACTER_DEVICE: u8 = 2;
    pub(in crate::wasi) const DIRECTORY: u8 = 3;
    pub(in crate::wasi) const REGULAR_FILE: u8 = 4;
    pub(in crate::wasi) const SYMBOLIC_LINK: u8 = 7;
}

/// `rights` bits that decide how a file is opened, and sets of them that we report.
pub(super) mod rights {
    pub(in crate::wasi) const FD_READ: u64 = 1 << 1;
    pub(in crate::wasi) const FD_WRITE: u64 = 1 << 6;
    pub(in crate::wasi) const FD_ALLOCATE: u64 = 1 << 8;
    pub(in crate::wasi) const FILESTAT_SET_SIZE: u64 = 1 << 22;
    pub(in crate::wasi) const ALL: u64 = (1 << 30) - 1;
    /// What a stream has: no seeking.
    pub(in crate::wasi) const STREAM: u64 = FD_READ | FD_WRITE | 1 << 3 | 1 << 21 | 1 << 27;
}

/// `fdflags` bits.
pub(super) const FDFLAG_APPEND: u16 = 1;

pub(super) fn filetype_of(kind: FileKind) -> u8 {
    match kind {
        FileKind::File => filetype::REGULAR_FILE,
        FileKind::Directory => filetype::DIRECTORY,
        FileKind::Symlink => filetype::SYMBOLIC_LINK,
    }
}

/// The 64 bytes of a `filestat`.
pub(super) fn filestat(stat: &Stat) -> [u8; 64] {
    filestat_of(filetype_of(stat.kind), stat)
}

/// The same for a stream, which has no facts but its kind. One that is a file of the guest's tree
/// tells which, and what is left to read, so that `cat a >> a` can refuse; it stays a stream all the
/// same, because nobody can seek in it.
pub(super) fn stream_filestat(file: Option<StreamFile>) -> [u8; 64] {
    let zero = Timestamp(0);
    let nothing = Stat {
        inode: file.map_or(0, |it| it.inode),
        kind: FileKind::File,
        mode: Mode::FILE,
        links: 1,
        size: file.map_or(0, |it| it.left),
        accessed: zero,
        modified: zero,
        changed: zero,
    };
    filestat_of(filetype::UNKNOWN, &nothing)
}

fn filestat_of(filetype: u8, stat: &Stat) -> [u8; 64] {
    let mut bytes = [0; 64];
    let mut put = |at: usize, value: u64| bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    put(8, stat.inode);
    put(16, u64::from(filetype));
    put(24, stat.links);
    put(32, stat.size);
    put(40, stat.accessed.0);
    put(48, stat.modified.0);
    put(56, stat.changed.0);
    bytes
}

/// The 24 bytes of an `fdstat`.
pub(super) fn fdstat(filetype: u8, flags: u16, base: u64, inheriting: u64) -> [u8; 24] {
    let mut bytes = [0; 24];
    bytes[0] = filetype;
    bytes[2..4].copy_from_slice(&flags.to_le_bytes());
    bytes[8..16].copy_from_slice(&base.to_le_bytes());
    bytes[16..24].copy_from_slice(&inheriting.to_le_bytes());
    bytes
}

/// The times that `fstflags` asks to set.
pub(super) fn times(accessed: u64, modified: u64, flags: u32, now: Timestamp) -> Result<FileTimes, Errno> {
    let pick = |given: u32, current: u32, value: u64| match (flags & given != 0, flags & current != 0) {
        (true, true) => Err(Errno::Inval),
        (true, false) => Ok(Some(Timestamp(value))),
        (false, true) => Ok(Some(now)),
        (false, false) => Ok(None),
    };
    Ok(FileTimes { accessed: pick(1, 2, accessed)?, modified: pick(4, 8, modified)? })
}
