//! The right to use a session: a lock beside its file. Unlike the locks of a home, its file is removed with the session,
//! or every name ever used would leave one behind.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

/// How often a lock file may be removed between our opening and our locking it.
const TRIES_MAX: usize = 16;

#[derive(Debug)]
pub(super) struct Held {
    path: PathBuf,
    _file: File,
}

impl Held {
    /// Takes the lock if it is free. The kernel frees it when its holder ends.
    pub(super) fn try_take(path: &Path) -> io::Result<Option<Self>> {
        for _ in 0..TRIES_MAX {
            // Opened anew each time: the lock belongs to the open file, so threads exclude each other too.
            let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // A holder may have removed the file before it let go: then this lock is on a file that nobody else
            // will find, and somebody may have another.
            let ours = file.metadata()?;
            if fs::metadata(path).is_ok_and(|there| (there.dev(), there.ino()) == (ours.dev(), ours.ino())) {
                return Ok(Some(Self { path: path.to_owned(), _file: file }));
            }
        }
        Ok(None)
    }

    /// Removes the file. The lock is still held, so nobody has another under this name.
    pub(super) fn remove(&self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[test]
fn a_lock_whose_file_was_removed_is_not_held_twice() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.lock");
    let one = Held::try_take(&path).unwrap().unwrap();
    assert!(Held::try_take(&path).unwrap().is_none());
    one.remove();
    let two = Held::try_take(&path).unwrap().unwrap();
    drop(one);
    assert!(Held::try_take(&path).unwrap().is_none(), "the second holder's file is the one that counts");
    drop(two);
    assert!(Held::try_take(&path).unwrap().is_some());
}
