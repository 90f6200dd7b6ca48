//! What the standard library does not offer under WASI: symbolic links, times by name, and the error of
//! a rename between file systems.

use facts::{Follow, Time};
use std::ffi::CString;
use std::io;
use std::path::{Component, Path, PathBuf};

fn c_text(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_encoded_bytes())?)
}

fn done(status: i32) -> io::Result<()> {
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Makes `link` lead to `target`.
pub fn symlink(target: &Path, link: &Path) -> io::Result<()> {
    let (target, link) = (c_text(target)?, c_text(link)?);
    // SAFETY: two C strings that live until after the call.
    done(unsafe { libc::symlink(target.as_ptr(), link.as_ptr()) })
}

/// Sets when it was read and changed.
pub fn set_times(path: &Path, accessed: Time, modified: Time, follow: Follow) -> io::Result<()> {
    let path = c_text(path)?;
    let time = |it: Time| libc::timespec { tv_sec: it.seconds as _, tv_nsec: it.nanos as _ };
    let times = [time(accessed), time(modified)];
    let flags = if follow == Follow::No { libc::AT_SYMLINK_NOFOLLOW } else { 0 };
    // SAFETY: a C string and two times that live until after the call.
    done(unsafe { libc::utimensat(libc::AT_FDCWD, path.as_ptr(), times.as_ptr(), flags) })
}

/// How many links a path may lead through.
const LINKS_MAX: usize = 40;

/// The path from the root without links, `.` and `..`. All of it has to be there.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    let whole = if path.is_absolute() { path.to_path_buf() } else { std::env::current_dir()?.join(path) };
    let (mut found, mut links) = (PathBuf::from("/"), 0);
    let mut waiting: Vec<PathBuf> = parts(&whole);
    while let Some(part) = waiting.pop() {
        if part.as_os_str() == ".." {
            found.pop();
            continue;
        }
        let next = found.join(&part);
        if !next.symlink_metadata()?.is_symlink() {
            found = next;
            continue;
        }
        links += 1;
        if links > LINKS_MAX {
            return Err(io::Error::from_raw_os_error(libc::ELOOP));
        }
        let target = std::fs::read_link(&next)?;
        if target.is_absolute() {
            found = PathBuf::from("/");
        }
        waiting.extend(parts(&target));
    }
    Ok(found)
}

/// The names of a path, last first.
fn parts(path: &Path) -> Vec<PathBuf> {
    let names = path.components().filter(|it| matches!(it, Component::Normal(_) | Component::ParentDir));
    let mut all: Vec<PathBuf> = names.map(|it| PathBuf::from(it.as_os_str())).collect();
    all.reverse();
    all
}

/// Whether a rename failed because it would lead to another file system.
pub fn is_other_device(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EXDEV)
}
