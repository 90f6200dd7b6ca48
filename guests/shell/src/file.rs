//! An open file of the session's: its position is the host's, so commands that are handed the file move it too.

use crate::wasi;
use drydock_contract::port::{FileError, FileResult, Stat};
use drydock_shell::door::ShellFile;

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
