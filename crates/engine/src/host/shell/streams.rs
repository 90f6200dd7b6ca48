//! Reading and writing what handles stand for. Nothing here waits: what cannot be done now is answered with
//! `AGAIN`, and an event tells when to ask again.

use std::{
    io,
    task::{Context, Poll},
};

use drydock_abi::shell::{AGAIN, BAD, BROKEN, FAILED, SPACE};
use drydock_contract::Numbered;
use wasmtime::Linker;

use super::{Ctx, handle::PIPE_BYTES, handle::Stream};
use crate::{
    guest::{Guest, Held},
    memory::{self, Memory},
    outcome::Stop,
};

/// Bytes that are moved at a time: the rest is another call, with another look at the clock. It is also what may be given
/// back, and the host keeps that.
const PIECE_BYTES_MAX: u32 = 64 << 10;

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap(SPACE, "pipe", |mut caller: Ctx<'_>| -> wasmtime::Result<i32> {
        let held = Held::take(&caller.data().meter, PIPE_BYTES).ok_or(Stop::OutOfMemory)?;
        let Some(world) = world(caller.data_mut()) else { return Ok(BAD) };
        Ok(world.handles.add_pipe(held).map_or_else(|why| why, u32::cast_signed))
    })?;
    linker
        .func_wrap(SPACE, "named", |mut caller: Ctx<'_>, fd: u32| -> i32 { named(caller.data_mut(), fd) })?;
    linker.func_wrap(SPACE, "close", |mut caller: Ctx<'_>, handle: u32, end: u32| {
        if let Some(world) = world(caller.data_mut()) {
            world.handles.close(handle, end);
        }
    })?;
    linker.func_wrap(SPACE, "read", |mut caller: Ctx<'_>, handle: u32, at: u32, count: u32| {
        let got = moved(&mut caller, handle, |stream, cx, memory| {
            let Ok(buffer) = memory.bytes_mut(at, count.min(PIECE_BYTES_MAX)) else { return ready(BAD) };
            match stream {
                Stream::In(source) => source.poll_read(cx, buffer).map(answered),
                Stream::Pipe { reader: Some(reader), .. } => reader.poll_read(cx, buffer).map(answered),
                _ => ready(BAD),
            }
        })?;
        if let (Ok(got), Some(world)) = (usize::try_from(got), world(caller.data_mut())) {
            world.handles.note_read(handle, got);
        }
        if got > 0 {
            tracing::trace!(target: "drydock::hop", "engine: bytes of a stream enter the shell");
        }
        Ok(got)
    })?;
    linker.func_wrap(SPACE, "write", |mut caller: Ctx<'_>, handle: u32, at: u32, count: u32| {
        let put = moved(&mut caller, handle, |stream, cx, memory| {
            let Ok(bytes) = memory.bytes(at, count.min(PIECE_BYTES_MAX)) else { return ready(BAD) };
            match stream {
                Stream::Out(sink) => sink.poll_write(cx, bytes).map(answered),
                Stream::Pipe { writer: Some(writer), .. } => writer.poll_write(cx, bytes).map(answered),
                _ => ready(BAD),
            }
        })?;
        if put > 0 {
            tracing::trace!(target: "drydock::hop", "engine: bytes of the shell go to a stream");
        }
        Ok(put)
    })?;
    linker.func_wrap(SPACE, "flush", |mut caller: Ctx<'_>, handle: u32| {
        moved(&mut caller, handle, |stream, cx, _| match stream {
            Stream::Out(sink) => sink.poll_flush(cx).map(|it| answered(it.map(|()| 0))),
            Stream::Pipe { .. } => ready(0),
            Stream::In(_) => ready(BAD),
        })
    })?;
    linker.func_wrap(SPACE, "wanted", |mut caller: Ctx<'_>, handle: u32| {
        moved(&mut caller, handle, |stream, cx, _| match stream {
            Stream::Pipe { writer: Some(writer), .. } => writer.poll_wanted(cx).map(answered),
            _ => ready(BAD),
        })
    })?;
    linker.func_wrap(
        SPACE,
        "unread",
        |mut caller: Ctx<'_>, handle: u32, at: u32, count: u32| -> wasmtime::Result<i32> {
            unread(&mut caller, handle, (at, count))
        },
    )?;
    Ok(())
}

fn ready(answer: i32) -> Poll<i32> {
    Poll::Ready(answer)
}

/// What the line has of the world, if it has any of it.
pub(super) fn world(guest: &mut Guest) -> Option<&mut super::line::World> {
    guest.line.as_mut()?.world.as_mut()
}

/// Does something with a stream and the guest's memory.
fn moved(
    caller: &mut Ctx<'_>,
    handle: u32,
    work: impl FnOnce(&Stream, &mut Context<'_>, &mut Memory<'_>) -> Poll<i32>,
) -> wasmtime::Result<i32> {
    let Ok((mut memory, guest)) = memory::split(caller) else { return Ok(BAD) };
    let Some((stream, waker)) = world(guest).and_then(|it| it.handles.with_ringer(handle)) else {
        return Ok(BAD);
    };
    Ok(match work(stream, &mut Context::from_waker(waker), &mut memory) {
        Poll::Ready(answer) => answer,
        Poll::Pending => AGAIN,
    })
}

fn answered(result: io::Result<usize>) -> i32 {
    match result {
        Ok(count) => i32::try_from(count).unwrap_or(i32::MAX),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => BROKEN,
        Err(_) => FAILED,
    }
}

/// A pipe that the guest opened by the name of a file becomes a handle, as every pipe is: so the guest need not wait
/// inside of WASI, where all of it would.
fn named(guest: &mut Guest, fd: u32) -> i32 {
    let (reader, writer) = match guest.descriptors.numbered(fd) {
        Ok(Numbered::PipeIn(reader)) => (Some(reader.clone()), None),
        Ok(Numbered::PipeOut(writer)) => (None, Some(writer.clone())),
        Ok(Numbered::PipeBoth(reader, writer)) => (Some(reader.clone()), Some(writer.clone())),
        _ => return BAD,
    };
    let Some(world) = world(guest) else { return BAD };
    world.handles.add(Stream::Pipe { reader, writer }).map_or_else(|why| why, u32::cast_signed)
}

/// Gives bytes of the last read back to where they came from.
fn unread(caller: &mut Ctx<'_>, handle: u32, (at, count): (u32, u32)) -> wasmtime::Result<i32> {
    let Ok((memory, guest)) = memory::split(caller) else { return Ok(BAD) };
    let Ok(bytes) = memory.bytes(at, count) else { return Ok(BAD) };
    Ok(match world(guest).and_then(|it| it.handles.giving_back(handle, bytes.len())) {
        Some(Stream::In(source)) => {
            source.unread(bytes);
            0
        }
        Some(Stream::Pipe { reader: Some(reader), .. }) => {
            reader.unread(bytes);
            0
        }
        _ => BAD,
    })
}
