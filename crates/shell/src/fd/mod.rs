//! Descriptors: what a number stands for while a command runs.
//!
//! A descriptor is shared by everyone it was handed to, as in Unix: a loop's `read` and the command
//! in its body take turns on one input. What `read` took too much is put back.

mod file;
mod stream;
mod table;

use std::{
    future::poll_fn,
    io,
    sync::Arc,
    task::{Context, Poll},
};

use drydock_contract::{SharedSource, StreamFile};
pub(crate) use file::FileEnd;
pub use stream::ShellOutput;
pub(crate) use stream::{Capture, FdSource};
pub(crate) use table::{Descriptors, FdTable, Process};

use crate::door::{ReadEnd, WriteEnd};

/// An open descriptor.
#[derive(Clone)]
pub(crate) enum Fd {
    Null,
    /// A here-document.
    Input(SharedSource),
    Capture(Arc<Capture>),
    File(Arc<FileEnd>),
    PipeIn(Arc<dyn ReadEnd>),
    PipeOut(Arc<dyn WriteEnd>),
    /// Both ends of a pipe with a name.
    PipeBoth(Arc<(Arc<dyn ReadEnd>, Arc<dyn WriteEnd>)>),
}

fn wrong_way() -> io::Error {
    io::Error::other("bad file descriptor")
}

impl Fd {
    pub(crate) fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Null => Poll::Ready(Ok(0)),
            Self::Input(input) => input.poll_read(cx, buffer),
            Self::File(file) => Poll::Ready(file.read(buffer)),
            Self::PipeIn(reader) => reader.poll_read(cx, buffer),
            Self::PipeBoth(ends) => ends.0.poll_read(cx, buffer),
            Self::Capture(_) | Self::PipeOut(_) => Poll::Ready(Err(wrong_way())),
        }
    }

    pub(crate) fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Null => Poll::Ready(Ok(bytes.len())),
            Self::Capture(capture) => Poll::Ready(capture.write(bytes)),
            Self::File(file) => Poll::Ready(file.write(bytes)),
            Self::PipeOut(writer) => writer.poll_write(cx, bytes),
            Self::PipeBoth(ends) => ends.1.poll_write(cx, bytes),
            Self::Input(_) | Self::PipeIn(_) => Poll::Ready(Err(wrong_way())),
        }
    }

    pub(crate) fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::PipeOut(writer) => writer.poll_flush(cx),
            _ => Poll::Ready(Ok(())),
        }
    }

    /// Whether it is a pipe, which ends with the line.
    pub(crate) fn is_pipe(&self) -> bool {
        match self {
            Self::PipeIn(end) => end.is_pipe(),
            Self::PipeOut(end) => end.is_pipe(),
            Self::PipeBoth(_) => true,
            _ => false,
        }
    }

    /// The file it is, if it is one.
    pub(crate) fn file(&self) -> Option<StreamFile> {
        match self {
            Self::File(file) => file.stream_file(),
            _ => None,
        }
    }

    /// How wide the terminal is that it is, if it is one.
    pub(crate) fn columns(&self) -> Option<u16> {
        match self {
            Self::PipeOut(writer) => writer.columns(),
            _ => None,
        }
    }

    /// Gives back the last bytes that were read.
    pub(crate) fn unread(&self, bytes: &[u8]) {
        match self {
            Self::Input(input) => input.unread(bytes),
            Self::File(file) => file.unread(bytes.len()),
            Self::PipeIn(reader) => reader.unread(bytes),
            Self::PipeBoth(ends) => ends.0.unread(bytes),
            Self::Null | Self::Capture(_) | Self::PipeOut(_) => {}
        }
    }

    pub(crate) async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        poll_fn(|cx| self.poll_read(cx, buffer)).await
    }

    pub(crate) async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = poll_fn(|cx| self.poll_write(cx, bytes)).await?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            bytes = &bytes[count.min(bytes.len())..];
        }
        // What was written has arrived, or whoever wrote it is told.
        self.flush().await
    }

    pub(crate) async fn flush(&self) -> io::Result<()> {
        poll_fn(|cx| self.poll_flush(cx)).await
    }
}
