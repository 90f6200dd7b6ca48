//! A reader that sees only a part of its text at a time: what was read is dropped, and more is
//! fetched where a value is cut off by the end of what there is.
//!
//! A value is read only where it is whole. Whether it is, is found by trying; only after a trial has
//! failed, the text is scanned for the value's end as it comes in, so that no byte is scanned twice
//! and short values are never scanned at all.

use super::feed::{Fed, Feed};
use super::json::Reader;
use super::scan;
use crate::value::Value;

/// How far the search for the end of a value has come.
#[derive(Default)]
struct Search {
    /// From the value's first byte.
    seen: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Search {
    /// Whether the value that begins `text` ends in it. Of text that is no JSON, anything may be
    /// said: then the reader tries again, and again fails.
    fn ends_in(&mut self, text: &[u8]) -> bool {
        for byte in text.get(self.seen..).unwrap_or(&[]) {
            self.seen += 1;
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => {
                        self.in_string = false;
                        if self.depth == 0 {
                            return true;
                        }
                    }
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'[' | b'{' => self.depth += 1,
                b']' | b'}' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return true;
                    }
                }
                b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' if self.depth == 0 => return true,
                _ => {}
            }
        }
        false
    }
}

impl Reader {
    /// Reads what `feed` gives, as it is needed.
    pub fn of_feed(feed: Box<dyn Feed>, seq: bool) -> Self {
        let mut reader = Self::new(Vec::new(), seq);
        reader.feed = Some(feed);
        // A byte order mark is not part of the text.
        while reader.end < 3 && reader.fill(false) {}
        if reader.text.starts_with(b"\xef\xbb\xbf") {
            reader.at = 3;
        }
        reader
    }

    /// The next value, or why there is none.
    pub fn next_value(&mut self) -> Option<Result<Value, String>> {
        loop {
            self.skip_blank();
            if self.at < self.end {
                break;
            }
            if !self.fill(false) {
                return None;
            }
        }
        let mut search = Search::default();
        loop {
            let start = self.at;
            let result = self.first_value();
            if self.feed.is_none() || !self.is_cut_off(&result) {
                return Some(result);
            }
            self.at = start;
            while self.fill(false) && !search.ends_in(self.text.get(self.at..self.end).unwrap_or(&[])) {}
        }
    }

    /// Whether what was read might be, or mean, something else if the text went on.
    fn is_cut_off(&self, result: &Result<Value, String>) -> bool {
        let closed = matches!(result, Ok(Value::Str(_) | Value::Arr(_) | Value::Obj(_)));
        !closed && self.at >= self.end
    }

    /// Drops what was read and fetches more; whether there was any. A feed that has ended is given up.
    fn fill(&mut self, within: bool) -> bool {
        let Some(mut feed) = self.feed.take() else { return false };
        self.drop_read();
        self.text.truncate(self.end);
        let fed = feed.more(&mut self.text, within);
        if fed == Fed::NewFile {
            (self.lines, self.counted) = (0, self.end);
        }
        self.end = self.text.len();
        self.text.extend_from_slice(&[0; scan::PAD_BYTES]);
        if fed != Fed::Nothing || within {
            self.feed = Some(feed);
        }
        fed != Fed::Nothing
    }

    /// Forgets the text before the cursor, but for its lines and the place in the last of them.
    fn drop_read(&mut self) {
        let at = self.at.min(self.end);
        let gone = self.text.get(..at).unwrap_or(&[]);
        let lines = gone.iter().filter(|byte| **byte == b'\n').count();
        let last = gone.iter().rev().take_while(|byte| **byte != b'\n').count();
        self.column_before = if lines > 0 { last } else { self.column_before + last };
        self.lines_before += lines;
        if let Some(new) = gone.get(self.counted..) {
            self.lines += new.iter().filter(|byte| **byte == b'\n').count();
            self.counted = at;
        }
        self.counted -= at;
        self.text.drain(..at);
        self.end -= at;
        self.at -= at;
    }

    /// How many lines of its file jq would have read by now: up to the end of the one the value ends
    /// on.
    pub fn lines(&mut self) -> usize {
        let end = loop {
            let rest = self.text.get(self.at..self.end).unwrap_or(&[]);
            match rest.iter().position(|byte| *byte == b'\n') {
                Some(at) => break self.at + at + 1,
                None if self.fill(true) => {}
                None => break self.end,
            }
        };
        if let Some(new) = self.text.get(self.counted..end) {
            self.lines += new.iter().filter(|byte| **byte == b'\n').count();
            self.counted = end;
        }
        self.lines
    }
}
