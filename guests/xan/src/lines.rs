//! On which line a row stands. The csv crate's own number is that of the blank lines before a row,
//! and one too small where lines end as on Windows; so the last piece read is kept, to see what
//! ended the row.

use csv::{ByteRecord, Reader};
use std::{
    cell::RefCell,
    io::{self, Read},
    rc::Rc,
};

/// The last piece that was read, and where it began.
#[derive(Default)]
pub(crate) struct Piece {
    start: u64,
    bytes: Vec<u8>,
}

impl Piece {
    fn byte(&self, at: u64) -> Option<u8> {
        let at = usize::try_from(at.checked_sub(self.start)?).ok()?;
        self.bytes.get(at).copied()
    }
}

/// A source that remembers the last piece it gave.
pub(crate) struct Remembering {
    source: Box<dyn Read>,
    piece: Rc<RefCell<Piece>>,
}

impl Remembering {
    pub(crate) fn new(source: Box<dyn Read>) -> (Self, Rc<RefCell<Piece>>) {
        let piece = Rc::new(RefCell::new(Piece::default()));
        (Self { source, piece: Rc::clone(&piece) }, piece)
    }
}

impl Read for Remembering {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let length = self.source.read(room)?;
        if length > 0 {
            let mut piece = self.piece.borrow_mut();
            piece.start += piece.bytes.len() as u64;
            piece.bytes.clear();
            piece.bytes.extend_from_slice(room.get(..length).unwrap_or_default());
        }
        Ok(length)
    }
}

/// The line on which the row just read begins.
pub(crate) fn of(row: &ByteRecord, reader: &Reader<Remembering>, piece: &RefCell<Piece>) -> u64 {
    let position = reader.position();
    let within = row.as_slice().iter().filter(|it| **it == b'\n').count() as u64;
    let ended = position.byte().checked_sub(1).and_then(|it| piece.borrow().byte(it)) == Some(b'\n');
    position.line().saturating_sub(within + u64::from(ended)).max(1)
}
