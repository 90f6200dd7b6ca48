//! Joins inputs that are in order, each read piece by piece.

use super::chunk::unreadable;
use super::rules::{Line, Rules};
use super::scratch::{Run, Scratch};
use crate::stream::{Input, Out};
use std::cmp::Ordering;

/// How many inputs are open at once, unless `--batch-size` says otherwise.
pub const INPUTS_MAX: usize = 16;
const PIECE_BYTES: usize = 64 << 10;

/// An input that is in order.
pub enum Sorted<'a> {
    /// Named on the command line.
    Named(&'a [u8]),
    /// One of ours.
    Run(Run),
}

impl Sorted<'_> {
    fn open(&self) -> Result<Lines, String> {
        let (name, input) = match self {
            Self::Named(name) => {
                (name.to_vec(), Input::open(name).map_err(|error| unreadable(name, &error))?)
            }
            Self::Run(run) => {
                (run.path.to_string_lossy().into_owned().into_bytes(), Input::Opened(run.open()?))
            }
        };
        Ok(Lines::new(name, input))
    }
}

/// The lines of an input, one at a time.
pub struct Lines {
    name: Vec<u8>,
    input: Input,
    room: Vec<u8>,
    /// The current line, and what was read behind it.
    start: usize,
    stop: usize,
    read: usize,
    ended: bool,
}

impl Lines {
    pub fn new(name: Vec<u8>, input: Input) -> Self {
        Self { name, input, room: Vec::new(), start: 0, stop: 0, read: 0, ended: false }
    }

    /// Goes to the next line; false at the end.
    pub fn next(&mut self, end: u8) -> Result<bool, String> {
        // Behind the line that was current; at first there is none.
        self.start = if self.room.is_empty() { 0 } else { self.stop + 1 };
        let mut looked = self.start;
        loop {
            let unread = self.room.get(looked..self.read).unwrap_or_default();
            if let Some(found) = memchr::memchr(end, unread) {
                self.stop = looked + found;
                return Ok(true);
            }
            if self.ended {
                self.stop = self.read;
                return Ok(self.start < self.read);
            }
            looked = self.read;
            looked -= self.make_room();
            let count = self.input.read(&mut self.room[self.read..]);
            let count = count.map_err(|error| unreadable(&self.name, &error))?;
            self.read += count;
            self.ended = count == 0;
        }
    }

    /// Moves the unfinished line to the front, or makes the room larger; how far it moved.
    fn make_room(&mut self) -> usize {
        let moved = self.start.min(self.read);
        if moved > 0 {
            self.room.copy_within(moved..self.read, 0);
            (self.start, self.read) = (self.start - moved, self.read - moved);
        }
        if self.room.len() - self.read < PIECE_BYTES / 2 {
            self.room.resize((self.room.len() * 2).max(PIECE_BYTES), 0);
        }
        moved
    }

    /// The current line.
    pub fn text(&self) -> &[u8] {
        self.room.get(self.start..self.stop).unwrap_or_default()
    }
}

/// An input and what its current line is compared by.
struct Head {
    lines: Lines,
    /// Of equal lines, the one of the earlier input comes first.
    number: usize,
}

/// Joins all inputs, a batch at a time where there are many.
pub fn all(
    rules: &Rules,
    unique: bool,
    mut inputs: Vec<Sorted<'_>>,
    batch: usize,
    scratch: &mut Scratch,
    out: &mut Out,
) -> Result<(), String> {
    while inputs.len() > batch {
        let mut fewer = Vec::with_capacity(inputs.len().div_ceil(batch));
        let mut rest = inputs.into_iter();
        loop {
            let group: Vec<Sorted<'_>> = rest.by_ref().take(batch).collect();
            if group.is_empty() {
                break;
            }
            let (run, mut out) = scratch.run()?;
            join(rules, unique, group, &mut out)?;
            finish(out)?;
            fewer.push(Sorted::Run(run));
        }
        inputs = fewer;
    }
    join(rules, unique, inputs, out)
}

/// Writes the rest of a run.
pub fn finish(out: Out) -> Result<(), String> {
    if out.end(0) == 0 { Ok(()) } else { Err("a temporary file could not be written".to_owned()) }
}

fn join(rules: &Rules, unique: bool, inputs: Vec<Sorted<'_>>, out: &mut Out) -> Result<(), String> {
    // The heads in order, first to last.
    let mut heads: Vec<Head> = Vec::with_capacity(inputs.len());
    for (number, input) in inputs.iter().enumerate() {
        let mut lines = input.open()?;
        if lines.next(rules.end)? {
            insert(rules, &mut heads, Head { lines, number });
        }
    }
    let mut before: Option<Vec<u8>> = None;
    while !heads.is_empty() {
        let mut head = heads.remove(0);
        let text = head.lines.text();
        let again = unique
            && before.as_ref().is_some_and(|it| rules.by_keys(&rules.line(it), &rules.line(text)).is_eq());
        if !again {
            out.put(text);
            if !out.put(&[rules.end]) {
                return Ok(());
            }
            if unique {
                let room = before.get_or_insert_with(Vec::new);
                room.clear();
                room.extend_from_slice(text);
            }
        }
        if head.lines.next(rules.end)? {
            insert(rules, &mut heads, head);
        }
    }
    Ok(())
}

fn insert(rules: &Rules, heads: &mut Vec<Head>, head: Head) {
    let line = rules.line(head.lines.text());
    let order = |other: &Head| -> Ordering {
        let other_line: Line<'_> = rules.line(other.lines.text());
        rules.compare(&other_line, &line).then_with(|| other.number.cmp(&head.number))
    };
    let at = heads.partition_point(|other| order(other).is_lt());
    heads.insert(at, head);
}
