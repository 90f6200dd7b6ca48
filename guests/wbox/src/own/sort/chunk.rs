//! As much of the inputs as is sorted at once.
//!
//! The text lies in blocks, so that more of it never means copying what is there; a line is never cut
//! by the end of a block.

use crate::stream::{Input, reason, text};
use std::io;

const BLOCK_BYTES_MIN: usize = 32 << 10;
const BLOCK_BYTES_MAX: usize = 1 << 20;
/// What a line costs besides its text: itself, and its share of what sorting takes.
const LINE_BYTES: usize = 48;

/// The inputs, read one after the other, and the chunk that was read last.
pub struct Chunks<'a> {
    names: std::vec::IntoIter<&'a [u8]>,
    current: Option<(&'a [u8], Input)>,
    end: u8,
    blocks: Vec<Block>,
    /// The beginning of a line that the next chunk goes on with.
    carry: Vec<u8>,
    bytes: usize,
    lines: usize,
}

#[derive(Default)]
struct Block {
    room: Vec<u8>,
    used: usize,
}

/// Whether there is more than the chunk.
#[derive(PartialEq, Eq)]
pub enum More {
    Yes,
    No,
}

impl<'a> Chunks<'a> {
    pub fn new(names: Vec<&'a [u8]>, end: u8) -> Self {
        let names = names.into_iter();
        Self { names, current: None, end, blocks: Vec::new(), carry: Vec::new(), bytes: 0, lines: 0 }
    }

    /// Forgets the last chunk and reads the next one.
    pub fn next(&mut self, bytes_max: usize) -> Result<More, String> {
        self.blocks.clear();
        (self.bytes, self.lines) = (0, 0);
        let carry = std::mem::take(&mut self.carry);
        self.begin_block(&carry);
        self.go_on(bytes_max)
    }

    /// Reads more into the chunk.
    pub fn go_on(&mut self, bytes_max: usize) -> Result<More, String> {
        if !self.carry.is_empty() {
            let carry = std::mem::take(&mut self.carry);
            self.begin_block(&carry);
        }
        loop {
            if self.current.is_none() {
                let Some(name) = self.names.next() else { return Ok(More::No) };
                let input = Input::open(name).map_err(|error| unreadable(name, &error))?;
                self.current = Some((name, input));
            }
            if self.read()? && self.lines > 0 && self.bytes + self.lines * LINE_BYTES >= bytes_max {
                self.carry = self.cut();
                return Ok(More::Yes);
            }
        }
    }

    /// Reads a piece; false at the end of an input.
    fn read(&mut self) -> Result<bool, String> {
        let Some((name, input)) = &mut self.current else { return Ok(false) };
        let name = *name;
        if self.blocks.last().is_none_or(|block| block.used == block.room.len()) {
            let rest = self.cut();
            self.begin_block(&rest);
            return Ok(true);
        }
        let Some(block) = self.blocks.last_mut() else { return Ok(false) };
        let count = input.read(&mut block.room[block.used..]).map_err(|error| unreadable(name, &error))?;
        if count > 0 {
            let new = &block.room[block.used..block.used + count];
            self.lines += memchr::memchr_iter(self.end, new).count();
            block.used += count;
            self.bytes += count;
            return Ok(true);
        }
        self.current = None;
        if block.used > 0 && block.room[block.used - 1] != self.end {
            // An input that does not end its last line ends it here.
            if block.used == block.room.len() {
                block.room.push(0);
            }
            block.room[block.used] = self.end;
            block.used += 1;
            self.lines += 1;
        }
        Ok(false)
    }

    /// Takes the beginning of an unfinished line away from the last block.
    fn cut(&mut self) -> Vec<u8> {
        let Some(block) = self.blocks.last_mut() else { return Vec::new() };
        let whole = memchr::memrchr(self.end, &block.room[..block.used]).map_or(0, |at| at + 1);
        let rest = block.room[whole..block.used].to_vec();
        block.used = whole;
        if whole == 0 {
            self.blocks.pop();
        }
        rest
    }

    fn begin_block(&mut self, start: &[u8]) {
        let usual = (BLOCK_BYTES_MIN << self.blocks.len().min(5)).min(BLOCK_BYTES_MAX);
        let mut room = vec![0; usual.max(start.len() * 2)];
        room[..start.len()].copy_from_slice(start);
        self.blocks.push(Block { room, used: start.len() });
    }

    /// Every line of the chunk, without what ends it.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.blocks.iter().flat_map(|block| {
            let mut start = 0;
            memchr::memchr_iter(self.end, &block.room[..block.used]).map(move |end| {
                let line = &block.room[start..end];
                start = end + 1;
                line
            })
        })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.lines
    }
}

/// What is said of an input that cannot be read.
pub fn unreadable(name: &[u8], error: &io::Error) -> String {
    let reason = reason(error);
    let what = if reason == "Is a directory" { "read failed" } else { "cannot read" };
    format!("{what}: {}: {reason}", text(name))
}
