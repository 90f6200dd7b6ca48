//! Lines of a stream, with a bound: one that is too long is counted and thrown away as it comes, and all that
//! is kept of it is the id it wants to be answered under.

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// The longest message. A file of 16 MiB in base64 fits.
pub const LINE_BYTES_MAX: usize = 32 << 20;

/// Longest id that is looked at.
const ID_BYTES_MAX: usize = 256;

/// What came.
#[derive(Debug, PartialEq)]
pub enum Line {
    /// A whole line, without its end.
    Whole(Vec<u8>),
    /// One that was too long: how long, and under which id.
    TooLong(u64, Option<Value>),
}

/// Reads lines. Dropping a read that is under way loses nothing.
pub struct Lines<R> {
    from: BufReader<R>,
    line: Vec<u8>,
    /// While a line is thrown away: how much of it came, and what was found.
    excess: Option<(u64, IdScan)>,
    bytes_max: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Lines of that source, each of at most so many bytes.
    pub fn new(from: R, bytes_max: usize) -> Self {
        Self { from: BufReader::with_capacity(64 << 10, from), line: Vec::new(), excess: None, bytes_max }
    }

    /// The next line; none at the end. What follows the last line's end is no message.
    pub async fn next(&mut self) -> std::io::Result<Option<Line>> {
        loop {
            let available = self.from.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let end = memchr::memchr(b'\n', available);
            let part = &available[..end.unwrap_or(available.len())];
            match &mut self.excess {
                Some((bytes, scan)) => {
                    *bytes += part.len() as u64;
                    scan.feed(part);
                }
                None if self.line.len() + part.len() > self.bytes_max => {
                    let mut scan = IdScan::default();
                    scan.feed(&self.line);
                    scan.feed(part);
                    self.excess = Some(((self.line.len() + part.len()) as u64, scan));
                    // What was held for it is given back, not only emptied.
                    self.line = Vec::new();
                }
                None => self.line.extend_from_slice(part),
            }
            let used = part.len() + usize::from(end.is_some());
            self.from.consume(used);
            if end.is_none() {
                continue;
            }
            if let Some((bytes, scan)) = self.excess.take() {
                return Ok(Some(Line::TooLong(bytes, scan.id())));
            }
            let mut line = std::mem::take(&mut self.line);
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            if !line.is_empty() {
                return Ok(Some(Line::Whole(line)));
            }
        }
    }
}

/// Looks for the member `id` of the outermost object, byte by byte, and keeps nothing else.
#[derive(Default)]
pub(crate) struct IdScan {
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// The string that is being read at the first level, or the one that was just read.
    key: Vec<u8>,
    /// The member's own text, from its colon to its comma.
    value: Option<Vec<u8>>,
    done: bool,
}

impl IdScan {
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.done {
                return;
            }
            self.step(byte);
        }
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                if self.depth == 1 && self.value.is_none() {
                    self.key.clear();
                }
                self.keep(byte);
            }
            b':' if self.depth == 1 && self.value.is_none() && self.key == b"\"id\"" => {
                self.value = Some(Vec::new());
            }
            b',' | b'}' if self.depth == 1 && self.value.is_some() => self.done = true,
            b'{' | b'[' => {
                self.depth = self.depth.saturating_add(1);
                self.keep(byte);
            }
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => self.keep(byte),
        }
    }

    /// Keeps what may belong to the key or the value, a little of it.
    fn keep(&mut self, byte: u8) {
        let into = match &mut self.value {
            Some(value) => value,
            None if self.depth == 1 && self.in_string => &mut self.key,
            None => return,
        };
        if into.len() <= ID_BYTES_MAX {
            into.push(byte);
        }
    }

    /// What was found, if it can be an id.
    pub(crate) fn id(&self) -> Option<Value> {
        let value = self.value.as_ref().filter(|it| self.done && it.len() <= ID_BYTES_MAX)?;
        let id: Value = serde_json::from_slice(value).ok()?;
        (id.is_string() || id.is_i64() || id.is_u64()).then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn id(text: &str) -> Option<Value> {
        crate::foreign::id_of(text.as_bytes())
    }

    #[test]
    fn the_id_is_the_outermost_objects_own() {
        for (text, want) in [
            (r#"{"id":7,"method":"x"}"#, Some(json!(7))),
            (r#"{"method":"x","params":{"id":1},"id" : "a\"b"}"#, Some(json!("a\"b"))),
            (r#"{"params":"\"id\":3","id":4}"#, Some(json!(4))),
            (r#"{"params":["id",{"id":5}]}"#, None),
            (r#"{"id":null}"#, None),
            (r#"{"id":{"a":1}}"#, None),
            (r#"{"id":7"#, None),
            ("xxxx", None),
            ("", None),
        ] {
            assert_eq!(id(text), want, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = crate::foreign::id_of(&bytes);
        }

        #[test]
        fn an_id_is_found_wherever_it_is(before in "[a-z\"\\\\{}\\[\\]:,]{0,40}", number in any::<i64>(), cut in 0usize..80) {
            let text = json!({ "a": before, "id": number, "z": [before, { "id": 0 }] }).to_string();
            let mut scan = IdScan::default();
            let cut = cut.min(text.len());
            scan.feed(&text.as_bytes()[..cut]);
            scan.feed(&text.as_bytes()[cut..]);
            prop_assert_eq!(scan.id(), Some(json!(number)));
        }
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_counted_and_the_next_one_is_read() {
        let long = format!("{{\"id\":9,\"x\":\"{}\"}}", "y".repeat(300));
        let text = format!("one\r\n\n{long}\n{}\nlast\nhalf", "z".repeat(101));
        let mut lines = Lines::new(text.as_bytes(), 100);
        let mut next = async || lines.next().await.unwrap();
        assert_eq!(next().await, Some(Line::Whole(b"one".to_vec())));
        assert_eq!(next().await, Some(Line::TooLong(long.len() as u64, Some(json!(9)))));
        assert_eq!(next().await, Some(Line::TooLong(101, None)));
        assert_eq!(next().await, Some(Line::Whole(b"last".to_vec())));
        assert_eq!(next().await, None);
    }
}
