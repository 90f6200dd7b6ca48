//! An open file. It holds the file, not its name: unlinking does not disturb it.

use std::sync::Arc;

use drydock_contract::{
    Timestamp,
    port::{FileError, FileResult, FileTimes, Mode, OpenFile, Stat},
};

use super::Leaf;

pub(super) struct Handle {
    pub(super) leaf: Arc<Leaf>,
    pub(super) read: bool,
    pub(super) write: bool,
}

impl Handle {
    fn writable(&self) -> FileResult<&Leaf> {
        if self.write { Ok(&self.leaf) } else { Err(FileError::Denied) }
    }
}

impl OpenFile for Handle {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> FileResult<usize> {
        if !self.read {
            return Err(FileError::Denied);
        }
        Ok(self.leaf.read_at(offset, buffer))
    }

    fn write_at(&self, offset: u64, bytes: &[u8], now: Timestamp) -> FileResult<()> {
        self.writable()?.write_at(offset, bytes, now)
    }

    fn append(&self, bytes: &[u8], now: Timestamp) -> FileResult<u64> {
        self.writable()?.append(bytes, now)
    }

    fn set_len(&self, len: u64, now: Timestamp) -> FileResult<()> {
        self.writable()?.set_len(len, now)
    }

    fn stat(&self) -> FileResult<Stat> {
        Ok(self.leaf.stat())
    }

    fn set_times(&self, times: FileTimes, now: Timestamp) -> FileResult<()> {
        self.leaf.set_times(times, now);
        Ok(())
    }

    fn set_mode(&self, mode: Mode, now: Timestamp) -> FileResult<()> {
        self.leaf.set_mode(mode, now);
        Ok(())
    }

    fn sync(&self) -> FileResult<()> {
        Ok(())
    }
}
