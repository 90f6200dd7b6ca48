//! The lines of all files, one after the other, with a look ahead: only then is the last line known.

use memchr::memchr;
use place::block::Blocks;
use place::reason;
use place::stdio::path;
use std::io;

/// What reading came to.
pub(crate) enum Event {
    /// A file ended, or began: in-place editing writes it now.
    Opened(Vec<u8>),
    Line,
    End,
}

/// Appends a line without its end; whether it had one.
fn line(blocks: &mut Blocks, separator: u8, out: &mut Vec<u8>) -> io::Result<bool> {
    while blocks.fill()? {
        let block = blocks.held();
        match memchr(separator, block) {
            Some(length) => {
                out.extend_from_slice(&block[..length]);
                blocks.advance(length + 1);
                return Ok(true);
            }
            None => {
                let length = block.len();
                out.extend_from_slice(block);
                blocks.advance(length);
            }
        }
    }
    Ok(false)
}

/// The lines of all files.
pub(crate) struct Input {
    files: std::vec::IntoIter<Vec<u8>>,
    current: Option<Blocks>,
    separator: u8,
    separate: bool,
    in_place: bool,
    /// The file that is being read, as `F` prints it.
    pub name: Vec<u8>,
    pub number: u64,
    /// 0, or what the exit status will be.
    pub trouble: i32,
}

impl Input {
    /// Over `files`, or standard input if there are none.
    pub(crate) fn new(mut files: Vec<Vec<u8>>, separator: u8, separate: bool, in_place: bool) -> Self {
        if files.is_empty() {
            files.push(b"-".to_vec());
        }
        let files = files.into_iter();
        let name = b"-".to_vec();
        Self { files, current: None, separator, separate, in_place, name, number: 0, trouble: 0 }
    }

    /// Whether the line that was read last is the last there is. Opens the next files if it must.
    pub(crate) fn at_last(&mut self, complain: &mut impl FnMut(&str)) -> bool {
        loop {
            if let Some(source) = &mut self.current {
                match source.fill() {
                    Ok(true) => return false,
                    Ok(false) if self.separate => return true,
                    Ok(false) => {}
                    Err(error) => self.read_error(&error, complain),
                }
            }
            if self.separate || !self.open_next(complain) {
                return true;
            }
        }
    }

    /// Reads the next line into `out`; `chomped` says whether it had an end.
    pub(crate) fn next(
        &mut self,
        out: &mut Vec<u8>,
        chomped: &mut bool,
        complain: &mut impl FnMut(&str),
    ) -> Event {
        loop {
            if let Some(source) = &mut self.current {
                match source.fill().and_then(|more| Ok(more.then_some(line(source, self.separator, out)?))) {
                    Ok(Some(ended)) => {
                        *chomped = ended;
                        self.number += 1;
                        return Event::Line;
                    }
                    Ok(None) => {}
                    Err(error) => self.read_error(&error, complain),
                }
            }
            if !self.open_next(complain) {
                self.current = None;
                return Event::End;
            }
            if self.separate {
                self.number = 0;
                return Event::Opened(self.name.clone());
            }
        }
    }

    /// Whether files have not been opened yet.
    pub(crate) fn has_more_files(&self) -> bool {
        self.separate && !self.files.as_slice().is_empty()
    }

    fn read_error(&mut self, error: &io::Error, complain: &mut impl FnMut(&str)) {
        let name = String::from_utf8_lossy(&self.name);
        complain(&format!("sed: read error on {name}: {}", reason(error)));
        self.trouble = 4;
        self.current = None;
    }

    fn open_next(&mut self, complain: &mut impl FnMut(&str)) -> bool {
        for name in self.files.by_ref() {
            let shown = String::from_utf8_lossy(&name).into_owned();
            if self.in_place && std::fs::metadata(path(&name)).is_ok_and(|it| !it.is_file()) {
                complain(&format!("sed: couldn't edit {shown}: not a regular file"));
                self.trouble = 4;
                continue;
            }
            // In place, `-` is a name like any other.
            let opened = match self.in_place {
                true => std::fs::File::open(path(&name)).map(|file| Blocks::new(Box::new(file))),
                false => Blocks::open(&name),
            };
            match opened {
                Ok(blocks) => {
                    self.current = Some(blocks);
                    self.name = name;
                    return true;
                }
                Err(error) => {
                    complain(&format!("sed: can't read {shown}: {}", reason(&error)));
                    self.trouble = 2;
                }
            }
        }
        false
    }
}

/// Files that `R` reads line by line.
#[derive(Default)]
pub(crate) struct Sides(std::collections::HashMap<Vec<u8>, Option<Blocks>>);

impl Sides {
    /// The next line of the file, if there is one.
    pub(crate) fn line(&mut self, name: &[u8], separator: u8, out: &mut Vec<u8>) -> bool {
        let source = self.0.entry(name.to_vec()).or_insert_with(|| Blocks::open(name).ok());
        let Some(source) = source else { return false };
        matches!(source.fill(), Ok(true)) && line(source, separator, out).is_ok()
    }
}

/// All of a file, for `r`; nothing if it cannot be read.
pub(crate) fn whole(name: &[u8]) -> Vec<u8> {
    // To `r`, unlike to others, `-` is a name.
    if name == b"-" {
        return std::fs::read(path(name)).unwrap_or_default();
    }
    let mut bytes = Vec::new();
    if let Ok(mut blocks) = Blocks::open(name) {
        while let Ok(true) = blocks.fill() {
            bytes.extend_from_slice(blocks.held());
            blocks.advance(usize::MAX);
        }
    }
    bytes
}
