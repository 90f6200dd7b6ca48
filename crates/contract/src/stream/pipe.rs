//! A bounded pipe. The last writer gone is the end for readers; the last reader gone is a broken pipe for writers, which
//! is how `yes | head -1` ends.
//!
//! One that has a name ([`NamedPipes`](super::NamedPipes)) begins with a single end, and may lose and get all others again:
//! whoever came to it alone waits for somebody at the other side, who must have come since.

use std::{
    any::Any,
    collections::VecDeque,
    io,
    sync::Arc,
    task::{Context, Poll},
};

use parking_lot::Mutex;

use super::{ByteSink, ByteSource, waiters::Waiters};
use crate::schedule;

/// What a pipe holds before its writer waits.
pub const PIPE_BYTES_MAX: usize = 64 << 10;

#[derive(Default)]
pub(super) struct State {
    bytes: VecDeque<u8>,
    readers: usize,
    writers: usize,
    /// How often it was opened to be read, and to be written: a clone of an end is no opening.
    readers_ever: u64,
    writers_ever: u64,
    /// It has a name, by which readers may come after others have gone.
    is_named: bool,
    /// Bytes that a reader asked for and did not get.
    wanted: usize,
    /// Those who wait to read.
    reading: Waiters,
    /// Those who wait for room, or for somebody who wants bytes.
    writing: Waiters,
    /// Ends there ever were: each has a number to wait by.
    ends: u64,
    /// Let go with the last end, whoever has that.
    _paid: Option<Box<dyn Any + Send>>,
}

/// The end to read from. A clone is the same end once more.
pub struct PipeReader(Arc<Mutex<State>>, End);

/// The end to write to. A clone is the same end once more.
pub struct PipeWriter(Arc<Mutex<State>>, End);

#[derive(Clone, Copy)]
struct End {
    /// To wait by.
    number: u64,
    /// So many ends of the other kind had come and gone when this one came.
    alone_since: u64,
}

/// A new pipe.
pub fn pipe() -> (PipeReader, PipeWriter) {
    made(None)
}

/// A new pipe, and what pays for its bytes: kept until both its ends are gone, because until then it holds some.
pub fn paid_pipe(paid: impl Any + Send) -> (PipeReader, PipeWriter) {
    made(Some(Box::new(paid)))
}

fn made(paid: Option<Box<dyn Any + Send>>) -> (PipeReader, PipeWriter) {
    let (readers, writers, readers_ever, writers_ever) = (1, 1, 1, 1);
    let state =
        State { readers, writers, readers_ever, writers_ever, ends: 2, _paid: paid, ..State::default() };
    let state = Arc::new(Mutex::new(state));
    let end = |number| End { number, alone_since: 0 };
    (PipeReader(Arc::clone(&state), end(0)), PipeWriter(state, end(1)))
}

/// A pipe that nobody has opened yet, and what pays for it.
pub(super) fn named(paid: impl Any + Send) -> Arc<Mutex<State>> {
    Arc::new(Mutex::new(State { is_named: true, _paid: Some(Box::new(paid)), ..State::default() }))
}

/// Opens a pipe with a name to be read.
pub(super) fn open_reader(pipe: &Arc<Mutex<State>>) -> PipeReader {
    let mut state = pipe.lock();
    state.readers += 1;
    state.readers_ever += 1;
    state.ends += 1;
    let alone_since = if state.writers > 0 { 0 } else { state.writers_ever };
    let end = End { number: state.ends, alone_since };
    wake(&mut state.writing);
    PipeReader(Arc::clone(pipe), end)
}

/// Opens a pipe with a name to be written.
pub(super) fn open_writer(pipe: &Arc<Mutex<State>>) -> PipeWriter {
    let mut state = pipe.lock();
    state.writers += 1;
    state.writers_ever += 1;
    state.ends += 1;
    let alone_since = if state.readers > 0 { 0 } else { state.readers_ever };
    let end = End { number: state.ends, alone_since };
    wake(&mut state.reading);
    PipeWriter(Arc::clone(pipe), end)
}

impl State {
    /// Whether all writers have gone whom this reader could hear of.
    fn is_at_end(&self, reader: End) -> bool {
        self.writers == 0 && self.writers_ever > reader.alone_since
    }

    /// Whether all readers have gone that this writer could reach. One who never had any waits for the first.
    fn is_broken(&self, writer: End) -> bool {
        self.readers == 0 && self.readers_ever > writer.alone_since
    }
}

fn wake(waiters: &mut Waiters) {
    for waker in waiters.take_all() {
        waker.wake();
    }
}

fn wait(waiters: &mut Waiters, end: End, cx: &Context<'_>) {
    schedule::waits_inside();
    for waker in waiters.add(end.number, cx.waker()).crowded_out {
        waker.wake();
    }
}

impl PipeReader {
    /// Reads what is there, at most [`PIPE_BYTES_MAX`] of it; nothing at the end. Whoever gives back no more than the
    /// last read took finds the pipe with at most twice what it holds otherwise. A read of no bytes waits until there is, or
    /// was, somebody who writes.
    pub fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let most = buffer.len().min(PIPE_BYTES_MAX);
        let buffer = &mut buffer[..most];
        let mut state = self.0.lock();
        if state.bytes.is_empty() {
            let is_opened = buffer.is_empty() && state.writers > 0;
            if is_opened || state.is_at_end(self.1) {
                return Poll::Ready(Ok(0));
            }
            state.wanted = buffer.len();
            wake(&mut state.writing);
            wait(&mut state.reading, self.1, cx);
            return Poll::Pending;
        }
        state.wanted = 0;
        let count = io::Read::read(&mut state.bytes, buffer)?;
        wake(&mut state.writing);
        Poll::Ready(Ok(count))
    }

    /// Gives back the last bytes that were read: the next reader gets them first.
    pub fn unread(&self, bytes: &[u8]) {
        let mut state = self.0.lock();
        for byte in bytes.iter().rev() {
            state.bytes.push_front(*byte);
        }
        if !bytes.is_empty() {
            wake(&mut state.reading);
        }
    }
}

impl PipeWriter {
    /// Writes as much as there is room for. A write of no bytes waits until there is somebody who reads.
    pub fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut state = self.0.lock();
        if state.is_broken(self.1) {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let room = PIPE_BYTES_MAX.saturating_sub(state.bytes.len());
        if state.readers == 0 || (room == 0 && !bytes.is_empty()) {
            wait(&mut state.writing, self.1, cx);
            return Poll::Pending;
        }
        let count = room.min(bytes.len());
        state.bytes.extend(&bytes[..count]);
        wake(&mut state.reading);
        Poll::Ready(Ok(count))
    }

    /// How many bytes somebody waits for right now; a broken pipe if nobody ever will.
    pub fn poll_wanted(&self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut state = self.0.lock();
        if state.is_broken(self.1) {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if state.wanted > 0 && state.bytes.is_empty() {
            return Poll::Ready(Ok(state.wanted));
        }
        wait(&mut state.writing, self.1, cx);
        Poll::Pending
    }
}

impl ByteSource for PipeReader {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        Self::poll_read(self, cx, buffer)
    }
}

impl ByteSink for PipeWriter {
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Self::poll_write(self, cx, bytes)
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl Clone for PipeReader {
    fn clone(&self) -> Self {
        let mut state = self.0.lock();
        state.readers += 1;
        state.ends += 1;
        Self(Arc::clone(&self.0), End { number: state.ends, ..self.1 })
    }
}

impl Clone for PipeWriter {
    fn clone(&self) -> Self {
        let mut state = self.0.lock();
        state.writers += 1;
        state.ends += 1;
        Self(Arc::clone(&self.0), End { number: state.ends, ..self.1 })
    }
}

impl Drop for PipeReader {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.readers -= 1;
        if state.readers == 0 {
            if !state.is_named {
                state.bytes = VecDeque::new();
            }
            wake(&mut state.writing);
        }
        let gone = state.reading.leave(self.1.number);
        // A waker may be the last that holds a task, and that an end of this pipe.
        drop(state);
        drop(gone);
    }
}

impl Drop for PipeWriter {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.writers -= 1;
        if state.writers == 0 {
            wake(&mut state.reading);
        }
        let gone = state.writing.leave(self.1.number);
        drop(state);
        drop(gone);
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Wake, Waker};

    use super::{super::waiters::WAITERS_MAX, *};

    /// A task that is told apart from all others.
    struct Task;

    impl Wake for Task {
        fn wake(self: Arc<Self>) {}
    }

    fn pending<T>(poll: impl FnOnce(&mut Context<'_>) -> Poll<T>) {
        let waker = Waker::from(Arc::new(Task));
        assert!(poll(&mut Context::from_waker(&waker)).is_pending());
    }

    #[test]
    fn whoever_gives_up_waiting_leaves_nothing_behind() {
        let (reader, writer) = pipe();
        let mut buffer = [0; 4];
        for _ in 0..100_000 {
            pending(|cx| reader.clone().poll_read(cx, &mut buffer));
            assert_eq!(reader.0.lock().reading.len(), 0);
        }
        assert_eq!(
            now(|cx| writer.poll_write(cx, &vec![1; PIPE_BYTES_MAX])).unwrap().unwrap(),
            PIPE_BYTES_MAX
        );
        for _ in 0..100_000 {
            pending(|cx| writer.clone().poll_write(cx, b"x"));
            assert_eq!(reader.0.lock().writing.len(), 0);
        }
    }

    #[test]
    fn who_waits_at_two_ends_still_does_when_one_is_let_go() {
        let (reader, _writer) = pipe();
        let (waker, mut buffer) = (Waker::from(Arc::new(Task)), [0; 4]);
        let mut cx = Context::from_waker(&waker);
        let second = reader.clone();
        assert!(second.poll_read(&mut cx, &mut buffer).is_pending());
        assert!(reader.poll_read(&mut cx, &mut buffer).is_pending());
        drop(second);
        assert_eq!(reader.0.lock().reading.len(), 1);
    }

    #[test]
    fn one_end_with_ever_new_waiters_has_a_bound() {
        let (reader, _writer) = pipe();
        let mut buffer = [0; 4];
        for _ in 0..100_000 {
            pending(|cx| reader.poll_read(cx, &mut buffer));
            assert!(reader.0.lock().reading.len() <= WAITERS_MAX);
        }
    }

    fn now<T>(poll: impl FnOnce(&mut Context<'_>) -> Poll<T>) -> Option<T> {
        match poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => Some(done),
            Poll::Pending => None,
        }
    }

    #[test]
    fn ends_are_gone_when_their_last_clone_is() {
        let (reader, writer) = pipe();
        let second = writer.clone();
        drop(writer);
        let mut buffer = [0; 4];
        assert!(now(|cx| reader.poll_read(cx, &mut buffer)).is_none());
        assert_eq!(now(|cx| second.poll_wanted(cx)).unwrap().unwrap(), 4);
        assert_eq!(now(|cx| second.poll_write(cx, b"abcdef")).unwrap().unwrap(), 6);
        drop(second);
        assert_eq!(now(|cx| reader.poll_read(cx, &mut buffer)).unwrap().unwrap(), 4);
        reader.unread(b"cd");
        assert_eq!(now(|cx| reader.poll_read(cx, &mut buffer)).unwrap().unwrap(), 4);
        assert_eq!(&buffer, b"cdef");
        assert_eq!(now(|cx| reader.poll_read(cx, &mut buffer)).unwrap().unwrap(), 0);
    }

    #[test]
    fn a_pipe_that_is_read_and_filled_again_holds_what_is_given_back_once() {
        let (reader, writer) = pipe();
        let mut buffer = vec![1; 1 << 20];
        for _ in 0..20 {
            let _ = now(|cx| writer.poll_write(cx, &vec![2; 1 << 20]));
            let got = now(|cx| reader.poll_read(cx, &mut buffer)).unwrap().unwrap();
            let _ = now(|cx| writer.poll_write(cx, &vec![3; 1 << 20]));
            reader.unread(&buffer[..got]);
            assert!(reader.0.lock().bytes.len() <= 2 * PIPE_BYTES_MAX);
        }
    }

    #[test]
    fn what_pays_for_a_pipe_goes_with_its_last_end() {
        let paid = Arc::new(());
        let (reader, writer) = paid_pipe(Arc::clone(&paid));
        drop(writer);
        let second = reader.clone();
        drop(reader);
        assert_eq!(Arc::strong_count(&paid), 2);
        drop(second);
        assert_eq!(Arc::strong_count(&paid), 1);
    }

    #[test]
    fn a_full_pipe_waits_and_one_without_readers_is_broken() {
        let (reader, writer) = pipe();
        let bytes = vec![1; PIPE_BYTES_MAX + 1];
        assert_eq!(now(|cx| writer.poll_write(cx, &bytes)).unwrap().unwrap(), PIPE_BYTES_MAX);
        assert!(now(|cx| writer.poll_write(cx, b"x")).is_none());
        assert!(now(|cx| writer.poll_wanted(cx)).is_none());
        drop(reader);
        assert!(now(|cx| writer.poll_write(cx, b"x")).unwrap().is_err());
        assert!(now(|cx| writer.poll_wanted(cx)).unwrap().is_err());
    }
}
