//! Appends records. One buffer, one lock, one write for each batch.
//!
//! `append` returning means the lines are with the kernel: they survive this process. `sync`
//! makes them survive the machine.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use drydock_contract::port::{AuditRecord, Journal, JournalError};
use parking_lot::Mutex;

use super::{
    line::LineWriter,
    segment::{self, SEGMENT_BYTES_MAX},
};
use crate::{Home, home::sync_dir};

/// A buffer larger than this is given back after the batch that needed it.
const BUFFER_BYTES_KEPT: usize = 1 << 20;

/// The journal of one home.
#[derive(Debug)]
pub struct FileJournal {
    dir: PathBuf,
    segment_bytes_max: u64,
    open: Mutex<Open>,
}

#[derive(Debug)]
struct Open {
    file: File,
    path: PathBuf,
    /// The last byte in the file may be the middle of a line.
    torn: bool,
    lines: LineWriter,
    buffer: Vec<u8>,
}

impl FileJournal {
    /// Opens the journal of a home, to append to its newest segment.
    pub fn open(home: &Home) -> Result<Self, JournalError> {
        Self::with_segment_bytes_max(home, SEGMENT_BYTES_MAX)
    }

    pub(super) fn with_segment_bytes_max(home: &Home, segment_bytes_max: u64) -> Result<Self, JournalError> {
        let dir = home.audit();
        let (file, path) = open_newest(&dir, segment_bytes_max)?;
        let torn = ends_torn(&file).map_err(|cause| failed(&path, cause))?;
        let open = Open { file, path, torn, lines: LineWriter::default(), buffer: Vec::new() };
        Ok(Self { dir, segment_bytes_max, open: Mutex::new(open) })
    }
}

#[cfg(test)]
impl FileJournal {
    pub(super) fn swap_file(&self, file: File) -> File {
        std::mem::replace(&mut self.open.lock().file, file)
    }
}

impl Journal for FileJournal {
    fn append(&self, records: &[AuditRecord]) -> Result<(), JournalError> {
        if records.is_empty() {
            return Ok(());
        }
        let mut open = self.open.lock();
        let facts = open.file.metadata().map_err(|cause| failed(&open.path, cause))?;
        // Another process may have filled the segment, or even pruned it while we were idle.
        if facts.len() >= self.segment_bytes_max || facts.nlink() == 0 {
            open.move_on(&self.dir, self.segment_bytes_max)?;
        }
        open.append(records).map_err(|cause| failed(&open.path, cause))
    }

    fn sync(&self) -> Result<(), JournalError> {
        let open = self.open.lock();
        open.file.sync_data().map_err(|cause| failed(&open.path, cause))
    }
}

impl Open {
    fn append(&mut self, records: &[AuditRecord]) -> io::Result<()> {
        self.buffer.clear();
        if self.torn {
            self.buffer.push(b'\n');
        }
        for record in records {
            self.lines.write(record, &mut self.buffer);
        }
        let whole = self.buffer.len();
        // One write, so that lines of two processes do not mix. A disk that is nearly full takes a
        // part; `write_all` then asks again, and so learns the true error.
        let written = self.file.write_all(&self.buffer);
        self.torn = written.is_err();
        if whole > BUFFER_BYTES_KEPT {
            self.buffer = Vec::new();
        }
        written
    }

    fn move_on(&mut self, dir: &Path, segment_bytes_max: u64) -> Result<(), JournalError> {
        // A later `sync` sees only the new file, so the old one is settled now.
        self.file.sync_data().map_err(|cause| failed(&self.path, cause))?;
        let (file, path) = open_newest(dir, segment_bytes_max)?;
        self.torn = ends_torn(&file).map_err(|cause| failed(&path, cause))?;
        (self.file, self.path) = (file, path);
        segment::prune(dir).map_err(|cause| failed(&self.path, cause))
    }
}

/// Opens the newest segment that has room, or the one after it.
fn open_newest(dir: &Path, segment_bytes_max: u64) -> Result<(File, PathBuf), JournalError> {
    let numbers = segment::numbers(dir).map_err(|cause| failed(dir, cause))?;
    let newest = numbers.last().copied().unwrap_or(1);
    let full =
        std::fs::metadata(segment::path_of(dir, newest)).is_ok_and(|facts| facts.len() >= segment_bytes_max);
    let path = segment::path_of(dir, newest.saturating_add(u64::from(full)));
    // Not `create_new`: another process that moves on at the same time shares the segment.
    let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(&path);
    // A segment with something in it had its name synced by whoever put it there.
    let named = |file: File| {
        if file.metadata()?.len() == 0 {
            sync_dir(dir)?;
        }
        Ok(file)
    };
    match file.and_then(named) {
        Ok(file) => Ok((file, path)),
        Err(cause) => Err(JournalError { path, cause }),
    }
}

fn ends_torn(file: &File) -> io::Result<bool> {
    let Some(last) = file.metadata()?.len().checked_sub(1) else { return Ok(false) };
    let mut byte = [0];
    let read = file.read_at(&mut byte, last)?;
    Ok(read == 1 && byte != *b"\n")
}

fn failed(path: &Path, cause: io::Error) -> JournalError {
    JournalError { path: path.to_owned(), cause }
}
