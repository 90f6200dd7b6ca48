//! Input in pieces and output in one buffer, past the standard library's own buffers and locks.

use facts::output::Output;
use place::stdio::Standard;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::ops::{Deref, DerefMut};

pub use place::reason;
pub use place::stdio::path;

/// The first piece is small: most inputs are, and room costs as much as it is large.
const PIECE_BYTES_MIN: usize = 2 << 10;
const PIECE_BYTES_MAX: usize = 32 << 10;
const OUT_BYTES_MAX: usize = 64 << 10;

/// Standard input, which stays open, or a file, which is closed with this.
pub enum Input {
    Standard(Standard),
    Opened(File),
}

impl Input {
    /// Opens a file; `-` is standard input.
    pub fn open(name: &[u8]) -> io::Result<Self> {
        if name == b"-" {
            return Ok(Self::Standard(Standard::input()));
        }
        Ok(Self::Opened(File::open(path(name))?))
    }

    fn file(&self) -> &File {
        match self {
            Self::Standard(file) => file,
            Self::Opened(file) => file,
        }
    }

    /// Reads what there is, at most `room`; 0 at the end.
    pub fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.file().read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }

    /// Reads a piece into `piece`, in the place of what it held; false at the end.
    pub fn next(&mut self, piece: &mut Piece) -> io::Result<bool> {
        if piece.room.is_empty() {
            piece.room = vec![0; PIECE_BYTES_MIN];
        } else if piece.used == piece.room.len() && piece.used < PIECE_BYTES_MAX {
            piece.room = vec![0; PIECE_BYTES_MAX];
        }
        piece.used = 0;
        piece.used = self.read(&mut piece.room)?;
        Ok(piece.used > 0)
    }

    /// Whether it is the file that is written, and not at its end: there would always be more.
    pub fn is(&mut self, output: Option<Output>) -> bool {
        output.and_then(|it| it.left_in(self.file())).is_some_and(|left| left > 0)
    }

    /// Everything there is.
    pub fn all(&mut self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        self.file().read_to_end(&mut all)?;
        Ok(all)
    }

    /// In a file that is longer than that, goes to its last `bytes` if they are `enough`.
    pub fn skip_to_last(&mut self, bytes: usize, enough: impl Fn(&[u8]) -> bool) -> io::Result<()> {
        let Self::Opened(file) = self else { return Ok(()) };
        let Ok(length) = file.seek(io::SeekFrom::End(0)) else { return Ok(()) };
        let start = length.saturating_sub(bytes as u64);
        file.seek(io::SeekFrom::Start(start))?;
        let mut tail = Vec::with_capacity(bytes.min(length as usize));
        (&*file).take(bytes as u64).read_to_end(&mut tail)?;
        let at = if start > 0 && enough(&tail) { start } else { 0 };
        file.seek(io::SeekFrom::Start(at)).map(drop)
    }

    /// Gives back what was read and not used, where that is possible: in a file, for who reads on.
    pub fn give_back(&mut self, count: usize) {
        if count > 0 {
            // A pipe cannot; whoever shares it gets what is left.
            let _ = self.file().seek(io::SeekFrom::Current(-(count as i64)));
        }
    }
}

/// A piece of input. Its room is made once or twice and never cleared again.
#[derive(Default)]
pub struct Piece {
    room: Vec<u8>,
    used: usize,
}

impl Deref for Piece {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.room[..self.used]
    }
}

impl DerefMut for Piece {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.room[..self.used]
    }
}

/// Standard output, or a file in its place.
pub struct Out {
    applet: &'static str,
    file: Option<File>,
    held: Vec<u8>,
    failed: bool,
}

impl Out {
    /// For the applet of that name, which stands before complaints.
    pub fn new(applet: &'static str) -> Self {
        Self { applet, file: None, held: Vec::new(), failed: false }
    }

    /// The same into a file.
    pub fn into_file(applet: &'static str, file: File) -> Self {
        Self { applet, file: Some(file), held: Vec::new(), failed: false }
    }

    /// Appends `bytes`; false when nobody wants more.
    pub fn put(&mut self, bytes: &[u8]) -> bool {
        if self.held.len() + bytes.len() > OUT_BYTES_MAX {
            self.flush();
            if bytes.len() > OUT_BYTES_MAX / 2 {
                self.write(bytes);
                return !self.failed;
            }
        }
        self.held.extend_from_slice(bytes);
        !self.failed
    }

    /// One byte.
    pub fn sign(&mut self, byte: u8) {
        if self.held.len() >= OUT_BYTES_MAX {
            self.flush();
        }
        self.held.push(byte);
    }

    /// Whether nobody wants more.
    pub fn is_closed(&self) -> bool {
        self.failed
    }

    /// Writes what is held; false when nobody wants more.
    pub fn flush(&mut self) -> bool {
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            self.write(&held);
        }
        self.held = held;
        self.held.clear();
        !self.failed
    }

    /// Writes the rest; the status of a run that had `status` until now.
    pub fn end(mut self, status: i32) -> i32 {
        self.flush();
        if self.failed { 1 } else { status }
    }

    /// Says what went wrong, after what was printed before.
    pub fn complain(&mut self, what: &str) {
        self.flush();
        let _ = Standard::error().write_all(format!("{}: {what}\n", self.applet).as_bytes());
    }

    /// Asks a question, after what was printed before.
    pub fn ask(&mut self, question: &str) {
        self.flush();
        let _ = Standard::error().write_all(format!("{}: {question}", self.applet).as_bytes());
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.failed {
            return;
        }
        let written = match &mut self.file {
            Some(file) => file.write_all(bytes),
            None => Standard::output().write_all(bytes),
        };
        if let Err(error) = written {
            self.failed = true;
            if error.kind() != io::ErrorKind::BrokenPipe {
                let text = format!("{}: write error: {}\n", self.applet, reason(&error));
                let _ = Standard::error().write_all(text.as_bytes());
            }
        }
    }
}

/// A name as it is shown.
pub fn text(name: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(name)
}
