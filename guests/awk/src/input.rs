//! Records from files: by line, by another character, by paragraph or by regular expression.

use memchr::memchr;
use posix_regex::Regex;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::rc::Rc;

/// The first block is small, because most inputs are and fresh memory costs.
const BLOCK_BYTES_MIN: usize = 4 * 1024;
const BLOCK_BYTES: usize = 64 * 1024;

/// What ends a record.
#[derive(Clone)]
pub(crate) enum Separator {
    Byte(u8),
    /// Empty lines.
    Paragraph,
    Matches(Rc<Regex>),
}

/// How a file's name is given to the system.
pub(crate) fn path(name: &[u8]) -> PathBuf {
    // SAFETY: the bytes come from the arguments or from a program; on WASI and Unix any bytes are a name.
    PathBuf::from(unsafe { std::ffi::OsStr::from_encoded_bytes_unchecked(name) })
}

/// Why it failed, in the system's words without Rust's number.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// A file or standard input that gives records.
pub(crate) struct Reader {
    from: Box<dyn Read>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    /// The last block was full, so that more will come.
    is_much: bool,
}

impl Reader {
    /// The file of that name; `-` and `/dev/stdin` are standard input.
    pub(crate) fn open(name: &[u8]) -> io::Result<Self> {
        if name == b"-" || name == b"/dev/stdin" {
            return Ok(Self::new(Box::new(stdin())));
        }
        if name == b"/dev/null" {
            return Ok(Self::new(Box::new(io::empty())));
        }
        let file = File::open(path(name))?;
        if file.metadata().is_ok_and(|it| it.is_dir()) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(Self::new(Box::new(file)))
    }

    /// What a command printed.
    pub(crate) fn of_bytes(bytes: Vec<u8>) -> Self {
        let end = bytes.len();
        Self { from: Box::new(io::empty()), buffer: bytes, start: 0, end, ended: true, is_much: false }
    }

    fn new(from: Box<dyn Read>) -> Self {
        Self { from, buffer: Vec::new(), start: 0, end: 0, ended: false, is_much: false }
    }

    /// Reads more, behind what is there; `false` at the end.
    fn more(&mut self) -> io::Result<bool> {
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

    /// Puts the next record into `out` and what ended it into `mark`; `false`, and `out` as it was, if
    /// there is none.
    pub(crate) fn record(
        &mut self,
        by: &Separator,
        out: &mut Vec<u8>,
        mark: &mut Vec<u8>,
    ) -> io::Result<bool> {
        mark.clear();
        loop {
            if matches!(by, Separator::Paragraph) {
                let there = &self.buffer[self.start..self.end];
                self.start += there.iter().take_while(|it| **it == b'\n').count();
            }
            if self.start < self.end {
                break;
            }
            if !self.more()? {
                return Ok(false);
            }
        }
        out.clear();
        match by {
            Separator::Byte(byte) => self.until(*byte, out, mark),
            Separator::Paragraph => self.paragraph(out, mark),
            Separator::Matches(regex) => self.until_match(regex, out, mark),
        }
    }

    fn until(&mut self, byte: u8, out: &mut Vec<u8>, mark: &mut Vec<u8>) -> io::Result<bool> {
        let mut searched = 0;
        loop {
            let there = &self.buffer[self.start..self.end];
            if let Some(length) = memchr(byte, &there[searched..]) {
                out.extend_from_slice(&there[..searched + length]);
                mark.push(byte);
                self.start += searched + length + 1;
                return Ok(true);
            }
            searched = there.len();
            if !self.more()? {
                return Ok(self.rest(out));
            }
        }
    }

    fn paragraph(&mut self, out: &mut Vec<u8>, mark: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            let there = &self.buffer[self.start..self.end];
            if let Some(length) = memchr::memmem::find(there, b"\n\n") {
                let lines = there[length..].iter().take_while(|it| **it == b'\n').count();
                if length + lines < there.len() || self.ended {
                    out.extend_from_slice(&there[..length]);
                    mark.extend_from_slice(&there[length..length + lines]);
                    self.start += length + lines;
                    return Ok(true);
                }
            }
            if !self.more()? && self.ended {
                let there = &self.buffer[self.start..self.end];
                if memchr::memmem::find(there, b"\n\n").is_some() {
                    continue;
                }
                let found = self.rest(out);
                if out.last() == Some(&b'\n') {
                    out.pop();
                    mark.push(b'\n');
                }
                return Ok(found);
            }
        }
    }

    fn until_match(&mut self, regex: &Regex, out: &mut Vec<u8>, mark: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            let there = &self.buffer[self.start..self.end];
            let found = regex.find_at(there, 0).filter(|it| it.end > it.start);
            // A match at the very end might go on in what has not been read.
            if let Some(span) = found.filter(|it| it.end < there.len() || self.ended) {
                out.extend_from_slice(&there[..span.start]);
                mark.extend_from_slice(&there[span.start..span.end]);
                self.start += span.end;
                return Ok(true);
            }
            if self.ended {
                return Ok(self.rest(out));
            }
            self.more()?;
        }
    }

    fn rest(&mut self, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(&self.buffer[self.start..self.end]);
        self.start = self.end;
        !out.is_empty()
    }
}

fn stdin() -> impl Read {
    use std::os::fd::FromRawFd as _;
    /// Standard input without a second buffer, and never closed.
    struct Raw(std::mem::ManuallyDrop<File>);
    impl Read for Raw {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.0.read(into)
        }
    }
    // SAFETY: standard input is open for the whole run and is not closed here.
    Raw(std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(0) }))
}
