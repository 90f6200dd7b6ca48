//! The streams of a run, lent to a child for as long as it runs.
//!
//! They are shared and not moved, since a child that is refused, fails or is dropped would take them
//! along. Whatever passes is counted and limited as the caller's own.

use std::{
    io,
    sync::Arc,
    task::{Context, Poll},
};

use drydock_contract::{ByteSink, ByteSource, Limits, Meter, Sink, Source, StreamFile, Streams};
use parking_lot::Mutex;

use crate::{
    guest::{Counts, Guest},
    outcome::Stop,
    wasi::{Failure, poll_counted},
};

/// The lender's end.
pub(super) struct Lent(Arc<Mutex<Shared>>);

struct Shared {
    streams: Streams,
    counts: Counts,
    limits: Limits,
    meter: Arc<Meter>,
    /// A limit of the lender was reached, so that it has to end.
    stop: Option<Stop>,
}

impl Lent {
    /// Takes the guest's streams. It must not run before it has them back.
    pub(super) fn take(guest: &mut Guest) -> Self {
        Self(Arc::new(Mutex::new(Shared {
            streams: std::mem::take(&mut guest.streams),
            counts: std::mem::take(&mut guest.counts),
            limits: guest.limits,
            meter: Arc::clone(&guest.meter),
            stop: None,
        })))
    }

    /// The borrower's streams.
    pub(super) fn streams(&self, stdin: bool) -> Streams {
        let end = |which| End { shared: Arc::clone(&self.0), which };
        let named = self.0.lock().streams.named.clone();
        Streams {
            stdin: if stdin { Source::Stream(Box::new(end(Which::Stdin))) } else { Source::Empty },
            stdout: Sink::Stream(Box::new(end(Which::Stdout))),
            stderr: Sink::Stream(Box::new(end(Which::Stderr))),
            numbered: self.0.lock().streams.numbered.clone(),
            named,
        }
    }

    /// Returns the streams, and why the guest has to end, if it has to.
    pub(super) fn give_back(self, guest: &mut Guest) -> Option<Stop> {
        let mut shared = self.0.lock();
        guest.streams = std::mem::take(&mut shared.streams);
        guest.counts = std::mem::take(&mut shared.counts);
        shared.stop
    }
}

#[derive(Clone, Copy)]
enum Which {
    Stdin,
    Stdout,
    Stderr,
}

struct End {
    shared: Arc<Mutex<Shared>>,
    which: Which,
}

impl ByteSource for End {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut shared = self.shared.lock();
        let read = shared.streams.stdin.poll_read(cx, buffer);
        if let Poll::Ready(Ok(got)) = &read {
            shared.counts.stdin = shared.counts.stdin.saturating_add(*got as u64);
            if shared.counts.stdin > shared.limits.stdin_bytes_max {
                // As many as the lender may read, so that its own reads find nothing left.
                shared.counts.stdin = shared.limits.stdin_bytes_max;
                shared.stop = Some(Stop::InputLimit);
                return Poll::Ready(Err(io::ErrorKind::QuotaExceeded.into()));
            }
        }
        read
    }

    fn file(&self) -> Option<StreamFile> {
        self.shared.lock().streams.stdin.file()
    }
}

impl ByteSink for End {
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut shared = self.shared.lock();
        let Shared { streams, counts, limits, meter, stop } = &mut *shared;
        let (sink, count, max) = match self.which {
            Which::Stderr => (&mut streams.stderr, &mut counts.stderr, limits.stderr_bytes_max),
            Which::Stdin | Which::Stdout => {
                (&mut streams.stdout, &mut counts.stdout, limits.stdout_bytes_max)
            }
        };
        match poll_counted(cx, sink, count, max, meter, bytes) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(wrote)) => Poll::Ready(Ok(wrote)),
            Poll::Ready(Err(Failure::Stop(why))) => {
                *stop = Some(why);
                Poll::Ready(Err(io::ErrorKind::QuotaExceeded.into()))
            }
            Poll::Ready(Err(Failure::Errno(_))) => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut shared = self.shared.lock();
        match self.which {
            Which::Stderr => shared.streams.stderr.poll_flush(cx),
            Which::Stdin | Which::Stdout => shared.streams.stdout.poll_flush(cx),
        }
    }

    fn columns(&self) -> Option<u16> {
        let shared = self.shared.lock();
        match self.which {
            Which::Stderr => shared.streams.stderr.columns(),
            Which::Stdin | Which::Stdout => shared.streams.stdout.columns(),
        }
    }

    fn file(&self) -> Option<StreamFile> {
        let shared = self.shared.lock();
        match self.which {
            Which::Stderr => shared.streams.stderr.file(),
            Which::Stdin | Which::Stdout => shared.streams.stdout.file(),
        }
    }
}
