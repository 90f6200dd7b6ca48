//! `env.http_start(req, req_len) -> call` begins a request; `env.http_read(call, out, out_cap) -> n` reads of its answer,
//! in frames (`abi::fetch`), 0 at the end; `env.http_close(call)` lets go of it.
//!
//! The call at the gate is open for as long as the answer is read: the power writes into a buffer of this run, which is
//! charged to it, and goes on when there is room again. Nothing goes on while nobody reads. What the gate refuses is a
//! frame like any other failure, so a guest has one way to hear of it. `/dev/http` (`wasi::web`) is the same for a guest that
//! can only speak WASI.

use std::{
    collections::VecDeque,
    io,
    sync::Arc,
    task::{Context, Poll},
};

use drydock_abi::fetch::{END, FAILURE, FETCH, FETCH_REQUEST_BYTES_MAX, FetchFailure, failure_of, frame_of};
use drydock_contract::{BoxFuture, ByteSink, Call, CallError, Fault, Reply, Sink, Source, Streams};
use parking_lot::Mutex;
use wasmtime::{Caller, Linker};

use super::reply::{REFUSED, code_for_guest, refuse, room};
use crate::{
    guest::{Guest, Held, breathe},
    memory,
    outcome::Stop,
    wait::{beside, wait_for},
};

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        "env",
        "http_start",
        |mut caller: Caller<'_, Guest>, (at, count): (u32, u32)| {
            Box::new(async move { http_start(&mut caller, at, count).await })
        },
    )?;
    linker.func_wrap_async(
        "env",
        "http_read",
        |mut caller: Caller<'_, Guest>, (call, out, cap): (u32, u32, u32)| {
            Box::new(async move { http_read(&mut caller, call, out, cap).await })
        },
    )?;
    linker.func_wrap("env", "http_close", |mut caller: Caller<'_, Guest>, call: u32| {
        if let Some(place) = caller.data_mut().answers.places.get_mut(call as usize) {
            *place = None;
        }
    })?;
    Ok(())
}

/// Answers that one run reads at once.
const ANSWERS_MAX: usize = 16;
/// What is held of an answer before the power waits.
const SPOOL_BYTES_MAX: usize = 64 << 10;

/// The answers of one run that are open, by number.
#[derive(Default)]
pub(crate) struct Answers {
    places: Vec<Option<Answer>>,
    /// One more for each answer that is open, in a place or in a descriptor. Made with the first: most runs have none.
    open: Option<Arc<()>>,
}

impl Answers {
    /// Whether one more may be open.
    pub(crate) fn has_room(&self) -> bool {
        self.open.as_ref().is_none_or(|it| Arc::strong_count(it) <= ANSWERS_MAX)
    }

    fn get(&mut self, place: usize) -> Option<&mut Answer> {
        self.places.get_mut(place)?.as_mut()
    }
}

/// An answer that is read as it comes. Its call begins when somebody first waits for it.
pub(crate) struct Answer {
    /// The call, until it is over.
    call: Option<BoxFuture<'static, Result<Reply, CallError>>>,
    spool: Arc<Spool>,
    /// The bill for what is held.
    _held: Held,
    _open: Arc<()>,
}

/// Bytes on their way from the power to the guest. Only whoever reads moves the power on, in the same turn, so nobody has
/// to be woken: what it took out is room the next time.
#[derive(Default)]
struct Spool(Mutex<VecDeque<u8>>);

struct SpoolSink(Arc<Spool>);

impl ByteSink for SpoolSink {
    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut spool = self.0.0.lock();
        match SPOOL_BYTES_MAX.saturating_sub(spool.len()).min(bytes.len()) {
            0 => Poll::Pending,
            count => {
                spool.extend(&bytes[..count]);
                Poll::Ready(Ok(count))
            }
        }
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl Answer {
    /// The answer to a request that was paid for.
    pub(crate) fn to(guest: &mut Guest, request: Vec<u8>, held: Held) -> Self {
        let (door, spool) = (Arc::clone(&guest.door), Arc::<Spool>::default());
        let stdout = Sink::Stream(Box::new(SpoolSink(Arc::clone(&spool))));
        let streams = Streams { stdin: Source::Empty, stdout, ..Streams::default() };
        let call: BoxFuture<'static, _> =
            Box::pin(
                async move { door.dispatch(Call::new(FETCH, &request, streams).answered_typed()).await },
            );
        let open = Arc::clone(guest.answers.open.get_or_insert_default());
        Self { call: Some(call), spool, _held: held, _open: open }
    }

    /// How many bytes can be taken out at once, of so many that are wanted.
    fn ready(&self, wanted: u32) -> u32 {
        let bytes = self.spool.0.lock().as_slices().0.len();
        u32::try_from(bytes).unwrap_or(u32::MAX).min(wanted)
    }

    /// Takes out what is there and fits.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> usize {
        let mut spool = self.spool.0.lock();
        let (front, _) = spool.as_slices();
        let count = front.len().min(buffer.len());
        buffer[..count].copy_from_slice(&front[..count]);
        spool.drain(..count);
        count
    }

    /// Moves the call on until there is something to read; ready with nothing at the end.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if !self.spool.0.lock().is_empty() {
                return Poll::Ready(());
            }
            let Some(call) = &mut self.call else { return Poll::Ready(()) };
            let Poll::Ready(done) = call.as_mut().poll(cx) else {
                // It may wait for room that there is now no lack of.
                return if self.spool.0.lock().is_empty() { Poll::Pending } else { Poll::Ready(()) };
            };
            self.call = None;
            self.spool.0.lock().extend(last_frame(done));
        }
    }
}

/// The end, or why there is none.
fn last_frame(done: Result<Reply, CallError>) -> Vec<u8> {
    let failure = match done {
        Ok(mut reply) => match reply.value::<Result<(), FetchFailure>>() {
            Some(Ok(())) => return frame_of(END, b""),
            Some(Err(failure)) => failure,
            None => failure_of(&Fault::Internal("the gate answered in another form".into()).into()),
        },
        Err(error) => failure_of(&error),
    };
    frame_of(FAILURE, &failure.to_json())
}

/// Charges the run for a request of so many bytes, and for what is held of its answer.
pub(crate) fn hold_request(guest: &Guest, bytes: u32) -> Result<Held, Stop> {
    Held::take(&guest.meter, u64::from(bytes) + SPOOL_BYTES_MAX as u64).ok_or(Stop::OutOfMemory)
}

/// Refused by the gate, so that it is recorded; not a byte of it is copied. The code that the guest is told.
pub(crate) async fn refuse_oversized(caller: &mut Caller<'_, Guest>, bytes: u32) -> &'static str {
    let door = Arc::clone(&caller.data().door);
    let answer = door.dispatch(Call::oversized(FETCH, bytes.into())).await;
    answer.err().as_ref().map_or("too_large", code_for_guest)
}

async fn http_start(caller: &mut Caller<'_, Guest>, at: u32, count: u32) -> wasmtime::Result<i32> {
    breathe(caller).await?;
    if u64::from(count) > FETCH_REQUEST_BYTES_MAX {
        let code = refuse_oversized(caller, count).await;
        return Ok(refuse(caller, code));
    }
    if !caller.data().answers.has_room() {
        return Ok(refuse(caller, "too_many_answers"));
    }
    let held = hold_request(caller.data(), count)?;
    let copied = memory::split(caller).and_then(|(memory, _)| memory.bytes(at, count).map(<[u8]>::to_vec));
    let Ok(request) = copied else { return Ok(refuse(caller, "bad_pointer")) };
    let answer = Some(Answer::to(caller.data_mut(), request, held));
    let places = &mut caller.data_mut().answers.places;
    let free = places.iter().position(Option::is_none).unwrap_or(places.len());
    match places.get_mut(free) {
        Some(place) => *place = answer,
        None => places.push(answer),
    }
    Ok(i32::try_from(free).unwrap_or(REFUSED))
}

async fn http_read(caller: &mut Caller<'_, Guest>, call: u32, out: u32, cap: u32) -> wasmtime::Result<i32> {
    breathe(caller).await?;
    let (place, cap) = (call as usize, room(cap));
    if caller.data_mut().answers.get(place).is_none() || cap == 0 {
        return Ok(refuse(caller, "no_such_answer"));
    }
    wait_for(caller, |caller, cx| {
        beside(caller, |caller| match caller.data_mut().answers.get(place) {
            Some(answer) => answer.poll(cx),
            None => Poll::Ready(()),
        })
    })
    .await;
    let Ok((mut memory, guest)) = memory::split(caller) else { return Ok(REFUSED) };
    let Some(answer) = guest.answers.get(place) else { return Ok(REFUSED) };
    let Ok(buffer) = memory.bytes_mut(out, answer.ready(cap)) else {
        return Ok(refuse(caller, "bad_pointer"));
    };
    let count = answer.read(buffer);
    Ok(i32::try_from(count).unwrap_or(REFUSED))
}
