//! The lines of all files, one after the other, with a look ahead: only then is the last line known.

use memchr::memchr;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// The first block is small: most inputs are, and room costs as much as it is large.
const BLOCK_BYTES_MIN: usize = 4 * 1024;
const BLOCK_BYTES: usize = 64 * 1024;

/// How a file's name is given to the system.
pub(crate) fn path(name: &[u8]) -> PathBuf {
    // SAFETY: the bytes come from the arguments or from a script; on WASI and Unix any bytes are a name.
    PathBuf::from(unsafe { std::ffi::OsStr::from_encoded_bytes_unchecked(name) })
}

/// Why it failed, in the system's words without Rust's number.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// What reading came to.
pub(crate) enum Event {
    /// A file ended, or began: in-place editing writes it now.
    Opened(Vec<u8>),
    Line,
    End,
}

/// One file or standard input, in blocks.
struct Source {
    from: Box<dyn Read>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
}

impl Source {
    fn new(from: Box<dyn Read>) -> Self {
        Self { from, buffer: Vec::new(), start: 0, end: 0, ended: false }
    }

    /// Makes sure that there is something to read; `false` at the end.
    fn fill(&mut self) -> io::Result<bool> {
        if self.start < self.end {
            return Ok(true);
        }
        if self.ended {
            return Ok(false);
        }
        if self.buffer.is_empty() {
            self.buffer.resize(BLOCK_BYTES_MIN, 0);
        } else if self.end == self.buffer.len() {
            self.buffer.resize(BLOCK_BYTES, 0);
        }
        (self.start, self.end) = (0, self.from.read(&mut self.buffer)?);
        self.ended = self.end == 0;
        Ok(!self.ended)
    }

    /// Appends a line without its end; whether it had one.
    fn line(&mut self, separator: u8, out: &mut Vec<u8>) -> io::Result<bool> {
        while self.fill()? {
            let block = &self.buffer[self.start..self.end];
            match memchr(separator, block) {
                Some(length) => {
                    out.extend_from_slice(&block[..length]);
                    self.start += length + 1;
                    return Ok(true);
                }
                None => {
                    out.extend_from_slice(block);
                    self.start = self.end;
                }
            }
        }
        Ok(false)
    }
}

/// See the module.
pub(crate) struct Input {
    files: std::vec::IntoIter<Vec<u8>>,
    current: Option<Source>,
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
                match source.fill().and_then(|more| Ok(more.then_some(source.line(self.separator, out)?))) {
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
            if name == b"-" && !self.in_place {
                self.current = Some(Source::new(Box::new(stdin())));
                self.name = name;
                return true;
            }
            if name == b"/dev/null" && !self.in_place {
                self.current = Some(Source::new(Box::new(io::empty())));
                self.name = name;
                return true;
            }
            if self.in_place && std::fs::metadata(path(&name)).is_ok_and(|it| !it.is_file()) {
                complain(&format!("sed: couldn't edit {shown}: not a regular file"));
                self.trouble = 4;
                continue;
            }
            match File::open(path(&name)) {
                Ok(file) => {
                    self.current = Some(Source::new(Box::new(file)));
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

fn stdin() -> impl Read {
    use std::os::fd::FromRawFd as _;
    /// Standard input without a second buffer, and never closed.
    struct Raw(std::mem::ManuallyDrop<File>);
    impl Read for Raw {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.0.read(into)
        }
    }
    // SAFETY: standard input is open for the whole run and is not closed here.
    Raw(std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(0) }))
}

/// Files that `R` reads line by line.
#[derive(Default)]
pub(crate) struct Sides(std::collections::HashMap<Vec<u8>, Option<Source>>);

impl Sides {
    /// The next line of the file, if there is one.
    pub(crate) fn line(&mut self, name: &[u8], separator: u8, out: &mut Vec<u8>) -> bool {
        let source = self.0.entry(name.to_vec()).or_insert_with(|| {
            let stdin_wanted = name == b"/dev/stdin" || name == b"-";
            let from: Option<Box<dyn Read>> = if stdin_wanted {
                Some(Box::new(stdin()))
            } else {
                File::open(path(name)).ok().map(|it| Box::new(it) as Box<dyn Read>)
            };
            from.map(Source::new)
        });
        let Some(source) = source else { return false };
        matches!(source.fill(), Ok(true)) && source.line(separator, out).is_ok()
    }
}

/// All of a file, for `r`; nothing if it cannot be read.
pub(crate) fn whole(name: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    if name == b"/dev/stdin" {
        let _ = stdin().read_to_end(&mut bytes);
    } else if let Ok(mut file) = File::open(path(name)) {
        let _ = file.read_to_end(&mut bytes);
    }
    bytes
}
