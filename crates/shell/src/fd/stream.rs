//! Descriptors as a call's streams, and what a substitution collects.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use drydock_contract::{ByteSink, ByteSource, StreamFile};
use parking_lot::Mutex;

use super::Fd;

/// What a command substitution collects.
pub(crate) struct Capture {
    bytes: Mutex<Vec<u8>>,
    bytes_max: usize,
    full: AtomicBool,
}

impl Capture {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { bytes: Mutex::default(), bytes_max, full: AtomicBool::new(false) }
    }

    /// Whether something was refused.
    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = self.bytes.lock();
        if all.len() + bytes.len() > self.bytes_max {
            self.full.store(true, Ordering::Relaxed);
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        all.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    pub(crate) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.bytes.lock())
    }
}

/// A descriptor as a command's input.
pub(crate) struct FdSource(pub(crate) Fd);

impl ByteSource for FdSource {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        self.0.poll_read(cx, buffer)
    }

    fn file(&self) -> Option<StreamFile> {
        self.0.file()
    }
}

/// A descriptor of the shell as a command's output.
pub struct ShellOutput {
    fd: Fd,
    /// Set when a file was to get longer than `ulimit -f` allows.
    too_large: Option<Arc<AtomicBool>>,
}

impl ShellOutput {
    pub(crate) fn new(fd: Fd) -> Self {
        Self { fd, too_large: None }
    }

    /// The same, with whom to tell that a file may not get that long.
    pub(crate) fn limited(fd: Fd, too_large: Arc<AtomicBool>) -> Self {
        Self { fd, too_large: Some(too_large) }
    }
}

impl ByteSink for ShellOutput {
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let answer = self.fd.poll_write(cx, bytes);
        if let (Poll::Ready(Err(error)), Some(too_large)) = (&answer, &self.too_large)
            && error.kind() == io::ErrorKind::FileTooLarge
        {
            too_large.store(true, Ordering::Relaxed);
        }
        answer
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.fd.poll_flush(cx)
    }

    fn columns(&self) -> Option<u16> {
        self.fd.columns()
    }

    fn file(&self) -> Option<StreamFile> {
        self.fd.file()
    }
}
