//! Input in blocks: what was read and not used yet stays in one piece, however it was cut.

use crate::stdio::{Standard, path};
use std::fs::File;
use std::io::{self, Read};

/// The first block is small: most inputs are, and fresh memory costs as much as it is large.
const BLOCK_BYTES_MIN: usize = 4 * 1024;
const BLOCK_BYTES: usize = 64 * 1024;

/// A file or standard input, and the part of it that is held.
pub struct Blocks {
    from: Box<dyn Read>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    /// The last block was full, so that more will come.
    is_much: bool,
}

impl Blocks {
    /// From anything.
    pub fn new(from: Box<dyn Read>) -> Self {
        Self { from, buffer: Vec::new(), start: 0, end: 0, ended: false, is_much: false }
    }

    /// The file of that name; `-` and `/dev/stdin` are standard input, `/dev/null` is empty.
    pub fn open(name: &[u8]) -> io::Result<Self> {
        Ok(match name {
            b"-" | b"/dev/stdin" => Self::new(Box::new(Standard::input())),
            b"/dev/null" => Self::of_bytes(Vec::new()),
            _ => Self::new(Box::new(File::open(path(name))?)),
        })
    }

    /// What is there already.
    pub fn of_bytes(bytes: Vec<u8>) -> Self {
        let end = bytes.len();
        Self { from: Box::new(io::empty()), buffer: bytes, start: 0, end, ended: true, is_much: false }
    }

    /// What was read and not used yet.
    #[inline]
    pub fn held(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Whether nothing follows what is held.
    #[inline]
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Uses the first `count` bytes of what is held.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.end);
    }

    /// Makes sure that something is held; `false` at the end.
    #[inline]
    pub fn fill(&mut self) -> io::Result<bool> {
        Ok(self.start < self.end || self.more()?)
    }

    /// Reads more behind what is held; `false` at the end.
    pub fn more(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let left = self.buffer.len() - self.end;
        if self.buffer.is_empty() {
            self.buffer.resize(BLOCK_BYTES_MIN, 0);
        } else if self.is_much && self.buffer.len() < BLOCK_BYTES || left < BLOCK_BYTES_MIN / 2 {
            self.buffer.resize((self.buffer.len() * 2).max(BLOCK_BYTES), 0);
        }
        let read = self.from.read(&mut self.buffer[self.end..])?;
        self.end += read;
        self.is_much = self.end == self.buffer.len();
        self.ended = read == 0;
        Ok(read > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a byte at a time.
    struct Slow(std::vec::IntoIter<u8>);

    impl Read for Slow {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            Ok(self.0.next().map_or(0, |byte| {
                into[0] = byte;
                1
            }))
        }
    }

    #[test]
    fn what_is_held_stays_in_one_piece() -> io::Result<()> {
        let mut blocks = Blocks::new(Box::new(Slow(b"abc".to_vec().into_iter())));
        assert!(blocks.fill()? && blocks.held() == b"a");
        assert!(blocks.more()? && blocks.held() == b"ab");
        blocks.advance(1);
        assert!(blocks.more()? && blocks.held() == b"bc");
        assert!(!blocks.more()? && blocks.has_ended() && blocks.held() == b"bc");
        blocks.advance(9);
        assert!(!blocks.fill()?);
        Ok(())
    }

    #[test]
    fn long_inputs_get_larger_blocks() -> io::Result<()> {
        let all: Vec<u8> = (0..200_000_u32).map(|it| it as u8).collect();
        let mut blocks = Blocks::new(Box::new(io::Cursor::new(all.clone())));
        while blocks.more()? {}
        assert_eq!(blocks.held(), all);
        Ok(())
    }
}
