//! Reading and writing `/dev/drydock` by its descriptor. `poll_oneoff` waits for an answer or a timer.

use drydock_abi::tool::FrameEvent;
use wasmtime::Caller;

use super::{layout::rights, transfer::Iovecs};
use crate::{
    guest::{Guest, breathe},
    host::tool,
    memory,
    wasi::{Errno, Failure, Reading},
};

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
            let (count, event) = guest.descriptors.door(fd, rights::FD_WRITE)?.take(bytes);
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
        if door.reading.is_none() {
            break;
        }
        total += door.copy(memory.0.get_mut(piece).ok_or(Errno::Fault)?).unwrap_or_default();
    }
    Ok(total as u32)
}
