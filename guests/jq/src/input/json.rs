//! JSON text to values, without recursion: the depth of a text cannot exhaust the stack.
//!
//! Strings without escapes are slices of the text they came from. Besides JSON, `nan` is read, as
//! jq does; everything else is refused with the place where it stands.

use super::literal;
use bytes::Bytes;
use jaq_json::{Map, Val};

/// Deeper values could not be dropped or printed within the stack a guest has.
const DEPTH_MAX: usize = 1000;

const UNESCAPED: &str = "Invalid string: control characters from U+0000 through U+001F must be escaped";

/// The values of a text, one after the other.
pub struct Reader {
    text: Bytes,
    at: usize,
    lines: usize,
    counted: usize,
    seq: bool,
}

/// A container that is not closed yet.
enum Open {
    Array(Vec<Val>),
    Object(Map, Option<Val>),
}

impl Reader {
    /// Reads `text`; with `seq`, record separators count as white space.
    pub fn new(text: Bytes, seq: bool) -> Self {
        // A byte order mark is not part of the text.
        let at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Self { text, at, lines: 0, counted: 0, seq }
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

    /// The next value, or why there is none.
    pub fn next(&mut self) -> Option<Result<Val, String>> {
        self.skip_blank();
        self.peek()?;
        Some(self.value())
    }

    fn value(&mut self) -> Result<Val, String> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            self.skip_blank();
            let mut done = match self.peek() {
                Some(b'[') => {
                    self.at += 1;
                    self.skip_blank();
                    if self.peek() == Some(b']') {
                        self.at += 1;
                        Val::Arr(Vec::new().into())
                    } else {
                        self.push(&mut open, Open::Array(Vec::new()))?;
                        continue;
                    }
                }
                Some(b'{') => {
                    self.at += 1;
                    self.skip_blank();
                    if self.peek() == Some(b'}') {
                        self.at += 1;
                        Val::obj(Map::default())
                    } else {
                        self.push(&mut open, Open::Object(Map::default(), None))?;
                        self.key(&mut open)?;
                        continue;
                    }
                }
                Some(b'"') => self.string()?,
                Some(sign @ (b',' | b':' | b']' | b'}')) => {
                    self.at += 1;
                    return Err(self.problem(&misplaced(sign, open.last())));
                }
                Some(_) => self.literal()?,
                None => return Err(self.problem("Unfinished JSON term")),
            };
            // Hand the value to its container, and close as many as end here.
            loop {
                match open.last_mut() {
                    None => return Ok(done),
                    Some(Open::Array(items)) => items.push(done),
                    Some(Open::Object(fields, key)) => {
                        fields.insert(key.take().unwrap_or_default(), done);
                    }
                }
                self.skip_blank();
                let sign = self.peek();
                self.at += 1;
                match (sign, open.last()) {
                    (Some(b','), Some(Open::Array(_))) => break,
                    (Some(b','), Some(Open::Object(..))) => {
                        self.key(&mut open)?;
                        break;
                    }
                    (Some(b']'), Some(Open::Array(_))) | (Some(b'}'), Some(Open::Object(..))) => {
                        done = match open.pop() {
                            Some(Open::Array(items)) => Val::Arr(items.into()),
                            Some(Open::Object(fields, _)) => Val::obj(fields),
                            None => Val::Null,
                        };
                    }
                    (None, _) => return Err(self.problem("Unfinished JSON term")),
                    (Some(b']'), _) => return Err(self.problem("Unmatched ']'")),
                    (Some(b'}'), _) => return Err(self.problem("Unmatched '}'")),
                    (Some(b':'), _) => return Err(self.problem("':' not as part of an object")),
                    _ => return Err(self.second_value()),
                }
            }
        }
    }

    fn push(&mut self, open: &mut Vec<Open>, container: Open) -> Result<(), String> {
        if open.len() == DEPTH_MAX {
            return Err(self.problem("Exceeds depth limit for parsing"));
        }
        open.push(container);
        Ok(())
    }

    fn key(&mut self, open: &mut [Open]) -> Result<(), String> {
        self.skip_blank();
        let name = match self.peek() {
            Some(b'"') => self.string()?,
            Some(sign @ (b',' | b'}' | b':' | b']')) => {
                self.at += 1;
                let what = if sign == b'}' {
                    "Expected another key-value pair"
                } else {
                    "Expected value before ','"
                };
                return Err(self.problem(what));
            }
            None => return Err(self.problem("Unfinished JSON term")),
            Some(b'[' | b'{') => {
                self.at += 1;
                return Err(self.problem("Object keys must be strings"));
            }
            Some(_) => {
                self.literal()?;
                self.at = self.token_end();
                return Err(self.problem("Object keys must be strings"));
            }
        };
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
        if let Some(Open::Object(_, key)) = open.last_mut() {
            *key = Some(name);
        }
        Ok(())
    }

    fn string(&mut self) -> Result<Val, String> {
        let start = self.at + 1;
        let rest = self.text.get(start..).unwrap_or(&[]);
        let end = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'));
        let Some(end) = end else {
            self.at = self.text.len();
            return Err(self.problem("Unfinished string"));
        };
        if rest[end] == b'"' && std::str::from_utf8(&rest[..end]).is_ok() {
            self.at = start + end + 1;
            if rest[..end].iter().any(|byte| *byte < 0x20) {
                return Err(self.problem(UNESCAPED));
            }
            return Ok(Val::utf8_str(self.text.slice(start..start + end)));
        }
        // jq judges a string when it has ended.
        let closed = literal::closing_quote(rest);
        let decoded = literal::string(rest);
        self.at = closed.map_or(self.text.len(), |at| start + at + 1);
        let (text, used) = decoded.map_err(|why| self.problem(why))?;
        if rest[..used].iter().any(|byte| *byte < 0x20) {
            return Err(self.problem(UNESCAPED));
        }
        Ok(Val::utf8_str(text))
    }

    fn literal(&mut self) -> Result<Val, String> {
        let rest = self.text.get(self.at..).unwrap_or(&[]);
        let len = rest.iter().position(|byte| literal::ends_at(*byte)).unwrap_or(rest.len());
        let value = literal::value(&rest[..len]);
        let word_like = matches!(rest.first(), Some(b't' | b'f')) || (rest.first() == Some(&b'n') && len < 4);
        let a_word = len == 4 && matches!(rest.first(), Some(b't' | b'n')) || len == 5 && rest[0] == b'f';
        self.at += len.max(1);
        value.ok_or_else(|| {
            self.at = self.token_end();
            self.problem(if word_like && !a_word { "Invalid literal" } else { "Invalid numeric literal" })
        })
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

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_blank(&mut self) {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r') || (self.seq && *byte == 0x1e);
        let rest = self.text.get(self.at..).unwrap_or(&[]);
        self.at += rest.iter().take_while(|byte| blank(byte)).count();
    }

    fn problem(&self, what: &str) -> String {
        let before = self.text.get(..self.at.min(self.text.len())).unwrap_or(&[]);
        let at_end = self.at > self.text.len() || what.starts_with("Unfinished");
        let end = if at_end { " at EOF" } else { "" };
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count();
        format!("{what}{end} at line {line}, column {column}")
    }
}

/// All values of a text.
pub fn parse_all(text: Bytes) -> Result<Vec<Val>, String> {
    let mut reader = Reader::new(text, false);
    std::iter::from_fn(|| reader.next()).collect()
}

/// What jq says about a sign where a value should be.
fn misplaced(sign: u8, open: Option<&Open>) -> String {
    match (sign, open) {
        (b',' | b':', _) => format!("Expected value before '{}'", char::from(sign)),
        (_, None) => format!("Unmatched '{}'", char::from(sign)),
        (b']', Some(Open::Array(_))) => "Expected another array element".to_owned(),
        (b'}', Some(Open::Object(..))) => "Objects must consist of key:value pairs".to_owned(),
        _ => format!("Unmatched '{}'", char::from(sign)),
    }
}

/// The value a text begins with, and the rest of the text.
pub fn parse_prefix(text: &str) -> Option<(Val, &str)> {
    let mut reader = Reader::new(Bytes::copy_from_slice(text.as_bytes()), false);
    let value = reader.next()?.ok()?;
    Some((value, text.get(reader.at..)?))
}

/// The only value of a text.
pub fn parse_one(text: Bytes) -> Result<Val, String> {
    let mut values = parse_all(text)?.into_iter();
    match (values.next(), values.next()) {
        (Some(value), None) => Ok(value),
        (None, _) => Err("Expected JSON value".to_owned()),
        (Some(_), Some(_)) => Err("Unexpected extra JSON values".to_owned()),
    }
}
