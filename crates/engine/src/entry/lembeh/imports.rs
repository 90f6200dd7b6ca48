//! The imports of `lembeh`. A pointer that is wrong is -1, never a trap; a call that has to wait is ended by the deadline.
//!
//! One call moves at most [`PIECE_BYTES_MAX`]: reads and writes may be short, and the clock is looked at in between.

use std::{
    sync::Arc,
    task::{Context, Poll, Waker},
};

use drydock_contract::{LembehEnd, LembehFault, SharedLembeh};
use wasmtime::{Caller, Linker};

use super::SPACE;
use crate::{
    guest::{Guest, breathe},
    memory::{self, Memory},
    outcome::Stop,
    wait::{beside, wait_for},
};

type Ctx<'a> = Caller<'a, Guest>;

/// What a call that fails answers.
const FAILED: i32 = -1;
/// Most bytes of one read or write.
const PIECE_BYTES_MAX: usize = 1 << 20;
/// Most bytes of a topic and of a message; the rest is dropped.
const TOPIC_BYTES_MAX: usize = 256;
const MESSAGE_BYTES_MAX: usize = 8 << 10;

/// What linkers emit besides the name of the specification.
pub(super) const ALLOC_NAMES: [&str; 2] = ["_alloc", "alloc"];
const FREE_NAMES: [&str; 2] = ["_free", "free"];
const LOG_NAMES: [&str; 2] = ["log", "telemetry"];

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        SPACE,
        "req_read",
        |mut caller: Ctx<'_>, (handle, at, cap): (i32, i32, i32)| {
            Box::new(async move { read(&mut caller, handle, at, cap).await })
        },
    )?;
    linker.func_wrap_async(
        SPACE,
        "res_write",
        |mut caller: Ctx<'_>, (handle, at, len): (i32, i32, i32)| {
            Box::new(async move { write(&mut caller, handle, at, len).await })
        },
    )?;
    linker.func_wrap_async(SPACE, "res_end", |mut caller: Ctx<'_>, (handle,): (i32,)| {
        Box::new(async move {
            breathe(&mut caller).await?;
            let Some(host) = host(&caller) else { return Ok(()) };
            at_once(&mut caller, |cx| ended(host.lock().end(cx, handle).map(|()| 0)).map(drop))
        })
    })?;
    linker.func_wrap_async(
        SPACE,
        "_ctl",
        |mut caller: Ctx<'_>, (at, len, out, room): (i32, i32, i32, i32)| {
            Box::new(async move {
                breathe(&mut caller).await?;
                ctl(&mut caller, (at, len), (out, room))
            })
        },
    )?;
    for name in LOG_NAMES {
        linker.func_wrap_async(
            SPACE,
            name,
            |mut caller: Ctx<'_>, (topic, topic_len, message, message_len): (i32, i32, i32, i32)| {
                Box::new(async move {
                    breathe(&mut caller).await?;
                    log(&mut caller, (topic, topic_len), (message, message_len))
                })
            },
        )?;
    }
    for name in ALLOC_NAMES {
        linker.func_wrap_async(SPACE, name, |mut caller: Ctx<'_>, (size,): (i32,)| {
            Box::new(async move { alloc(&mut caller, size).await })
        })?;
    }
    for name in FREE_NAMES {
        // What is freed is not used again, so there is nothing to be done and nothing that could fail.
        linker.func_wrap(SPACE, name, |_: Ctx<'_>, _: i32| {})?;
    }
    // An older name for asking what there is, which always says no.
    linker.func_wrap(SPACE, "_cap", |_: Ctx<'_>, _: i32| -> i32 { FAILED })?;
    Ok(())
}

/// Who has the guest's handles.
fn host(caller: &Ctx<'_>) -> Option<SharedLembeh> {
    caller.data().lembeh.as_ref().map(|it| Arc::clone(&it.host))
}

/// A range of the guest's memory. Nothing of it is negative, and all of it is there.
fn range(at: i32, count: i32) -> Option<(u32, u32)> {
    Some((u32::try_from(at).ok()?, u32::try_from(count).ok()?))
}

fn is_there(memory: &Memory<'_>, (at, count): (u32, u32)) -> bool {
    memory.bytes(at, count).is_ok()
}

/// A result as the guest gets it, or why it is ended.
fn ended(result: Result<usize, LembehEnd>) -> Result<i32, Stop> {
    match result {
        // A piece is at most a megabyte.
        Ok(count) => Ok(i32::try_from(count).unwrap_or(i32::MAX)),
        Err(LembehEnd::Refused) => Ok(FAILED),
        Err(LembehEnd::OutputLimit) => Err(Stop::OutputLimit),
        Err(LembehEnd::InputLimit) => Err(Stop::InputLimit),
        Err(LembehEnd::Unrecorded) => Err(Stop::Breach("its transcript cannot be written")),
        Err(LembehEnd::Diverged) => Err(Stop::Breach("its replay diverged from the transcript")),
    }
}

/// Something that does not wait. What goes on beside the guest is polled again when the guest waits.
fn at_once<T>(
    caller: &mut Ctx<'_>,
    work: impl FnOnce(&mut Context<'_>) -> Result<T, Stop>,
) -> wasmtime::Result<T> {
    Ok(beside(caller, |_| work(&mut Context::from_waker(Waker::noop())))?)
}

fn fault(caller: &mut Ctx<'_>, fault: LembehFault) -> wasmtime::Result<i32> {
    if let Some(host) = host(caller) {
        ended(host.lock().fault(fault).map(|()| 0))?;
    }
    Ok(FAILED)
}

async fn read(caller: &mut Ctx<'_>, handle: i32, at: i32, cap: i32) -> wasmtime::Result<i32> {
    breathe(caller).await?;
    let Some(host) = host(caller) else { return Ok(FAILED) };
    let place = range(at, cap);
    let there = memory::split(caller).is_ok_and(|(memory, _)| place.is_some_and(|it| is_there(&memory, it)));
    let (Some((at, cap)), true) = (place, there) else {
        return fault(caller, LembehFault::Read(handle, cap));
    };
    // The whole range is there, and at most a piece of it is used.
    let cap = cap.min(PIECE_BYTES_MAX as u32);
    wait_for(caller, |caller, cx| {
        beside(caller, |caller| {
            let Ok((mut memory, _)) = memory::split(caller) else { return Poll::Ready(Ok(FAILED)) };
            let Ok(buffer) = memory.bytes_mut(at, cap) else { return Poll::Ready(Ok(FAILED)) };
            host.lock().poll_read(cx, handle, buffer).map(|it| ended(it).map_err(Into::into))
        })
    })
    .await
}

async fn write(caller: &mut Ctx<'_>, handle: i32, at: i32, len: i32) -> wasmtime::Result<i32> {
    breathe(caller).await?;
    let Some(host) = host(caller) else { return Ok(FAILED) };
    let place = range(at, len);
    let there = memory::split(caller).is_ok_and(|(memory, _)| place.is_some_and(|it| is_there(&memory, it)));
    let (Some((at, len)), true) = (place, there) else {
        return fault(caller, LembehFault::Write(handle, len));
    };
    let len = len.min(PIECE_BYTES_MAX as u32);
    wait_for(caller, |caller, cx| {
        beside(caller, |caller| {
            let Ok((memory, _)) = memory::split(caller) else { return Poll::Ready(Ok(FAILED)) };
            let Ok(bytes) = memory.bytes(at, len) else { return Poll::Ready(Ok(FAILED)) };
            host.lock().poll_write(cx, handle, bytes).map(|it| ended(it).map_err(Into::into))
        })
    })
    .await
}

/// One request and one response, each in a buffer of its own. A response that does not fit is not written at all.
fn ctl(caller: &mut Ctx<'_>, request: (i32, i32), response: (i32, i32)) -> wasmtime::Result<i32> {
    let Some(host) = host(caller) else { return Ok(FAILED) };
    let places = range(request.0, request.1).zip(range(response.0, response.1));
    let Ok((mut memory, _)) = memory::split(caller) else { return Ok(FAILED) };
    let there = |(request, response): &((u32, u32), (u32, u32))| {
        is_there(&memory, *request) && is_there(&memory, *response)
    };
    let Some((request, (out, room))) = places.filter(there) else { return fault(caller, LembehFault::Ctl) };
    let Ok(bytes) = memory.bytes(request.0, request.1) else { return Ok(FAILED) };
    let answer = host.lock().ctl(&mut Context::from_waker(Waker::noop()), bytes, room as usize);
    let written = match answer {
        Ok(answer) => memory.put(out, &answer).map(|()| answer.len()).map_err(|_| LembehEnd::Refused),
        Err(end) => Err(end),
    };
    Ok(ended(written)?)
}

/// Best effort: what cannot be read is dropped, and nobody waits.
fn log(caller: &mut Ctx<'_>, topic: (i32, i32), message: (i32, i32)) -> wasmtime::Result<()> {
    let Some(host) = host(caller) else { return Ok(()) };
    let Ok((memory, _)) = memory::split(caller) else { return Ok(()) };
    let text = |(at, count): (i32, i32), most: usize| {
        let (at, count) = range(at, count)?;
        let bytes = memory.bytes(at, count).ok()?;
        Some(&bytes[..bytes.len().min(most)])
    };
    let (Some(topic), Some(message)) = (text(topic, TOPIC_BYTES_MAX), text(message, MESSAGE_BYTES_MAX))
    else {
        return Ok(());
    };
    ended(host.lock().log(topic, message).map(|()| 0))?;
    Ok(())
}

/// Bytes of the guest's own memory, which grows for them within its limit.
async fn alloc(caller: &mut Ctx<'_>, size: i32) -> wasmtime::Result<i32> {
    breathe(caller).await?;
    let Ok(size) = u32::try_from(size) else { return Ok(FAILED) };
    if size == 0 {
        return Ok(0);
    }
    let placed = caller.data().lembeh.as_ref().and_then(|it| it.heap.place(size));
    let (Some((offset, end)), Some(memory)) = (placed, caller.data().memory) else { return Ok(FAILED) };
    let missing = end.saturating_sub(memory.data_size(&*caller) as u64);
    if missing > 0 {
        let pages = missing.div_ceil(memory.page_size(&*caller));
        if memory.grow_async(&mut *caller, pages).await.is_err() {
            return Ok(FAILED);
        }
    }
    if let Some(state) = &mut caller.data_mut().lembeh {
        state.heap.take(end);
    }
    Ok(offset)
}
