//! Server-sent events as they come: lines that end in any of three ways, fields, and an empty line that ends an event.
//!
//! Where the bytes are cut makes no difference. Lines and events are bounded.

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// What it is called; empty where nobody says.
    pub name: String,
    /// Its lines of data, joined.
    pub data: String,
}

/// The stream is none, or longer than it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event is longer than it may be")]
pub struct BadStream;

/// Reads a stream of events.
#[derive(Debug)]
pub struct EventReader {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    /// The last byte was a carriage return, and a line feed after it is the same end.
    after_return: bool,
    first_line: bool,
    event_bytes_max: usize,
}

impl EventReader {
    /// Events of so many bytes at most.
    pub fn new(event_bytes_max: usize) -> Self {
        let (line, event) = (Vec::new(), Event::default());
        Self { line, event, has_data: false, after_return: false, first_line: true, event_bytes_max }
    }

    /// Takes some bytes, and hands every event that is whole to `each`, until that fails.
    pub fn push<E: From<BadStream>>(
        &mut self,
        bytes: &[u8],
        mut each: impl FnMut(Event) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_return) && rest.first() == Some(&b'\n') {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', rest) else {
                self.keep(rest)?;
                break;
            };
            self.keep(&rest[..end])?;
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if let Some(event) = self.end_line() {
                each(event)?;
            }
        }
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), BadStream> {
        let held = self.line.len() + self.event.data.len() + bytes.len();
        if held > self.event_bytes_max {
            return Err(BadStream);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let mut line = &line[..];
        if std::mem::take(&mut self.first_line) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &b""[..]),
        };
        let value = String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value));
        match field {
            b"data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(&value);
                self.has_data = true;
            }
            b"event" => self.event.name = value.into_owned(),
            // Comments, ids and times to reconnect after are nothing to us.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<Event>, BadStream> {
        let (mut reader, mut events) = (EventReader::new(64), Vec::new());
        for piece in pieces {
            reader.push(piece, |event| {
                events.push(event);
                Ok::<(), BadStream>(())
            })?;
        }
        Ok(events)
    }

    fn event(name: &str, data: &str) -> Event {
        Event { name: name.into(), data: data.into() }
    }

    #[test]
    fn lines_end_in_three_ways_and_an_empty_one_ends_the_event() {
        for (text, want) in [
            ("data: a\n\n", vec![event("", "a")]),
            ("\u{feff}data:a\r\n\r\ndata: b\r\r", vec![event("", "a"), event("", "b")]),
            ("event: x\ndata: 1\ndata:  2\n\n", vec![event("x", "1\n 2")]),
            (": comment\nid: 7\nretry: 9\ndata\n\n", vec![event("", "")]),
            ("event: lonely\n\ndata: a\n\n", vec![event("", "a")]),
            ("data: not over\n", vec![]),
            ("data: not over", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(read([text.as_bytes()]), Ok(want), "{text:?}");
        }
        assert_eq!(read([&[b'x'; 65][..]]), Err(BadStream));
        assert_eq!(read(["data: abcdefghij\n".repeat(9).as_bytes()]), Err(BadStream), "nor in many lines");
    }

    proptest! {
        #[test]
        fn where_the_bytes_are_cut_makes_no_difference(
            text in proptest::collection::vec(
                proptest::sample::select(vec!["data", ":", " ", "\n", "\r", "\r\n", "event", "a", "\u{e9}", "\u{feff}"]), 0..40),
            cuts in proptest::collection::vec(1_usize..7, 0..40),
        ) {
            let text = text.concat();
            let mut rest = text.as_bytes();
            let mut pieces = Vec::new();
            for cut in cuts {
                let (piece, tail) = rest.split_at(cut.min(rest.len()));
                pieces.push(piece);
                rest = tail;
            }
            pieces.push(rest);
            prop_assert_eq!(read(pieces), read([text.as_bytes()]));
        }
    }
}
