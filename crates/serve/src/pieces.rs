//! A file as the body of an answer, a piece at a time: however long it is and however slowly it is read, one piece is held.
//!
//! A file of one piece is of one moment. Of a longer one each piece is; if it became shorter meanwhile, the answer ends
//! early, which whoever reads it sees by its length.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::body::Body;
use bytes::Bytes;
use drydock_contract::port::{FileResult, OpenFile};
use futures_core::Stream;
use tokio::task::{JoinHandle, spawn_blocking};

/// What is held of it.
const PIECE_BYTES: u64 = 256 << 10;

/// A file that was opened, and what is sent of it first.
pub(crate) struct Opened {
    file: Arc<dyn OpenFile>,
    /// Its length when it was opened.
    pub(crate) size: u64,
    first: Bytes,
}

impl Opened {
    /// Reads the beginning. For a thread that may wait.
    pub(crate) fn new(file: Arc<dyn OpenFile>) -> FileResult<Self> {
        let size = file.stat()?.size;
        let first = read(&*file, 0, size)?;
        Ok(Self { file, size, first })
    }

    /// The body of an answer.
    pub(crate) fn body(self) -> Body {
        let Self { file, size, first } = self;
        if first.len() as u64 == size {
            return Body::from(first);
        }
        Body::from_stream(Pieces { file, at: first.len() as u64, size, first: Some(first), reading: None })
    }
}

/// The piece at `at`, of a file of that length.
fn read(file: &dyn OpenFile, at: u64, size: u64) -> FileResult<Bytes> {
    let mut piece = vec![0; PIECE_BYTES.min(size.saturating_sub(at)) as usize];
    let mut count = 0;
    while count < piece.len() {
        match file.read_at(at + count as u64, &mut piece[count..])? {
            0 => break,
            more => count += more,
        }
    }
    piece.truncate(count);
    Ok(piece.into())
}

struct Pieces {
    file: Arc<dyn OpenFile>,
    at: u64,
    size: u64,
    first: Option<Bytes>,
    /// The next piece, on a thread that may wait.
    reading: Option<JoinHandle<FileResult<Bytes>>>,
}

impl Stream for Pieces {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        if self.at >= self.size {
            return Poll::Ready(None);
        }
        let (at, size) = (self.at, self.size);
        if self.reading.is_none() {
            let file = Arc::clone(&self.file);
            self.reading = Some(spawn_blocking(move || read(&*file, at, size)));
        }
        let Some(reading) = &mut self.reading else { return Poll::Ready(None) };
        let read = ready!(Pin::new(reading).poll(cx));
        self.reading = None;
        let shorter = || io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter");
        let piece = match read {
            Ok(Ok(piece)) if piece.is_empty() => Err(shorter()),
            Ok(Ok(piece)) => Ok(piece),
            Ok(Err(error)) => Err(io::Error::other(error)),
            Err(error) => Err(io::Error::other(error)),
        };
        match &piece {
            Ok(piece) => self.at += piece.len() as u64,
            // Nothing comes after it.
            Err(_) => self.at = self.size,
        }
        Poll::Ready(Some(piece))
    }
}

#[cfg(test)]
mod tests {
    use drydock_contract::{
        Meter, Timestamp,
        port::{Files as _, OpenHow, TreePath},
    };
    use drydock_embed::store::MemoryFiles;
    use http_body_util::BodyExt as _;

    use super::*;

    fn file_of(bytes: &[u8]) -> Arc<dyn OpenFile> {
        let how = OpenHow { read: true, write: true, create: true, ..OpenHow::NONE };
        let file = MemoryFiles::with(Arc::new(Meter::new(1 << 30)))
            .open(&TreePath::new("f").unwrap(), how, Timestamp(0))
            .unwrap();
        file.write_at(0, bytes, Timestamp(0)).unwrap();
        file
    }

    #[tokio::test]
    async fn a_file_is_told_whole_in_pieces_of_a_bounded_length() {
        for length in [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 5 * PIECE_BYTES + 7] {
            let bytes: Vec<u8> = (0..length).map(|it| (it % 251) as u8).collect();
            let opened = Opened::new(file_of(&bytes)).unwrap();
            assert_eq!(opened.size, length);
            let (mut body, mut told) = (opened.body(), Vec::new());
            while let Some(frame) = body.frame().await {
                let piece = frame.unwrap().into_data().unwrap();
                assert!(piece.len() as u64 <= PIECE_BYTES);
                told.extend_from_slice(&piece);
            }
            assert!(told == bytes, "{length}");
        }
    }

    #[tokio::test]
    async fn a_file_that_becomes_shorter_meanwhile_is_an_answer_that_breaks_off() {
        let file = file_of(&vec![7; 3 * PIECE_BYTES as usize]);
        let mut body = Opened::new(Arc::clone(&file)).unwrap().body();
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap().len() as u64, PIECE_BYTES);
        file.set_len(PIECE_BYTES, Timestamp(0)).unwrap();
        assert!(body.frame().await.unwrap().is_err());
        assert!(body.frame().await.is_none());
    }
}
