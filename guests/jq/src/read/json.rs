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

const UNESCAPED: &str = "Invalid string: control characters from U+0000 through U+001F must be escaped";

/// The values of a text, one after the other.
pub struct Reader {
    text: Vec<u8>,
    at: usize,
    lines: usize,
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
    pub fn new(text: Vec<u8>, seq: bool) -> Self {
        // A byte order mark is not part of the text.
        let at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Self {
            text,
            at,
            lines: 0,
            counted: 0,
            seq,
            open: Vec::new(),
            items: Vec::new(),
            fields: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// How many lines jq would have read by now: up to the end of the one the value ends on.
    pub fn lines(&mut self) -> usize {
        let rest = self.text.get(self.at..).unwrap_or(&[]);
        let end = rest.iter().position(|byte| *byte == b'\n').map_or(self.text.len(), |at| self.at + at + 1);
        if let Some(new) = self.text.get(self.counted..end) {
            self.lines += new.iter().filter(|byte| **byte == b'\n').count();
            self.counted = end;
        }
        self.lines
    }

    /// The containers that were open when an error ended the text: what was read of them.
    pub fn unfinished(&mut self) -> Option<Value> {
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
                Some(_) => self.literal()?,
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
        let start = self.at + 1;
        let rest = &self.text[start..];
        let mut end = 0;
        while let Some(byte) = rest.get(end) {
            if literal::STOPS[usize::from(*byte)] {
                break;
            }
            end += 1;
        }
        if rest.get(end) == Some(&b'"') {
            self.at = start + end + 1;
            // SAFETY: up to here every byte is plain ASCII.
            return Ok(Text::new(unsafe { std::str::from_utf8_unchecked(&rest[..end]) }));
        }
        self.long_string(start)
    }

    #[inline(never)]
    fn long_string(&mut self, start: usize) -> Result<Text, String> {
        let rest = &self.text[start..];
        // jq judges a string when it has ended.
        let Some(closed) = literal::closing_quote(rest) else {
            self.at = self.text.len();
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
        let rest = self.text.get(self.at..).unwrap_or(&[]);
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
        (self.at + 1).min(self.text.len() + 1)
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    fn skip_blank(&mut self) {
        while let Some(byte) = self.text.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                0x1e if self.seq => self.at += 1,
                _ => break,
            }
        }
    }

    /// What was wrong, with the place where the reader stands.
    #[cold]
    fn problem(&self, what: &str) -> String {
        let before = self.text.get(..self.at.min(self.text.len())).unwrap_or(&[]);
        let at_end = self.at > self.text.len() || what.starts_with("Unfinished");
        let end = if at_end { " at EOF" } else { "" };
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count();
        format!("{what}{end} at line {line}, column {column}")
    }
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
