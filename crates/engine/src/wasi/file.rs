//! One open file: its bytes at a position, its size, its times, and what makes it last.

use std::sync::Arc;

use drydock_contract::{Timestamp, port::OpenFile};

use super::{Errno, OpenedFile};
use crate::{blocking::off_thread, guest::Guest};

/// Where a seek starts.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Whence {
    Start,
    Here,
    End,
}

impl OpenedFile {
    /// Reads at `at`, or at the position and moves it.
    pub(crate) fn read(&self, at: Option<u64>, buffer: &mut [u8]) -> Result<usize, Errno> {
        let got = self.file.read_at(at.unwrap_or_else(|| self.position.get()), buffer)?.min(buffer.len());
        if at.is_none() {
            self.position.set(self.position.get().saturating_add(got as u64));
        }
        Ok(got)
    }

    /// Writes at `at`, or at the position and moves it, or at the end.
    ///
    /// Of what makes it longer than it may be, the front is written before the run ends.
    pub(crate) fn write(&self, at: Option<u64>, bytes: &[u8], now: Timestamp) -> Result<(), Errno> {
        let Some(max) = self.bytes_max else { return self.write_all(at, bytes, now) };
        let from = match (at, self.append) {
            (Some(at), _) => at,
            (None, true) => self.file.stat()?.size,
            (None, false) => self.position.get(),
        };
        let room = usize::try_from(max.saturating_sub(from)).unwrap_or(usize::MAX);
        if bytes.len() <= room {
            return self.write_all(at, bytes, now);
        }
        self.write_all(at, &bytes[..room], now)?;
        Err(Errno::PastFileLimit)
    }

    fn write_all(&self, at: Option<u64>, bytes: &[u8], now: Timestamp) -> Result<(), Errno> {
        match (at, self.append) {
            (Some(at), _) => self.file.write_at(at, bytes, now)?,
            (None, true) => self.position.set(self.file.append(bytes, now)?),
            (None, false) => {
                let at = self.position.get();
                self.file.write_at(at, bytes, now)?;
                self.position.set(at.saturating_add(bytes.len() as u64));
            }
        }
        Ok(())
    }

    /// Moves the position; answers where it is then.
    pub(crate) fn seek(&self, whence: Whence, by: i64) -> Result<u64, Errno> {
        let from = match whence {
            Whence::Start => 0,
            Whence::Here => self.position.get(),
            Whence::End => self.file.stat()?.size,
        };
        let position = from.checked_add_signed(by).ok_or(Errno::Inval)?;
        self.position.set(position);
        Ok(position)
    }

    /// Makes it at least that long.
    pub(crate) fn reach(&self, end: u64, now: Timestamp) -> Result<(), Errno> {
        if self.file.stat()?.size < end { self.set_len(end, now) } else { Ok(()) }
    }

    /// Makes it that long.
    pub(crate) fn set_len(&self, len: u64, now: Timestamp) -> Result<(), Errno> {
        if self.bytes_max.is_some_and(|max| len > max) && len > self.file.stat()?.size {
            return Err(Errno::PastFileLimit);
        }
        Ok(self.file.set_len(len, now)?)
    }
}

/// Makes a file's content survive, on another thread where that waits for a disk.
pub(crate) async fn sync(file: Arc<dyn OpenFile>) -> Result<(), Errno> {
    if !file.sync_waits() {
        return Ok(file.sync()?);
    }
    Ok(off_thread(move || file.sync()).await.map_err(|_| Errno::Io)??)
}

/// The time a change is recorded with.
pub(crate) fn now(guest: &mut Guest) -> Timestamp {
    Timestamp(guest.clock.realtime_ns())
}
