//! An open file of the host.

use std::{fs::File, os::unix::fs::FileExt as _, sync::Arc};

use drydock_contract::{
    Meter, Timestamp,
    port::{FileError, FileLimit, FileResult, FileTimes, Mode, OpenFile, OpenHow, Stat},
};
use parking_lot::Mutex;
use rustix::fs;

use super::{
    fact::{self, Sys as _},
    held::Held,
};
use crate::Quota;

/// What the handles of one directory share.
#[derive(Debug)]
pub(super) struct Shared {
    /// Growth of files through this directory; other processes' is theirs.
    pub(super) room: Meter,
    /// Names made through this directory, less those removed.
    pub(super) names: Meter,
    pub(super) quota: Quota,
    pub(super) device: u64,
    /// Held while a file's length changes, so that appending is one step.
    pub(super) growing: Mutex<()>,
}

pub(super) struct Handle {
    pub(super) file: File,
    pub(super) how: OpenHow,
    /// The directory may be written, whatever this handle was opened for.
    pub(super) changeable: bool,
    pub(super) shared: Arc<Shared>,
    pub(super) _held: Held,
}

impl Handle {
    fn writable(&self) -> FileResult<()> {
        if self.how.write { Ok(()) } else { Err(FileError::Denied) }
    }

    fn len(&self) -> FileResult<u64> {
        Ok(self.file.metadata().sys()?.len())
    }

    fn write(&self, offset: u64, bytes: &[u8], now: Timestamp) -> FileResult<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let end = offset.checked_add(bytes.len() as u64).filter(|it| i64::try_from(*it).is_ok());
        let (end, len) = (end.ok_or(FileError::TooBig)?, self.len()?);
        let more = end.saturating_sub(len);
        if more > 0 && end > self.shared.quota.file_bytes_max {
            return Err(FileError::Quota(FileLimit::FileBytes));
        }
        if !self.shared.room.try_hold(more) {
            return Err(FileError::Quota(FileLimit::Bytes));
        }
        if let Err(error) = self.file.write_all_at(bytes, offset).sys() {
            // All or nothing, as far as the host lets us.
            self.shared.room.release(more);
            if more > 0 {
                let _ = self.file.set_len(len);
            }
            return Err(error);
        }
        fs::futimens(&self.file, &fact::modified(now)).sys()
    }
}

impl OpenFile for Handle {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> FileResult<usize> {
        if !self.how.read {
            return Err(FileError::Denied);
        }
        let far = i64::try_from(offset).ok().and_then(|it| it.checked_add_unsigned(buffer.len() as u64));
        if far.is_none() {
            return Ok(0);
        }
        self.file.read_at(buffer, offset).sys()
    }

    fn write_at(&self, offset: u64, bytes: &[u8], now: Timestamp) -> FileResult<()> {
        self.writable()?;
        let _one_at_a_time = self.shared.growing.lock();
        self.write(offset, bytes, now)
    }

    fn append(&self, bytes: &[u8], now: Timestamp) -> FileResult<u64> {
        self.writable()?;
        let _one_at_a_time = self.shared.growing.lock();
        let end = self.len()?;
        self.write(end, bytes, now)?;
        Ok(end + bytes.len() as u64)
    }

    fn set_len(&self, len: u64, now: Timestamp) -> FileResult<()> {
        self.writable()?;
        let _one_at_a_time = self.shared.growing.lock();
        let before = self.len()?;
        if len > before && len > self.shared.quota.file_bytes_max {
            return Err(FileError::Quota(FileLimit::FileBytes));
        }
        if !self.shared.room.try_hold(len.saturating_sub(before)) {
            return Err(FileError::Quota(FileLimit::Bytes));
        }
        if let Err(error) = self.file.set_len(len).sys() {
            self.shared.room.release(len.saturating_sub(before));
            return Err(error);
        }
        self.shared.room.release(before.saturating_sub(len));
        fs::futimens(&self.file, &fact::modified(now)).sys()
    }

    fn stat(&self) -> FileResult<Stat> {
        fact::stat(&fs::fstat(&self.file).sys()?, self.shared.device)
    }

    fn set_times(&self, times: FileTimes, _now: Timestamp) -> FileResult<()> {
        if !self.changeable {
            return Err(FileError::ReadOnly);
        }
        fs::futimens(&self.file, &fact::times(times)).sys()
    }

    fn set_mode(&self, mode: Mode, _now: Timestamp) -> FileResult<()> {
        if !self.changeable {
            return Err(FileError::ReadOnly);
        }
        fs::fchmod(&self.file, fact::mode(mode)).sys()
    }

    fn next_data(&self, offset: u64) -> FileResult<u64> {
        match fs::seek(&self.file, fs::SeekFrom::Data(offset)) {
            Ok(at) => Ok(at),
            // No more bytes, or a file system that does not know its holes.
            Err(rustix::io::Errno::NXIO) => self.len(),
            Err(_) => Ok(offset),
        }
    }

    fn sync(&self) -> FileResult<()> {
        self.file.sync_all().sys()
    }

    fn sync_waits(&self) -> bool {
        true
    }
}
