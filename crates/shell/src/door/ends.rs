//! Ends of streams that the shell shares with its commands.

use std::{
    io,
    sync::Arc,
    task::{Context, Poll},
};

use drydock_contract::{PipeReader, PipeWriter, SharedSink, SharedSource};

/// Something to read from: the end of a pipe, or a line's own input. When the last one of a pipe is dropped, writing fails
/// as a broken pipe.
pub trait ReadEnd: Send + Sync {
    /// Reads what is there; nothing at the end.
    fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>>;

    /// Gives back the last bytes that were read: the next reader gets them first.
    fn unread(&self, bytes: &[u8]);

    /// Whether there is nothing and never will be.
    fn is_empty(&self) -> bool {
        false
    }

    /// Whether it is a pipe, which ends with the line, and no stream of the line's own.
    fn is_pipe(&self) -> bool {
        false
    }

    /// By which number its door knows it, if that has numbers.
    fn number(&self) -> Option<u32> {
        None
    }
}

/// Something to write to. When the last end of a pipe is dropped, its readers are at the end.
pub trait WriteEnd: Send + Sync {
    /// Writes as much as there is room for.
    fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;

    /// Pushes out what was written.
    fn poll_flush(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// How wide the terminal is that it is, if it is one.
    fn columns(&self) -> Option<u16> {
        None
    }

    /// Whether it is a pipe, which ends with the line, and no stream of the line's own.
    fn is_pipe(&self) -> bool {
        false
    }

    /// By which number its door knows it, if that has numbers.
    fn number(&self) -> Option<u32> {
        None
    }
}

/// The three streams of a line.
#[derive(Clone)]
pub struct LineEnds {
    /// What it reads.
    pub stdin: Arc<dyn ReadEnd>,
    /// Where it writes.
    pub stdout: Arc<dyn WriteEnd>,
    /// Where it complains.
    pub stderr: Arc<dyn WriteEnd>,
}

/// A stream that a command was given under a number, for the shell that it starts.
pub enum NumberedEnd {
    /// `/dev/null`.
    Nothing,
    /// It is read from.
    Reads(Arc<dyn ReadEnd>),
    /// It is written to.
    Writes(Arc<dyn WriteEnd>),
}

impl ReadEnd for PipeReader {
    fn is_pipe(&self) -> bool {
        true
    }

    fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        self.poll_read(cx, buffer)
    }

    fn unread(&self, bytes: &[u8]) {
        self.unread(bytes);
    }
}

impl WriteEnd for PipeWriter {
    fn is_pipe(&self) -> bool {
        true
    }

    fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write(cx, bytes)
    }
}

impl ReadEnd for SharedSource {
    fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        self.poll_read(cx, buffer)
    }

    fn unread(&self, bytes: &[u8]) {
        self.unread(bytes);
    }

    fn is_empty(&self) -> bool {
        self.is_empty()
    }
}

impl WriteEnd for SharedSink {
    fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write(cx, bytes)
    }

    fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }

    fn columns(&self) -> Option<u16> {
        self.columns()
    }
}
