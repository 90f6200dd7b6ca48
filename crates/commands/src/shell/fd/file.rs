//! A workspace file as a descriptor: one position, shared by everyone who has it.

use std::{io, sync::Arc};

use drydock_contract::{
    StreamFile,
    port::{Clock, FileError, FileLimit, OpenFile},
};
use parking_lot::Mutex;

pub(crate) struct FileEnd {
    pub(crate) file: Arc<dyn OpenFile>,
    pub(crate) append: bool,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) position: Mutex<u64>,
}

fn failed(error: FileError) -> io::Error {
    let kind = match error {
        FileError::NoSpace => io::ErrorKind::StorageFull,
        FileError::Quota(FileLimit::FileBytes) => io::ErrorKind::FileTooLarge,
        FileError::Quota(_) => io::ErrorKind::QuotaExceeded,
        FileError::TooBig => io::ErrorKind::FileTooLarge,
        FileError::ReadOnly => io::ErrorKind::ReadOnlyFilesystem,
        FileError::Denied => io::ErrorKind::PermissionDenied,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error.to_string())
}

impl FileEnd {
    pub(super) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.readable {
            return Err(io::Error::other("bad file descriptor"));
        }
        let mut position = self.position.lock();
        let count = self.file.read_at(*position, buffer).map_err(failed)?;
        *position += count as u64;
        Ok(count)
    }

    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        if !self.writable {
            return Err(io::Error::other("bad file descriptor"));
        }
        let now = self.clock.now();
        let mut position = self.position.lock();
        if self.append {
            *position = self.file.append(bytes, now).map_err(failed)?;
        } else {
            self.file.write_at(*position, bytes, now).map_err(failed)?;
            *position += bytes.len() as u64;
        }
        Ok(bytes.len())
    }

    /// Which file it is, for a command that must not read what it writes.
    pub(super) fn stream_file(&self) -> Option<StreamFile> {
        let stat = self.file.stat().ok()?;
        let left = if self.readable { stat.size.saturating_sub(*self.position.lock()) } else { 0 };
        Some(StreamFile { inode: stat.inode, left })
    }

    pub(super) fn unread(&self, count: usize) {
        let mut position = self.position.lock();
        *position = position.saturating_sub(count as u64);
    }
}
