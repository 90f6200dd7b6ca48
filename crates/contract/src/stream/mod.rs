//! Byte streams beside a call: host-owned handles, never encoded into the call's bytes.
//!
//! The common cases are plain values, so that a run over bytes in memory needs no task, no channel
//! and no box. Everything else is polled, so that a deadline can drop it.

mod counted;
mod named;
mod numbered;
mod pipe;
mod shared;
mod waiters;

use std::{
    io,
    task::{Context, Poll},
};

use bytes::{Buf, Bytes};

pub use counted::BrokenWrites;
pub use named::{NamedPipes, OpenPipeError, PipeName, Ways};
pub use numbered::Numbered;
pub use pipe::{PIPE_BYTES_MAX, PipeReader, PipeWriter, paid_pipe, pipe};
pub use shared::{SharedSink, SharedSource};

/// The file of the guest's own tree that a stream reads or writes, as a redirection makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamFile {
    /// As the tree tells it.
    pub inode: u64,
    /// Bytes that are still to be read from it; none of a file that is written.
    pub left: u64,
}

/// Something to read from that may not be ready.
pub trait ByteSource: Send {
    /// Reads into `buffer`; 0 means the end.
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>>;

    /// The file it reads, if it is one.
    fn file(&self) -> Option<StreamFile> {
        None
    }
}

/// Something to write to that may not be ready.
pub trait ByteSink: Send {
    /// Writes some of `bytes`.
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;

    /// Pushes everything written out to where it belongs.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// The file it writes, if it is one.
    fn file(&self) -> Option<StreamFile> {
        None
    }

    /// How wide the terminal is that somebody reads it on, if it is one.
    fn columns(&self) -> Option<u16> {
        None
    }
}

/// Where a guest's input comes from.
#[derive(Default)]
pub enum Source {
    /// Nowhere: the first read is the end.
    #[default]
    Empty,
    /// Bytes that are there already.
    Bytes(Bytes),
    /// Anything else.
    Stream(Box<dyn ByteSource>),
}

impl Source {
    /// Reads into `buffer`; 0 means the end.
    pub fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Empty => Poll::Ready(Ok(0)),
            Self::Bytes(rest) => {
                let count = rest.len().min(buffer.len());
                buffer[..count].copy_from_slice(&rest[..count]);
                rest.advance(count);
                Poll::Ready(Ok(count))
            }
            Self::Stream(source) => source.poll_read(cx, buffer),
        }
    }

    /// The file it reads, if it is one: a guest whose output is the same file would never end.
    pub fn file(&self) -> Option<StreamFile> {
        match self {
            Self::Stream(source) => source.file(),
            Self::Empty | Self::Bytes(_) => None,
        }
    }

    /// This source with `head` in front of it.
    #[must_use]
    pub fn after(self, head: Bytes) -> Self {
        match (head.is_empty(), self) {
            (true, rest) => rest,
            (false, Self::Empty) => Self::Bytes(head),
            (false, Self::Bytes(tail)) if tail.is_empty() => Self::Bytes(head),
            (false, rest) => Self::Stream(Box::new(Joined { head, rest })),
        }
    }
}

impl<T: Into<Bytes>> From<T> for Source {
    fn from(bytes: T) -> Self {
        Self::Bytes(bytes.into())
    }
}

struct Joined {
    head: Bytes,
    rest: Source,
}

impl ByteSource for Joined {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        if self.head.is_empty() {
            return self.rest.poll_read(cx, buffer);
        }
        let count = self.head.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.head[..count]);
        self.head.advance(count);
        Poll::Ready(Ok(count))
    }

    fn file(&self) -> Option<StreamFile> {
        self.rest.file()
    }
}

/// Where a guest's output goes.
#[derive(Default)]
pub enum Sink {
    /// Nowhere, though it still counts.
    #[default]
    Discard,
    /// Into memory, charged to the run.
    Capture(Vec<u8>),
    /// Anything else.
    Stream(Box<dyn ByteSink>),
}

impl Sink {
    /// An empty capture.
    pub const fn capture() -> Self {
        Self::Capture(Vec::new())
    }

    /// Writes some of `bytes`.
    pub fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Discard => Poll::Ready(Ok(bytes.len())),
            Self::Capture(all) => {
                all.extend_from_slice(bytes);
                Poll::Ready(Ok(bytes.len()))
            }
            Self::Stream(sink) => sink.poll_write(cx, bytes),
        }
    }

    /// Pushes everything written out.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Stream(sink) => sink.poll_flush(cx),
            _ => Poll::Ready(Ok(())),
        }
    }

    /// The file it writes, if it is one.
    pub fn file(&self) -> Option<StreamFile> {
        match self {
            Self::Stream(sink) => sink.file(),
            Self::Discard | Self::Capture(_) => None,
        }
    }

    /// How wide the terminal is that somebody reads it on, if it is one.
    pub fn columns(&self) -> Option<u16> {
        match self {
            Self::Stream(sink) => sink.columns(),
            Self::Discard | Self::Capture(_) => None,
        }
    }

    /// What was captured; nothing for any other kind.
    pub fn into_captured(self) -> Vec<u8> {
        match self {
            Self::Capture(all) => all,
            _ => Vec::new(),
        }
    }
}
