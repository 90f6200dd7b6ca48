//! What a guest opens by a number, as `/dev/fd/3`: a pipe of a process substitution, a file or a here-document that a
//! redirection opened.

use std::{
    io,
    task::{Context, Poll},
};

use super::{ByteSink as _, ByteSource as _, PipeReader, PipeWriter, SharedSink, SharedSource, StreamFile};

/// A stream beside the three. A clone is the same stream once more, at the place where that is.
#[derive(Clone)]
pub enum Numbered {
    /// `/dev/null`: nothing to read, and whatever is written is gone.
    Nothing,
    /// The end of a pipe that is read.
    PipeIn(PipeReader),
    /// The end of a pipe that is written.
    PipeOut(PipeWriter),
    /// Both ends of a pipe with a name, as `exec 3<>fifo` opens it.
    PipeBoth(PipeReader, PipeWriter),
    /// Anything else to read.
    In(SharedSource),
    /// Anything else to write.
    Out(SharedSink),
}

impl Numbered {
    /// Whether it can be read from.
    pub const fn is_read(&self) -> bool {
        matches!(self, Self::PipeIn(_) | Self::PipeBoth(..) | Self::In(_) | Self::Nothing)
    }

    /// Whether it can be written to.
    pub const fn is_written(&self) -> bool {
        matches!(self, Self::PipeOut(_) | Self::PipeBoth(..) | Self::Out(_) | Self::Nothing)
    }

    /// Reads what is there; nothing at the end.
    pub fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::PipeIn(reader) | Self::PipeBoth(reader, _) => reader.poll_read(cx, buffer),
            Self::In(source) => source.poll_read(cx, buffer),
            Self::Nothing => Poll::Ready(Ok(0)),
            Self::PipeOut(_) | Self::Out(_) => Poll::Ready(Err(io::ErrorKind::Unsupported.into())),
        }
    }

    /// Writes some of `bytes`.
    pub fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::PipeOut(writer) | Self::PipeBoth(_, writer) => writer.poll_write(cx, bytes),
            Self::Out(sink) => sink.poll_write(cx, bytes),
            Self::Nothing => Poll::Ready(Ok(bytes.len())),
            Self::PipeIn(_) | Self::In(_) => Poll::Ready(Err(io::ErrorKind::Unsupported.into())),
        }
    }

    /// Pushes everything written out to where it belongs.
    pub fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Out(sink) => sink.poll_flush(cx),
            _ => Poll::Ready(Ok(())),
        }
    }

    /// The file it is, if it is one.
    pub fn file(&self) -> Option<StreamFile> {
        match self {
            Self::In(source) => source.file(),
            Self::Out(sink) => sink.file(),
            _ => None,
        }
    }
}
