//! The output of one process on disk: appended by whoever runs it, read by anybody of its tenant, as often as they want.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use super::{ProcessRecord, write_record};
use crate::home::Lock;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessOutput {
    /// Results.
    Stdout,
    /// Remarks.
    Stderr,
}

impl ProcessOutput {
    /// Its name, which is its file's.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// Some bytes of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpoolChunk {
    /// The bytes from the cursor on; none where nothing was written beyond it.
    pub bytes: Vec<u8>,
    /// The cursor behind them.
    pub next: u64,
    /// Whether nothing will ever follow.
    pub is_end: bool,
}

/// The place of a process that goes on. Whoever has it is who runs the process.
#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
    record: ProcessRecord,
    files: [File; 2],
    used_before: u64,
    _lock: Lock,
}

impl Spool {
    pub(super) fn open(
        folder: PathBuf,
        record: ProcessRecord,
        lock: Lock,
        used_before: u64,
    ) -> io::Result<Self> {
        let open = |output: ProcessOutput| {
            OpenOptions::new().create_new(true).append(true).mode(0o600).open(folder.join(output.name()))
        };
        let files = [open(ProcessOutput::Stdout)?, open(ProcessOutput::Stderr)?];
        write_record(&folder, &record)?;
        Ok(Self { folder, record, files, used_before, _lock: lock })
    }

    /// What is kept of it.
    pub fn record(&self) -> &ProcessRecord {
        &self.record
    }

    /// Bytes of output of all other processes of its tenant when it was made.
    pub fn used_before(&self) -> u64 {
        self.used_before
    }

    /// Adds to an output.
    pub fn append(&mut self, output: ProcessOutput, bytes: &[u8]) -> io::Result<()> {
        let (file, len) = match output {
            ProcessOutput::Stdout => (&mut self.files[0], &mut self.record.stdout_bytes),
            ProcessOutput::Stderr => (&mut self.files[1], &mut self.record.stderr_bytes),
        };
        file.write_all(bytes)?;
        *len += bytes.len() as u64;
        Ok(())
    }

    /// Writes down how far it is.
    pub fn note(&mut self, change: impl FnOnce(&mut ProcessRecord)) -> io::Result<()> {
        change(&mut self.record);
        write_record(&self.folder, &self.record)
    }
}

/// How long the outputs in a folder are.
pub(super) fn lengths(folder: &Path) -> [u64; 2] {
    [ProcessOutput::Stdout, ProcessOutput::Stderr]
        .map(|it| std::fs::metadata(folder.join(it.name())).map_or(0, |facts| facts.len()))
}

/// Bytes from a cursor on, and how many there are altogether.
pub(super) fn read(path: &Path, from: u64, bytes_max: u64) -> io::Result<(Vec<u8>, u64)> {
    let (mut file, _) = crate::home::open_regular(path, u64::MAX)?;
    let len = file.metadata()?.len();
    let wanted = len.saturating_sub(from).min(bytes_max);
    let mut bytes = Vec::new();
    if wanted > 0 {
        file.seek(SeekFrom::Start(from))?;
        bytes.try_reserve_exact(usize::try_from(wanted).map_err(io::Error::other)?)?;
        file.take(wanted).read_to_end(&mut bytes)?;
    }
    Ok((bytes, len))
}
