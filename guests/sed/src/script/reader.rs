//! Reads a part of the script byte by byte and knows where it is, for messages.

use std::io::Read as _;

/// A part of the script: an argument of `-e` or a file of `-f`.
#[derive(Debug, Clone)]
pub struct Part {
    origin: Origin,
    pub(super) text: Vec<u8>,
}

#[derive(Debug, Clone)]
enum Origin {
    Expression(usize),
    File(String),
}

impl Part {
    /// The `number`th argument of `-e`, counted from 1.
    pub fn expression(number: usize, text: Vec<u8>) -> Self {
        Self { origin: Origin::Expression(number), text }
    }

    /// The content of a file; `-` is standard input.
    pub fn read(path: Vec<u8>) -> Result<Self, String> {
        let name = String::from_utf8_lossy(&path).into_owned();
        let mut text = Vec::new();
        let read = match path.as_slice() {
            b"-" => std::io::stdin().read_to_end(&mut text),
            _ => std::fs::File::open(place::stdio::path(&path)).and_then(|mut it| it.read_to_end(&mut text)),
        };
        let cannot = |error| format!("sed: couldn't open file {name}: {}", place::reason(&error));
        read.map_err(cannot)?;
        Ok(Self { origin: Origin::File(name), text })
    }

    /// Whether it came from `-e`.
    pub fn is_expression(&self) -> bool {
        matches!(self.origin, Origin::Expression(_))
    }
}

/// Goes through one part.
pub(super) struct Reader<'a> {
    part: &'a Part,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(part: &'a Part) -> Self {
        Self { part, at: 0 }
    }

    pub(super) fn next(&mut self) -> Option<u8> {
        let byte = *self.part.text.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.part.text.get(self.at).copied()
    }

    /// Un-reads the last byte.
    pub(super) fn back(&mut self) {
        self.at = self.at.saturating_sub(1);
    }

    /// The next byte if it is `byte`.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Passes over blanks if nothing but they stand before the end of the line.
    pub(super) fn skip_blanks_before_line_end(&mut self) {
        let blanks = self.rest().iter().take_while(|it| matches!(it, b' ' | b'\t')).count();
        if self.rest().get(blanks) == Some(&b'\n') {
            self.at += blanks;
        }
    }

    /// What has not been read.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.part.text[self.at..]
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.part.text.len());
    }

    /// A number in digits, if there is one.
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut value = None;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            let sum = value.unwrap_or(0u64).saturating_mul(10).saturating_add(u64::from(digit - b'0'));
            value = Some(sum);
            self.at += 1;
        }
        value
    }

    /// The rest of the line, which is read with its end.
    pub(super) fn line(&mut self) -> Vec<u8> {
        let rest = &self.part.text[self.at..];
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        self.at += (end + 1).min(rest.len());
        rest[..end].to_vec()
    }

    /// What is wrong, and where.
    pub(super) fn error(&self, problem: &str) -> String {
        match &self.part.origin {
            Origin::Expression(number) => {
                format!("sed: -e expression #{number}, char {}: {problem}", self.at)
            }
            Origin::File(name) => {
                let line = 1 + memchr::memchr_iter(b'\n', &self.part.text[..self.at]).count();
                format!("sed: file {name} line {line}: {problem}")
            }
        }
    }
}
