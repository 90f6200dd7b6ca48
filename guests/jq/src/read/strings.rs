//! Keys and strings of a text: plain ones by sixteen bytes at a time, the others with care.

use super::json::Reader;
use super::{literal, scan};
use crate::value::{Text, Value};

/// Long keys of one text are shared between so many recent ones.
const KEYS_KEPT: usize = 64;

const UNESCAPED: &str = "Invalid string: control characters from U+0000 through U+001F must be escaped";

impl Reader {
    #[inline]
    pub(super) fn key(&mut self) -> Result<(), String> {
        // SAFETY: as in `value`.
        unsafe {
            let base = self.text.as_ptr();
            let quote = scan::skip_blank(base.add(self.at));
            let start = quote.add(1);
            if *quote == b'"' {
                let len = scan::plain_len(start);
                let colon = scan::skip_blank(start.add(len + 1));
                if *start.add(len) == b'"' && *colon == b':' {
                    self.at = colon.add(1).offset_from(base) as usize;
                    let name = scan::text(start, len);
                    let name = if len > 14 { self.shared(name) } else { name };
                    self.fields.push((name, Value::Null));
                    return Ok(());
                }
            }
        }
        self.odd_key()
    }

    /// A key that is no plain string, or not followed by its colon.
    #[cold]
    fn odd_key(&mut self) -> Result<(), String> {
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

    /// The same key as before, so that it lies in memory once.
    #[inline(never)]
    fn shared(&mut self, key: Text) -> Text {
        if key.is_empty() {
            return key;
        }
        if self.keys.is_empty() {
            self.keys.resize(KEYS_KEPT, Text::EMPTY);
        }
        let bytes = key.as_bytes();
        let slot = (bytes.len() * 31
            + usize::from(bytes[bytes.len() - 1]) * 7
            + usize::from(bytes[bytes.len() / 2]))
            % KEYS_KEPT;
        if self.keys[slot] != key {
            self.keys[slot] = key.clone();
            return key;
        }
        self.keys[slot].clone()
    }

    #[inline]
    pub(super) fn string(&mut self) -> Result<Text, String> {
        match self.quick_string() {
            Some(text) => Ok(text),
            None => self.long_string(self.at + 1),
        }
    }

    /// A string of plain ASCII, which most are.
    #[inline]
    fn quick_string(&mut self) -> Option<Text> {
        let start = self.at + 1;
        // SAFETY: the text is padded, and the quote before `start` is within it.
        unsafe {
            let from = self.text.as_ptr().add(start);
            let len = scan::plain_len(from);
            if *from.add(len) != b'"' {
                return None;
            }
            self.at = start + len + 1;
            Some(scan::text(from, len))
        }
    }

    #[inline(never)]
    pub(super) fn long_string(&mut self, start: usize) -> Result<Text, String> {
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
}
