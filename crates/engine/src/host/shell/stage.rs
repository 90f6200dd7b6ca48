//! Commands of the line: each is a call at the line's own door, and goes on beside the guest.

use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll, time::Duration};

use drydock_abi::{
    exec::{COMMAND, REQUEST_BYTES_MAX, encode_report, take_report},
    shell::{
        Answered, BAD, ENDED, Ended, NONE, NumberedStream, READS, Refusal, RefusalKind, SPACE, Start,
        TOO_MANY, WRITES, decode_front, descriptor,
    },
};
use drydock_contract::{
    BoxFuture, BrokenWrites, Call, CallError, Denial, Dispatch, Fault, Numbered, SharedSink, SharedSource,
    Sink, Source, Streams,
    port::{FileRules, Mode},
    schedule,
};
use futures_util::future::{AbortHandle, Abortable};
use wasmtime::Linker;

use super::{
    Ctx,
    file::{FileClock, FileStream},
    handle::Stream,
    line::Happened,
    streams::world,
};
use crate::{
    guest::{Guest, Held},
    host::open::Open,
    memory,
    outcome::Stop,
    wait::beside,
};

/// Most commands of one line at once.
const COMMANDS_MAX: usize = 2_048;

/// Most commands of one line in all: their numbers are told as numbers that are not below zero.
const BEGUN_MAX: u32 = ENDED;

/// What an open one costs besides its bytes, and what came of it until the guest is told.
const COMMAND_BYTES: u64 = 4_096;

/// What each stream costs that it opens by a number: one of its own, and one in the run.
const NUMBERED_BYTES: u64 = 256;

/// How often a command may write to nobody before it is ended.
const BROKEN_MAX: u32 = 4;

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async(SPACE, "start", |mut caller: Ctx<'_>, (at, count): (u32, u32)| {
        Box::new(async move { start(&mut caller, at, count).await })
    })?;
    linker.func_wrap(SPACE, "timer", |mut caller: Ctx<'_>, millis: u32| timer(caller.data_mut(), millis))?;
    linker.func_wrap(SPACE, "end", |mut caller: Ctx<'_>, call: u32| {
        let handle = world(caller.data_mut()).and_then(|it| it.running.remove(&call));
        if let Some(handle) = handle {
            handle.abort();
        }
    })?;
    Ok(())
}

async fn start(caller: &mut Ctx<'_>, at: u32, count: u32) -> wasmtime::Result<i32> {
    caller.data().check_time()?;
    if u64::from(count) > REQUEST_BYTES_MAX {
        return refuse_oversized(caller, u64::from(count)).await;
    }
    let Ok((memory, guest)) = memory::split(caller) else { return Ok(BAD) };
    let Ok(bytes) = memory.bytes(at, count) else { return Ok(BAD) };
    let Ok((start, payload)) = decode_front::<Start>(bytes) else { return Ok(BAD) };
    let bytes = COMMAND_BYTES + NUMBERED_BYTES * start.numbered.len() as u64 + u64::from(count);
    let held = Held::take(&guest.meter, bytes).ok_or(Stop::OutOfMemory)?;
    let payload = payload.to_vec();
    let Some((call, number, door)) = begun(guest, &start) else { return Ok(BAD) };
    let Some((streams, broken)) = call else { return Ok(TOO_MANY) };
    tracing::trace!(target: "drydock::hop", "engine: the shell names a command; its arguments and streams become a call");
    let is_stepped = guest.clock.stepped().is_some();
    let file_rules = FileRules { umask: Mode::new(start.umask).plain(), bytes_max: start.file_bytes_max };
    let command = Command { number, door, payload, file_rules, ordinal: start.ordinal, is_stepped, held };
    let (abort, registration) = AbortHandle::new_pair();
    let running = Abortable::new(carry_out(command, streams, broken), registration);
    let mut running: BoxFuture<'static, Happened> =
        Box::pin(async move { running.await.unwrap_or((number, None)) });
    let clock = caller.data().clock.stepped().cloned();
    if clock.is_some() {
        // By a clock that is not the real one, it has its turn when the others have theirs.
        let Some(world) = world(caller.data_mut()) else { return Ok(BAD) };
        world.running.insert(number, abort);
        world.open.get_or_insert_with(|| Open::by(clock.as_ref())).push(running);
        return Ok(number.cast_signed());
    }
    // It is on its way when this returns, whether or not anybody ever waits for it.
    let waits = caller.data().running.waits();
    let first = poll_fn(|cx| Poll::Ready(beside(caller, |_| schedule::beside(|| running.as_mut().poll(cx)))));
    let first = first.await;
    drop(waits);
    let Some(world) = world(caller.data_mut()) else { return Ok(BAD) };
    match first {
        Poll::Ready(happened) => {
            world.happened(happened);
            return Ok((number | ENDED).cast_signed());
        }
        Poll::Pending => {
            world.running.insert(number, abort);
            world.open.get_or_insert_with(|| Open::by(None)).push(running);
        }
    }
    Ok(number.cast_signed())
}

/// Begins what ends when so much time has passed. It counts and costs as a command does.
fn timer(guest: &mut Guest, millis: u32) -> wasmtime::Result<i32> {
    guest.check_time()?;
    let held = Held::take(&guest.meter, COMMAND_BYTES).ok_or(Stop::OutOfMemory)?;
    let after = Duration::from_millis(millis.into());
    let (clock, stepped) = (guest.clock.stepped().cloned(), guest.clock.sleep(u64::from(millis) * 1_000_000));
    let Some(world) = world(guest) else { return Ok(BAD) };
    if world.open.as_ref().map_or(0, Open::len) >= COMMANDS_MAX || world.begun >= BEGUN_MAX {
        return Ok(TOO_MANY);
    }
    world.begun += 1;
    let number = world.begun;
    let (abort, registration) = AbortHandle::new_pair();
    let due = Abortable::new(
        async move {
            match stepped {
                Some(sleep) => sleep.await,
                None => tokio::time::sleep(after).await,
            }
            let answer = Answered::Ran(Vec::new());
            (number, Some((Ended { answer, is_pipe_broken: false }, held)))
        },
        registration,
    );
    world.running.insert(number, abort);
    let open = world.open.get_or_insert_with(|| Open::by(clock.as_ref()));
    open.push(Box::pin(async move { due.await.unwrap_or((number, None)) }));
    Ok(number.cast_signed())
}

/// Refused by the gate, so that it is recorded; not a byte of it is copied.
async fn refuse_oversized(caller: &mut Ctx<'_>, bytes: u64) -> wasmtime::Result<i32> {
    let held = Held::take(&caller.data().meter, COMMAND_BYTES).ok_or(Stop::OutOfMemory)?;
    let Some(door) = world(caller.data_mut()).map(|it| Arc::clone(&it.door)) else { return Ok(BAD) };
    let answer = door.dispatch(Call::oversized(COMMAND, bytes)).await;
    let Some(world) = world(caller.data_mut()) else { return Ok(BAD) };
    if world.begun >= BEGUN_MAX {
        return Ok(TOO_MANY);
    }
    world.begun += 1;
    let number = world.begun;
    let error = answer
        .err()
        .unwrap_or_else(|| Denial::TooLarge { what: "request", bytes, max: REQUEST_BYTES_MAX }.into());
    let answer = Answered::Refused(refusal(&error));
    world.happened((number, Some((Ended { answer, is_pipe_broken: false }, held))));
    Ok(number.cast_signed())
}

type Wired = (Streams, BrokenWrites);

/// The number of a command and its streams; nothing inside if there are too many already, nothing at all if the guest
/// names what there is not.
fn begun(guest: &mut Guest, start: &Start) -> Option<(Option<Wired>, u32, Arc<dyn Dispatch>)> {
    let broken = BrokenWrites::default();
    let streams = Streams {
        stdin: source(guest, start.stdin)?,
        stdout: broken.counted(sink(guest, start.stdout)?),
        stderr: sink(guest, start.stderr)?,
        numbered: numbered(guest, &start.numbered)?,
        named: world(guest).map(|it| Arc::clone(&it.named)),
    };
    let world = world(guest)?;
    let door = match start.level {
        0 => Arc::clone(&world.door),
        level => Arc::clone(&world.inside.get(&level)?.door),
    };
    if world.open.as_ref().map_or(0, Open::len) >= COMMANDS_MAX || world.begun >= BEGUN_MAX {
        return Some((None, 0, door));
    }
    world.begun += 1;
    Some((Some((streams, broken)), world.begun, door))
}

fn source(guest: &mut Guest, handle: u32) -> Option<Source> {
    if handle == NONE {
        return Some(Source::Empty);
    }
    if let Some(descriptor) = descriptor(handle) {
        return Some(Source::Stream(Box::new(file(guest, descriptor, true)?)));
    }
    match world(guest)?.handles.get(handle)? {
        Stream::In(source) if source.is_empty() => Some(Source::Empty),
        Stream::In(source) => Some(Source::Stream(Box::new(source.clone()))),
        Stream::Pipe { reader: Some(reader), .. } => Some(Source::Stream(Box::new(reader.clone()))),
        Stream::Pipe { .. } | Stream::Out(_) => None,
    }
}

fn sink(guest: &mut Guest, handle: u32) -> Option<Sink> {
    if handle == NONE {
        return Some(Sink::Discard);
    }
    if let Some(descriptor) = descriptor(handle) {
        return Some(Sink::Stream(Box::new(file(guest, descriptor, false)?)));
    }
    match world(guest)?.handles.get(handle)? {
        Stream::Out(sink) if sink.is_discarded() => Some(Sink::Discard),
        Stream::Out(sink) => Some(Sink::Stream(Box::new(sink.clone()))),
        Stream::Pipe { writer: Some(writer), .. } => Some(Sink::Stream(Box::new(writer.clone()))),
        Stream::Pipe { .. } | Stream::In(_) => None,
    }
}

/// Streams by their numbers, which rise and are none of the three.
fn numbered(guest: &mut Guest, named: &[NumberedStream]) -> Option<Vec<(u32, Numbered)>> {
    let mut all = Vec::with_capacity(named.len());
    let mut last = 2;
    for NumberedStream { number, handle, end } in named {
        if *number <= last {
            return None;
        }
        last = *number;
        let pipe = match descriptor(*handle) {
            Some(_) => None,
            None => world(guest)?.handles.get(*handle),
        };
        let stream = match (pipe, *end) {
            (Some(Stream::Pipe { reader: Some(reader), .. }), READS) => Numbered::PipeIn(reader.clone()),
            (Some(Stream::Pipe { writer: Some(writer), .. }), WRITES) => Numbered::PipeOut(writer.clone()),
            (Some(Stream::In(source)), READS) => Numbered::In(source.clone()),
            (Some(Stream::Out(sink)), WRITES) => Numbered::Out(sink.clone()),
            (None, READS | WRITES) if *handle == NONE => Numbered::Nothing,
            (None, READS) => Numbered::In(SharedSource::new(source(guest, *handle)?)),
            (None, WRITES) => Numbered::Out(SharedSink::new(sink(guest, *handle)?)),
            _ => return None,
        };
        all.push((*number, stream));
    }
    Some(all)
}

/// A file that the guest has open, and may read or write.
fn file(guest: &mut Guest, descriptor: u32, is_read: bool) -> Option<FileStream> {
    let clock = FileClock::of(&guest.clock);
    let (file, position, is_appended) = guest.descriptors.shared_file(descriptor, is_read)?;
    Some(FileStream { file, position, is_appended, is_read, clock })
}

/// One command on its way.
struct Command {
    number: u32,
    door: Arc<dyn Dispatch>,
    payload: Vec<u8>,
    file_rules: FileRules,
    ordinal: u64,
    is_stepped: bool,
    held: Held,
}

async fn carry_out(command: Command, streams: Streams, broken: BrokenWrites) -> Happened {
    let Command { number, door, payload, file_rules, ordinal, is_stepped, held } = command;
    let call =
        Call::new(COMMAND, &payload, streams).with_file_rules(file_rules).answered_typed().numbered(ordinal);
    let answer = {
        let mut answer = pin!(door.dispatch(call));
        poll_fn(|cx| {
            if let Poll::Ready(answer) = answer.as_mut().poll(cx) {
                return Poll::Ready(Some(answer));
            }
            // How far a command comes before it notices depends on the machine; where the order must not, nobody asks
            // just now.
            let may_ask = !(is_stepped && schedule::is_machines());
            if may_ask && broken.count() >= BROKEN_MAX {
                schedule::goes_on();
                return Poll::Ready(None);
            }
            Poll::Pending
        })
        .await
    };
    let answer = match answer {
        None => Answered::BrokenPipe,
        Some(Err(error)) => Answered::Refused(refusal(&error)),
        Some(Ok(mut reply)) => match take_report(&mut reply) {
            Ok(report) => Answered::Ran(encode_report(&report)),
            Err(_) => Answered::Ran(Vec::new()),
        },
    };
    let is_pipe_broken = broken.count() > 0;
    (number, Some((Ended { answer, is_pipe_broken }, held)))
}

/// A refusal as a shell needs it.
fn refusal(error: &CallError) -> Refusal {
    let kind = match error {
        CallError::Denied(Denial::UnknownCommand(_)) => RefusalKind::UnknownCommand,
        CallError::Denied(Denial::BudgetExceeded { .. }) => RefusalKind::BudgetExceeded,
        CallError::Failed(Fault::BadModule { .. } | Fault::Import { .. }) => RefusalKind::NotAProgram,
        _ => RefusalKind::Other,
    };
    Refusal { code: error.code().into(), message: error.to_string(), status: error.exit_status(), kind }
}
