//! What a line writes while it runs, as an asynchronous iterator, or handed to a listener.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use drydock_contract::{ByteSink, Sink};
use futures_core::Stream;
use parking_lot::Mutex;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutputStream {
    /// Results.
    Stdout,
    /// Remarks.
    Stderr,
}

/// Bytes that are not taken yet make a line wait.
const WAITING_BYTES_MAX: usize = 1 << 20;

#[derive(Default)]
struct Channel {
    chunks: std::collections::VecDeque<(OutputStream, Bytes)>,
    waiting_bytes: usize,
    reader: Option<Waker>,
    writers: Vec<Waker>,
    closed: bool,
}

/// Both outputs of a line, in the order they were written.
pub(crate) struct Outputs(Arc<Mutex<Channel>>);

impl Outputs {
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    /// Where the line writes.
    pub(crate) fn sink(&self, stream: OutputStream) -> Sink {
        Sink::Stream(Box::new(Writer { channel: Arc::clone(&self.0), stream }))
    }

    /// The next bytes; none when nothing is there at the moment.
    pub(crate) fn poll_chunk(&self, cx: &mut Context<'_>) -> Poll<(OutputStream, Bytes)> {
        let mut channel = self.0.lock();
        match channel.chunks.pop_front() {
            Some((stream, bytes)) => {
                channel.waiting_bytes = channel.waiting_bytes.saturating_sub(bytes.len());
                channel.writers.drain(..).for_each(Waker::wake);
                Poll::Ready((stream, bytes))
            }
            None => {
                channel.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Outputs {
    fn drop(&mut self) {
        let mut channel = self.0.lock();
        channel.closed = true;
        channel.writers.drain(..).for_each(Waker::wake);
    }
}

struct Writer {
    channel: Arc<Mutex<Channel>>,
    stream: OutputStream,
}

impl ByteSink for Writer {
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut channel = self.channel.lock();
        if channel.closed {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let room = WAITING_BYTES_MAX.saturating_sub(channel.waiting_bytes).min(bytes.len());
        if room == 0 && !bytes.is_empty() {
            channel.writers.push(cx.waker().clone());
            return Poll::Pending;
        }
        channel.waiting_bytes += room;
        let part = bytes.get(..room).unwrap_or_default();
        channel.chunks.push_back((self.stream, Bytes::copy_from_slice(part)));
        if let Some(reader) = channel.reader.take() {
            reader.wake();
        }
        Poll::Ready(Ok(room))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Told of everything that is written, as it is written.
pub type OutputListener = Arc<dyn Fn(OutputStream, &[u8]) + Send + Sync>;

/// A capture that tells a listener too.
pub(crate) struct Overheard {
    pub(crate) kept: Arc<Mutex<Vec<u8>>>,
    pub(crate) stream: OutputStream,
    pub(crate) listener: OutputListener,
}

impl ByteSink for Overheard {
    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.kept.lock().extend_from_slice(bytes);
        (self.listener)(self.stream, bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A line in flight: its output, and at the end how it ended. Dropping it ends the line.
pub struct ExecStream {
    pub(crate) running: Option<Running>,
    pub(crate) outputs: Outputs,
    pub(crate) end: Option<Result<crate::Executed, crate::ExecError>>,
}

pub(crate) type Running = Pin<Box<dyn Future<Output = Result<crate::Executed, crate::ExecError>> + Send>>;

/// What a line in flight tells.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExecEvent {
    /// It wrote this.
    Output(OutputStream, Bytes),
    /// It ended so; its output was told already. The last item.
    End(Result<crate::Executed, crate::ExecError>),
}

impl Stream for ExecStream {
    type Item = ExecEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ExecEvent>> {
        if let Some(running) = &mut self.running
            && let Poll::Ready(end) = running.as_mut().poll(cx)
        {
            self.running = None;
            self.end = Some(end);
        }
        if let Poll::Ready((stream, bytes)) = self.outputs.poll_chunk(cx) {
            return Poll::Ready(Some(ExecEvent::Output(stream, bytes)));
        }
        if self.running.is_some() {
            return Poll::Pending;
        }
        Poll::Ready(self.end.take().map(ExecEvent::End))
    }
}

impl ExecStream {
    /// The next event, for callers without a crate of stream combinators.
    pub async fn next(&mut self) -> Option<ExecEvent> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}
