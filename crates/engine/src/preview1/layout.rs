//! The structs of preview 1 as bytes in guest memory.

use drydock_contract::{
    StreamFile, Timestamp,
    port::{FileKind, FileTimes, Mode, Stat},
};

use crate::wasi::Errno;

/// `filetype` values.
pub(super) mod filetype {
    /// A stream that is no terminal.
    pub(in crate::preview1) const UNKNOWN: u8 = 0;
    /// A terminal: only the output that really is one, so that `ls` has columns there and nowhere else.
    pub(in crate::preview1) const CHARACTER_DEVICE: u8 = 2;
    pub(in crate::preview1) const DIRECTORY: u8 = 3;
    pub(in crate::preview1) const REGULAR_FILE: u8 = 4;
    pub(in crate::preview1) const SYMBOLIC_LINK: u8 = 7;
}

/// `rights` bits, and the sets of them that each kind of descriptor has: what it can really do.
pub(super) mod rights {
    macro_rules! rights {
        ($($name:ident $bit:literal,)*) => { $(pub(in crate::preview1) const $name: u64 = 1 << $bit;)* };
    }

    rights! {
        FD_DATASYNC 0, FD_READ 1, FD_SEEK 2, FD_FDSTAT_SET_FLAGS 3, FD_SYNC 4, FD_TELL 5, FD_WRITE 6, FD_ADVISE 7,
        FD_ALLOCATE 8, PATH_CREATE_DIRECTORY 9, PATH_CREATE_FILE 10, PATH_LINK_SOURCE 11, PATH_LINK_TARGET 12,
        PATH_OPEN 13, FD_READDIR 14, PATH_READLINK 15, PATH_RENAME_SOURCE 16, PATH_RENAME_TARGET 17,
        PATH_FILESTAT_GET 18, PATH_FILESTAT_SET_SIZE 19, PATH_FILESTAT_SET_TIMES 20, FD_FILESTAT_GET 21,
        FD_FILESTAT_SET_SIZE 22, FD_FILESTAT_SET_TIMES 23, PATH_SYMLINK 24, PATH_REMOVE_DIRECTORY 25,
        PATH_UNLINK_FILE 26, POLL_FD_READWRITE 27,
    }

    /// What opens a file to be written.
    pub(in crate::preview1) const WRITING: u64 = FD_WRITE | FD_ALLOCATE | FD_FILESTAT_SET_SIZE;
    /// What makes a name.
    pub(in crate::preview1) const MAKING: u64 =
        PATH_CREATE_DIRECTORY | PATH_CREATE_FILE | PATH_RENAME_TARGET | PATH_LINK_TARGET | PATH_SYMLINK;
    /// What a stream has: no seeking.
    pub(in crate::preview1) const STREAM: u64 =
        FD_READ | FD_WRITE | FD_FDSTAT_SET_FLAGS | FD_FILESTAT_GET | POLL_FD_READWRITE;
    /// What a file has that was opened to be read and written.
    pub(in crate::preview1) const FILE: u64 = FD_DATASYNC
        | FD_READ
        | FD_SEEK
        | FD_FDSTAT_SET_FLAGS
        | FD_SYNC
        | FD_TELL
        | WRITING
        | FD_ADVISE
        | FD_FILESTAT_GET
        | FD_FILESTAT_SET_TIMES
        | POLL_FD_READWRITE;
    /// What a directory has: nothing that wants bytes of its own.
    pub(in crate::preview1) const DIRECTORY: u64 = FD_DATASYNC
        | FD_SYNC
        | PATH_CREATE_DIRECTORY
        | PATH_CREATE_FILE
        | PATH_LINK_SOURCE
        | PATH_LINK_TARGET
        | PATH_OPEN
        | FD_READDIR
        | PATH_READLINK
        | PATH_RENAME_SOURCE
        | PATH_RENAME_TARGET
        | PATH_FILESTAT_GET
        | PATH_FILESTAT_SET_SIZE
        | PATH_FILESTAT_SET_TIMES
        | FD_FILESTAT_GET
        | FD_FILESTAT_SET_TIMES
        | PATH_SYMLINK
        | PATH_REMOVE_DIRECTORY
        | PATH_UNLINK_FILE;
    /// What may be opened through a directory.
    pub(in crate::preview1) const INHERITED: u64 = DIRECTORY | FILE;
}

/// `fdflags` bits.
pub(super) mod fdflag {
    pub(in crate::preview1) const APPEND: u16 = 1;
    const DSYNC: u16 = 2;
    const NONBLOCK: u16 = 4;
    const RSYNC: u16 = 8;
    const SYNC: u16 = 16;
    /// What is written is on its way to the disk before the call returns.
    pub(in crate::preview1) const SYNCED: u16 = DSYNC | SYNC;
    pub(in crate::preview1) const ALL: u16 = APPEND | DSYNC | NONBLOCK | RSYNC | SYNC;
}

pub(super) fn filetype_of(kind: FileKind) -> u8 {
    match kind {
        FileKind::File => filetype::REGULAR_FILE,
        FileKind::Directory => filetype::DIRECTORY,
        FileKind::Symlink => filetype::SYMBOLIC_LINK,
    }
}

/// The 64 bytes of a `filestat`.
pub(super) fn filestat(stat: &Stat) -> [u8; 64] {
    // Preview 1 has no word for a pipe with a name, and nothing else that a path leads to is unknown.
    let kind = if stat.mode.is_pipe() { filetype::UNKNOWN } else { filetype_of(stat.kind) };
    filestat_of(kind, stat)
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
