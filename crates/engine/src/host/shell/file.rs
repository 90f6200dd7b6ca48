//! A file that the guest opened, as a stream of a command: both move one position.

use std::{
    io,
    sync::Arc,
    task::{Context, Poll},
};

use drydock_contract::{
    ByteSink, ByteSource, SteppedClock, StreamFile, Timestamp,
    port::{Clock as _, FileError, FileLimit, OpenFile},
};

use crate::{guest::GuestClock, wasi::Position};

/// The command's end of it.
pub(super) struct FileStream {
    pub(super) file: Arc<dyn OpenFile>,
    pub(super) position: Arc<Position>,
    pub(super) is_appended: bool,
    pub(super) is_read: bool,
    pub(super) clock: FileClock,
}

/// What tells the time of a change.
pub(super) enum FileClock {
    Real,
    Stepped(Arc<SteppedClock>),
}

impl FileClock {
    pub(super) fn of(clock: &GuestClock) -> Self {
        clock.stepped().map_or(Self::Real, |it| Self::Stepped(Arc::clone(it)))
    }

    fn now(&self) -> Timestamp {
        match self {
            Self::Real => Timestamp(GuestClock::system_ns()),
            Self::Stepped(clock) => clock.now(),
        }
    }
}

fn failed(error: FileError) -> io::Error {
    let kind = match error {
        FileError::NoSpace => io::ErrorKind::StorageFull,
        FileError::Quota(FileLimit::FileBytes) | FileError::TooBig => io::ErrorKind::FileTooLarge,
        FileError::Quota(_) => io::ErrorKind::QuotaExceeded,
        FileError::ReadOnly => io::ErrorKind::ReadOnlyFilesystem,
        FileError::Denied => io::ErrorKind::PermissionDenied,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error.to_string())
}

impl FileStream {
    fn told(&self) -> Option<StreamFile> {
        let stat = self.file.stat().ok()?;
        let left = if self.is_read { stat.size.saturating_sub(self.position.get()) } else { 0 };
        Some(StreamFile { inode: stat.inode, left })
    }
}

impl ByteSource for FileStream {
    fn poll_read(&mut self, _: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let at = self.position.get();
        let got = self.file.read_at(at, buffer).map_err(failed)?.min(buffer.len());
        self.position.set(at.saturating_add(got as u64));
        Poll::Ready(Ok(got))
    }

    fn file(&self) -> Option<StreamFile> {
        self.told()
    }
}

impl ByteSink for FileStream {
    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let now = self.clock.now();
        if self.is_appended {
            self.position.set(self.file.append(bytes, now).map_err(failed)?);
        } else {
            let at = self.position.get();
            self.file.write_at(at, bytes, now).map_err(failed)?;
            self.position.set(at.saturating_add(bytes.len() as u64));
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn file(&self) -> Option<StreamFile> {
        self.told()
    }
}
