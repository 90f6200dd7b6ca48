//! `-R`: the lines of all inputs. A line that a file does not end goes on in the next.

use super::Place;
use super::feed::{Fed, Feed};
use crate::value::Value;
use std::rc::Rc;

/// The lines not handed out yet.
pub(super) struct Lines {
    feed: Box<dyn Feed>,
    place: Rc<Place>,
    text: Vec<u8>,
    at: usize,
}

impl Lines {
    /// The lines of `feed`; `place` is told how many.
    pub(super) fn new(feed: Box<dyn Feed>, place: Rc<Place>) -> Self {
        Self { feed, place, text: Vec::new(), at: 0 }
    }

    /// The next line, without its end.
    pub(super) fn next_line(&mut self) -> Option<Value> {
        let mut searched = 0;
        loop {
            let rest = self.text.get(self.at..).unwrap_or(&[]);
            if let Some(more) = rest.get(searched..).and_then(|new| new.iter().position(|it| *it == b'\n')) {
                let line = rest.get(..searched + more).map(text_of);
                self.at += searched + more + 1;
                self.place.line.set(self.place.line.get() + 1);
                return line;
            }
            searched = rest.len();
            self.text.drain(..self.at.min(self.text.len()));
            self.at = 0;
            if self.feed.more(&mut self.text, false) == Fed::Nothing {
                let last = (!self.text.is_empty()).then(|| text_of(&self.text));
                self.text.clear();
                return last;
            }
        }
    }

    /// All that is left, as one text.
    pub(super) fn rest(&mut self) -> Value {
        while self.feed.more(&mut self.text, false) != Fed::Nothing {}
        let text = std::mem::take(&mut self.text);
        Value::from(
            String::from_utf8(text).unwrap_or_else(|it| String::from_utf8_lossy(it.as_bytes()).into_owned()),
        )
    }
}

fn text_of(line: &[u8]) -> Value {
    match std::str::from_utf8(line) {
        Ok(line) => Value::str(line),
        Err(_) => Value::from(String::from_utf8_lossy(line).into_owned()),
    }
}
