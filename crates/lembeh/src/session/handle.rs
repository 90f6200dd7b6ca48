//! Streams by their numbers: from 3 upwards, each number once in a run. What is closed keeps its number, so that its end is
//! the end for good.

use std::{
    collections::BTreeMap,
    io,
    sync::Arc,
    task::{Context, Poll},
};

use drydock_contract::{LembehEnd, Meter, PipeReader, PipeWriter, Sink, Source, port::OpenFile};

use super::held::Held;

/// The first number that is no standard stream.
const FIRST: u32 = 3;
/// Handles of one run, in all.
pub(crate) const HANDLES_MAX: u32 = 1 << 16;
/// What a handle costs.
const HANDLE_BYTES: u64 = 64;

/// What a number stands for.
pub(super) enum Handle {
    /// The hub of that number, which is kept elsewhere.
    Hub,
    /// The stdin of a process: how many more bytes it takes.
    Stdin { exec_id: u32, writer: Option<PipeWriter>, left: u64 },
    /// The stdout or stderr of a process.
    Output { exec_id: u32, reader: Option<PipeReader> },
    /// A file, from a position on: how many more bytes are read of it.
    File { file: Option<Arc<dyn OpenFile>>, at: u64, left: u64 },
    /// A connection.
    Connection { source: Option<Source>, sink: Option<Sink> },
}

/// What a read or a write came to, and the process of which a handle was closed by it.
pub(super) struct Moved {
    pub(super) result: Result<usize, LembehEnd>,
    pub(super) closed: Option<u32>,
}

impl Moved {
    const fn of(result: Result<usize, LembehEnd>) -> Self {
        Self { result, closed: None }
    }
}

/// All handles of a run.
#[derive(Default)]
pub(super) struct Handles {
    all: BTreeMap<u32, Handle>,
    /// How many there ever were.
    given: u32,
    /// What pays for them.
    held: Vec<Held>,
}

impl Handles {
    /// The next number, if there is one for each of `count`.
    pub(super) fn has_room(&self, count: u32) -> bool {
        HANDLES_MAX - self.given >= count
    }

    /// Gives it the next number; nothing if there is none, or no memory for it.
    pub(super) fn add(&mut self, handle: Handle, meter: &Arc<Meter>) -> Option<u32> {
        let [number] = self.add_all([Some(handle)], meter)?;
        Some(number)
    }

    /// Gives each that is there the next number, and 0 to the others; nothing at all if there is no number or no memory
    /// for one of them.
    pub(super) fn add_all<const N: usize>(
        &mut self,
        handles: [Option<Handle>; N],
        meter: &Arc<Meter>,
    ) -> Option<[u32; N]> {
        let count = handles.iter().flatten().count() as u32;
        let mut given = [0; N];
        if count == 0 {
            return Some(given);
        }
        if !self.has_room(count) {
            return None;
        }
        self.held.push(Held::take(meter, u64::from(count) * HANDLE_BYTES)?);
        for (slot, handle) in given.iter_mut().zip(handles) {
            if let Some(handle) = handle {
                *slot = FIRST + self.given;
                self.given += 1;
                self.all.insert(*slot, handle);
            }
        }
        Some(given)
    }

    pub(super) fn is_hub(&self, number: i32) -> Option<u32> {
        let number = u32::try_from(number).ok()?;
        matches!(self.all.get(&number), Some(Handle::Hub)).then_some(number)
    }

    /// Reads; `buffer` may be empty, and then only the handle is looked at.
    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>, number: i32, buffer: &mut [u8]) -> Poll<Moved> {
        let found = u32::try_from(number).ok().and_then(|it| self.all.get_mut(&it));
        let (result, exec_id) = match found {
            Some(Handle::Output { exec_id, reader }) => {
                let was_open = reader.is_some();
                let read = read_once(reader, buffer, |reader, buffer| reader.poll_read(cx, buffer));
                let closed = (was_open && reader.is_none()).then_some(*exec_id);
                (std::task::ready!(read), closed)
            }
            Some(Handle::File { file, at, left }) => {
                let most = buffer.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                let read = read_once(file, &mut buffer[..most], |file, buffer| {
                    Poll::Ready(file.read_at(*at, buffer).map_err(io::Error::other))
                });
                let read = std::task::ready!(read);
                let count = read.unwrap_or(0) as u64;
                (*at, *left) = (*at + count, *left - count);
                (read, None)
            }
            Some(Handle::Connection { source, .. }) => {
                let read = read_once(source, buffer, |source, buffer| source.poll_read(cx, buffer));
                (std::task::ready!(read), None)
            }
            Some(Handle::Hub | Handle::Stdin { .. }) | None => (Err(LembehEnd::Refused), None),
        };
        Poll::Ready(Moved { result, closed: exec_id })
    }

    /// Writes some of the bytes, of which there may be none: then only the handle is looked at.
    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>, number: i32, bytes: &[u8]) -> Poll<Moved> {
        let found = u32::try_from(number).ok().and_then(|it| self.all.get_mut(&it));
        match found {
            Some(Handle::Stdin { exec_id, writer, left }) => {
                let Some(open) = writer else { return Poll::Ready(Moved::of(Err(LembehEnd::Refused))) };
                let most = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                if most == 0 && !bytes.is_empty() {
                    return Poll::Ready(Moved::of(Err(LembehEnd::Refused)));
                }
                match std::task::ready!(open.poll_write(cx, &bytes[..most])) {
                    Ok(count) => {
                        *left = left.saturating_sub(count as u64);
                        Poll::Ready(Moved::of(Ok(count)))
                    }
                    // Nobody reads it any more.
                    Err(_) => {
                        *writer = None;
                        Poll::Ready(Moved { result: Err(LembehEnd::Refused), closed: Some(*exec_id) })
                    }
                }
            }
            Some(Handle::Connection { sink, .. }) => {
                let Some(open) = sink else { return Poll::Ready(Moved::of(Err(LembehEnd::Refused))) };
                if bytes.is_empty() {
                    return Poll::Ready(Moved::of(Ok(0)));
                }
                match std::task::ready!(open.poll_write(cx, bytes)) {
                    Ok(count) if count > 0 => Poll::Ready(Moved::of(Ok(count))),
                    _ => {
                        *sink = None;
                        Poll::Ready(Moved::of(Err(LembehEnd::Refused)))
                    }
                }
            }
            Some(Handle::Hub | Handle::Output { .. } | Handle::File { .. }) | None => {
                Poll::Ready(Moved::of(Err(LembehEnd::Refused)))
            }
        }
    }

    /// No more is written: the process whose stdin was closed by that, if one was.
    pub(super) fn end(&mut self, number: i32) -> Option<u32> {
        let found = u32::try_from(number).ok().and_then(|it| self.all.get_mut(&it));
        match found {
            Some(Handle::Stdin { exec_id, writer, .. }) => writer.take().map(|_| *exec_id),
            Some(Handle::Connection { sink, .. }) => {
                *sink = None;
                None
            }
            // Sources have no end that a guest could say.
            _ => None,
        }
    }

    /// The process of this stdin is gone: nothing is written to it any more. Whether it was open until now.
    pub(super) fn close_stdin(&mut self, number: u32) -> bool {
        match self.all.get_mut(&number) {
            Some(Handle::Stdin { writer, .. }) => writer.take().is_some(),
            _ => false,
        }
    }

    /// How many connections are open.
    pub(super) fn connections(&self) -> usize {
        let open = |it: &&Handle| {
            matches!(
                it,
                Handle::Connection { source: Some(_), .. } | Handle::Connection { sink: Some(_), .. }
            )
        };
        self.all.values().filter(open).count()
    }

    /// Lets go of everything.
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.held.clear();
    }
}

/// Reads from a stream that is let go at its end, which is sticky. A stream that fails has ended.
fn read_once<T>(
    stream: &mut Option<T>,
    buffer: &mut [u8],
    read: impl FnOnce(&mut T, &mut [u8]) -> Poll<io::Result<usize>>,
) -> Poll<Result<usize, LembehEnd>> {
    let Some(open) = stream else { return Poll::Ready(Ok(0)) };
    if buffer.is_empty() {
        return Poll::Ready(Ok(0));
    }
    let count = std::task::ready!(read(open, buffer)).map(|it| it.min(buffer.len()));
    if !matches!(count, Ok(1..)) {
        *stream = None;
    }
    Poll::Ready(count.map_err(|_| LembehEnd::Refused))
}
