//! `/dev/drydock`: the tools of a run for a guest that can only speak WASI (decision 0055).
//!
//! What is written are requests ([`FrameReader`]), each begun as a call at the run's door as soon as it is
//! whole; what is read are answers in the order they come, each with its length before it. A read waits for
//! one, and finds the end where no call is open. `poll_oneoff` waits for an answer or a timer. The calls are
//! the run's, as those of `env.tool_start`: bounded, on its bill, dropped with it.

use drydock_abi::tool::{FrameEvent, FrameReader, answer_head};
use wasmtime::Caller;

use super::{Errno, layout::rights, stdio::Failure, transfer::Iovecs};
use crate::{
    guest::{Guest, Held, breathe},
    host::tool::{self, Ended},
    memory,
};

/// One opening of the device.
#[derive(Default)]
pub(super) struct Door {
    frames: FrameReader,
    /// The bill for the request that is being written.
    held: Option<Held>,
    reading: Option<Reading>,
}

/// An answer of which some was read.
struct Reading {
    head: [u8; 4],
    ended: Ended,
    at: usize,
}

impl Reading {
    fn new(ended: Ended) -> Self {
        Self { head: answer_head(ended.answer().len()), ended, at: 0 }
    }

    /// Copies what fits; true when all of it was read.
    fn copy(&mut self, buffer: &mut [u8]) -> (usize, bool) {
        let answer = self.ended.answer();
        let mut copied = 0;
        let place = self.at.saturating_sub(self.head.len());
        for part in [self.head.get(self.at..).unwrap_or_default(), answer.get(place..).unwrap_or_default()] {
            let count = part.len().min(buffer.len() - copied);
            buffer[copied..copied + count].copy_from_slice(&part[..count]);
            copied += count;
        }
        self.at += copied;
        (copied, self.at == self.head.len() + answer.len())
    }
}

/// Whether a read would find something without waiting.
pub(super) fn is_readable(guest: &mut Guest, fd: u32) -> bool {
    let begun = guest.descriptors.door(fd, 0).is_ok_and(|door| door.reading.is_some());
    begun || guest.tools.pending() == 0
}

/// Takes bytes of requests and begins those that are whole.
pub(super) async fn write(caller: &mut Caller<'_, Guest>, fd: u32, vectors: &Iovecs) -> Result<u32, Failure> {
    caller.data_mut().descriptors.door(fd, rights::FD_WRITE)?;
    let mut total = 0;
    for mut rest in vectors.pieces() {
        loop {
            let (memory, guest) = memory::split(caller)?;
            let bytes = memory.0.get(rest.clone()).ok_or(Errno::Fault)?;
            let (count, event) = guest.descriptors.door(fd, rights::FD_WRITE)?.frames.take(bytes);
            rest.start += count;
            total += count;
            match event {
                None => break,
                Some(event) => on_event(caller, fd, event).await?,
            }
            breathe(caller).await?;
        }
    }
    Ok(total as u32)
}

async fn on_event(caller: &mut Caller<'_, Guest>, fd: u32, event: FrameEvent) -> Result<(), Failure> {
    match event {
        FrameEvent::Begun { bytes } => {
            let held = tool::hold_request(caller.data(), u64::from(bytes))?;
            caller.data_mut().descriptors.door(fd, 0)?.held = Some(held);
        }
        FrameEvent::Request { call, payload } => {
            let held = caller.data_mut().descriptors.door(fd, 0)?.held.take().ok_or(Errno::Io)?;
            tool::begin(caller, call, payload, held).await;
        }
        FrameEvent::Oversized { call, bytes } => tool::refuse_oversized(caller, call, bytes).await,
    }
    Ok(())
}

/// Reads of one answer, after waiting for it.
pub(super) async fn read(caller: &mut Caller<'_, Guest>, fd: u32, vectors: &Iovecs) -> Result<u32, Failure> {
    if caller.data_mut().descriptors.door(fd, rights::FD_READ)?.reading.is_none() {
        let Some(ended) = tool::next(caller).await? else { return Ok(0) };
        caller.data_mut().descriptors.door(fd, 0)?.reading = Some(Reading::new(ended));
    }
    let mut total = 0;
    for piece in vectors.pieces() {
        let (memory, guest) = memory::split(caller)?;
        let door = guest.descriptors.door(fd, 0)?;
        let Some(reading) = &mut door.reading else { break };
        let (count, is_whole) = reading.copy(memory.0.get_mut(piece).ok_or(Errno::Fault)?);
        total += count;
        if is_whole {
            door.reading = None;
        }
    }
    Ok(total as u32)
}
