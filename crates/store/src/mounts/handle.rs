//! An open file of a mounted tree: the same, but for its inode.

use std::sync::Arc;

use drydock_contract::{
    Timestamp,
    port::{FileResult, FileTimes, Mode, OpenFile, Stat},
};

use super::branch::salted;

pub(super) struct Handle {
    pub(super) file: Arc<dyn OpenFile>,
    pub(super) tree: usize,
}

impl OpenFile for Handle {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> FileResult<usize> {
        self.file.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8], now: Timestamp) -> FileResult<()> {
        self.file.write_at(offset, bytes, now)
    }

    fn append(&self, bytes: &[u8], now: Timestamp) -> FileResult<u64> {
        self.file.append(bytes, now)
    }

    fn set_len(&self, len: u64, now: Timestamp) -> FileResult<()> {
        self.file.set_len(len, now)
    }

    fn stat(&self) -> FileResult<Stat> {
        let facts = self.file.stat()?;
        Ok(Stat { inode: salted(self.tree, facts.inode), ..facts })
    }

    fn set_times(&self, times: FileTimes, now: Timestamp) -> FileResult<()> {
        self.file.set_times(times, now)
    }

    fn set_mode(&self, mode: Mode, now: Timestamp) -> FileResult<()> {
        self.file.set_mode(mode, now)
    }

    fn next_data(&self, offset: u64) -> FileResult<u64> {
        self.file.next_data(offset)
    }

    fn sync(&self) -> FileResult<()> {
        self.file.sync()
    }

    fn sync_waits(&self) -> bool {
        self.file.sync_waits()
    }
}
