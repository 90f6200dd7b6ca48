//! Which files the journal is made of: `audit-000001.jsonl` and on, the highest number the newest.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// A segment that has reached this size gets no more lines.
pub const SEGMENT_BYTES_MAX: u64 = 64 << 20;
/// How many segments are kept.
pub const SEGMENTS_MAX: usize = 16;

/// The numbers of all segments, oldest first.
pub(super) fn numbers(dir: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(dir)? {
        numbers.extend(number_in(&entry?.file_name().to_string_lossy()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

pub(super) fn path_of(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("audit-{number:06}.jsonl"))
}

/// Removes the oldest segments beyond the number that is kept.
pub(super) fn prune(dir: &Path) -> io::Result<()> {
    let numbers = numbers(dir)?;
    for number in &numbers[..numbers.len().saturating_sub(SEGMENTS_MAX)] {
        match fs::remove_file(path_of(dir, *number)) {
            // Another process was quicker.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => other?,
        }
    }
    Ok(())
}

fn number_in(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("audit-")?.strip_suffix(".jsonl")?;
    let plain = digits.len() >= 6 && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}
