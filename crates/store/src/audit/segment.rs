//! Which files a tenant's journal is made of: `audit-000001.jsonl` and on, the highest number the newest, and beside
//! them `busy-000001.jsonl` and on, for principals that had more than their share of a segment.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// A segment that has reached this size gets no more lines.
pub const SEGMENT_BYTES_MAX: u64 = 32 << 20;
/// How many segments of each kind are kept for a tenant.
pub const SEGMENTS_MAX: usize = 8;

/// Which of a tenant's two rows of segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Row {
    /// Everybody's.
    Shared,
    /// Of principals that had their share of the newest shared segment. They push each other out, and nobody else.
    Busy,
}

impl Row {
    pub(super) const ALL: [Self; 2] = [Self::Shared, Self::Busy];

    const fn prefix(self) -> &'static str {
        match self {
            Self::Shared => "audit-",
            Self::Busy => "busy-",
        }
    }
}

/// The numbers of all segments, oldest first. None if there is no such directory.
pub(super) fn numbers(dir: &Path, row: Row) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(numbers),
        Err(error) => return Err(error),
    };
    for entry in entries {
        numbers.extend(number_in(&entry?.file_name().to_string_lossy(), row));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

pub(super) fn path_of(dir: &Path, row: Row, number: u64) -> PathBuf {
    dir.join(format!("{}{number:06}.jsonl", row.prefix()))
}

/// Removes the oldest segments beyond the number that is kept.
pub(super) fn prune(dir: &Path, row: Row) -> io::Result<()> {
    let numbers = numbers(dir, row)?;
    for number in &numbers[..numbers.len().saturating_sub(SEGMENTS_MAX)] {
        match fs::remove_file(path_of(dir, row, *number)) {
            // Another process was quicker.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => other?,
        }
    }
    Ok(())
}

fn number_in(name: &str, row: Row) -> Option<u64> {
    let digits = name.strip_prefix(row.prefix())?.strip_suffix(".jsonl")?;
    let plain = digits.len() >= 6 && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}
