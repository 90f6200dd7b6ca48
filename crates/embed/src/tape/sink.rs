//! An outgoing stream of a run that is recorded or replayed: what went through it is hashed for the end of the tape, and
//! that its reader went away is written down, because the run hears of it.

use std::{
    io,
    sync::Arc,
    task::{Context, Poll},
};

use drydock_contract::{ByteSink, Sink};
use drydock_store::{Frame, Seam};
use parking_lot::Mutex;

use super::{Player, Recorder, answer::Writer, player::Reel, recorder::Shared};

/// What went through a stream: an account of it that stays.
#[derive(Clone, Default)]
pub struct Through(Arc<Mutex<(u64, blake3::Hasher)>>);

impl Through {
    fn add(&self, bytes: &[u8]) {
        let mut all = self.0.lock();
        all.0 += bytes.len() as u64;
        all.1.update(bytes);
    }

    /// How many bytes so far.
    pub fn bytes(&self) -> u64 {
        self.0.lock().0
    }

    /// Their hash.
    pub fn hash(&self) -> [u8; 32] {
        *self.0.lock().1.finalize().as_bytes()
    }
}

impl Recorder {
    /// The stream, with an account of what goes through it.
    pub fn sink(&self, name: &'static str, inner: Sink) -> (Sink, Through) {
        let through = Through::default();
        let sink = RecordedSink { inner, name, through: through.clone(), tape: Arc::clone(self.shared()) };
        (Sink::Stream(Box::new(sink)), through)
    }
}

impl Player {
    /// The same of a replay: where its reader went away then, it goes away.
    pub fn sink(&self, name: &'static str, inner: Sink) -> (Sink, Through) {
        let through = Through::default();
        let sink = PlayedSink { inner, name, through: through.clone(), reel: Arc::clone(self.reel()) };
        (Sink::Stream(Box::new(sink)), through)
    }
}

struct RecordedSink {
    inner: Sink,
    name: &'static str,
    through: Through,
    tape: Arc<Shared>,
}

impl RecordedSink {
    fn failed(&self) {
        let answer = Writer::default().number(self.through.bytes()).0;
        let name = self.name.to_owned();
        self.tape.put(&Frame { seam: Seam::Verdict, call: 0, name, asked: [0; 16], answer });
    }
}

impl ByteSink for RecordedSink {
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = self.inner.poll_write(cx, bytes);
        match &written {
            Poll::Ready(Ok(count)) => self.through.add(&bytes[..*count]),
            Poll::Ready(Err(_)) => self.failed(),
            Poll::Pending => {}
        }
        written
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner.poll_flush(cx)
    }
}

struct PlayedSink {
    inner: Sink,
    name: &'static str,
    through: Through,
    reel: Arc<Reel>,
}

impl ByteSink for PlayedSink {
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let left = match self.reel.reader_left(self.name) {
            Some(end) => usize::try_from(end.saturating_sub(self.through.bytes())).unwrap_or(usize::MAX),
            None => usize::MAX,
        };
        if left == 0 && !bytes.is_empty() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let bytes = &bytes[..bytes.len().min(left)];
        // Whoever reads the replay may leave: it goes on as it did then.
        let count = match self.inner.poll_write(cx, bytes) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(count)) => count,
            Poll::Ready(Err(_)) => bytes.len(),
        };
        self.through.add(&bytes[..count]);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner.poll_flush(cx).map(|_| Ok(()))
    }
}
