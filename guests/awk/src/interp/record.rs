//! The record and its fields. Fields are found when they are first asked for, and the record is put
//! together again when it is asked for after a field was changed.

use super::vars::By;
use super::{Interp, Stop};
use crate::value::{Text, Value};
use posix_regex::Regex;
use std::rc::Rc;

/// More fields than this are not meant.
const FIELDS_MAX: f64 = 10_000_000.0;

/// The current record.
#[derive(Default)]
pub(super) struct Record {
    pub(super) text: Vec<u8>,
    fields: Vec<Field>,
    split: bool,
    /// The text is to be made from the fields.
    stale: bool,
    /// The whole was assigned as a text, and is no number whatever it looks like.
    is_text: bool,
}

enum Field {
    Span(usize, usize),
    Set(Value),
}

impl Record {
    pub(super) fn fields(&self) -> usize {
        self.fields.len()
    }

    /// The text was replaced.
    pub(super) fn renew(&mut self) {
        self.fields.clear();
        (self.split, self.stale, self.is_text) = (false, false, false);
    }
}

/// How a text is split.
pub(super) enum Splitter {
    /// By blanks, which also may stand around it.
    Blanks,
    Byte(u8),
    /// By a character or a line end, in paragraphs.
    ByteOrLine(u8),
    /// Into characters.
    Signs,
    Matches(Rc<Regex>),
    /// Fields are what matches.
    Content(Rc<Regex>),
    Widths(Vec<(usize, usize)>),
}

impl Splitter {
    /// Calls `found` for each part; the bounds are in bytes.
    #[inline(never)]
    pub(super) fn split(&self, text: &[u8], mut found: impl FnMut(usize, usize)) {
        if text.is_empty() {
            return;
        }
        match self {
            Self::Blanks => {
                let blank = |it: &u8| matches!(it, b' ' | b'\t' | b'\n');
                let mut at = 0;
                while at < text.len() {
                    if blank(&text[at]) {
                        at += 1;
                        continue;
                    }
                    let start = at;
                    while at < text.len() && !blank(&text[at]) {
                        at += 1;
                    }
                    found(start, at);
                }
            }
            Self::Byte(byte) => {
                let mut start = 0;
                for at in memchr::memchr_iter(*byte, text) {
                    found(start, at);
                    start = at + 1;
                }
                found(start, text.len());
            }
            Self::ByteOrLine(byte) => {
                let mut start = 0;
                for at in memchr::memchr2_iter(*byte, b'\n', text) {
                    found(start, at);
                    start = at + 1;
                }
                found(start, text.len());
            }
            Self::Signs => {
                let mut at = 0;
                while at < text.len() {
                    let length = crate::format::prefix_length(&text[at..], 1).max(1);
                    found(at, at + length);
                    at += length;
                }
            }
            Self::Matches(regex) => {
                let (mut start, mut from) = (0, 0);
                while let Some(span) = regex.find_at(text, from) {
                    if span.end == span.start {
                        // An empty match separates nothing.
                        from = span.end + 1;
                        if from > text.len() {
                            break;
                        }
                        continue;
                    }
                    found(start, span.start);
                    (start, from) = (span.end, span.end);
                }
                found(start, text.len());
            }
            Self::Content(regex) => {
                let mut from = 0;
                let mut last_end = None;
                while let Some(span) = regex.find_at(text, from) {
                    if span.end > span.start || last_end != Some(span.start) {
                        found(span.start, span.end);
                        last_end = Some(span.end);
                    }
                    from = if span.end > span.start { span.end } else { span.end + 1 };
                    if from > text.len() {
                        break;
                    }
                }
            }
            Self::Widths(widths) => {
                let mut at = 0;
                for (skip, width) in widths {
                    at += crate::format::prefix_length(&text[at..], *skip);
                    if at >= text.len() {
                        break;
                    }
                    let length = crate::format::prefix_length(&text[at..], *width);
                    found(at, at + length);
                    at += length;
                }
            }
        }
    }
}

impl Interp<'_> {
    /// Replaces the record.
    pub(super) fn set_record(&mut self, text: &[u8]) {
        self.record.text.clear();
        self.record.text.extend_from_slice(text);
        self.record.renew();
    }

    /// The record's text, made from its fields if they were changed.
    pub(super) fn record_text(&mut self) -> &[u8] {
        let record = &mut self.record;
        if record.stale {
            let mut text = Vec::with_capacity(record.text.len());
            for (index, field) in record.fields.iter_mut().enumerate() {
                if index > 0 {
                    text.extend_from_slice(&self.vars.ofs);
                }
                let start = text.len();
                match field {
                    Field::Span(from, to) => {
                        text.extend_from_slice(&record.text[*from..*to]);
                        *field = Field::Span(start, text.len());
                    }
                    Field::Set(value) => value.push_to(&mut text, &self.vars.convfmt),
                }
            }
            record.text = text;
            record.stale = false;
        }
        &self.record.text
    }

    pub(super) fn split_record(&mut self) -> Result<(), Stop> {
        if self.record.split {
            return Ok(());
        }
        let splitter = self.splitter()?;
        let Record { text, fields, split, .. } = &mut self.record;
        splitter.split(text, |start, end| fields.push(Field::Span(start, end)));
        *split = true;
        Ok(())
    }

    fn splitter(&mut self) -> Result<Rc<Splitter>, Stop> {
        if let Some(known) = &self.vars.splitter {
            return Ok(Rc::clone(known));
        }
        let made = match self.vars.by {
            By::Content => {
                let pattern = self.pattern(&self.vars.fpat.clone());
                Splitter::Content(self.regex(&pattern)?)
            }
            By::Widths => Splitter::Widths(widths(&self.vars.field_widths)),
            By::Separator => {
                let fs = self.vars.fs.clone();
                let paragraph = self.vars.rs.is_empty();
                match self.text_splitter(&fs)? {
                    Splitter::Byte(byte) if paragraph => Splitter::ByteOrLine(byte),
                    Splitter::Matches(_) if paragraph => {
                        let pattern = self.pattern(&[b"(", fs.as_slice(), b")|\n"].concat());
                        Splitter::Matches(self.regex(&pattern)?)
                    }
                    other => other,
                }
            }
        };
        let made = Rc::new(made);
        self.vars.splitter = Some(Rc::clone(&made));
        Ok(made)
    }

    /// How a separator that is a string splits.
    pub(super) fn text_splitter(&mut self, separator: &[u8]) -> Result<Splitter, Stop> {
        Ok(match separator {
            b" " => Splitter::Blanks,
            [] => Splitter::Signs,
            [b'\\'] => Splitter::Byte(b'\\'),
            [byte] if !self.vars.ignore_case || !byte.is_ascii_alphabetic() => Splitter::Byte(*byte),
            more => {
                let pattern = self.pattern(more);
                Splitter::Matches(self.regex(&pattern)?)
            }
        })
    }

    pub(super) fn field_index(number: f64) -> Result<usize, Stop> {
        if number < 0.0 || number.is_nan() {
            return Err(format!("fatal: attempt to access field {number}").into());
        }
        if number > FIELDS_MAX {
            return Err(format!("fatal: field {number} is too far").into());
        }
        Ok(number as usize)
    }

    #[inline(never)]
    pub(super) fn field(&mut self, index: usize) -> Result<Value, Stop> {
        if index == 0 {
            let is_text = self.record.is_text && !self.record.stale;
            let text = self.record_text();
            return Ok(if is_text { Value::text(text) } else { Value::input(text) });
        }
        self.split_record()?;
        Ok(match self.record.fields.get(index - 1) {
            Some(Field::Span(start, end)) => Value::input(&self.record.text[*start..*end]),
            Some(Field::Set(value)) => value.clone(),
            None => Value::input(""),
        })
    }

    /// The field as bytes, without a copy of them where there is none yet.
    pub(super) fn with_field<T>(&mut self, index: usize, use_it: impl FnOnce(&[u8]) -> T) -> Result<T, Stop> {
        if index == 0 {
            return Ok(use_it(self.record_text()));
        }
        self.split_record()?;
        Ok(match self.record.fields.get(index - 1) {
            Some(Field::Span(start, end)) => use_it(&self.record.text[*start..*end]),
            Some(Field::Set(value)) => use_it(&value.to_text(&self.vars.convfmt)),
            None => use_it(b""),
        })
    }

    #[inline(never)]
    pub(super) fn set_field(&mut self, index: usize, value: Value) -> Result<(), Stop> {
        if index == 0 {
            let text: Text = value.to_text(&self.vars.convfmt);
            self.set_record(&text);
            self.record.is_text = matches!(value, Value::Str(_));
            return Ok(());
        }
        self.split_record()?;
        let fields = &mut self.record.fields;
        while fields.len() < index {
            fields.push(Field::Set(Value::Nothing));
        }
        // A field keeps the type of what it was given.
        fields[index - 1] = Field::Set(value);
        self.record.stale = true;
        Ok(())
    }

    pub(super) fn set_field_count(&mut self, count: f64) -> Result<(), Stop> {
        let count = Self::field_index(count)?;
        self.split_record()?;
        self.record.fields.truncate(count);
        while self.record.fields.len() < count {
            self.record.fields.push(Field::Set(Value::Nothing));
        }
        self.record.stale = true;
        Ok(())
    }
}

/// `FIELDWIDTHS`: numbers, `skip:width`, and `*` for the rest.
fn widths(text: &[u8]) -> Vec<(usize, usize)> {
    let text = String::from_utf8_lossy(text);
    let words = text.split_whitespace();
    let read = words.map(|word| match word.split_once(':') {
        Some((skip, width)) => (skip.parse().unwrap_or(0), width.parse().unwrap_or(usize::MAX)),
        None => (0, word.parse().unwrap_or(usize::MAX)),
    });
    read.collect()
}
