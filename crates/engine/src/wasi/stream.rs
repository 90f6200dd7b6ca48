//! Stdin, stdout and stderr: where input and output are counted, and what happens at their limits.

use std::{
    future::poll_fn,
    task::{Context, Poll},
};

use drydock_contract::{Meter, Numbered, Sink, port::Mode};

use super::{Errno, Failure};
use crate::{
    guest::{AtInput, Guest},
    outcome::Stop,
};

/// The permission bits that are told of a stream: its owner reads and writes it.
pub(crate) const STREAM_MODE: Mode = Mode::new(0o600);

/// The guest is about to read its input; a program that is to be snapshotted is stopped there.
pub(crate) fn ask_for_input(guest: &mut Guest) -> Result<(), Stop> {
    if guest.at_input == AtInput::Stops {
        guest.at_input = AtInput::Stopped;
        return Err(Stop::Ready);
    }
    Ok(())
}

/// Reads once: what is there now, not what may come. Counted against the limit; beyond it the run ends.
pub(crate) fn poll_read_stdin(
    cx: &mut Context<'_>,
    guest: &mut Guest,
    buffer: &mut [u8],
) -> Poll<Result<usize, Failure>> {
    let left = guest.limits.stdin_bytes_max - guest.counts.stdin;
    let room = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
    let mut one = [0; 1];
    // At the limit one more byte tells an input that is too long from one that just fits.
    let buffer = if room == 0 { &mut one[..] } else { &mut buffer[..room] };
    let got = match guest.streams.stdin.poll_read(cx, buffer) {
        Poll::Pending => return Poll::Pending,
        Poll::Ready(Ok(got)) => got.min(buffer.len()),
        Poll::Ready(Err(_)) => return Poll::Ready(Err(Errno::Io.into())),
    };
    if room == 0 && got > 0 {
        return Poll::Ready(Err(Stop::InputLimit.into()));
    }
    guest.counts.stdin += got as u64;
    Poll::Ready(Ok(got))
}

/// What a shell reports of a process that wrote to a pipe nobody reads, and that SIGPIPE ended.
const SIGPIPE_STATUS: i32 = 141;

/// A guest whose reader has gone ends here, as a process would: one that goes on to read and compute for
/// nobody would never come to an end (decision 0030).
pub(crate) fn unless_read(failure: Failure) -> Failure {
    match failure {
        Failure::Errno(Errno::Pipe) => Stop::Exit(SIGPIPE_STATUS).into(),
        other => other,
    }
}

/// Adds the text of a nested run's stderr to this run's, under this run's limit.
pub(crate) async fn write_stderr(guest: &mut Guest, mut bytes: &[u8]) -> Result<(), Stop> {
    while !bytes.is_empty() {
        let wrote = poll_fn(|cx| Output::Stderr.poll_write(cx, guest, bytes)).await;
        match wrote {
            Ok(count) => bytes = &bytes[count.min(bytes.len())..],
            Err(Failure::Stop(stop)) => return Err(stop),
            // Nobody reads it any more.
            Err(Failure::Errno(_)) => return Ok(()),
        }
    }
    Ok(())
}

/// Which output is written.
#[derive(Clone, Copy)]
pub(crate) enum Output {
    Stdout,
    Stderr,
}

impl Output {
    /// Writes some of `bytes`, counted against the limit; at the limit the run ends.
    pub(crate) fn poll_write(
        self,
        cx: &mut Context<'_>,
        guest: &mut Guest,
        bytes: &[u8],
    ) -> Poll<Result<usize, Failure>> {
        let (count, max, sink) = match self {
            Self::Stdout => {
                (&mut guest.counts.stdout, guest.limits.stdout_bytes_max, &mut guest.streams.stdout)
            }
            Self::Stderr => {
                (&mut guest.counts.stderr, guest.limits.stderr_bytes_max, &mut guest.streams.stderr)
            }
        };
        poll_counted(cx, sink, count, max, &guest.meter, bytes)
    }
}

/// Writes some of `bytes` to a sink that was counted up to `count`; at `max` the run is to end.
pub(crate) fn poll_counted(
    cx: &mut Context<'_>,
    sink: &mut Sink,
    count: &mut u64,
    max: u64,
    meter: &Meter,
    bytes: &[u8],
) -> Poll<Result<usize, Failure>> {
    let left = usize::try_from(max.saturating_sub(*count)).unwrap_or(usize::MAX);
    if left == 0 {
        return Poll::Ready(Err(Stop::OutputLimit.into()));
    }
    let bytes = &bytes[..bytes.len().min(left)];
    if let Sink::Capture(all) = sink
        && !make_room(all, bytes.len(), meter)
    {
        return Poll::Ready(Err(Stop::OutOfMemory.into()));
    }
    match sink.poll_write(cx, bytes) {
        Poll::Pending => Poll::Pending,
        Poll::Ready(Ok(0)) => Poll::Ready(Err(Errno::Pipe.into())),
        Poll::Ready(Err(error)) => Poll::Ready(Err(errno_of(&error).into())),
        Poll::Ready(Ok(wrote)) => {
            let wrote = wrote.min(bytes.len());
            *count += wrote as u64;
            Poll::Ready(Ok(wrote))
        }
    }
}

/// Reads once from what was opened by its number. Like a file, it is not counted.
pub(crate) fn poll_read_numbered(
    cx: &mut Context<'_>,
    stream: &Numbered,
    buffer: &mut [u8],
) -> Poll<Result<usize, Failure>> {
    let got = stream.poll_read(cx, buffer);
    got.map_ok(|it| it.min(buffer.len())).map_err(|error| errno_of(&error).into())
}

/// Writes some of `bytes` to what was opened by its number, counted up to `max`: all of these together may have as much as
/// stdout, since a pipe takes what somebody reads, and that may be for ever.
pub(crate) fn poll_write_numbered(
    cx: &mut Context<'_>,
    stream: &Numbered,
    count: &mut u64,
    max: u64,
    bytes: &[u8],
) -> Poll<Result<usize, Failure>> {
    let left = usize::try_from(max.saturating_sub(*count)).unwrap_or(usize::MAX).min(bytes.len());
    if left == 0 {
        return Poll::Ready(Err(Stop::OutputLimit.into()));
    }
    match stream.poll_write(cx, &bytes[..left]) {
        Poll::Pending => Poll::Pending,
        Poll::Ready(Ok(0)) => Poll::Ready(Err(Errno::Pipe.into())),
        Poll::Ready(Err(error)) => Poll::Ready(Err(errno_of(&error).into())),
        Poll::Ready(Ok(wrote)) => {
            let wrote = wrote.min(left);
            *count += wrote as u64;
            Poll::Ready(Ok(wrote))
        }
    }
}

/// What a guest is told of a sink that failed.
fn errno_of(error: &std::io::Error) -> Errno {
    match error.kind() {
        std::io::ErrorKind::BrokenPipe => Errno::Pipe,
        // It goes the other way.
        std::io::ErrorKind::Unsupported => Errno::Badf,
        std::io::ErrorKind::StorageFull => Errno::Nospc,
        // The sink is a file of the same tree: a redirection.
        std::io::ErrorKind::QuotaExceeded => Errno::FullBytes,
        std::io::ErrorKind::FileTooLarge => Errno::FullFileBytes,
        _ => Errno::Io,
    }
}

/// Grows a capture by doubling, as `Vec` would, but on the run's bill.
fn make_room(all: &mut Vec<u8>, more: usize, meter: &Meter) -> bool {
    let needed = all.len().saturating_add(more);
    if needed <= all.capacity() {
        return true;
    }
    let capacity = needed.max(all.capacity().saturating_mul(2)).max(256);
    let granted = meter.try_hold((capacity - all.capacity()) as u64);
    if granted {
        all.reserve_exact(capacity - all.len());
    }
    granted
}
