//! The inputs of a run, one value after the other: from files or standard input, as JSON or as
//! lines, whole or as a stream of leaves.
//!
//! No more is in memory than the value that is being read and what came with it. Text that is no JSON
//! ends the inputs with an error.

mod broken;
mod feed;
mod json;
mod lines;
mod literal;
mod scan;
mod stream;
mod strings;
#[cfg(test)]
mod tests;
mod whole;
mod window;

pub use feed::{Fed, Feed, read_ahead};
pub use json::Reader;
pub use literal::value as parse_literal;
pub use stream::each as each_event;
pub use whole::{parse_all, parse_one};

use crate::cli::Options;
use crate::value::Value;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Where the value that was read last came from, for messages and `input_filename`.
#[derive(Default)]
pub struct Place {
    file: RefCell<Option<String>>,
    line: Cell<usize>,
    from_stdin: Cell<bool>,
    /// A file could not be read.
    pub failed: Cell<bool>,
}

impl Place {
    /// As jq names it in a message.
    pub fn describe(&self) -> String {
        let line = self.line.get();
        match (&*self.file.borrow(), self.from_stdin.get()) {
            (Some(file), _) => format!("{file}:{line}"),
            (None, true) => format!("<stdin>:{line}"),
            (None, false) => "<unknown>".to_owned(),
        }
    }

    /// The file's name, or jq's name for standard input; nothing before the first is read.
    pub fn file(&self) -> Option<String> {
        let stdin = self.from_stdin.get().then(|| "<stdin>".to_owned());
        self.file.borrow().clone().or(stdin)
    }

    /// How many lines of it have been read.
    pub fn line(&self) -> usize {
        self.line.get()
    }

    /// Another input begins: a file, or standard input.
    fn enter(&self, file: Option<&str>) {
        *self.file.borrow_mut() = file.map(str::to_owned);
        self.from_stdin.set(file.is_none());
        self.line.set(0);
    }

    /// Behind the last input, there is no place to name.
    fn leave(&self) {
        *self.file.borrow_mut() = None;
        self.line.set(0);
    }
}

/// The values, in order.
pub struct Values {
    source: Source,
    place: Rc<Place>,
    /// All at once, not yet handed out.
    slurp: bool,
    ended: bool,
}

/// Opened when the first value is asked for.
enum Source {
    Unopened { files: Vec<String>, raw: bool, stream: Option<stream::Events>, seq: bool },
    Json(Reader),
    Stream(Reader, stream::Events),
    Lines(lines::Lines),
}

impl Values {
    /// The inputs `options` name; nothing is read yet.
    pub fn new(options: &Options, place: Rc<Place>) -> Self {
        let input = &options.input;
        let stream = input.stream.then(|| stream::Events::new(input.stream_errors));
        let source =
            Source::Unopened { files: options.files.clone(), raw: input.raw, stream, seq: input.seq };
        Self { source, place, slurp: input.slurp, ended: false }
    }

    /// Counts the lines of JSON that have been read; only messages and `input_line_number` need it.
    pub fn count_lines(&mut self) {
        if let Source::Json(reader) | Source::Stream(reader, _) = &mut self.source
            && self.place.file().is_some()
        {
            self.place.line.set(reader.lines());
        }
    }

    fn open(&mut self) {
        if let Source::Unopened { files, raw, stream, seq } = &mut self.source {
            let feed = Box::new(feed::Files::new(files, Rc::clone(&self.place)));
            self.source = match (*raw, stream.take()) {
                (true, _) => Source::Lines(lines::Lines::new(feed, Rc::clone(&self.place))),
                (false, None) => Source::Json(Reader::of_feed(feed, *seq)),
                (false, Some(events)) => Source::Stream(Reader::of_feed(feed, *seq), events),
            };
        }
    }

    fn value(&mut self) -> Option<Result<Value, String>> {
        let found = match &mut self.source {
            Source::Unopened { .. } => None,
            Source::Json(reader) => reader.next_value(),
            Source::Stream(reader, events) => events.next(reader),
            Source::Lines(lines) => lines.next_line().map(Ok),
        };
        if found.is_none() {
            self.place.leave();
        }
        found
    }

    fn all(&mut self) -> Result<Value, String> {
        if let Source::Lines(lines) = &mut self.source {
            let text = lines.rest();
            self.place.leave();
            return Ok(text);
        }
        std::iter::from_fn(|| self.value()).collect()
    }
}

impl Iterator for Values {
    type Item = Result<Value, String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        self.open();
        let value = if std::mem::take(&mut self.slurp) {
            self.ended = true;
            Some(self.all())
        } else {
            self.value()
        };
        self.ended |= !matches!(value, Some(Ok(_)));
        value
    }
}
