//! Streams that several readers or writers share: a loop and the commands in it, stages of a pipeline, background jobs.
//!
//! A sink may begin a write and answer later, and it remembers one waiter only. So what was begun is
//! kept here until it is through, whoever polls finishes it, and all who wait are told: no writer is
//! given the count of another, and none waits for a wake that went to somebody who left.

use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Wake, Waker, ready},
};

use bytes::Bytes;
use parking_lot::Mutex;

use super::{ByteSink, ByteSource, Sink, Source, StreamFile, waiters::Waiters};
use crate::schedule;

/// Most bytes taken from one writer at a time.
const PIECE_BYTES: usize = 64 << 10;

/// Everyone who waits for a stream.
#[derive(Default)]
struct Waiting {
    waiters: Mutex<Waiters>,
    /// Ends there ever were: each has a number to wait by.
    ends: AtomicU64,
}

impl Waiting {
    /// Adds one; whether it was not there before.
    fn add(&self, end: u64, waker: &Waker) -> bool {
        let added = self.waiters.lock().add(end, waker);
        for waker in added.crowded_out {
            waker.wake();
        }
        added.is_new
    }

    /// One that need not wait after all.
    fn remove(&self, end: u64, waker: &Waker) {
        // Dropped after the lock: it may be the last that holds a task.
        let removed = self.waiters.lock().remove(end, waker);
        drop(removed);
    }

    /// An end is let go, and whoever waited there with it.
    fn leave(&self, end: u64) {
        let gone = self.waiters.lock().leave(end);
        drop(gone);
    }

    fn next_end(&self) -> u64 {
        self.ends.fetch_add(1, Ordering::Relaxed)
    }
}

impl Wake for Waiting {
    fn wake(self: Arc<Self>) {
        let all = self.waiters.lock().take_all();
        for waker in all {
            waker.wake();
        }
    }
}

/// Something to read, shared. A clone reads the same bytes.
pub struct SharedSource(Arc<SourceState>, u64);

impl Clone for SharedSource {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0), self.0.waiting.next_end())
    }
}

impl Drop for SharedSource {
    fn drop(&mut self) {
        self.0.waiting.leave(self.1);
    }
}

struct SourceState {
    input: Mutex<Input>,
    waiting: Arc<Waiting>,
}

/// A source, and what was given back to it. That is kept beside it: a source put in front of another once for each
/// `unread` is a chain that grows with every line that is read, and is walked down at every read.
struct Input {
    given_back: VecDeque<u8>,
    source: Source,
}

impl SharedSource {
    /// Shares it.
    pub fn new(source: Source) -> Self {
        let input = Mutex::new(Input { given_back: VecDeque::new(), source });
        let waiting: Arc<Waiting> = Arc::default();
        let end = waiting.next_end();
        Self(Arc::new(SourceState { input, waiting }), end)
    }

    /// Reads what is there; nothing at the end.
    pub fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut input = self.0.input.lock();
        if !input.given_back.is_empty() {
            return Poll::Ready(io::Read::read(&mut input.given_back, buffer));
        }
        let Source::Stream(stream) = &mut input.source else { return input.source.poll_read(cx, buffer) };
        // Before the poll, because the wake may come during it.
        let is_new = self.0.waiting.add(self.1, cx.waker());
        let waker = Waker::from(Arc::clone(&self.0.waiting));
        let read = stream.poll_read(&mut Context::from_waker(&waker), buffer);
        // One that waited already, for another read of the same task, still does.
        if read.is_ready() && is_new {
            self.0.waiting.remove(self.1, cx.waker());
        }
        read
    }

    /// Gives back the last bytes that were read: the next reader gets them first.
    pub fn unread(&self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let mut input = self.0.input.lock();
        for byte in bytes.iter().rev() {
            input.given_back.push_front(*byte);
        }
        drop(input);
        Arc::clone(&self.0.waiting).wake();
    }

    /// The source itself, when nobody else will read it.
    pub fn take(&self) -> Source {
        let mut input = self.0.input.lock();
        let head = Bytes::from(Vec::from(std::mem::take(&mut input.given_back)));
        match std::mem::take(&mut input.source) {
            Source::Bytes(tail) if !head.is_empty() => Source::Bytes([&head[..], &tail].concat().into()),
            other => other.after(head),
        }
    }

    /// Whether both are the same.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// What is left to read, where that is known: a stream of somebody else's is not.
    pub fn left(&self) -> Option<Bytes> {
        let input = self.0.input.lock();
        let head: Vec<u8> = input.given_back.iter().copied().collect();
        match &input.source {
            Source::Bytes(bytes) if head.is_empty() => Some(bytes.clone()),
            Source::Bytes(bytes) => Some([&head[..], bytes].concat().into()),
            Source::Empty if !head.is_empty() => Some(head.into()),
            Source::Empty | Source::Stream(_) => None,
        }
    }

    /// Whether nobody else shares it: this one, and the one it was taken from.
    pub fn is_mine(&self) -> bool {
        Arc::strong_count(&self.0) <= 2
    }

    /// Whether there is nothing and never will be.
    pub fn is_empty(&self) -> bool {
        let input = self.0.input.lock();
        input.given_back.is_empty()
            && match &input.source {
                Source::Empty => true,
                Source::Bytes(bytes) => bytes.is_empty(),
                Source::Stream(_) => false,
            }
    }
}

impl ByteSource for SharedSource {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        Self::poll_read(self, cx, buffer)
    }

    fn file(&self) -> Option<StreamFile> {
        self.0.input.lock().source.file()
    }
}

/// Somewhere to write, shared. A clone writes to the same place.
pub struct SharedSink(Arc<SinkState>, u64);

impl Clone for SharedSink {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0), self.0.waiting.next_end())
    }
}

impl Drop for SharedSink {
    fn drop(&mut self) {
        self.0.waiting.leave(self.1);
    }
}

struct SinkState {
    writes: Mutex<Writes>,
    waiting: Arc<Waiting>,
}

#[derive(Default)]
struct Writes {
    sink: Sink,
    /// Bytes the sink was given and has not answered for.
    begun: Vec<u8>,
}

impl SharedSink {
    /// Shares it.
    pub fn new(sink: Sink) -> Self {
        Self::of(Writes { sink, begun: Vec::new() })
    }

    fn of(writes: Writes) -> Self {
        let waiting: Arc<Waiting> = Arc::default();
        let end = waiting.next_end();
        Self(Arc::new(SinkState { writes: Mutex::new(writes), waiting }), end)
    }

    /// Writes some of it; what was taken is on its way when the next write, or a flush, is done.
    pub fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut writes = self.0.writes.lock();
        ready!(self.finish(&mut writes, cx))?;
        let waker = Waker::from(Arc::clone(&self.0.waiting));
        match writes.sink.poll_write(&mut Context::from_waker(&waker), bytes) {
            Poll::Ready(done) => Poll::Ready(done),
            Poll::Pending => {
                let piece = &bytes[..bytes.len().min(PIECE_BYTES)];
                writes.begun.extend_from_slice(piece);
                schedule::goes_on();
                Poll::Ready(Ok(piece.len()))
            }
        }
    }

    /// Pushes everything written out to where it belongs.
    pub fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut writes = self.0.writes.lock();
        ready!(self.finish(&mut writes, cx))?;
        writes.sink.poll_flush(cx)
    }

    /// Waits until nothing is under way.
    fn finish(&self, writes: &mut Writes, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let waiting = &self.0.waiting;
        while !writes.begun.is_empty() {
            waiting.add(self.1, cx.waker());
            let waker = Waker::from(Arc::clone(waiting));
            let Writes { sink, begun } = &mut *writes;
            match sink.poll_write(&mut Context::from_waker(&waker), begun) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(count)) if count > 0 => {
                    let count = count.min(begun.len());
                    begun.drain(..count);
                }
                Poll::Ready(answer) => {
                    begun.clear();
                    Arc::clone(waiting).wake();
                    return Poll::Ready(answer.and(Err(io::ErrorKind::WriteZero.into())));
                }
            }
            if begun.is_empty() {
                Arc::clone(waiting).wake();
                schedule::goes_on();
            }
        }
        Poll::Ready(Ok(()))
    }

    /// How wide the terminal is that somebody reads it on, if it is one.
    pub fn columns(&self) -> Option<u16> {
        self.0.writes.lock().sink.columns()
    }

    /// Whether nobody sees what is written.
    pub fn is_discarded(&self) -> bool {
        matches!(self.0.writes.lock().sink, Sink::Discard)
    }

    /// The sink itself, when nobody else will write. One that was given bytes and has not answered for them comes with
    /// them: they are written before anything else, or with the next flush.
    pub fn take(&self) -> Sink {
        let writes = std::mem::take(&mut *self.0.writes.lock());
        match writes.begun.is_empty() {
            true => writes.sink,
            false => Sink::Stream(Box::new(Self::of(writes))),
        }
    }
}

impl ByteSink for SharedSink {
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Self::poll_write(self, cx, bytes)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Self::poll_flush(self, cx)
    }

    fn columns(&self) -> Option<u16> {
        Self::columns(self)
    }

    fn file(&self) -> Option<StreamFile> {
        self.0.writes.lock().sink.file()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Zeroes;

    impl ByteSource for Zeroes {
        fn poll_read(&mut self, _: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
            buffer.fill(0);
            Poll::Ready(Ok(buffer.len()))
        }
    }

    fn read(source: &SharedSource, buffer: &mut [u8]) -> usize {
        match source.poll_read(&mut Context::from_waker(Waker::noop()), buffer) {
            Poll::Ready(Ok(count)) => count,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_given_back_comes_first_and_is_part_of_what_is_left() {
        for source in [Source::from("cd"), Source::Empty] {
            let is_empty = matches!(source, Source::Empty);
            let shared = SharedSource::new(source);
            shared.unread(b"b");
            shared.unread(b"a");
            assert!(!shared.is_empty());
            let all: &[u8] = if is_empty { b"ab" } else { b"abcd" };
            assert_eq!(shared.left().unwrap(), all);
            let Source::Bytes(taken) = shared.take() else { panic!("these are bytes") };
            assert_eq!(taken, all);
        }
    }

    /// A task that is told apart from all others.
    struct Task;

    impl Wake for Task {
        fn wake(self: Arc<Self>) {}
    }

    /// Never ready, or always full.
    struct Stuck;

    impl ByteSource for Stuck {
        fn poll_read(&mut self, _: &mut Context<'_>, _: &mut [u8]) -> Poll<io::Result<usize>> {
            Poll::Pending
        }
    }

    impl ByteSink for Stuck {
        fn poll_write(&mut self, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
            Poll::Pending
        }

        fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
    }

    #[test]
    fn who_has_read_or_given_up_waits_no_more() {
        let (ready, stuck) = (Source::Stream(Box::new(Zeroes)), Source::Stream(Box::new(Stuck)));
        let (ready, stuck) = (SharedSource::new(ready), SharedSource::new(stuck));
        let full = SharedSink::new(Sink::Stream(Box::new(Stuck)));
        let mut buffer = [0; 2];
        for round in 0..100_000 {
            let waker = Waker::from(Arc::new(Task));
            let mut cx = Context::from_waker(&waker);
            assert!(ready.poll_read(&mut cx, &mut buffer).is_ready());
            assert!(stuck.clone().poll_read(&mut cx, &mut buffer).is_pending());
            // The first write is taken, and everyone after it waits for that.
            assert_eq!(full.clone().poll_write(&mut cx, b"x").is_ready(), round == 0);
            for waiting in [&ready.0.waiting, &stuck.0.waiting, &full.0.waiting] {
                assert_eq!(waiting.waiters.lock().len(), 0);
            }
        }
    }

    /// Two tasks of a guest wait by one waker: what the one of them reads does not end the waiting of the other.
    #[test]
    fn who_waited_before_a_read_waits_after_it() {
        let (reader, writer) = crate::pipe();
        let shared = SharedSource::new(Source::Stream(Box::new(reader)));
        let task = Arc::new(Task);
        let waker = Waker::from(Arc::clone(&task));
        let mut cx = Context::from_waker(&waker);
        let mut buffer = [0; 1];
        assert!(shared.poll_read(&mut cx, &mut buffer).is_pending());
        // As if the wake were still on its way.
        let all = shared.0.waiting.waiters.lock().take_all();
        assert!(writer.poll_write(&mut Context::from_waker(Waker::noop()), b"ab").is_ready());
        assert!(all.iter().all(|it| shared.0.waiting.add(0, it)));
        assert!(shared.poll_read(&mut cx, &mut buffer).is_ready());
        assert_eq!(shared.0.waiting.waiters.lock().len(), 1);
    }

    /// Answers for what it was given at the second time.
    #[derive(Default)]
    struct Late(bool, Arc<Mutex<Vec<u8>>>);

    impl ByteSink for Late {
        fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            self.0 = !self.0;
            if self.0 {
                return Poll::Pending;
            }
            self.1.lock().extend_from_slice(bytes);
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[test]
    fn what_was_begun_goes_with_the_sink_that_is_taken() {
        let written = Arc::default();
        let shared = SharedSink::new(Sink::Stream(Box::new(Late(false, Arc::clone(&written)))));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(matches!(shared.poll_write(&mut cx, b"accepted"), Poll::Ready(Ok(8))));
        let mut taken = shared.take();
        assert!(written.lock().is_empty());
        assert!(taken.poll_flush(&mut cx).is_ready());
        assert_eq!(*written.lock(), b"accepted");
    }

    /// Each byte that was given back used to be one more source around all others: reading through a million of them
    /// took more stack than there is, and so did letting them go.
    #[test]
    fn giving_back_a_million_times_makes_no_chain() {
        let shared = SharedSource::new(Source::Stream(Box::new(Zeroes)));
        let mut buffer = [0; 2];
        for _ in 0..1_000_000 {
            assert_eq!(read(&shared, &mut buffer[..1]), 1);
            shared.unread(b"x");
        }
        assert_eq!(read(&shared, &mut buffer), 1);
        assert_eq!(buffer[0], b'x');
        assert_eq!(read(&shared, &mut buffer), 2);
        assert_eq!(buffer, [0, 0]);
    }
}
