//! Input in pieces and output in one buffer, past the standard library's own buffers and locks.

use facts::output::Output;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::os::fd::FromRawFd as _;

/// The first piece is small: most inputs are, and room costs as much as it is large.
const PIECE_BYTES_MIN: usize = 2 << 10;
const PIECE_BYTES_MAX: usize = 32 << 10;
const OUT_BYTES_MAX: usize = 64 << 10;

/// Standard input, or a file.
pub struct Input(ManuallyDrop<File>);

impl Input {
    /// Opens a file; `-` is standard input.
    pub fn open(name: &[u8]) -> io::Result<Self> {
        if name == b"-" {
            return Ok(Self(standard(0)));
        }
        let path = std::path::Path::new(text(name));
        Ok(Self(ManuallyDrop::new(File::open(path)?)))
    }

    /// Reads a piece into `piece`, in the place of what it held; false at the end.
    pub fn next(&mut self, piece: &mut Piece) -> io::Result<bool> {
        if piece.room.is_empty() {
            piece.room = vec![0; PIECE_BYTES_MIN];
        } else if piece.used == piece.room.len() && piece.used < PIECE_BYTES_MAX {
            piece.room = vec![0; PIECE_BYTES_MAX];
        }
        piece.used = 0;
        loop {
            match self.0.read(&mut piece.room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(count) => {
                    piece.used = count;
                    return Ok(count > 0);
                }
            }
        }
    }

    /// Whether it is the file that is written, and not at its end: there would always be more.
    pub fn is(&self, output: Option<Output>) -> bool {
        output.and_then(|it| it.left_in(&self.0)).is_some_and(|left| left > 0)
    }

    /// Everything there is.
    pub fn all(&mut self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        self.0.read_to_end(&mut all)?;
        Ok(all)
    }

    /// Gives back what was read and not used, where that is possible: in a file, for who reads on.
    pub fn give_back(&mut self, count: usize) {
        if count > 0 {
            // A pipe cannot; whoever shares it gets what is left.
            let _ = self.0.seek(io::SeekFrom::Current(-(count as i64)));
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

/// Standard output.
pub struct Out {
    applet: &'static str,
    held: Vec<u8>,
    failed: bool,
}

impl Out {
    /// For the applet of that name, which stands before complaints.
    pub fn new(applet: &'static str) -> Self {
        Self { applet, held: Vec::new(), failed: false }
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
        self.held.push(byte);
    }

    /// Writes what is held.
    pub fn flush(&mut self) {
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            self.write(&held);
        }
        self.held = held;
        self.held.clear();
    }

    /// Writes the rest; the status of a run that had `status` until now.
    pub fn end(mut self, status: i32) -> i32 {
        self.flush();
        if self.failed { 1 } else { status }
    }

    /// Says what went wrong, after what was printed before.
    pub fn complain(&mut self, what: &str) {
        self.flush();
        let _ = standard(2).write_all(format!("{}: {what}\n", self.applet).as_bytes());
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.failed {
            return;
        }
        if let Err(error) = standard(1).write_all(bytes) {
            self.failed = true;
            if error.kind() != io::ErrorKind::BrokenPipe {
                let text = format!("{}: write error: {}\n", self.applet, reason(&error));
                let _ = standard(2).write_all(text.as_bytes());
            }
        }
    }
}

/// The system's words without their number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// A name as it is shown. Names with other bytes than UTF-8 never get here: see `options`.
pub fn text(name: &[u8]) -> &str {
    std::str::from_utf8(name).unwrap_or_default()
}

fn standard(fd: i32) -> ManuallyDrop<File> {
    // SAFETY: the standard descriptors are open for the whole run and never closed here.
    ManuallyDrop::new(unsafe { File::from_raw_fd(fd) })
}
