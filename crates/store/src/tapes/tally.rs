//! How many tapes a tenant has, and their bytes: counted once, and then noted in the file of the lock that each writer takes.
//!
//! Looking at a thousand files takes longer than what most tapes tell of. A note is believed as long as the folder is as
//! it was left: adding and removing files changes its time, whoever does it. So a note may be late by what was removed in
//! the same tick, never by what a writer added; whoever finds no room by a note counts.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path};

use crate::home::Lock;

/// What is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) bytes: u64,
    pub(super) tapes: u64,
}

const NOTE_BYTES: usize = 40;

impl Tally {
    /// And one more of so many bytes.
    pub(super) fn with(self, bytes: u64) -> Self {
        Self { bytes: self.bytes.saturating_add(bytes), tapes: self.tapes.saturating_add(1) }
    }

    /// What the last writer noted, if the folder is still as it was then.
    pub(super) fn noted(lock: &Lock, dir: &Path) -> Option<Self> {
        let note: [u8; NOTE_BYTES] = lock.note()?;
        let (number, left) = (|at: usize| Some(u64::from_le_bytes(*note[at..].first_chunk()?)), &note[16..]);
        (left == state(dir)?).then_some(Self { bytes: number(0)?, tapes: number(8)? })
    }

    /// Notes it for the next writer. Where that fails the next one counts.
    pub(super) fn note(self, lock: &Lock, dir: &Path) {
        let Some(state) = state(dir) else { return };
        let mut note = [0; NOTE_BYTES];
        note[..8].copy_from_slice(&self.bytes.to_le_bytes());
        note[8..16].copy_from_slice(&self.tapes.to_le_bytes());
        note[16..].copy_from_slice(&state);
        lock.set_note(&note);
    }
}

/// Which folder it is, and when it last changed. The time is the one that nobody can set.
fn state(dir: &Path) -> Option<[u8; NOTE_BYTES - 16]> {
    let facts = fs::metadata(dir).ok()?;
    let mut state = [0; NOTE_BYTES - 16];
    state[..8].copy_from_slice(&facts.ino().to_le_bytes());
    state[8..16].copy_from_slice(&facts.ctime().to_le_bytes());
    state[16..].copy_from_slice(&facts.ctime_nsec().to_le_bytes());
    Some(state)
}
