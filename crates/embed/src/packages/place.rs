//! Where packages and their lock lie in a tree, and what is written and removed there.
//!
//! Beside each package is the list of its files, made by us when it was written: what is removed is what that
//! list names, below the packages and nowhere else.

use std::sync::Arc;

use drydock_contract::{
    Timestamp,
    port::{FileError, FileResult, Files, Mode, OpenHow, TreePath},
};

use super::{LOCK_FILE, Lock, PackageError, unpack::Member, unpack::read};
use crate::SITE_PACKAGES;

/// Where the lists are.
const LISTS: &str = ".drydock/packages";
const TEXT_BYTES_MAX: u64 = 8 << 20;
/// Files that the list of a package may name, and how deep they may lie.
const FILES_MAX: usize = 20_000;
const DEPTH_MAX: usize = 64;

fn failed(path: &str) -> impl Fn(FileError) -> PackageError {
    let path = format!("/{path}");
    move |cause| PackageError::Files { path: path.clone(), cause }
}

fn below(root: &str, path: &str) -> String {
    if root.is_empty() { path.to_owned() } else { format!("{root}/{path}") }
}

/// The lock of a directory; empty if there is none.
pub(super) fn read_lock(files: &Arc<dyn Files>, root: &str) -> Result<Lock, PackageError> {
    match text(files, &below(root, LOCK_FILE)) {
        Ok(text) => Lock::parse(&text).map_err(PackageError::Lock),
        Err(FileError::NotFound | FileError::NotADirectory) => Ok(Lock::default()),
        Err(cause) => Err(failed(&below(root, LOCK_FILE))(cause)),
    }
}

pub(super) fn write_lock(
    files: &Arc<dyn Files>,
    root: &str,
    lock: &Lock,
    now: Timestamp,
) -> Result<(), PackageError> {
    let path = below(root, LOCK_FILE);
    put(files, &path, lock.to_text().as_bytes(), now).map_err(failed(&path))
}

/// Writes the files of a package, and the list of them first: what is half written can be removed.
pub(super) fn write(
    files: &Arc<dyn Files>,
    root: &str,
    name: &str,
    members: &[Member],
    now: Timestamp,
) -> Result<(), PackageError> {
    let list: String = members.iter().map(|it| format!("{}\n", it.path)).collect();
    let path = below(root, &format!("{LISTS}/{name}"));
    put(files, &path, list.as_bytes(), now).map_err(failed(&path))?;
    for member in members {
        let path = below(root, &format!("{SITE_PACKAGES}/{}", member.path));
        put(files, &path, &member.bytes, now).map_err(failed(&path))?;
    }
    Ok(())
}

/// Removes the files of a package, and directories that are empty then.
pub(super) fn remove(
    files: &Arc<dyn Files>,
    root: &str,
    name: &str,
    now: Timestamp,
) -> Result<(), PackageError> {
    let path = below(root, &format!("{LISTS}/{name}"));
    let list = match text(files, &path) {
        Ok(list) => list,
        Err(FileError::NotFound) => return Ok(()),
        Err(cause) => return Err(failed(&path)(cause)),
    };
    // The list lies where programs can write: a line that leads out is not followed, nor one that is deeper than
    // any package, and what it costs is bounded by its length.
    if list.lines().count() > FILES_MAX {
        return Err(failed(&path)(FileError::TooBig));
    }
    let inside = |line: &&str| {
        let mut names = line.split('/');
        line.split('/').count() <= DEPTH_MAX && names.all(|name| name != ".." && !name.is_empty())
    };
    for line in list.lines().filter(inside) {
        let file = below(root, &format!("{SITE_PACKAGES}/{line}"));
        match TreePath::new(&file).and_then(|it| files.unlink(&it, now)) {
            Ok(()) | Err(FileError::NotFound | FileError::NotADirectory) => {}
            Err(cause) => return Err(failed(&file)(cause)),
        }
        let mut above = line;
        while let Some((directory, _)) = above.rsplit_once('/') {
            let path = below(root, &format!("{SITE_PACKAGES}/{directory}"));
            // Others may have files there, or this package more of them.
            if TreePath::new(&path).and_then(|it| files.remove_dir(&it, now)).is_err() {
                break;
            }
            above = directory;
        }
    }
    TreePath::new(&path).and_then(|it| files.unlink(&it, now)).map_err(failed(&path))
}

fn text(files: &Arc<dyn Files>, path: &str) -> FileResult<String> {
    let path = TreePath::new(path)?;
    let size = files.stat(&path, drydock_contract::port::Follow::Yes)?.size;
    if size > TEXT_BYTES_MAX {
        return Err(FileError::TooBig);
    }
    String::from_utf8(read(&**files, &path)?.into()).map_err(|_| FileError::Invalid)
}

/// Writes a whole file, making its directories. A link in its place is replaced, not followed.
fn put(files: &Arc<dyn Files>, path: &str, bytes: &[u8], now: Timestamp) -> FileResult<()> {
    let mut at = 0;
    while let Some(next) = path.get(at..).and_then(|rest| rest.find('/')) {
        let directory = TreePath::new(path.get(..at + next).unwrap_or_default())?;
        match files.create_dir(&directory, Mode::new(0o755), now) {
            Ok(()) | Err(FileError::Exists) => at += next + 1,
            Err(error) => return Err(error),
        }
    }
    let path = TreePath::new(path)?;
    let how = OpenHow { write: true, create: true, truncate: true, nofollow: true, ..OpenHow::default() };
    let file = match files.open(&path, how, now) {
        Err(FileError::Loop) => {
            files.unlink(&path, now)?;
            files.open(&path, how, now)?
        }
        opened => opened?,
    };
    file.write_at(0, bytes, now)
}
