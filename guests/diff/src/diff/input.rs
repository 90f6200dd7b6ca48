//! The two things that are compared: where they come from, and their lines.

use super::settings::Settings;
use facts::Time;
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::Path;

/// One side of a comparison.
#[derive(Debug, Clone)]
pub(super) struct Side {
    /// As it is printed.
    pub name: String,
    /// It is not there, and counts as empty.
    pub absent: bool,
}

impl Side {
    pub(super) fn load(&self) -> io::Result<Vec<u8>> {
        match self.absent {
            true => Ok(Vec::new()),
            false => place::stdio::read(&self.name),
        }
    }

    /// When it was last changed: long ago if it never was, now if it is not a file.
    pub(super) fn modified(&self) -> Time {
        if self.absent {
            return Time::default();
        }
        match facts::of(Path::new(&self.name), facts::Follow::Yes) {
            Ok(facts) if self.name != "-" => facts.modified,
            _ => Time::now(),
        }
    }
}

/// As GNU judges: by a NUL among the first bytes.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(4096)].contains(&0)
}

/// The lines of a file, and a number for each that is the same for lines that count as equal.
pub(super) struct Document<'a> {
    pub lines: Vec<&'a [u8]>,
    pub keys: Vec<u32>,
    /// The last line has no end.
    pub unfinished: bool,
}

thread_local! {
    /// Numbers are shared by both documents of a comparison, and by all comparisons of a run.
    static NUMBERS: std::cell::RefCell<HashMap<Vec<u8>, u32>> = std::cell::RefCell::default();
}

impl<'a> Document<'a> {
    pub(super) fn new(bytes: &'a [u8], settings: &Settings) -> Self {
        let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let unfinished = lines.last().is_some_and(|it| !it.is_empty());
        if !unfinished {
            lines.pop();
        }
        let last = lines.len().wrapping_sub(1);
        let keys = NUMBERS.with_borrow_mut(|numbers| {
            let number = |(at, line): (usize, &&[u8])| {
                let mut key = settings.key(line);
                if unfinished && at == last && !settings.ignores_space() {
                    key.push(b'\n');
                }
                let next = numbers.len() as u32;
                *numbers.entry(key).or_insert(next)
            };
            lines.iter().enumerate().map(number).collect()
        });
        Self { lines, keys, unfinished }
    }

    pub(super) fn all_blank(&self, range: Range<usize>) -> bool {
        self.lines[range].iter().all(|line| line.is_empty())
    }

    /// A line after a mark, and the note that it has no end if it has none.
    pub(super) fn put(&self, at: usize, mark: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(mark.as_bytes());
        out.extend_from_slice(self.lines[at]);
        out.push(b'\n');
        if self.unfinished && at + 1 == self.lines.len() {
            out.extend_from_slice(b"\\ No newline at end of file\n");
        }
    }
}
