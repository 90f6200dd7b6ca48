//! The bytes of all inputs as one stream: the files one after the other, or standard input.
//!
//! A file is opened when the run gets to it, and read piece by piece: what was handed on is the
//! reader's to keep or to drop. A file that cannot be read is reported and skipped. What ends one
//! file goes on in the next, as jq has it: a line, and even a number.

use super::Place;
use crate::stdio;
use place::reason;
use std::fs::File;
use std::rc::Rc;

/// Small, so that a short input touches few pages.
const READ_BYTES_MIN: usize = 16 * 1024;
/// As much as is asked for at once, and as is read ahead of a source that is quick.
const READ_BYTES_MAX: usize = 1024 * 1024;

/// What came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fed {
    /// More of the same file.
    Bytes,
    /// The beginning of another file.
    NewFile,
    /// Nothing: the inputs have ended.
    Nothing,
}

/// Where a reader gets more text from.
pub trait Feed {
    /// Appends to `text`; with `within`, only what the current file still has.
    fn more(&mut self, text: &mut Vec<u8>, within: bool) -> Fed;
}

/// The files of a command line.
pub(super) struct Files {
    names: std::vec::IntoIter<String>,
    current: Option<Input>,
    place: Rc<Place>,
}

enum Input {
    Stdin,
    File(File, String),
}

impl Files {
    /// The files by their names, `-` for standard input, which is also read where there are none.
    pub(super) fn new(names: &[String], place: Rc<Place>) -> Self {
        let stdin = names.is_empty().then(|| "-".to_owned());
        let names: Vec<String> = names.iter().cloned().chain(stdin).collect();
        Self { names: names.into_iter(), current: None, place }
    }

    fn open_next(&mut self) -> bool {
        while let Some(name) = self.names.next() {
            if name == "-" {
                self.place.enter(None);
                self.current = Some(Input::Stdin);
                return true;
            }
            self.place.enter(Some(&name));
            match File::open(&name) {
                Ok(file) => {
                    self.current = Some(Input::File(file, name));
                    return true;
                }
                Err(error) => self.failed(&name, &error),
            }
        }
        false
    }

    fn failed(&self, name: &str, error: &std::io::Error) {
        stdio::complain(&format!("jq: error: Could not open file {name}: {}", reason(error)));
        self.place.failed.set(true);
    }

    /// What the current input has; nothing when it has ended or cannot be read.
    fn read(&mut self, text: &mut Vec<u8>) -> usize {
        let result = match &mut self.current {
            None => return 0,
            Some(Input::Stdin) => read_ahead(None, text),
            Some(Input::File(file, _)) => read_ahead(Some(file), text),
        };
        match (result, &self.current) {
            (Ok(count), _) => count,
            (Err(error), Some(Input::File(_, name))) => {
                self.failed(name, &error);
                0
            }
            (Err(error), _) => {
                stdio::complain(&format!("jq: error: Could not read standard input: {error}"));
                self.place.failed.set(true);
                0
            }
        }
    }
}

impl Feed for Files {
    fn more(&mut self, text: &mut Vec<u8>, within: bool) -> Fed {
        if self.read(text) > 0 {
            return Fed::Bytes;
        }
        // The last input stays what messages name until somebody asks for what is behind it.
        while !within && self.open_next() {
            if self.read(text) > 0 {
                return Fed::NewFile;
            }
        }
        Fed::Nothing
    }
}

/// Appends what can be had at once: a source that fills all the room it is given has more, and a
/// reader that sees more at once does less work twice.
pub fn read_ahead(file: Option<&File>, text: &mut Vec<u8>) -> std::io::Result<usize> {
    // Whoever waits for the output of what was read has waited long enough.
    stdio::flush();
    let before = text.len();
    loop {
        let room = text.len().clamp(READ_BYTES_MIN, READ_BYTES_MAX);
        if text.capacity() - text.len() < room {
            // Twice the room would be too much for a text that is most of the memory.
            text.reserve_exact(room.max(text.len() / 2));
        }
        let count = stdio::read_some(file, text, room)?;
        if count < room || text.len() - before >= READ_BYTES_MAX {
            return Ok(text.len() - before);
        }
    }
}
