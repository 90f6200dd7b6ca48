//! A stream from outside, as it is recorded and as it is played: the bytes, and how they were cut.

use std::{
    io,
    sync::Arc,
    task::{Context, Poll},
};

use drydock_contract::{ByteSource, Source, schedule};
use drydock_store::{Frame, Seam};

use super::{
    answer::{Reader, Writer},
    player::Reel,
    recorder::Shared,
    turn::Turn,
};

/// The longest piece that is read at once: a frame holds it.
const PIECE_BYTES_MAX: usize = 4 << 20;

pub(super) struct RecordedSource {
    turn: Turn,
    is_begun: bool,
    inner: Source,
    name: String,
    tape: Arc<Shared>,
}

impl RecordedSource {
    pub(super) fn new(inner: Source, name: &str, tape: Arc<Shared>) -> Self {
        Self { turn: Turn::default(), is_begun: false, inner, name: name.to_owned(), tape }
    }
}

impl ByteSource for RecordedSource {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        if !self.is_begun && self.turn.poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.is_begun = true;
        let most = buffer.len().min(PIECE_BYTES_MAX);
        let Poll::Ready(read) = self.inner.poll_read(cx, &mut buffer[..most]) else {
            schedule::gives_thread_back();
            return Poll::Pending;
        };
        let answer = match &read {
            Ok(count) => Writer::default().byte(0).bytes(&buffer[..*count]).0,
            Err(error) => Writer::default().byte(1).text(&error.to_string()).0,
        };
        self.is_begun = false;
        self.tape.put(&Frame {
            seam: Seam::Stream,
            call: 0,
            name: self.name.clone(),
            asked: [0; 16],
            answer,
        });
        Poll::Ready(read)
    }
}

pub(super) struct PlayedSource {
    turn: Turn,
    name: String,
    reel: Arc<Reel>,
}

impl PlayedSource {
    pub(super) fn new(name: &str, reel: Arc<Reel>) -> Self {
        Self { turn: Turn::default(), name: name.to_owned(), reel }
    }
}

impl ByteSource for PlayedSource {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        if self.turn.poll(cx).is_pending() {
            return Poll::Pending;
        }
        // Whoever waited here when its time was up waits again: the tape has ended it by now.
        let Ok(answer) = self.reel.next(Seam::Stream, 0, &self.name, [0; 16]) else { return Poll::Pending };
        let mut reader = Reader::new(&answer);
        let read = match reader.byte() {
            Some(0) => reader.bytes().filter(|it| it.len() <= buffer.len()).map(Ok),
            Some(1) => reader.text().map(|text| Err(io::Error::other(text))),
            _ => None,
        };
        Poll::Ready(match read {
            Some(Ok(bytes)) => {
                buffer[..bytes.len()].copy_from_slice(bytes);
                Ok(bytes.len())
            }
            Some(Err(error)) => Err(error),
            None => {
                self.reel.broken();
                Err(io::ErrorKind::InvalidData.into())
            }
        })
    }
}
