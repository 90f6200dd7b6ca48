//! A stream of bytes cut into lines, wherever the reads happened to end.
//!
//! A line that is too long is dropped as it arrives, never gathered; its beginning is kept, so that
//! whoever waits for it can be told.

use bytes::{Buf as _, Bytes, BytesMut};

use super::Head;

/// The longest line that is read.
pub const LINE_BYTES_MAX: usize = 64 << 20;

/// One line, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// All of it.
    Whole(Bytes),
    /// More than is read. What it was about, as far as its beginning tells.
    TooLong(Head),
}

/// Cuts a stream into lines.
#[derive(Debug)]
pub struct Lines {
    held: BytesMut,
    /// How much of `held` is known to have no end of line.
    searched: usize,
    /// In the middle of a line that was reported as too long.
    skipping: bool,
    bytes_max: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self::at_most(LINE_BYTES_MAX)
    }
}

impl Lines {
    /// Lines of at most this many bytes.
    pub fn at_most(bytes_max: usize) -> Self {
        Self { held: BytesMut::new(), searched: 0, skipping: false, bytes_max }
    }

    /// Takes what was read. Ask for lines before the next.
    pub fn push(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
    }

    /// The longest line there may be.
    pub fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// The next line that is there.
    pub fn next_line(&mut self) -> Option<Line> {
        loop {
            let end = self.held[self.searched..].iter().position(|byte| *byte == b'\n');
            let Some(end) = end.map(|at| self.searched + at) else {
                self.searched = self.held.len();
                return self.overflow();
            };
            self.searched = 0;
            let line = self.held.split_to(end).freeze();
            self.held.advance(1);
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            return Some(self.judge(line));
        }
    }

    /// What is left when the stream has ended: a last line without its end.
    pub fn finish(&mut self) -> Option<Line> {
        let line = std::mem::take(&mut self.held).freeze();
        self.searched = 0;
        if std::mem::take(&mut self.skipping) || line.is_empty() {
            return None;
        }
        Some(self.judge(line))
    }

    fn judge(&self, line: Bytes) -> Line {
        if line.len() > self.bytes_max {
            return Line::TooLong(Head::of(&line));
        }
        Line::Whole(line)
    }

    /// No end in sight: reports the line once and lets go of it.
    fn overflow(&mut self) -> Option<Line> {
        if self.held.len() <= self.bytes_max && !self.skipping {
            return None;
        }
        let head = Head::of(&self.held);
        self.held.clear();
        self.searched = 0;
        if std::mem::replace(&mut self.skipping, true) {
            return None;
        }
        Some(Line::TooLong(head))
    }
}
