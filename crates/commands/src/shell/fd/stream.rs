//! The caller's streams as descriptors, and descriptors as a call's streams.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use drydock_contract::{ByteSink, ByteSource, Meter, Source, StreamFile};
use parking_lot::Mutex;

use super::Fd;

/// Something to read, shared.
pub(crate) struct Input {
    source: Mutex<Source>,
}

impl Input {
    pub(crate) fn new(source: Source) -> Self {
        Self { source: Mutex::new(source) }
    }

    pub(super) fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        self.source.lock().poll_read(cx, buffer)
    }

    pub(super) fn unread(&self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let mut source = self.source.lock();
        let rest = std::mem::take(&mut *source);
        *source = match rest {
            Source::Bytes(tail) => Source::Bytes([bytes, &tail].concat().into()),
            other => other.after(Bytes::copy_from_slice(bytes)),
        };
    }

    /// The source itself, when nobody else will read it.
    pub(crate) fn take(&self) -> Source {
        std::mem::take(&mut *self.source.lock())
    }

    pub(crate) fn is_empty(&self) -> bool {
        match &*self.source.lock() {
            Source::Empty => true,
            Source::Bytes(bytes) => bytes.is_empty(),
            Source::Stream(_) => false,
        }
    }
}

/// What a command substitution collects: part of the memory that the line's commands share.
pub(crate) struct Capture {
    bytes: Mutex<Vec<u8>>,
    bytes_max: usize,
    full: AtomicBool,
    starved: AtomicBool,
    memory: Option<Meter>,
}

impl Capture {
    pub(crate) fn new(bytes_max: usize, line: Option<Arc<Meter>>) -> Self {
        Self {
            bytes: Mutex::default(),
            bytes_max,
            full: AtomicBool::new(false),
            starved: AtomicBool::new(false),
            memory: line.map(|line| Meter::within(u64::MAX, Some(line))),
        }
    }

    /// Whether the line had no room for something.
    pub(crate) fn is_starved(&self) -> bool {
        self.starved.load(Ordering::Relaxed)
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
        if self.memory.as_ref().is_some_and(|it| !it.try_hold(bytes.len() as u64)) {
            self.starved.store(true, Ordering::Relaxed);
            return Err(io::ErrorKind::OutOfMemory.into());
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

/// A descriptor as a command's output. Counts how often nobody was there to read.
pub(crate) struct FdSink {
    pub(crate) fd: Fd,
    pub(crate) broken: Arc<AtomicU32>,
}

impl ByteSink for FdSink {
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let answer = self.fd.poll_write(cx, bytes);
        if let Poll::Ready(Err(error)) = &answer
            && error.kind() == io::ErrorKind::BrokenPipe
        {
            self.broken.fetch_add(1, Ordering::Relaxed);
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
