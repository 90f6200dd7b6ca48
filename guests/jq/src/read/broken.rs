//! What is said about a text that is no JSON, in jq's words and with jq's idea of the place, and what
//! was read of it before.

use super::json::{Open, Reader};
use super::literal;
use crate::value::Value;

impl Reader {
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

    /// Where in the open containers the reader stands.
    pub fn open_path(&self) -> Vec<Value> {
        let ends = self.open.iter().skip(1).map(Some).chain([None]);
        let place = |(open, next): (&Open, Option<&Open>)| match (open, next) {
            (Open::Object(_), Some(Open::Object(end))) => {
                self.fields.get(end.saturating_sub(1)).map_or(Value::Null, |it| Value::Str(it.0.clone()))
            }
            (Open::Object(_), _) => self.fields.last().map_or(Value::Null, |it| Value::Str(it.0.clone())),
            (Open::Array(start), Some(Open::Array(end))) => Value::from(end - start),
            (Open::Array(start), _) => Value::from(self.items.len().saturating_sub(*start)),
        };
        self.open.iter().zip(ends).map(place).collect()
    }

    /// What jq says of a sign where `,` or the end of a container should be.
    #[cold]
    pub(super) fn not_a_separator(&mut self, open: Open) -> String {
        let sign = self.peek();
        self.at += 1;
        match (sign, open) {
            (None, _) => {
                self.at -= 1;
                self.problem("Unfinished JSON term")
            }
            (Some(b']'), _) => self.problem("Unmatched ']'"),
            (Some(b'}'), _) => self.problem("Unmatched '}'"),
            (Some(b':'), Open::Array(_)) => self.problem("':' not as part of an object"),
            (Some(b':'), _) => self.problem("':' should follow a key"),
            _ => self.second_value(),
        }
    }

    pub(super) fn wrong_key(&mut self) -> String {
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

    /// A value where a separator should be: jq notices when that value ends.
    pub(super) fn second_value(&mut self) -> String {
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
    pub(super) fn token_end(&self) -> usize {
        (self.at + 1).min(self.end + 1)
    }

    /// What was wrong, with the place where the reader stands.
    #[cold]
    pub(super) fn problem(&self, what: &str) -> String {
        let before = self.text.get(..self.at.min(self.end)).unwrap_or(&[]);
        let at_end = self.at > self.end || what.starts_with("Unfinished");
        let end = if at_end { " at EOF" } else { "" };
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1 + self.lines_before;
        let mut column = before.iter().rev().take_while(|byte| **byte != b'\n').count();
        if column == before.len() {
            column += self.column_before;
        }
        format!("{what}{end} at line {line}, column {column}")
    }
}

/// What jq says about a sign where a value should be.
pub(super) fn misplaced(sign: u8, open: Option<&Open>) -> String {
    match (sign, open) {
        (b',' | b':', _) => format!("Expected value before '{}'", char::from(sign)),
        (_, None) => format!("Unmatched '{}'", char::from(sign)),
        (b']', Some(Open::Array(_))) => "Expected another array element".to_owned(),
        (b'}', Some(Open::Object(..))) => "Objects must consist of key:value pairs".to_owned(),
        _ => format!("Unmatched '{}'", char::from(sign)),
    }
}
