//! A tree of one file that counts how often it was made to last.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc::Receiver,
    },
    time::Duration,
};

use drydock_contract::{
    Timestamp,
    port::{
        DirEntry, FileError, FileResult, FileTimes, Files, Follow, Mode, OpenFile, OpenHow, Stat, TreePath,
    },
};
use parking_lot::Mutex;

#[derive(Debug, Clone, Default)]
pub struct Synced(Arc<AtomicUsize>, Option<Arc<Mutex<Receiver<()>>>>);

impl Synced {
    /// One whose disk is slow: a sync waits until it is told, and fails if nobody does.
    pub fn slowly(told: Receiver<()>) -> Self {
        Self(Arc::default(), Some(Arc::new(Mutex::new(told))))
    }

    /// How often since it was asked last.
    pub fn take(&self) -> usize {
        self.0.swap(0, SeqCst)
    }
}

impl Files for Synced {
    fn stat(&self, _: &TreePath, _: Follow) -> FileResult<Stat> {
        Err(FileError::NotFound)
    }
    fn open(&self, _: &TreePath, _: OpenHow, _: Timestamp) -> FileResult<Arc<dyn OpenFile>> {
        Ok(Arc::new(self.clone()))
    }
    fn read_dir(&self, _: &TreePath) -> FileResult<Vec<DirEntry>> {
        Err(FileError::Unsupported)
    }
    fn create_dir(&self, _: &TreePath, _: Mode, _: Timestamp) -> FileResult<()> {
        Err(FileError::Unsupported)
    }
    fn remove_dir(&self, _: &TreePath, _: Timestamp) -> FileResult<()> {
        Err(FileError::Unsupported)
    }
    fn unlink(&self, _: &TreePath, _: Timestamp) -> FileResult<()> {
        Err(FileError::Unsupported)
    }
    fn rename(&self, _: &TreePath, _: &TreePath, _: Timestamp) -> FileResult<()> {
        Err(FileError::Unsupported)
    }
    fn link(&self, _: &TreePath, _: Follow, _: &TreePath, _: Timestamp) -> FileResult<()> {
        Err(FileError::Unsupported)
    }
    fn symlink(&self, _: &str, _: &TreePath, _: Timestamp) -> FileResult<()> {
        Err(FileError::Unsupported)
    }
    fn read_link(&self, _: &TreePath) -> FileResult<String> {
        Err(FileError::Unsupported)
    }
    fn set_times(&self, _: &TreePath, _: Follow, _: FileTimes, _: Timestamp) -> FileResult<()> {
        Err(FileError::Unsupported)
    }
    fn set_mode(&self, _: &TreePath, _: Follow, _: Mode, _: Timestamp) -> FileResult<()> {
        Err(FileError::Unsupported)
    }
}

impl OpenFile for Synced {
    fn read_at(&self, _: u64, _: &mut [u8]) -> FileResult<usize> {
        Ok(0)
    }
    fn write_at(&self, _: u64, _: &[u8], _: Timestamp) -> FileResult<()> {
        Ok(())
    }
    fn append(&self, _: &[u8], _: Timestamp) -> FileResult<u64> {
        Ok(0)
    }
    fn set_len(&self, _: u64, _: Timestamp) -> FileResult<()> {
        Ok(())
    }
    fn stat(&self) -> FileResult<Stat> {
        Err(FileError::Unsupported)
    }
    fn set_times(&self, _: FileTimes, _: Timestamp) -> FileResult<()> {
        Ok(())
    }
    fn set_mode(&self, _: Mode, _: Timestamp) -> FileResult<()> {
        Ok(())
    }
    fn sync(&self) -> FileResult<()> {
        self.0.fetch_add(1, SeqCst);
        match &self.1 {
            None => Ok(()),
            Some(told) => told.lock().recv_timeout(Duration::from_secs(10)).map_err(|_| FileError::Io),
        }
    }
    fn sync_waits(&self) -> bool {
        self.1.is_some()
    }
}
