//! An open file. It holds the node, not its name: unlinking does not disturb it. Each call is one
//! transaction; what was written is sealed when the last handle of this process is dropped.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use drydock_contract::{
    Timestamp,
    port::{FileError, FileKind, FileResult, FileTimes, Mode, OpenFile, OpenHow, Stat},
};

use super::{
    db::{Db, Tx},
    node::Volume,
    seal::SEAL_BYTES_MAX,
};

pub(super) struct Handle {
    db: Arc<Db>,
    volume: Volume,
    node: i64,
    epoch: i64,
    read: bool,
    write: bool,
    wrote: AtomicBool,
}

impl Handle {
    /// Call it inside the transaction that found the node, or the node may be gone.
    pub(super) fn new(db: &Arc<Db>, tx: &Tx<'_>, volume: Volume, node: i64, how: OpenHow) -> Self {
        *db.handles.lock().open.entry(node).or_default() += 1;
        let wrote = AtomicBool::new(how.truncate);
        Self { db: Arc::clone(db), volume, node, epoch: tx.epoch, read: how.read, write: how.write, wrote }
    }

    fn change<T>(&self, act: impl FnOnce(&mut Tx<'_>) -> FileResult<T>) -> FileResult<T> {
        if !self.write {
            return Err(FileError::Denied);
        }
        self.wrote.store(true, Ordering::Relaxed);
        self.write(act)
    }

    /// A transaction on the node, if it still is the one that was opened.
    fn write<T>(&self, act: impl FnOnce(&mut Tx<'_>) -> FileResult<T>) -> FileResult<T> {
        self.db.write(|tx| if tx.epoch == self.epoch { act(tx) } else { Err(FileError::Io) })
    }

    fn look<T>(&self, act: impl FnOnce(&mut Tx<'_>) -> FileResult<T>) -> FileResult<T> {
        self.db.read(|tx| if tx.epoch == self.epoch { act(tx) } else { Err(FileError::Io) })
    }

    fn let_go(&self) -> FileResult<()> {
        let mut handles = self.db.handles.lock();
        let left = handles.open.get(&self.node).map_or(0, |it| it.saturating_sub(1));
        if left > 0 {
            handles.open.insert(self.node, left);
            return Ok(());
        }
        handles.open.remove(&self.node);
        let nameless = handles.nameless.remove(&self.node);
        drop(handles);
        if nameless {
            return self.write(|tx| {
                let reopened = tx.handles.lock().open.contains_key(&self.node);
                // It may have got a name again, by a handle's link, or be another process's to forget.
                if reopened || tx.facts(self.node)?.links > 0 || tx.others()? {
                    return Ok(());
                }
                tx.forget(self.volume.id, self.node)
            });
        }
        if !self.wrote.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.write(|tx| {
            let facts = tx.facts(self.node)?;
            let file = tx.extent(self.node)?;
            let worth_it = facts.kind == FileKind::File && file.size <= SEAL_BYTES_MAX;
            if worth_it { tx.seal(file) } else { Ok(()) }
        })
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // Nothing is lost: what is not sealed is not shared, what is not forgotten is swept later.
        let _ = self.let_go();
    }
}

impl OpenFile for Handle {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> FileResult<usize> {
        if !self.read {
            return Err(FileError::Denied);
        }
        self.look(|tx| tx.read_at(tx.extent(self.node)?, offset, buffer))
    }

    fn write_at(&self, offset: u64, bytes: &[u8], now: Timestamp) -> FileResult<()> {
        self.change(|tx| tx.write_at(&self.volume, tx.extent(self.node)?, offset, bytes, now))
    }

    fn append(&self, bytes: &[u8], now: Timestamp) -> FileResult<u64> {
        self.change(|tx| {
            let file = tx.extent(self.node)?;
            tx.write_at(&self.volume, file, file.size, bytes, now)?;
            Ok(file.size + bytes.len() as u64)
        })
    }

    fn set_len(&self, len: u64, now: Timestamp) -> FileResult<()> {
        self.change(|tx| tx.set_len(&self.volume, tx.extent(self.node)?, len, now))
    }

    fn stat(&self) -> FileResult<Stat> {
        self.look(|tx| tx.facts(self.node))
    }

    fn set_times(&self, times: FileTimes, now: Timestamp) -> FileResult<()> {
        self.write(|tx| tx.set_times(self.node, times, now))
    }

    fn set_mode(&self, mode: Mode, now: Timestamp) -> FileResult<()> {
        self.write(|tx| tx.set_mode(self.node, mode, now))
    }

    fn next_data(&self, offset: u64) -> FileResult<u64> {
        self.look(|tx| tx.next_data(tx.extent(self.node)?, offset))
    }

    fn sync(&self) -> FileResult<()> {
        Ok(())
    }
}
