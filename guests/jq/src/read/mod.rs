//! The inputs of a run, one value after the other: from files or standard input, as JSON or as
//! lines, whole or as a stream of leaves.
//!
//! A file is read when the run gets to it. One that cannot be read is reported and skipped; text
//! that is no JSON ends the inputs with an error.

mod broken;
mod json;
mod literal;
mod scan;
mod stream;
mod strings;
#[cfg(test)]
mod tests;
mod whole;

pub use json::Reader;
pub use literal::value as parse_literal;
pub use stream::each as each_event;
pub use whole::{parse_all, parse_one};

use crate::cli::Options;
use crate::stdio;
use crate::value::Value;
use std::cell::{Cell, RefCell};

/// Where the value that was read last came from, for messages and `input_filename`.
#[derive(Default)]
pub struct Place {
    file: RefCell<Option<String>>,
    line: Cell<usize>,
    from_stdin: Cell<bool>,
    /// A file could not be read.
    pub failed: Cell<bool>,
}

impl Place {
    /// As jq names it in a message.
    pub fn describe(&self) -> String {
        let line = self.line.get();
        match (&*self.file.borrow(), self.from_stdin.get()) {
            (Some(file), _) => format!("{file}:{line}"),
            (None, true) => format!("<stdin>:{line}"),
            (None, false) => "<unknown>".to_owned(),
        }
    }

    /// The file's name, or jq's name for standard input; nothing before the first is read.
    pub fn file(&self) -> Option<String> {
        let stdin = self.from_stdin.get().then(|| "<stdin>".to_owned());
        self.file.borrow().clone().or(stdin)
    }

    /// How many lines of it have been read.
    pub fn line(&self) -> usize {
        self.line.get()
    }
}

/// The values, in order.
pub struct Values<'a> {
    options: &'a Options,
    place: &'a Place,
    files: std::slice::Iter<'a, String>,
    stdin: bool,
    current: Option<Source>,
    /// The one before, whose lines may still be asked for.
    done: Option<Source>,
    slurped: bool,
    ended: bool,
    /// Of the files before; jq counts on in its messages.
    lines_before: usize,
}

enum Source {
    Json(Reader),
    Stream(Reader, stream::Events),
    Lines(Vec<u8>, usize),
}

impl<'a> Values<'a> {
    /// The inputs `options` name; nothing is read yet.
    pub fn new(options: &'a Options, place: &'a Place) -> Self {
        Self {
            options,
            place,
            files: options.files.iter(),
            stdin: options.files.is_empty(),
            current: None,
            done: None,
            slurped: false,
            ended: false,
            lines_before: 0,
        }
    }

    /// Counts the lines of JSON that have been read; only messages and `input_line_number` need it.
    pub fn count_lines(&mut self) {
        let current = self.current.as_mut().or(self.done.as_mut());
        if let Some(Source::Json(reader) | Source::Stream(reader, _)) = current {
            self.place.line.set(reader.lines());
        }
    }

    fn open_next(&mut self) -> Option<Source> {
        loop {
            let read = if std::mem::take(&mut self.stdin) {
                self.place.from_stdin.set(true);
                stdio::read().map_err(|error| format!("Could not read standard input: {error}"))
            } else {
                let Some(file) = self.files.next() else {
                    // Behind the last input, there is no place to name.
                    *self.place.file.borrow_mut() = None;
                    self.place.line.set(0);
                    self.done = None;
                    return None;
                };
                *self.place.file.borrow_mut() = Some(file.clone());
                std::fs::read(file).map_err(|error| format!("Could not open file {file}: {}", reason(&error)))
            };
            self.place.line.set(0);
            self.done = None;
            match read {
                Ok(content) => return Some(self.source(content)),
                Err(problem) => {
                    stdio::complain(&format!("jq: error: {problem}"));
                    self.place.failed.set(true);
                }
            }
        }
    }

    fn source(&self, content: Vec<u8>) -> Source {
        let input = &self.options.input;
        if input.raw {
            return Source::Lines(content, 0);
        }
        let reader = Reader::new(content, input.seq).after_lines(self.lines_before);
        if input.stream {
            Source::Stream(reader, stream::Events::new(input.stream_errors))
        } else {
            Source::Json(reader)
        }
    }

    fn value(&mut self) -> Option<Result<Value, String>> {
        loop {
            if self.current.is_none() {
                self.current = Some(self.open_next()?);
            }
            let found = match self.current.as_mut()? {
                Source::Json(reader) => reader.next_value(),
                Source::Stream(reader, events) => events.next(reader),
                Source::Lines(text, at) => line(text, at, &self.place.line).map(Ok),
            };
            match found {
                Some(found) => return Some(found),
                None => {
                    self.done = self.current.take();
                    if self.files.len() > 0 {
                        self.count_lines();
                        self.lines_before += self.place.line.get();
                    }
                }
            }
        }
    }

    fn slurp(&mut self) -> Result<Value, String> {
        if !self.options.input.raw {
            return std::iter::from_fn(|| self.value()).collect();
        }
        let mut text = Vec::new();
        while let Some(source) = self.open_next() {
            if let Source::Lines(content, _) = source {
                self.place.line.set(content.iter().filter(|byte| **byte == b'\n').count());
                text.extend_from_slice(&content);
            }
        }
        Ok(Value::from(lossy(text)))
    }
}

impl Iterator for Values<'_> {
    type Item = Result<Value, String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let value = match self.options.input.slurp {
            true if self.slurped => None,
            true => {
                self.slurped = true;
                Some(self.slurp())
            }
            false => self.value(),
        };
        if matches!(value, Some(Err(_))) {
            self.ended = true;
        }
        value
    }
}

fn line(text: &[u8], at: &mut usize, lines: &Cell<usize>) -> Option<Value> {
    let rest = text.get(*at..).filter(|rest| !rest.is_empty())?;
    let end = rest.iter().position(|byte| *byte == b'\n');
    let line = &rest[..end.unwrap_or(rest.len())];
    *at += line.len() + 1;
    lines.set(lines.get() + usize::from(end.is_some()));
    Some(match std::str::from_utf8(line) {
        Ok(line) => Value::str(line),
        Err(_) => Value::from(String::from_utf8_lossy(line).into_owned()),
    })
}

fn lossy(text: Vec<u8>) -> String {
    String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// The system's words without their number.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
