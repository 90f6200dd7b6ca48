//! `env.tool_start(req, req_len) -> call` begins a call of a tool and returns at once; `env.tool_next(out,
//! out_cap) -> n` waits for the next call that has ended. So calls begun together run together.
//! `env.tool_wait(nanos) -> any` waits for one to end, or until so much of the session's time has passed.
//!
//! `/dev/drydock` (`wasi::door`) is the same for a guest that can only speak WASI.
//!
//! The open calls belong to the run: they are polled when it begins or awaits one, and dropped with it.
//! What they hold is on its bill.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use drydock_abi::tool::{
    BAD_POINTER, CALL, PENDING_MAX, REPLY_BYTES_MAX, REQUEST_BYTES_MAX, TOO_LARGE, TOO_MANY, encode_answer,
    encode_refusal,
};
use drydock_contract::{BoxFuture, Call, CallError, Dispatch, Meter, Reply, SteppedClock, Streams, schedule};
use wasmtime::{Caller, Linker};

use super::{open::Open, reply::room};
use crate::{
    guest::{Guest, Held, breathe},
    memory,
    outcome::Stop,
    wait::{beside, wait_for},
};

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        "env",
        "tool_start",
        |mut caller: Caller<'_, Guest>, (at, count): (u32, u32)| {
            Box::new(async move { tool_start(&mut caller, at, count).await })
        },
    )?;
    linker.func_wrap_async("env", "tool_next", |mut caller: Caller<'_, Guest>, (out, cap): (u32, u32)| {
        Box::new(async move { tool_next(&mut caller, out, cap).await })
    })?;
    linker.func_wrap_async("env", "tool_wait", |mut caller: Caller<'_, Guest>, (nanos,): (u64,)| {
        Box::new(async move { tool_wait(&mut caller, nanos).await })
    })?;
    Ok(())
}

/// What an open call costs besides its bytes.
const OPEN_CALL_BYTES: u64 = 1024;

/// The calls of one run that are open, and those that have ended and were not yet asked for.
#[derive(Default)]
pub(crate) struct ToolCalls {
    begun: u32,
    // Made with the first call: most runs have none.
    open: Option<Open<Ended>>,
    ended: VecDeque<Ended>,
}

/// An answer for the guest, and the bill for it; none if the run could not pay.
pub(crate) struct Ended {
    answer: Vec<u8>,
    held: Option<Held>,
}

impl Ended {
    pub(crate) fn answer(&self) -> &[u8] {
        &self.answer
    }
}

impl ToolCalls {
    /// Calls whose answers the guest does not have yet.
    pub(crate) fn pending(&self) -> usize {
        self.open.as_ref().map_or(0, Open::len) + self.ended.len()
    }

    fn begin(&mut self, clock: Option<&Arc<SteppedClock>>, call: BoxFuture<'static, Ended>) {
        self.open.get_or_insert_with(|| Open::by(clock)).push(call);
    }

    /// An answer that nobody had to be asked for.
    fn refuse(&mut self, number: u32, text: &str, meter: &Arc<Meter>) {
        let answer = encode_refusal(number, "tool_error", text);
        let held = Held::take(meter, answer.len() as u64 + OPEN_CALL_BYTES);
        self.ended.push_back(Ended { answer, held });
    }

    /// Moves on whatever can move; ready when a call has ended or none is open.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(open) = &mut self.open else { return Poll::Ready(()) };
        loop {
            match open.poll_next(cx) {
                Poll::Ready(Some(ended)) => self.ended.push_back(ended),
                Poll::Pending if self.ended.is_empty() => return Poll::Pending,
                Poll::Ready(None) | Poll::Pending => {
                    schedule::goes_on();
                    return Poll::Ready(());
                }
            }
        }
    }
}

async fn tool_start(caller: &mut Caller<'_, Guest>, at: u32, count: u32) -> wasmtime::Result<i32> {
    caller.data().check_time()?;
    if caller.data().tools.pending() >= PENDING_MAX {
        return Ok(TOO_MANY);
    }
    if u64::from(count) > REQUEST_BYTES_MAX {
        record_oversized(caller, u64::from(count)).await;
        return Ok(TOO_LARGE);
    }
    let held = hold_request(caller.data(), u64::from(count))?;
    let Ok((memory, guest)) = memory::split(caller) else { return Ok(BAD_POINTER) };
    let Ok(request) = memory.bytes(at, count).map(<[u8]>::to_vec) else { return Ok(BAD_POINTER) };
    let number = guest.tools.begun;
    guest.tools.begun += 1;
    dispatch(caller, number, request, held).await;
    Ok(i32::try_from(number).unwrap_or(TOO_MANY))
}

/// Refused by the gate, so that it is recorded; not a byte of it is copied.
async fn record_oversized(caller: &mut Caller<'_, Guest>, bytes: u64) {
    let door = Arc::clone(&caller.data().door);
    let _ = door.dispatch(Call::oversized(CALL, bytes)).await;
}

/// Charges the run for a request of so many bytes.
pub(crate) fn hold_request(guest: &Guest, bytes: u64) -> Result<Held, Stop> {
    Held::take(&guest.meter, bytes.saturating_add(OPEN_CALL_BYTES)).ok_or(Stop::OutOfMemory)
}

/// Begins a call under a number of the guest's own. One too many is answered as refused.
pub(crate) async fn begin(caller: &mut Caller<'_, Guest>, number: u32, request: Vec<u8>, held: Held) {
    if caller.data().tools.pending() >= PENDING_MAX {
        let guest = caller.data_mut();
        return guest.tools.refuse(number, "too many calls are open", &guest.meter);
    }
    dispatch(caller, number, request, held).await;
}

/// Answers a request that is longer than one may be.
pub(crate) async fn refuse_oversized(caller: &mut Caller<'_, Guest>, number: u32, bytes: u32) {
    record_oversized(caller, u64::from(bytes)).await;
    let guest = caller.data_mut();
    let text = format!("a request of {bytes} bytes exceeds the limit of {REQUEST_BYTES_MAX}");
    guest.tools.refuse(number, &text, &guest.meter);
}

async fn dispatch(caller: &mut Caller<'_, Guest>, number: u32, request: Vec<u8>, held: Held) {
    let (door, meter) = (Arc::clone(&caller.data().door), Arc::clone(&caller.data().meter));
    let mut call: BoxFuture<'static, Ended> = Box::pin(carry_out(number, door, request, meter, held));
    // A call is on its way when this returns, whether or not anybody ever waits for it.
    let begun = poll_fn(|cx| Poll::Ready(beside(caller, |_| schedule::beside(|| call.as_mut().poll(cx)))));
    match begun.await {
        Poll::Ready(ended) => caller.data_mut().tools.ended.push_back(ended),
        Poll::Pending => {
            let guest = caller.data_mut();
            guest.tools.begin(guest.clock.stepped(), call);
        }
    }
    poll_fn(|cx| {
        let _ = schedule::beside(|| poll_open(caller, cx));
        Poll::Ready(())
    })
    .await;
}

/// Moves the open calls on, on their own time.
fn poll_open(caller: &mut Caller<'_, Guest>, cx: &mut Context<'_>) -> Poll<()> {
    beside(caller, |caller| caller.data_mut().tools.poll(cx))
}

/// Waits for the next call that has ended; nothing if none is open.
pub(crate) async fn next(caller: &mut Caller<'_, Guest>) -> Result<Option<Ended>, Stop> {
    wait_for(caller, poll_open).await;
    match caller.data_mut().tools.ended.pop_front() {
        Some(Ended { held: None, .. }) => Err(Stop::OutOfMemory),
        next => Ok(next),
    }
}

async fn carry_out(
    number: u32,
    door: Arc<dyn Dispatch>,
    request: Vec<u8>,
    meter: Arc<Meter>,
    held: Held,
) -> Ended {
    let answer = match door.dispatch(Call::new(CALL, &request, Streams::default())).await {
        Ok(reply) => answer_of(number, &reply),
        Err(CallError::Denied(denial)) => encode_refusal(number, "tool_error", &denial.to_string()),
        Err(CallError::Failed(fault)) => {
            // The guest sees that there was a failure; what it was is for whoever runs us.
            tracing::debug!("a tool call failed: {fault}");
            encode_refusal(number, "internal_error", "the tool could not be called")
        }
    };
    drop((request, held));
    let held = Held::take(&meter, answer.len() as u64);
    // An answer that the run cannot pay for ends it: nobody reads it, so it is not kept until then.
    let answer = if held.is_some() { answer } else { Vec::new() };
    Ended { answer, held }
}

fn answer_of(number: u32, reply: &Reply) -> Vec<u8> {
    let bytes = reply.payload.len() as u64;
    if bytes > REPLY_BYTES_MAX {
        let text = format!("tool result of {bytes} bytes exceeds the limit of {REPLY_BYTES_MAX}");
        return encode_refusal(number, "tool_error", &text);
    }
    encode_answer(number, &reply.payload)
}

async fn tool_next(caller: &mut Caller<'_, Guest>, out: u32, cap: u32) -> wasmtime::Result<i64> {
    // Tools that answer at once work on this thread: others get their turn here.
    breathe(caller).await?;
    wait_for(caller, poll_open).await;
    let Ok((mut memory, guest)) = memory::split(caller) else { return Ok(i64::from(BAD_POINTER)) };
    let Some(next) = guest.tools.ended.front() else { return Ok(0) };
    if next.held.is_none() {
        return Err(Stop::OutOfMemory.into());
    }
    let length = next.answer.len();
    if length > room(cap) as usize {
        return Ok(-i64::try_from(length).unwrap_or(i64::MAX));
    }
    memory.put(out, &next.answer).map_err(|_| wasmtime::Trap::MemoryOutOfBounds)?;
    guest.tools.ended.pop_front();
    Ok(i64::try_from(length).unwrap_or(i64::MAX))
}

/// 1 when a call has ended, 0 when the time has passed.
async fn tool_wait(caller: &mut Caller<'_, Guest>, nanos: u64) -> wasmtime::Result<i32> {
    breathe(caller).await?;
    Ok(i32::from(wait(caller, nanos).await))
}

/// Whether a call ended before so much of the session's time had passed. By a clock that is not the real one, time
/// passes when all calls that are open wait for it too; one that waits for the world takes none of it.
pub(crate) async fn wait(caller: &mut Caller<'_, Guest>, nanos: u64) -> bool {
    let ended = |caller: &mut Caller<'_, Guest>, cx: &mut Context<'_>| {
        let _ = poll_open(caller, cx);
        !caller.data().tools.ended.is_empty()
    };
    if let Some(mut sleep) = caller.data().clock.sleep(nanos) {
        return wait_for(caller, |caller, cx| {
            if ended(caller, cx) {
                return Poll::Ready(true);
            }
            if caller.data().tools.pending() > 0 && !schedule::is_inside() {
                return Poll::Pending;
            }
            std::pin::Pin::new(&mut sleep).poll(cx).map(|()| false)
        })
        .await;
    }
    if poll_fn(|cx| Poll::Ready(ended(caller, cx))).await {
        return true;
    }
    if nanos == 0 {
        return false;
    }
    let mut sleep = std::pin::pin!(tokio::time::sleep(Duration::from_nanos(nanos)));
    wait_for(caller, |caller, cx| {
        if ended(caller, cx) {
            return Poll::Ready(true);
        }
        sleep.as_mut().poll(cx).map(|()| false)
    })
    .await
}
