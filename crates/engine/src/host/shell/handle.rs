//! What the guest's handles stand for.

use std::{sync::Arc, task::Waker};

use drydock_abi::shell::{READS, TOO_MANY};
use drydock_contract::{PIPE_BYTES_MAX, PipeReader, PipeWriter, SharedSink, SharedSource, paid_pipe};

use super::bell::{Bell, Ringer};
use crate::guest::Held;

/// Most handles of one line.
const HANDLES_MAX: usize = 8_192;

/// What a pipe costs: what it may hold, so that none grows unpaid. That is twice what it holds before its writer waits,
/// because a reader may give back what it read when others have filled it again.
pub(super) const PIPE_BYTES: u64 = 2 * PIPE_BYTES_MAX as u64 + 512;

/// A stream that the guest knows by a number.
pub(super) enum Stream {
    In(SharedSource),
    Out(SharedSink),
    Pipe { reader: Option<PipeReader>, writer: Option<PipeWriter> },
}

struct Handle {
    stream: Stream,
    /// Tells it from others that have its number later.
    born: u64,
    /// Rings when it is worth another try. Made with the first one that has to wait.
    ringer: Option<Waker>,
    /// Bytes of the last read, which may be given back.
    given: usize,
}

/// A handle that the host itself comes back to, though the guest may have let it go.
#[derive(Clone, Copy)]
pub(super) struct Own {
    pub(super) number: u32,
    born: u64,
}

/// The handles of one line.
#[derive(Default)]
pub(super) struct Handles {
    all: Vec<Option<Handle>>,
    free: Vec<u32>,
    born: u64,
    bell: Arc<Bell>,
}

impl Handles {
    pub(super) fn bell(&self) -> &Arc<Bell> {
        &self.bell
    }

    /// The number of a stream that is added.
    pub(super) fn add(&mut self, stream: Stream) -> Result<u32, i32> {
        self.born += 1;
        let handle = Handle { stream, born: self.born, ringer: None, given: 0 };
        if let Some(number) = self.free.pop() {
            self.all[number as usize] = Some(handle);
            return Ok(number);
        }
        if self.all.len() >= HANDLES_MAX {
            return Err(TOO_MANY);
        }
        self.all.push(Some(handle));
        Ok((self.all.len() - 1) as u32)
    }

    /// The same with what tells it from whoever has its number when it is gone.
    pub(super) fn add_own(&mut self, stream: Stream) -> Result<Own, i32> {
        self.add(stream).map(|number| Own { number, born: self.born })
    }

    /// A new pipe, of which the guest has both ends.
    pub(super) fn add_pipe(&mut self, held: Held) -> Result<u32, i32> {
        // It is paid for until its commands have let it go too.
        let (reader, writer) = paid_pipe(held);
        self.add(Stream::Pipe { reader: Some(reader), writer: Some(writer) })
    }

    pub(super) fn get(&self, number: u32) -> Option<&Stream> {
        self.all.get(number as usize)?.as_ref().map(|it| &it.stream)
    }

    /// The stream, and whoever rings for it.
    pub(super) fn with_ringer(&mut self, number: u32) -> Option<(&Stream, &Waker)> {
        let handle = self.all.get_mut(number as usize)?.as_mut()?;
        let bell = &self.bell;
        let ringer = handle
            .ringer
            .get_or_insert_with(|| Waker::from(Arc::new(Ringer { bell: Arc::clone(bell), handle: number })));
        Some((&handle.stream, ringer))
    }

    /// So many bytes were read.
    pub(super) fn note_read(&mut self, number: u32, bytes: usize) {
        if let Some(Some(handle)) = self.all.get_mut(number as usize) {
            handle.given = bytes;
        }
    }

    /// The stream, if so many bytes may be given back to it: no more than the last read took, so that nobody fills the
    /// host with bytes that were never there.
    pub(super) fn giving_back(&mut self, number: u32, bytes: usize) -> Option<&Stream> {
        let handle = self.all.get_mut(number as usize)?.as_mut()?;
        handle.given = handle.given.checked_sub(bytes)?;
        Some(&handle.stream)
    }

    /// Lets one end go, and the whole handle with the last of them.
    pub(super) fn close(&mut self, number: u32, end: u32) {
        let Some(place) = self.all.get_mut(number as usize) else { return };
        let Some(handle) = place else { return };
        let is_gone = match &mut handle.stream {
            Stream::Pipe { reader, writer } => {
                if end == READS {
                    drop(reader.take())
                } else {
                    drop(writer.take())
                }
                reader.is_none() && writer.is_none()
            }
            Stream::In(_) => end == READS,
            Stream::Out(_) => end != READS,
        };
        // The line's own streams stay until its end, whatever the guest lets go.
        if is_gone && number > 2 {
            *place = None;
            self.free.push(number);
        }
    }

    /// Takes a stream out, whatever else the guest has of it.
    pub(super) fn take(&mut self, number: u32) -> Option<Stream> {
        let handle = self.all.get_mut(number as usize)?.take()?;
        if number > 2 {
            self.free.push(number);
        }
        Some(handle.stream)
    }
    /// The same, if it is still the one that it was.
    pub(super) fn take_own(&mut self, own: Own) -> Option<Stream> {
        let handle = self.all.get(own.number as usize)?.as_ref()?;
        if handle.born == own.born { self.take(own.number) } else { None }
    }
}
