//! An open file of the session's: its position is the host's, so commands that are handed the file move it too.

use crate::ends::{Reader, Writer};
use crate::{host, wasi};
use drydock_contract::port::{FileError, FileResult, OpenHow, Stat};
use drydock_shell::door::{PipeEnds, ReadEnd, ShellFile, WriteEnd};
use std::sync::Arc;

pub(crate) struct HostFile(pub(crate) u32);

impl ShellFile for HostFile {
    fn read(&self, buffer: &mut [u8]) -> FileResult<usize> {
        wasi::read(self.0, buffer)
    }

    fn write(&self, mut bytes: &[u8]) -> FileResult<()> {
        while !bytes.is_empty() {
            match wasi::write(self.0, bytes)? {
                0 => return Err(FileError::Io),
                count => bytes = &bytes[count..],
            }
        }
        Ok(())
    }

    fn position(&self) -> u64 {
        wasi::seek(self.0, 0, true).unwrap_or(0)
    }

    fn seek(&self, position: u64) {
        let _ = wasi::seek(self.0, i64::try_from(position).unwrap_or(i64::MAX), false);
    }

    fn stat(&self) -> FileResult<Stat> {
        wasi::stat_open(self.0)
    }

    fn number(&self) -> Option<u32> {
        Some(self.0)
    }
}

impl Drop for HostFile {
    fn drop(&mut self) {
        wasi::close(self.0);
    }
}

/// A pipe with a name, which is opened like a file and is none: bytes go through its ends.
pub(crate) struct HostPipe {
    ends: PipeEnds,
    stat: Stat,
}

impl HostPipe {
    /// The ends of what was opened, which stay when its descriptor is closed.
    pub(crate) fn of(opened: &HostFile, how: OpenHow, stat: Stat) -> FileResult<Self> {
        let handle = host::named(opened.0).ok_or(FileError::Io)?;
        let reader = how.read.then(|| Arc::new(Reader(handle)) as Arc<dyn ReadEnd>);
        let writer = || Writer { handle, columns: None, is_flushed: false };
        let writer = how.write.then(|| Arc::new(writer()) as Arc<dyn WriteEnd>);
        Ok(Self { ends: PipeEnds { reader, writer }, stat })
    }
}

impl ShellFile for HostPipe {
    fn read(&self, _: &mut [u8]) -> FileResult<usize> {
        Err(FileError::Unsupported)
    }

    fn write(&self, _: &[u8]) -> FileResult<()> {
        Err(FileError::Unsupported)
    }

    fn position(&self) -> u64 {
        0
    }

    fn seek(&self, _: u64) {}

    fn stat(&self) -> FileResult<Stat> {
        Ok(self.stat)
    }

    fn pipe(&self) -> Option<PipeEnds> {
        Some(self.ends.clone())
    }
}
