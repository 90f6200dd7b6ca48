//! One writer at a time, across threads and processes. The kernel frees it when its holder dies.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::Path,
    time::{Duration, Instant},
};

/// Held until dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// Waits until the lock is free, and takes it.
    pub(super) fn wait(path: &Path) -> io::Result<Self> {
        let file = open(path)?;
        file.lock()?;
        Ok(Self { file })
    }

    /// Waits for the lock, and no longer than this: then the error is `TimedOut`.
    pub(super) fn wait_within(path: &Path, patience: Duration) -> io::Result<Self> {
        let began = Instant::now();
        loop {
            if let Some(lock) = Self::try_take(path)? {
                return Ok(lock);
            }
            if began.elapsed() >= patience {
                return Err(io::ErrorKind::TimedOut.into());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Takes the lock if it is free.
    pub(crate) fn try_take(path: &Path) -> io::Result<Option<Self>> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Whether somebody holds the lock of that file. Looking keeps nobody else from looking, and makes no file.
    pub(crate) fn is_taken(path: &Path) -> io::Result<bool> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// What its last holder left for the next one: so many bytes, or nothing.
    pub(crate) fn note<const N: usize>(&self) -> Option<[u8; N]> {
        let mut note = [0; N];
        let length = self.file.metadata().ok()?.len();
        (length == N as u64).then_some(())?;
        self.file.read_exact_at(&mut note, 0).ok()?;
        Some(note)
    }

    /// Leaves something for the next holder: always of one length, so that half of it is none. Where it cannot be written
    /// there is none.
    pub(crate) fn set_note(&self, note: &[u8]) {
        if self.file.write_all_at(note, 0).is_err() {
            let _ = self.file.set_len(0);
        }
    }

    /// Whether the file of that name is still the one that is locked: only of locks whose files are ever removed this is
    /// a question.
    pub(crate) fn is_of(&self, path: &Path) -> io::Result<bool> {
        let (held, named) = (self.file.metadata()?, std::fs::metadata(path)?);
        Ok((held.dev(), held.ino()) == (named.dev(), named.ino()))
    }
}

/// Opened anew each time: the lock belongs to the open file, so that threads exclude each other as
/// processes do. The file of a lock that others wait for is never removed, or two holders could lock two files.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}
