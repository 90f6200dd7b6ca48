//! What a session wrote itself into trees that others have, too. Read back unchanged it is no news to the tape: it comes
//! from the guest again. Both who records and who replays keep the same account, from the same writes.

use std::collections::{BTreeMap, HashMap};

/// What is remembered of all files together; what is written beyond that is recorded when it is read.
const BYTES_MAX: usize = 64 << 20;

/// Bytes by file (its inode in the tree) and place.
#[derive(Default)]
pub(super) struct Known {
    files: HashMap<u64, BTreeMap<u64, Vec<u8>>>,
    bytes: usize,
}

impl Known {
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// These bytes were written there.
    pub(super) fn wrote(&mut self, file: u64, offset: u64, bytes: &[u8]) {
        let end = offset.saturating_add(bytes.len() as u64);
        self.forget(file, offset, end);
        if bytes.is_empty() || self.bytes.saturating_add(bytes.len()) > BYTES_MAX {
            return;
        }
        self.bytes += bytes.len();
        self.files.entry(file).or_default().insert(offset, bytes.to_vec());
    }

    /// Nothing is known of the file from there on.
    pub(super) fn cut(&mut self, file: u64, len: u64) {
        self.forget(file, len, u64::MAX);
    }

    /// What the session itself wrote there, if all of it is.
    pub(super) fn at(&self, file: u64, offset: u64, length: usize) -> Option<Vec<u8>> {
        let places = self.files.get(&file)?;
        let mut all = Vec::with_capacity(length);
        while all.len() < length {
            let at = offset.checked_add(all.len() as u64)?;
            let (start, bytes) = places.range(..=at).next_back()?;
            let from = usize::try_from(at - start).ok()?;
            let rest = bytes.get(from..).filter(|it| !it.is_empty())?;
            all.extend_from_slice(&rest[..rest.len().min(length - all.len())]);
        }
        Some(all)
    }

    fn forget(&mut self, file: u64, from: u64, to: u64) {
        let Some(places) = self.files.get_mut(&file) else { return };
        let touched: Vec<u64> = places
            .range(..to)
            .filter(|(start, bytes)| start.saturating_add(bytes.len() as u64) > from)
            .map(|it| *it.0)
            .collect();
        for start in touched {
            let Some(bytes) = places.remove(&start) else { continue };
            self.bytes -= bytes.len();
            let end = start + bytes.len() as u64;
            let index = |at: u64| usize::try_from(at - start).unwrap_or(usize::MAX);
            if start < from {
                let head = bytes[..index(from)].to_vec();
                self.bytes += head.len();
                places.insert(start, head);
            }
            if end > to {
                let tail = bytes[index(to)..].to_vec();
                self.bytes += tail.len();
                places.insert(to, tail);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_last_is_known_and_nothing_beyond() {
        let mut known = Known::default();
        known.wrote(1, 0, b"aaaaaaaa");
        known.wrote(1, 2, b"bb");
        known.wrote(1, 8, b"cc");
        assert_eq!(known.at(1, 0, 10).as_deref(), Some(&b"aabbaaaacc"[..]));
        assert_eq!(known.at(1, 3, 2).as_deref(), Some(&b"ba"[..]));
        assert_eq!(known.at(1, 5, 6), None, "one byte more");
        assert_eq!(known.at(2, 0, 1), None, "another file");
        known.cut(1, 3);
        assert_eq!(known.at(1, 0, 3).as_deref(), Some(&b"aab"[..]));
        assert_eq!(known.at(1, 3, 1), None);
        assert_eq!(known.bytes, 3);
    }
}
