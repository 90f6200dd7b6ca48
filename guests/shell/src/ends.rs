//! Ends of the host's streams.

use crate::{executor, host};
use drydock_abi::shell::{READS, WRITES};
use drydock_shell::door::{ReadEnd, WriteEnd};
use std::io;
use std::task::{Context, Poll};

/// The last of the line's own streams.
const LINE_LAST: u32 = 2;

/// Something of the host's to read.
pub(crate) struct Reader(pub(crate) u32);

impl ReadEnd for Reader {
    fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let polled = host::read(self.0, buffer);
        if polled.is_pending() {
            executor::listen(self.0, cx);
        }
        polled
    }

    fn unread(&self, bytes: &[u8]) {
        if !bytes.is_empty() {
            host::unread(self.0, bytes);
        }
    }

    fn is_pipe(&self) -> bool {
        self.0 > LINE_LAST
    }

    fn number(&self) -> Option<u32> {
        Some(self.0)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        host::close(self.0, READS);
    }
}

/// Something of the host's to write to.
pub(crate) struct Writer {
    pub(crate) handle: u32,
    pub(crate) columns: Option<u16>,
    /// Whether what is written may still be on its way afterwards.
    pub(crate) is_flushed: bool,
}

impl Writer {
    /// How many bytes somebody waits for at the other end.
    pub(crate) fn poll_wanted(&self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let polled = host::wanted(self.handle);
        if polled.is_pending() {
            executor::listen(self.handle, cx);
        }
        polled
    }
}

impl WriteEnd for Writer {
    fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = host::write(self.handle, bytes);
        if polled.is_pending() {
            executor::listen(self.handle, cx);
        }
        polled
    }

    fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.is_flushed {
            return Poll::Ready(Ok(()));
        }
        let polled = host::flush(self.handle);
        if polled.is_pending() {
            executor::listen(self.handle, cx);
        }
        polled.map_ok(drop)
    }

    fn columns(&self) -> Option<u16> {
        self.columns
    }

    fn is_pipe(&self) -> bool {
        self.handle > LINE_LAST
    }

    fn number(&self) -> Option<u32> {
        Some(self.handle)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        host::close(self.handle, WRITES);
    }
}

/// A new pipe; none if there are too many.
pub(crate) fn pipe() -> Option<(Reader, Writer)> {
    let handle = host::pipe()?;
    Some((Reader(handle), Writer { handle, columns: None, is_flushed: false }))
}
