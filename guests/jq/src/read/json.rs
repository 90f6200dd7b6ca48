//! JSON text to values, without recursion: the depth of a text cannot exhaust the stack.
//!
//! Besides JSON, `nan` is read, as jq does; everything else is refused with jq's words and the
//! place where it stands. Items of open containers wait on two common stacks, so that a container is
//! made once, in its final size.

use super::literal;
use crate::value::{Object, Text, Value};

/// Deeper texts are refused, as by jq.
const DEPTH_MAX: usize = 10_000;
/// Objects of up to so many fields are searched for repeated keys by comparing all.
const COMPARED_MAX: usize = 12;
/// Long keys of one text are shared between so many recent ones.
const KEYS_KEPT: usize = 64;

/// Zeros behind the text, so that it can be looked at in words up to its end.
const PAD_BYTES: usize = 16;

const UNESCAPED: &str = "Invalid string: control characters from U+0000 through U+001F must be escaped";

/// The values of a text, one after the other.
pub struct Reader {
    /// The text, and [`PAD_BYTES`] zeros behind it.
    text: Vec<u8>,
    end: usize,
    at: usize,
    lines: usize,
    lines_before: usize,
    counted: usize,
    seq: bool,
    open: Vec<Open>,
    items: Vec<Value>,
    fields: Vec<(Text, Value)>,
    keys: Vec<Text>,
}

/// A container that is not closed yet, and where its part of the common stack begins.
#[derive(Clone, Copy)]
pub(super) enum Open {
    Array(usize),
    Object(usize),
}

impl Reader {
    /// Reads `text`; with `seq`, record separators count as white space.
    pub fn new(mut text: Vec<u8>, seq: bool) -> Self {
        let end = text.len();
        text.extend_from_slice(&[0; PAD_BYTES]);
        // A byte order mark is not part of the text.
        let at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Self {
            text,
            end,
            at,
            lines: 0,
            lines_before: 0,
            counted: 0,
            seq,
            open: Vec::new(),
            items: Vec::new(),
            fields: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// Messages count their lines from here on.
    pub fn after_lines(mut self, lines: usize) -> Self {
        self.lines_before = lines;
        self
    }

    /// How many lines jq would have read by now: up to the end of the one the value ends on.
    pub fn lines(&mut self) -> usize {
        let rest = self.text.get(self.at..self.end).unwrap_or(&[]);
        let end = rest.iter().position(|byte| *byte == b'\n').map_or(self.end, |at| self.at + at + 1);
        if let Some(new) = self.text.get(self.counted..end) {
            self.lines += new.iter().filter(|byte| **byte == b'\n').count();
            self.counted = end;
        }
        self.lines
    }

    /// Where in the open containers the reader stands.
    pub fn open_path(&self) -> Vec<Value> {
        let ends = self.open.iter().skip(1).map(Some).chain([None]);
        let place = |(open, next): (&Open, Option<&Open>)| match (open, next) {
            (Open::Object(_), Some(Open::Object(end))) => self.fields.get(end.saturating_sub(1)).map_or(Value::Null, |it| Value::Str(it.0.clone())),
            (Open::Object(_), _) => self.fields.last().map_or(Value::Null, |it| Value::Str(it.0.clone())),
            (Open::Array(start), Some(Open::Array(end))) => Value::from(end - start),
            (Open::Array(start), _) => Value::from(self.items.len().saturating_sub(*start)),
        };
        self.open.iter().zip(ends).map(place).collect()
    }

    /// The containers that were open when an error ended the text: what was read of them.
    pub fn unfinished(&mut self) -> Option<Value> {
        // A word or number is only known to have ended by what follows it.
        if self.end > 0 && !literal::ends_at(self.text[self.end - 1]) {
            match self.open.last() {
                Some(Open::Array(start)) if self.items.len() > *start => drop(self.items.pop()),
                Some(Open::Object(start)) if self.fields.len() > *start => {
                    self.fields.pop();
                }
                _ => {}
            }
        }
        let mut inner: Option<Value> = None;
        while let Some(open) = self.open.pop() {
            let value = match open {
                Open::Array(start) => {
                    self.items.extend(inner.take());
                    Value::arr(self.items.split_off(start))
                }
                Open::Object(start) => {
                    match (inner.take(), self.fields.last_mut()) {
                        (Some(value), Some((_, slot))) => *slot = value,
                        _ => drop(self.fields.pop()),
                    }
                    Value::obj(self.fields.split_off(start).into_iter().collect())
                }
            };
            inner = Some(value);
        }
        inner
    }

    /// The next value, or why there is none.
    pub fn next(&mut self) -> Option<Result<Value, String>> {
        self.skip_blank();
        self.peek()?;
        self.open.clear();
        self.items.clear();
        self.fields.clear();
        Some(self.value())
    }

    fn value(&mut self) -> Result<Value, String> {
        loop {
            self.skip_blank();
            let mut done = match self.peek() {
                Some(b'"') => Value::Str(self.string()?),
                Some(b'[') => {
                    self.at += 1;
                    self.skip_blank();
                    if self.peek() == Some(b']') {
                        self.at += 1;
                        self.deep_enough()?;
                        Value::arr(Vec::new())
                    } else {
                        self.deep_enough()?;
                        self.open.push(Open::Array(self.items.len()));
                        continue;
                    }
                }
                Some(b'{') => {
                    self.at += 1;
                    self.skip_blank();
                    self.deep_enough()?;
                    if self.peek() == Some(b'}') {
                        self.at += 1;
                        Value::obj(Object::new())
                    } else {
                        self.open.push(Open::Object(self.fields.len()));
                        self.key()?;
                        continue;
                    }
                }
                Some(sign @ (b',' | b':' | b']' | b'}')) => {
                    self.at += 1;
                    let what = misplaced(sign, self.open.last(), self.items.len());
                    return Err(self.problem(&what));
                }
                Some(b'0'..=b'9' | b'-') => match self.quick_number() {
                    Some(number) => number,
                    None => self.literal()?,
                },
                Some(_) => match self.quick_word() {
                    Some(word) => word,
                    None => self.literal()?,
                },
                None => return Err(self.problem("Unfinished JSON term")),
            };
            // Hand the value to its container, and close as many as end here.
            loop {
                let Some(open) = self.open.last().copied() else { return Ok(done) };
                match open {
                    Open::Array(_) => self.items.push(done),
                    Open::Object(_) => {
                        if let Some((_, slot)) = self.fields.last_mut() {
                            *slot = done;
                        }
                    }
                }
                self.skip_blank();
                let sign = self.peek();
                self.at += 1;
                match (sign, open) {
                    (Some(b','), Open::Array(_)) => break,
                    (Some(b','), Open::Object(_)) => {
                        self.key()?;
                        break;
                    }
                    (Some(b']'), Open::Array(start)) => {
                        self.open.pop();
                        done = Value::arr(self.items.drain(start..).collect());
                    }
                    (Some(b'}'), Open::Object(start)) => {
                        self.open.pop();
                        done = Value::obj(self.object(start));
                    }
                    (None, _) => return Err(self.problem("Unfinished JSON term")),
                    (Some(b']'), _) => return Err(self.problem("Unmatched ']'")),
                    (Some(b'}'), _) => return Err(self.problem("Unmatched '}'")),
                    (Some(b':'), Open::Array(_)) => {
                        return Err(self.problem("':' not as part of an object"));
                    }
                    (Some(b':'), _) => return Err(self.problem("':' should follow a key")),
                    _ => return Err(self.second_value()),
                }
            }
        }
    }

    #[inline]
    fn object(&mut self, start: usize) -> Object {
        let fields: Vec<(Text, Value)> = self.fields.drain(start..).collect();
        let repeated = |at: usize| fields[..at].iter().any(|(known, _)| *known == fields[at].0);
        if fields.len() <= COMPARED_MAX && !(1..fields.len()).any(repeated) {
            return Object::of_distinct(fields);
        }
        fields.into_iter().collect()
    }

    fn deep_enough(&self) -> Result<(), String> {
        if self.open.len() >= DEPTH_MAX {
            return Err(self.problem("Exceeds depth limit for parsing"));
        }
        Ok(())
    }

    #[inline]
    fn key(&mut self) -> Result<(), String> {
        self.skip_blank();
        if self.peek() != Some(b'"') {
            return Err(self.wrong_key());
        }
        let name = self.string()?;
        let name = self.shared(name);
        self.skip_blank();
        match self.peek() {
            Some(b':') => self.at += 1,
            Some(b',' | b'}') => {
                self.at += 1;
                return Err(self.problem("Objects must consist of key:value pairs"));
            }
            Some(_) => {
                self.at += 1;
                return Err(self.second_value());
            }
            None => return Err(self.problem("Unfinished JSON term")),
        }
        self.fields.push((name, Value::Null));
        Ok(())
    }

    fn wrong_key(&mut self) -> String {
        match self.peek() {
            Some(b'}') => {
                self.at += 1;
                self.problem("Expected another key-value pair")
            }
            Some(b',' | b':' | b']') => {
                self.at += 1;
                self.problem("Expected value before ','")
            }
            None => self.problem("Unfinished JSON term"),
            Some(b'[' | b'{') => {
                self.at += 1;
                self.problem("Object keys must be strings")
            }
            Some(_) => {
                if let Err(problem) = self.literal() {
                    return problem;
                }
                self.at = self.token_end();
                self.problem("Object keys must be strings")
            }
        }
    }

    /// The same key as before, so that it lies in memory once.
    #[inline]
    fn shared(&mut self, key: Text) -> Text {
        if key.len() <= 14 {
            return key;
        }
        if self.keys.is_empty() {
            self.keys.resize(KEYS_KEPT, Text::EMPTY);
        }
        let bytes = key.as_bytes();
        let slot = (bytes.len() * 31 + usize::from(bytes[bytes.len() - 1]) * 7 + usize::from(bytes[bytes.len() / 2])) % KEYS_KEPT;
        if self.keys[slot] != key {
            self.keys[slot] = key.clone();
            return key;
        }
        self.keys[slot].clone()
    }

    #[inline]
    fn string(&mut self) -> Result<Text, String> {
        match self.quick_string() {
            Some(text) => Ok(text),
            None => self.long_string(self.at + 1),
        }
    }

    /// A string of plain ASCII, which most are.
    #[inline]
    fn quick_string(&mut self) -> Option<Text> {
        let start = self.at + 1;
        let mut end = start;
        loop {
            let stops = stops(self.text.get(end..end + 8)?);
            if stops != 0 {
                end += stops.trailing_zeros() as usize / 8;
                break;
            }
            end += 8;
        }
        if self.text[end] != b'"' {
            return None;
        }
        self.at = end + 1;
        // SAFETY: everything before the quote is ASCII, and the text is padded.
        Some(unsafe { Text::of_ascii(&self.text[start..], end - start) })
    }

    /// A short integer, which most numbers are.
    #[inline]
    fn quick_number(&mut self) -> Option<Value> {
        let mut at = self.at;
        let negative = self.text[at] == b'-';
        at += usize::from(negative);
        let start = at;
        let mut number = 0u32;
        loop {
            let digit = self.text[at].wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            number = number.wrapping_mul(10).wrapping_add(u32::from(digit));
            at += 1;
        }
        let digits = at - start;
        // Zeros in front and minus zero are for the long way, as is what goes on.
        let plain = digits > 0 && digits <= 9 && (self.text[start] != b'0' || (digits == 1 && !negative));
        if !plain || !(literal::ends_at(self.text[at]) || at == self.end) {
            return None;
        }
        self.at = at;
        let number = f64::from(number);
        Some(Value::Num(if negative { -number } else { number }))
    }

    /// `true`, `false` or `null`.
    #[inline]
    fn quick_word(&mut self) -> Option<Value> {
        let (word, value) = match self.text[self.at] {
            b't' => (&b"true"[..], Value::Bool(true)),
            b'f' => (&b"false"[..], Value::Bool(false)),
            b'n' => (&b"null"[..], Value::Null),
            _ => return None,
        };
        let end = self.at + word.len();
        let there = self.text[self.at + 1..end].iter().zip(&word[1..]).all(|(a, b)| a == b);
        if !there || !(literal::ends_at(self.text[end]) || end == self.end) {
            return None;
        }
        self.at = end;
        Some(value)
    }

    #[inline(never)]
    fn long_string(&mut self, start: usize) -> Result<Text, String> {
        let rest = &self.text[start..self.end];
        // jq judges a string when it has ended.
        let Some(closed) = literal::closing_quote(rest) else {
            self.at = self.end;
            return Err(self.problem("Unfinished string"));
        };
        self.at = start + closed + 1;
        let inside = &rest[..closed];
        match literal::string(inside) {
            Err(why) => Err(self.problem(why)),
            Ok(_) if inside.iter().any(|byte| *byte < 0x20) => Err(self.problem(UNESCAPED)),
            Ok(text) => Ok(text.into()),
        }
    }

    fn literal(&mut self) -> Result<Value, String> {
        let rest = self.text.get(self.at..self.end).unwrap_or(&[]);
        let len = rest.iter().position(|byte| literal::ends_at(*byte)).unwrap_or(rest.len());
        let value = literal::value(&rest[..len]);
        if let Some(value) = value {
            self.at += len;
            return Ok(value);
        }
        let word_like = matches!(rest.first(), Some(b't' | b'f')) || (rest.first() == Some(&b'n') && len < 4);
        let a_word = len == 4 && matches!(rest.first(), Some(b't' | b'n')) || len == 5 && rest[0] == b'f';
        self.at += len.max(1);
        self.at = self.token_end();
        Err(self.problem(if word_like && !a_word { "Invalid literal" } else { "Invalid numeric literal" }))
    }

    /// A value where a separator should be: jq notices when that value ends.
    fn second_value(&mut self) -> String {
        self.at -= 1;
        let ended = match self.peek() {
            Some(b'"') => self.string().map(|_| ()),
            Some(b'[' | b'{') => {
                self.at += 1;
                Ok(())
            }
            _ => self.literal().map(|_| self.at = self.token_end()),
        };
        ended.map_or_else(|problem| problem, |()| self.problem("Expected separator between values"))
    }

    /// A word is only known to have ended after the byte behind it.
    fn token_end(&self) -> usize {
        (self.at + 1).min(self.end + 1)
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        if self.at < self.end { Some(self.text[self.at]) } else { None }
    }

    #[inline]
    fn skip_blank(&mut self) {
        while self.at < self.end {
            match self.text[self.at] {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                0x1e if self.seq => self.at += 1,
                _ => break,
            }
        }
    }

    /// What was wrong, with the place where the reader stands.
    #[cold]
    fn problem(&self, what: &str) -> String {
        let before = self.text.get(..self.at.min(self.end)).unwrap_or(&[]);
        let at_end = self.at > self.end || what.starts_with("Unfinished");
        let end = if at_end { " at EOF" } else { "" };
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1 + self.lines_before;
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count();
        format!("{what}{end} at line {line}, column {column}")
    }
}

/// A bit in the place of each byte that is no plain character of a string: quotes, backslashes,
/// control characters, and everything beyond ASCII. Bytes behind the first may be marked in error.
#[inline]
fn stops(bytes: &[u8]) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let mut word = [0; 8];
    word.copy_from_slice(bytes);
    let word = u64::from_le_bytes(word);
    let zero_of = |it: u64| it.wrapping_sub(ONES) & !it;
    let quote = zero_of(word ^ (ONES * b'"' as u64));
    let slash = zero_of(word ^ (ONES * b'\\' as u64));
    let control = word.wrapping_sub(ONES * 0x20);
    (quote | slash | control | word) & HIGHS
}

/// What jq says about a sign where a value should be.
fn misplaced(sign: u8, open: Option<&Open>, _items: usize) -> String {
    match (sign, open) {
        (b',' | b':', _) => format!("Expected value before '{}'", char::from(sign)),
        (_, None) => format!("Unmatched '{}'", char::from(sign)),
        (b']', Some(Open::Array(_))) => "Expected another array element".to_owned(),
        (b'}', Some(Open::Object(..))) => "Objects must consist of key:value pairs".to_owned(),
        _ => format!("Unmatched '{}'", char::from(sign)),
    }
}

/// All values of a text.
pub fn parse_all(text: Vec<u8>) -> Result<Vec<Value>, String> {
    let mut reader = Reader::new(text, false);
    std::iter::from_fn(|| reader.next()).collect()
}

/// The only value of a text.
pub fn parse_one(text: Vec<u8>) -> Result<Value, String> {
    let mut reader = Reader::new(text, false);
    let Some(first) = reader.next() else { return Err("Expected JSON value".to_owned()) };
    let first = first?;
    match reader.next() {
        None => Ok(first),
        Some(Ok(_)) => Err("Unexpected extra JSON values".to_owned()),
        Some(Err(problem)) => Err(problem),
    }
}
