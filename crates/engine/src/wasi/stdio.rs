//! `fd_read` and `fd_write`: the two calls that may wait, and where output and input are counted.

use std::{
    future::poll_fn,
    ops::Range,
    task::{Context, Poll},
};

use drydock_contract::{Meter, Sink};
use wasmtime::{Caller, Linker};

use super::{
    Errno, SPACE,
    descriptor::Descriptor,
    door,
    layout::rights,
    told,
    transfer::{iovecs, read_file, write_file},
};
use crate::{
    guest::{AtInput, Guest, breathe},
    memory,
    outcome::Stop,
};

/// An errno for the guest, or the end of the run.
pub(crate) enum Failure {
    Errno(Errno),
    Stop(Stop),
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno)
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// The guest's errno, or the end of the run.
pub(super) fn finish(caller: &mut Caller<'_, Guest>, result: Result<(), Failure>) -> wasmtime::Result<i32> {
    match result {
        Ok(()) => Ok(0),
        Err(Failure::Errno(errno)) => {
            if errno == Errno::Intr {
                // The files gave up because the run's time is up: it ends by that name.
                caller.data().check_time()?;
            }
            Ok(told(caller, errno))
        }
        Err(Failure::Stop(stop)) => Err(stop.into()),
    }
}

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    type Args = (u32, u32, u32, u32);
    linker.func_wrap_async(
        SPACE,
        "fd_read",
        |mut caller: Caller<'_, Guest>, (fd, list, count, out): Args| {
            Box::new(async move {
                let result = fd_read(&mut caller, fd, list, count, out).await;
                finish(&mut caller, result)
            })
        },
    )?;
    linker.func_wrap_async(
        SPACE,
        "fd_write",
        |mut caller: Caller<'_, Guest>, (fd, list, count, out): Args| {
            Box::new(async move {
                let result = fd_write(&mut caller, fd, list, count, out).await;
                finish(&mut caller, result)
            })
        },
    )?;
    Ok(())
}

async fn fd_read(
    caller: &mut Caller<'_, Guest>,
    fd: u32,
    list: u32,
    count: u32,
    out: u32,
) -> Result<(), Failure> {
    breathe(caller).await?;
    let vectors = iovecs(caller, list, count)?;
    let total = match caller.data_mut().descriptors.get(fd)? {
        Descriptor::File(_) => read_file(caller, fd, &vectors, None).await?,
        Descriptor::Door(_) => door::read(caller, fd, &vectors).await?,
        Descriptor::Directory(_) => return Err(Errno::Isdir.into()),
        Descriptor::Stdout | Descriptor::Stderr => return Err(Errno::Badf.into()),
        Descriptor::Stdin => {
            caller.data_mut().descriptors.with(fd, rights::FD_READ)?;
            if caller.data().at_input == AtInput::Stops {
                caller.data_mut().at_input = AtInput::Stopped;
                return Err(Stop::Ready.into());
            }
            let first = vectors.filled().next().cloned();
            match first {
                Some(vector) => read_stdin(caller, vector).await? as u32,
                None => 0,
            }
        }
    };
    let (mut memory, _) = memory::split(caller)?;
    Ok(memory.put_u32(out, total)?)
}

/// Reads once, into the first vector: what is there now, not what may come.
async fn read_stdin(caller: &mut Caller<'_, Guest>, vector: Range<usize>) -> Result<usize, Failure> {
    poll_fn(|cx| {
        let (memory, guest) = memory::split(caller)?;
        let left = guest.limits.stdin_bytes_max - guest.counts.stdin;
        let room = usize::try_from(left).unwrap_or(usize::MAX).min(vector.len());
        let mut one = [0; 1];
        // At the limit one more byte tells an input that is too long from one that just fits.
        let buffer = if room == 0 { &mut one[..] } else { &mut memory.0[vector.start..vector.start + room] };
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
    })
    .await
}

async fn fd_write(
    caller: &mut Caller<'_, Guest>,
    fd: u32,
    list: u32,
    count: u32,
    out: u32,
) -> Result<(), Failure> {
    breathe(caller).await?;
    let vectors = iovecs(caller, list, count)?;
    let output = match caller.data_mut().descriptors.get(fd)? {
        Descriptor::Stdin => return Err(Errno::Badf.into()),
        Descriptor::Directory(_) => return Err(Errno::Isdir.into()),
        Descriptor::File(_) => {
            let written = write_file(caller, fd, &vectors, None).await?;
            let (mut memory, _) = memory::split(caller)?;
            return Ok(memory.put_u32(out, written)?);
        }
        Descriptor::Door(_) => {
            let written = door::write(caller, fd, &vectors).await?;
            let (mut memory, _) = memory::split(caller)?;
            return Ok(memory.put_u32(out, written)?);
        }
        Descriptor::Stdout => Output::Stdout,
        Descriptor::Stderr => Output::Stderr,
    };
    caller.data_mut().descriptors.with(fd, rights::FD_WRITE)?;
    let mut total = 0;
    for mut rest in vectors.pieces() {
        while !rest.is_empty() {
            // A sink that takes everything at once would otherwise keep the thread, and the run beyond its time.
            if total > 0 {
                breathe(caller).await?;
            }
            let wrote = poll_fn(|cx| {
                let (memory, guest) = memory::split(caller)?;
                let bytes = memory.0.get(rest.clone()).ok_or(Errno::Fault)?;
                output.poll_write(cx, guest, bytes)
            });
            let wrote = wrote.await.map_err(unless_read)?;
            rest.start += wrote;
            total += wrote;
        }
    }
    let (mut memory, _) = memory::split(caller)?;
    Ok(memory.put_u32(out, total as u32)?)
}

/// What a shell reports of a process that wrote to a pipe nobody reads, and that SIGPIPE ended.
const SIGPIPE_STATUS: i32 = 141;

/// A guest whose reader has gone ends here, as a process would: one that goes on to read and compute for
/// nobody would never come to an end (decision 0030).
fn unless_read(failure: Failure) -> Failure {
    match failure {
        Failure::Errno(Errno::Pipe) => Stop::Exit(SIGPIPE_STATUS).into(),
        other => other,
    }
}

/// Adds the text of a nested run's stderr to this run's, under this run's limit.
pub(crate) async fn write_stderr(caller: &mut Caller<'_, Guest>, mut bytes: &[u8]) -> Result<(), Stop> {
    while !bytes.is_empty() {
        let wrote = poll_fn(|cx| Output::Stderr.poll_write(cx, caller.data_mut(), bytes)).await;
        match wrote {
            Ok(count) => bytes = &bytes[count.min(bytes.len())..],
            Err(Failure::Stop(stop)) => return Err(stop),
            // Nobody reads it any more.
            Err(Failure::Errno(_)) => return Ok(()),
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Output {
    Stdout,
    Stderr,
}

impl Output {
    /// Writes some of `bytes`, counted against the limit; at the limit the run ends.
    fn poll_write(
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

/// What a guest is told of a sink that failed.
fn errno_of(error: &std::io::Error) -> Errno {
    match error.kind() {
        std::io::ErrorKind::BrokenPipe => Errno::Pipe,
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
