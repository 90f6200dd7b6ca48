//! `fd_read` and `fd_write`: the two calls that may wait, and where output and input are counted.

use std::{
    future::poll_fn,
    ops::Range,
    task::{Context, Poll},
};

use drydock_contract::{Meter, Sink};
use wasmtime::{Caller, Linker};

use super::{Errno, SPACE, descriptor::Descriptor, told};
use crate::{
    guest::{Guest, breathe},
    memory::{self, Memory, range},
    outcome::Stop,
};

/// What a guest may name in one call; libc's own limit is the same.
pub(super) const IOVECS_MAX: u32 = 1024;

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

fn finish(caller: &mut Caller<'_, Guest>, result: Result<(), Failure>) -> wasmtime::Result<i32> {
    match result {
        Ok(()) => Ok(0),
        Err(Failure::Errno(errno)) => Ok(told(caller, errno)),
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
    let (memory, guest) = memory::split(caller)?;
    let total = match guest.descriptors.get(fd)? {
        Descriptor::File(file) if !file.read => return Err(Errno::Badf.into()),
        Descriptor::File(file) => {
            let mut total = 0;
            for vector in vectors.filled() {
                let got =
                    file.file.read_at(file.position, &mut memory.0[vector.clone()]).map_err(Errno::from)?;
                file.position = file.position.saturating_add(got as u64);
                total += got;
                if got < vector.len() {
                    break;
                }
            }
            total
        }
        Descriptor::Directory(_) => return Err(Errno::Isdir.into()),
        Descriptor::Stdout | Descriptor::Stderr => return Err(Errno::Badf.into()),
        Descriptor::Stdin => {
            let first = vectors.filled().next().cloned();
            match first {
                Some(vector) => read_stdin(caller, vector).await?,
                None => 0,
            }
        }
    };
    let (mut memory, _) = memory::split(caller)?;
    Ok(memory.put_u32(out, total as u32)?)
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
    let (memory, guest) = memory::split(caller)?;
    let output = match guest.descriptors.get(fd)? {
        Descriptor::Stdin => return Err(Errno::Badf.into()),
        Descriptor::Directory(_) => return Err(Errno::Isdir.into()),
        Descriptor::File(_) => {
            let written = write_file(&memory, guest, fd, &vectors)?;
            let (mut memory, _) = memory::split(caller)?;
            return Ok(memory.put_u32(out, written)?);
        }
        Descriptor::Stdout => Output::Stdout,
        Descriptor::Stderr => Output::Stderr,
    };
    let mut total = 0u32;
    for vector in vectors.filled() {
        total = total.saturating_add(vector.len() as u32);
        let mut rest = vector.clone();
        while !rest.is_empty() {
            let wrote = poll_fn(|cx| {
                let (memory, guest) = memory::split(caller)?;
                output.poll_write(cx, guest, &memory.0[rest.clone()])
            });
            rest.start += wrote.await?;
        }
    }
    let (mut memory, _) = memory::split(caller)?;
    Ok(memory.put_u32(out, total)?)
}

fn write_file(memory: &Memory<'_>, guest: &mut Guest, fd: u32, vectors: &Iovecs) -> Result<u32, Errno> {
    let now = drydock_contract::Timestamp(guest.clock.realtime_ns());
    let file = guest.descriptors.file(fd)?;
    if !file.write {
        return Err(Errno::Badf);
    }
    let mut total = 0u32;
    for vector in vectors.filled() {
        let bytes = &memory.0[vector.clone()];
        let wrote = match file.append {
            true => file.file.append(bytes, now).map(|end| file.position = end),
            false => {
                file.file.write_at(file.position, bytes, now).map(|()| file.position += bytes.len() as u64)
            }
        };
        match wrote {
            Ok(()) => total = total.saturating_add(bytes.len() as u32),
            // What went before it is written; the guest will meet the error at its next try.
            Err(_) if total > 0 => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(total)
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

/// Checked ranges of guest memory: a few in place, as programs use them.
struct Iovecs {
    few: [Range<usize>; 4],
    many: Vec<Range<usize>>,
    count: usize,
}

impl Iovecs {
    fn filled(&self) -> impl Iterator<Item = &Range<usize>> {
        let all = if self.many.is_empty() { &self.few[..self.count] } else { &self.many[..] };
        all.iter().filter(|range| !range.is_empty())
    }
}

fn iovecs(caller: &mut Caller<'_, Guest>, list: u32, count: u32) -> Result<Iovecs, Errno> {
    if count > IOVECS_MAX {
        return Err(Errno::Inval);
    }
    let (memory, _) = memory::split(caller)?;
    let mut all = Iovecs { few: [const { 0..0 }; 4], many: Vec::new(), count: count as usize };
    for index in 0..count {
        let (at, length) = memory.iovec(list, index)?;
        let place = range(at, u64::from(length))?;
        if place.end > memory.0.len() {
            return Err(Errno::Fault);
        }
        match all.few.get_mut(index as usize) {
            Some(slot) if count <= 4 => *slot = place,
            _ => all.many.push(place),
        }
    }
    Ok(all)
}
