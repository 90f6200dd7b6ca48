//! Records from files: by line, by another character, by paragraph or by regular expression.

use memchr::memchr;
use place::block::Blocks;
use place::stdio::path;
use posix_regex::Regex;
use std::io;
use std::rc::Rc;

/// What ends a record.
#[derive(Clone)]
pub(crate) enum Separator {
    Byte(u8),
    /// Empty lines.
    Paragraph,
    Matches(Rc<Regex>),
}

/// A file or standard input that gives records.
pub(crate) struct Reader(Blocks);

impl Reader {
    /// The file of that name; `-` and `/dev/stdin` are standard input.
    pub(crate) fn open(name: &[u8]) -> io::Result<Self> {
        if matches!(name, b"-" | b"/dev/stdin" | b"/dev/null") {
            return Ok(Self(Blocks::open(name)?));
        }
        let file = std::fs::File::open(path(name))?;
        // A directory opens like a file, and only reading it would fail.
        if file.metadata().is_ok_and(|it| it.is_dir()) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(Self(Blocks::new(Box::new(file))))
    }

    /// What a command printed.
    pub(crate) fn of_bytes(bytes: Vec<u8>) -> Self {
        Self(Blocks::of_bytes(bytes))
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
                let lines = self.0.held().iter().take_while(|it| **it == b'\n').count();
                self.0.advance(lines);
            }
            if !self.0.held().is_empty() {
                break;
            }
            if !self.0.more()? {
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
            let there = self.0.held();
            if let Some(length) = memchr(byte, &there[searched..]) {
                out.extend_from_slice(&there[..searched + length]);
                mark.push(byte);
                self.0.advance(searched + length + 1);
                return Ok(true);
            }
            searched = there.len();
            if !self.0.more()? {
                return Ok(self.rest(out));
            }
        }
    }

    fn paragraph(&mut self, out: &mut Vec<u8>, mark: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            let there = self.0.held();
            if let Some(length) = memchr::memmem::find(there, b"\n\n") {
                let lines = there[length..].iter().take_while(|it| **it == b'\n').count();
                if length + lines < there.len() || self.0.has_ended() {
                    out.extend_from_slice(&there[..length]);
                    mark.extend_from_slice(&there[length..length + lines]);
                    self.0.advance(length + lines);
                    return Ok(true);
                }
            }
            if !self.0.more()? && self.0.has_ended() {
                let there = self.0.held();
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
            let there = self.0.held();
            let found = regex.find_at(there, 0).filter(|it| it.end > it.start);
            // A match at the very end might go on in what has not been read.
            if let Some(span) = found.filter(|it| it.end < there.len() || self.0.has_ended()) {
                out.extend_from_slice(&there[..span.start]);
                mark.extend_from_slice(&there[span.start..span.end]);
                self.0.advance(span.end);
                return Ok(true);
            }
            if self.0.has_ended() {
                return Ok(self.rest(out));
            }
            self.0.more()?;
        }
    }

    fn rest(&mut self, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(self.0.held());
        self.0.advance(usize::MAX);
        !out.is_empty()
    }
}
