//! The documents of the inputs, one after the other: what was handed out is not kept.
//!
//! JSON comes value after value, and YAML is cut where a line begins with `---`: that begins another
//! document wherever it stands. The other formats are one document, and are read whole.

use crate::format::{Format, yaml};
use jq::read::{Fed, Feed, Reader, read_ahead};
use jq::value::Value as Val;
use std::cell::Cell;
use std::fs::File;
use std::rc::Rc;

/// One input: a file, or standard input.
pub(crate) struct Source {
    /// As messages name it.
    shown: String,
    documents: Documents,
    any: bool,
    /// Why JSON could not be read to its end.
    trouble: Rc<Cell<Option<String>>>,
}

enum Documents {
    Json(Reader),
    Yaml(Chunks),
    Whole(Option<(Format, Input)>),
}

/// The bytes of one input.
pub(crate) struct Input(Option<File>);

/// The same for a reader that asks for more as it needs it.
struct Fetched {
    input: Input,
    trouble: Rc<Cell<Option<String>>>,
}

impl Input {
    /// Opens a file, or standard input.
    pub(crate) fn open(file: Option<&str>) -> Result<Self, String> {
        let Some(name) = file else { return Ok(Self(None)) };
        let problem = |error| format!("open {name}: {}", place::reason(&error).to_lowercase());
        Ok(Self(Some(File::open(name).map_err(problem)?)))
    }

    /// All there is.
    pub(crate) fn whole(mut self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        while self.read(&mut bytes)? > 0 {}
        Ok(bytes)
    }

    fn read(&mut self, into: &mut Vec<u8>) -> Result<usize, String> {
        read_ahead(self.0.as_ref(), into).map_err(|error| place::reason(&error).to_lowercase())
    }
}

impl Feed for Fetched {
    fn more(&mut self, text: &mut Vec<u8>, _within: bool) -> Fed {
        match self.input.read(text) {
            Ok(0) => Fed::Nothing,
            Ok(_) => Fed::Bytes,
            Err(problem) => {
                self.trouble.set(Some(problem));
                Fed::Nothing
            }
        }
    }
}

impl Source {
    /// Opens a file, or standard input, as `format`.
    pub(crate) fn open(file: Option<&str>, format: Format) -> Result<Self, String> {
        let input = Input::open(file)?;
        let trouble = Rc::default();
        let documents = match format {
            Format::Json => {
                let fetched = Fetched { input, trouble: Rc::clone(&trouble) };
                Documents::Json(Reader::of_feed(Box::new(fetched), false))
            }
            Format::Yaml => Documents::Yaml(Chunks::new(input)),
            _ => Documents::Whole(Some((format, input))),
        };
        Ok(Self { shown: file.unwrap_or("-").to_owned(), documents, any: false, trouble })
    }

    /// The next document; an input without one stands for null.
    pub(crate) fn next(&mut self) -> Option<Result<Val, String>> {
        let next = match &mut self.documents {
            Documents::Json(reader) => reader.next_value(),
            Documents::Yaml(chunks) => chunks.next().transpose(),
            Documents::Whole(input) => input.take().and_then(|(format, input)| match whole(format, input) {
                Ok(mut documents) => documents.pop().map(Ok),
                Err(problem) => Some(Err(problem)),
            }),
        };
        let next = match next {
            Some(found) => Some(found),
            None => match self.trouble.take() {
                Some(problem) => Some(Err(problem)),
                None => (!self.any).then_some(Ok(Val::Null)),
            },
        };
        self.any = true;
        next.map(|it| it.map_err(|problem| format!("bad file '{}': {problem}", self.shown)))
    }
}

fn whole(format: Format, input: Input) -> Result<Vec<Val>, String> {
    let bytes = input.whole()?;
    let text = String::from_utf8_lossy(&bytes);
    format.read(text.strip_prefix('\u{feff}').unwrap_or(&text))
}

/// A YAML stream, in pieces of whole documents.
struct Chunks {
    input: Input,
    bytes: Vec<u8>,
    /// Where the piece that comes next begins.
    start: usize,
    /// Where no further document begins before.
    searched: usize,
    ended: bool,
    lines_before: usize,
    ready: std::vec::IntoIter<Val>,
}

impl Chunks {
    fn new(input: Input) -> Self {
        let ready = Vec::new().into_iter();
        Self { input, bytes: Vec::new(), start: 0, searched: 0, ended: false, lines_before: 0, ready }
    }

    fn next(&mut self) -> Result<Option<Val>, String> {
        loop {
            if let Some(document) = self.ready.next() {
                return Ok(Some(document));
            }
            let Some(chunk) = self.chunk()? else { return Ok(None) };
            let text = String::from_utf8_lossy(&chunk);
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
            self.ready = yaml::read(text, self.lines_before)?.into_iter();
            self.lines_before += chunk.iter().filter(|it| **it == b'\n').count();
        }
    }

    /// The next piece, up to a line that begins another document.
    fn chunk(&mut self) -> Result<Option<Vec<u8>>, String> {
        loop {
            if let Some(end) = self.next_start() {
                let piece = self.bytes.get(self.start..end).unwrap_or_default().to_vec();
                self.start = end;
                return Ok(Some(piece));
            }
            // What was handed out is dropped once for all that came at once, not piece by piece.
            self.bytes.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
            if self.ended {
                let last = std::mem::take(&mut self.bytes);
                return Ok((!last.is_empty()).then_some(last));
            }
            self.ended = self.input.read(&mut self.bytes)? == 0;
        }
    }

    fn next_start(&mut self) -> Option<usize> {
        loop {
            let behind = self.bytes.get(self.searched..)?;
            let line = self.searched + behind.iter().position(|it| *it == b'\n')? + 1;
            let text = self.bytes.get(line..)?;
            if text.len() < 4 && !self.ended {
                return None;
            }
            let begins = text.starts_with(b"---") && text.get(3).is_none_or(u8::is_ascii_whitespace);
            // A directive is about the document that begins behind it.
            let before = self.bytes.get(self.start..line)?.trim_ascii_end();
            let last = before.rsplit(|it| *it == b'\n').next().unwrap_or(before);
            self.searched = line;
            if begins && !last.starts_with(b"%") {
                return Some(line);
            }
        }
    }
}
