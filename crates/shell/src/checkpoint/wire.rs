//! Bytes: a header, then parts with their lengths, and in each part rows.
//!
//! A row is small: numbers and one or two texts that stay where they are. Lists are their length and then their rows, so
//! that reading never makes room for what is only claimed. Each row is charged what it may take in memory, when it is
//! written and when it is read: what a shell can save it can restore, and nothing else restores more.

use std::cell::Cell;

use postcard::ser_flavors::Flavor;
use serde::{Deserialize, Serialize};

use super::{BadCheckpoint, CHECKPOINT_VERSION, damaged};

/// What a row takes beside its bytes.
const ROW_BYTES: usize = 64;

pub(super) const HEADER_BYTES: usize = 8;

const MAGIC: [u8; 6] = *b"drysh\0";

/// What every checkpoint begins with.
pub(super) const HEADER: [u8; HEADER_BYTES] = {
    let [a, b, c, d, e, f] = MAGIC;
    let [low, high] = CHECKPOINT_VERSION.to_le_bytes();
    [a, b, c, d, e, f, low, high]
};

/// Bytes of the length before a part.
const LENGTH_BYTES: usize = 4;

/// Writes one part, as long as it may be: what is longer is not even made, because its shell may have no room for it.
pub(super) struct Writer {
    out: Vec<u8>,
    rows: usize,
    /// What it may be charged.
    bytes_max: usize,
    is_full: bool,
}

/// Bytes behind others, if there is room.
struct Room<'a> {
    out: &'a mut Vec<u8>,
    bytes_max: usize,
}

impl Flavor for Room<'_> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.try_extend(&[byte])
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        if bytes.len() > self.bytes_max.saturating_sub(self.out.len())
            || self.out.try_reserve(bytes.len()).is_err()
        {
            return Err(postcard::Error::SerializeBufferFull);
        }
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

impl Writer {
    /// Into room that was used before.
    pub(super) fn into_buffer(mut out: Vec<u8>, bytes_max: usize) -> Self {
        out.clear();
        out.extend_from_slice(&[0; LENGTH_BYTES]);
        Self { out, rows: 0, bytes_max, is_full: false }
    }

    pub(super) fn put<Row: Serialize>(&mut self, row: &Row) {
        if self.is_full {
            return;
        }
        self.rows += 1;
        let bytes_max = self.bytes_max.saturating_sub(self.rows.saturating_mul(ROW_BYTES)) + LENGTH_BYTES;
        let room = Room { out: &mut self.out, bytes_max };
        // Rows are plain, no list of unknown length: only room can be missing.
        self.is_full = postcard::serialize_with_flavor(row, room).is_err();
    }

    /// The length of a list whose rows follow.
    pub(super) fn count(&mut self, rows: usize) {
        self.put(&u32::try_from(rows).unwrap_or(u32::MAX));
    }

    /// The bytes with their length in front, and what they are charged; no charge if there was no room for them. The
    /// buffer comes back in any case.
    pub(super) fn finish(mut self) -> (Vec<u8>, Option<usize>) {
        let length = self.out.len() - LENGTH_BYTES;
        // What is longer than a length can say is above every limit, and so never leaves `save`.
        let claimed = u32::try_from(length).unwrap_or(u32::MAX);
        self.out[..LENGTH_BYTES].copy_from_slice(&claimed.to_le_bytes());
        let charge = length.saturating_add(self.rows.saturating_mul(ROW_BYTES));
        (self.out, (!self.is_full).then_some(charge))
    }
}

/// The parts of a checkpoint, if it is one.
pub(super) fn split<const PARTS: usize>(
    bytes: &[u8],
    bytes_max: usize,
) -> Result<[&[u8]; PARTS], BadCheckpoint> {
    let cut = || BadCheckpoint::Cut { bytes: bytes.len() };
    if bytes.len() > bytes_max {
        return Err(BadCheckpoint::TooLarge { bytes_max });
    }
    let Some((header, mut rest)) = bytes.split_at_checked(HEADER_BYTES) else {
        let is_ours = HEADER.starts_with(bytes);
        return Err(if is_ours { cut() } else { BadCheckpoint::Foreign });
    };
    if header[..MAGIC.len()] != MAGIC {
        return Err(BadCheckpoint::Foreign);
    }
    let found = u16::from_le_bytes([header[6], header[7]]);
    if found != CHECKPOINT_VERSION {
        return Err(BadCheckpoint::Version { found });
    }
    let mut parts: [&[u8]; PARTS] = [&[]; PARTS];
    for part in &mut parts {
        let (length, behind) = rest.split_first_chunk::<LENGTH_BYTES>().ok_or_else(cut)?;
        let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| cut())?;
        (*part, rest) = behind.split_at_checked(length).ok_or_else(cut)?;
    }
    if !rest.is_empty() {
        return Err(BadCheckpoint::Trailing { bytes: rest.len() });
    }
    Ok(parts)
}

/// Reads one part.
pub(super) struct Reader<'b, 'c> {
    rest: &'b [u8],
    /// What all parts may still take.
    budget: &'c Cell<usize>,
    bytes_max: usize,
}

impl<'b, 'c> Reader<'b, 'c> {
    pub(super) fn new(part: &'b [u8], budget: &'c Cell<usize>, bytes_max: usize) -> Self {
        Self { rest: part, budget, bytes_max }
    }

    /// The next row; `of` says of what.
    pub(super) fn take<Row: Deserialize<'b>>(&mut self, of: &str) -> Result<Row, BadCheckpoint> {
        let (row, rest) =
            postcard::take_from_bytes(self.rest).map_err(|_| damaged(format!("{of} cannot be read")))?;
        let charge = self.rest.len() - rest.len() + ROW_BYTES;
        let left = self.budget.get().checked_sub(charge);
        self.budget.set(left.ok_or(BadCheckpoint::TooLarge { bytes_max: self.bytes_max })?);
        self.rest = rest;
        Ok(row)
    }

    /// Nothing may follow the last row.
    pub(super) fn end(self, of: &str) -> Result<(), BadCheckpoint> {
        if self.rest.is_empty() { Ok(()) } else { Err(damaged(format!("something follows {of}"))) }
    }
}
