//! A workspace file as a descriptor.

use std::{io, sync::Arc};

use drydock_contract::{
    StreamFile,
    port::{FileError, FileLimit, TreePath},
};

use crate::door::ShellFile;

pub(crate) struct FileEnd {
    pub(crate) file: Arc<dyn ShellFile>,
    /// What it was opened as: a saved shell opens it again by that.
    pub(crate) path: TreePath,
    pub(crate) is_appended: bool,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// How long it may get, where `ulimit -f` says so.
    pub(crate) bytes_max: Option<u64>,
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
        self.file.read(buffer).map_err(failed)
    }

    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        if !self.writable {
            return Err(io::Error::other("bad file descriptor"));
        }
        let Some(bytes) = self.within(self.file.position(), bytes) else {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "file size limit exceeded"));
        };
        self.file.write(bytes).map_err(failed)?;
        Ok(bytes.len())
    }

    /// What of some bytes may still be written; nothing if none of them.
    fn within<'b>(&self, position: u64, bytes: &'b [u8]) -> Option<&'b [u8]> {
        let Some(max) = self.bytes_max else { return Some(bytes) };
        let at = if self.is_appended { self.file.stat().map_or(u64::MAX, |it| it.size) } else { position };
        let room = usize::try_from(max.saturating_sub(at)).unwrap_or(usize::MAX);
        if bytes.is_empty() || room > 0 { Some(&bytes[..bytes.len().min(room)]) } else { None }
    }

    /// Which file it is, for a command that must not read what it writes.
    pub(super) fn stream_file(&self) -> Option<StreamFile> {
        let stat = self.file.stat().ok()?;
        let left = if self.readable { stat.size.saturating_sub(self.file.position()) } else { 0 };
        Some(StreamFile { inode: stat.inode, left })
    }

    pub(super) fn unread(&self, count: usize) {
        self.file.seek(self.file.position().saturating_sub(count as u64));
    }
}
