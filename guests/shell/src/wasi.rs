//! What the shell needs of WASI preview 1, without libc between: files below the one directory it is given.

use drydock_abi::shell::LAST_LIMIT;
use drydock_contract::Timestamp;
use drydock_contract::port::{FileError, FileKind, FileLimit, FileResult, Follow, Mode, OpenHow, Stat};

/// The directory that the guest starts with: the root of the session's files.
pub(crate) const ROOT: u32 = 3;

const REALTIME: u32 = 0;
const SYMLINK_FOLLOW: u32 = 1;
const APPEND: u32 = 1;
const CREATE: u32 = 1;
const DIRECTORY: u32 = 2;
const EXCLUSIVE: u32 = 4;
const TRUNCATE: u32 = 8;
const READ_RIGHTS: u64 = 1 << 1 | 1 << 2 | 1 << 5 | 1 << 21;
const WRITE_RIGHTS: u64 = 1 << 6 | 1 << 2 | 1 << 5 | 1 << 21;
const LIST_RIGHTS: u64 = 1 << 14 | 1 << 21;
const FILESTAT_BYTES: usize = 64;

#[repr(C)]
struct Vector {
    at: *const u8,
    count: usize,
}

#[link(wasm_import_module = "wasi_snapshot_preview1")]
unsafe extern "C" {
    fn clock_time_get(clock: u32, precision: u64, out: *mut u64) -> i32;
    fn path_filestat_get(fd: u32, flags: u32, path: *const u8, count: usize, out: *mut u8) -> i32;
    fn fd_filestat_get(fd: u32, out: *mut u8) -> i32;
    fn path_open(
        fd: u32,
        flags: u32,
        path: *const u8,
        count: usize,
        how: u32,
        rights: u64,
        inherited: u64,
        fdflags: u32,
        out: *mut u32,
    ) -> i32;
    fn fd_readdir(fd: u32, at: *mut u8, count: usize, cookie: u64, used: *mut usize) -> i32;
    fn path_readlink(
        fd: u32,
        path: *const u8,
        count: usize,
        at: *mut u8,
        cap: usize,
        used: *mut usize,
    ) -> i32;
    fn path_unlink_file(fd: u32, path: *const u8, count: usize) -> i32;
    fn fd_read(fd: u32, vectors: *const Vector, count: usize, got: *mut usize) -> i32;
    fn fd_write(fd: u32, vectors: *const Vector, count: usize, got: *mut usize) -> i32;
    fn fd_seek(fd: u32, by: i64, whence: u32, out: *mut u64) -> i32;
    fn fd_close(fd: u32) -> i32;
}

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    fn host_mode_get(fd: u32, path: *const u8, count: usize, follow: u32, out: *mut u32) -> i32;
    fn host_umask(mask: i32) -> i32;
}

/// Nanoseconds since the epoch.
pub(crate) fn now() -> u64 {
    let mut now = 0;
    // SAFETY: the place for the answer lives until after the call.
    unsafe { clock_time_get(REALTIME, 1_000, &raw mut now) };
    now
}

fn checked(errno: i32) -> FileResult<()> {
    Err(match errno {
        0 => return Ok(()),
        2 | 63 | 76 => FileError::Denied,
        20 => FileError::Exists,
        22 | 33 | 37 | 51 => limited(errno),
        27 => FileError::Interrupted,
        28 => FileError::Invalid,
        31 => FileError::IsADirectory,
        32 => FileError::Loop,
        44 => FileError::NotFound,
        54 => FileError::NotADirectory,
        55 => FileError::NotEmpty,
        58 => FileError::Unsupported,
        69 => FileError::ReadOnly,
        75 => FileError::CrossDevice,
        _ => FileError::Io,
    })
}

/// These have several reasons behind one number; the host knows which limit it was, if it was one.
fn limited(errno: i32) -> FileError {
    let number = crate::host::ask(LAST_LIMIT, &[], &mut []);
    let limit = usize::try_from(number).ok().and_then(|it| FileLimit::ALL.get(it));
    match (limit, errno) {
        (Some(FileLimit::Disk), _) => FileError::NoSpace,
        (Some(limit), _) => FileError::Quota(*limit),
        (None, 22) => FileError::TooBig,
        (None, 37) => FileError::NameTooLong,
        (None, 51) => FileError::NoSpace,
        (None, _) => FileError::Io,
    }
}

fn follow_flag(follow: Follow) -> u32 {
    match follow {
        Follow::Yes => SYMLINK_FOLLOW,
        Follow::No => 0,
    }
}

pub(crate) fn stat(path: &[u8], follow: Follow) -> FileResult<Stat> {
    let (mut facts, mut mode) = ([0; FILESTAT_BYTES], 0);
    // SAFETY: path and places for the answers live until after the calls, and are as long as the host takes them for.
    unsafe {
        let flags = follow_flag(follow);
        checked(path_filestat_get(ROOT, flags, path.as_ptr(), path.len(), facts.as_mut_ptr()))?;
        checked(host_mode_get(ROOT, path.as_ptr(), path.len(), flags, &raw mut mode))?;
    }
    Ok(read_stat(&facts, mode))
}

pub(crate) fn stat_open(fd: u32) -> FileResult<Stat> {
    let (mut facts, mut mode) = ([0; FILESTAT_BYTES], 0);
    // SAFETY: the places for the answers live until after the calls; an empty path is not read.
    unsafe {
        checked(fd_filestat_get(fd, facts.as_mut_ptr()))?;
        checked(host_mode_get(fd, std::ptr::null(), 0, 1, &raw mut mode))?;
    }
    Ok(read_stat(&facts, mode))
}

fn read_stat(facts: &[u8; FILESTAT_BYTES], mode: u32) -> Stat {
    let word = |at: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&facts[at..at + 8]);
        u64::from_le_bytes(bytes)
    };
    Stat {
        inode: word(8),
        kind: kind(facts[16]),
        // What preview 1 has no word for; of what a path leads to, only a pipe with a name.
        mode: if facts[16] == 0 { Mode::new(mode).of_pipe() } else { Mode::new(mode) },
        links: word(24),
        size: word(32),
        accessed: Timestamp(word(40)),
        modified: Timestamp(word(48)),
        changed: Timestamp(word(56)),
    }
}

pub(crate) fn kind(number: u8) -> FileKind {
    match number {
        3 => FileKind::Directory,
        7 => FileKind::Symlink,
        _ => FileKind::File,
    }
}

/// Opens a file; its descriptor.
pub(crate) fn open(path: &[u8], how: OpenHow, is_appended: bool) -> FileResult<u32> {
    let mut flags = 0;
    for (asked, flag) in [(how.create, CREATE), (how.exclusive, EXCLUSIVE), (how.truncate, TRUNCATE)] {
        flags |= if asked { flag } else { 0 };
    }
    let rights = if how.read { READ_RIGHTS } else { 0 } | if how.write { WRITE_RIGHTS } else { 0 };
    let follow = if how.nofollow { 0 } else { SYMLINK_FOLLOW };
    let appended = if is_appended { APPEND } else { 0 };
    if how.create {
        // What is taken from the bits of a new file.
        let mask = 0o666 & !how.mode.bits();
        // SAFETY: it takes a number.
        unsafe { host_umask(mask.cast_signed()) };
    }
    open_at(path, (follow, flags), rights, appended)
}

/// Opens a directory to list it.
pub(crate) fn open_directory(path: &[u8]) -> FileResult<u32> {
    open_at(path, (SYMLINK_FOLLOW, DIRECTORY), LIST_RIGHTS, 0)
}

fn open_at(path: &[u8], (follow, how): (u32, u32), rights: u64, flags: u32) -> FileResult<u32> {
    let mut fd = 0;
    // SAFETY: path and place for the answer live until after the call.
    let errno = unsafe {
        path_open(ROOT, follow, path.as_ptr(), path.len(), how, rights, rights, flags, &raw mut fd)
    };
    checked(errno).map(|()| fd)
}

/// Part of a listing, from a cookie on.
pub(crate) fn list(fd: u32, cookie: u64, buffer: &mut [u8]) -> FileResult<usize> {
    let mut used = 0;
    // SAFETY: the buffer is as long as the host is told.
    checked(unsafe { fd_readdir(fd, buffer.as_mut_ptr(), buffer.len(), cookie, &raw mut used) })?;
    Ok(used.min(buffer.len()))
}

pub(crate) fn read_link(path: &[u8], buffer: &mut [u8]) -> FileResult<usize> {
    let mut used = 0;
    // SAFETY: path and buffer live until after the call, and are as long as the host is told.
    let errno = unsafe {
        path_readlink(ROOT, path.as_ptr(), path.len(), buffer.as_mut_ptr(), buffer.len(), &raw mut used)
    };
    checked(errno).map(|()| used.min(buffer.len()))
}

pub(crate) fn unlink(path: &[u8]) -> FileResult<()> {
    // SAFETY: the path lives until after the call.
    checked(unsafe { path_unlink_file(ROOT, path.as_ptr(), path.len()) })
}

pub(crate) fn read(fd: u32, buffer: &mut [u8]) -> FileResult<usize> {
    let vector = Vector { at: buffer.as_mut_ptr(), count: buffer.len() };
    let mut got = 0;
    // SAFETY: the buffer is as long as its vector says.
    checked(unsafe { fd_read(fd, &raw const vector, 1, &raw mut got) })?;
    Ok(got.min(buffer.len()))
}

pub(crate) fn write(fd: u32, bytes: &[u8]) -> FileResult<usize> {
    let vector = Vector { at: bytes.as_ptr(), count: bytes.len() };
    let mut got = 0;
    // SAFETY: the bytes are as long as their vector says.
    checked(unsafe { fd_write(fd, &raw const vector, 1, &raw mut got) })?;
    Ok(got.min(bytes.len()))
}

/// Moves the position, from the beginning or from where it is; answers where that is.
pub(crate) fn seek(fd: u32, by: i64, from_here: bool) -> FileResult<u64> {
    let mut position = 0;
    // SAFETY: the place for the answer lives until after the call.
    checked(unsafe { fd_seek(fd, by, u32::from(from_here), &raw mut position) })?;
    Ok(position)
}

pub(crate) fn close(fd: u32) {
    // SAFETY: it takes a number.
    unsafe { fd_close(fd) };
}
