//! One wait for whatever happens first: a command that ended, a handle that is worth another try, a shell that a command
//! starts.

use std::task::{Context, Poll};

use drydock_abi::shell::{BAD, BLOCK, Event, SLICE, SPACE};
use drydock_contract::schedule;
use wasmtime::Linker;

use super::{
    Ctx,
    line::{Happened, Untold, World},
    streams::world,
};
use crate::{
    guest::{Guest, breathe},
    host::open::{Open, Step},
    memory::{self, Memory},
    wait::{beside, wait_for},
};

/// Events that are told at a time; the length of such a list is one byte.
const EVENTS_MAX: usize = 64;

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async(SPACE, "wait", |mut caller: Ctx<'_>, (how, at, count): (u32, u32, u32)| {
        Box::new(async move { wait(&mut caller, how, (at, count)).await })
    })?;
    Ok(())
}

impl World {
    /// A command ended; one that the guest ended itself is not told of.
    pub(super) fn happened(&mut self, (number, ended): Happened) {
        self.running.remove(&number);
        if let Some((ended, held)) = ended {
            self.events.push_back(Untold::new(&Event::Ended(number, ended), Some(held)));
        }
    }

    /// What came of the world beside the commands: shells that they start, handles that are worth another try.
    fn note(&mut self, cx: &mut Context<'_>) {
        while let Poll::Ready(shell) = self.desk.poll_inside(cx) {
            self.begin_inside(shell);
        }
        if self.desk.take_interrupt() {
            self.events.push_back(Untold::new(&Event::Interrupted, None));
        }
        let rung = self.handles.bell().take(cx.waker());
        self.events.extend(rung.into_iter().map(|it| Untold::new(&Event::Ready(it), None)));
    }

    /// Moves on whatever can move; ready when the guest is to go on. By a clock that is not the real one, the guest hears
    /// of one thing at a time, and of nothing while anybody waits for the world: so its order is that of the turns.
    fn poll(&mut self, cx: &mut Context<'_>, block: bool) -> Poll<()> {
        self.note(cx);
        let is_in_order = self.open.as_ref().is_some_and(Open::is_in_order);
        while !is_in_order || self.events.is_empty() {
            let Some(open) = &mut self.open else { break };
            match open.step(cx) {
                Step::Ended(happened) => self.happened(happened),
                Step::Next => {}
                Step::Idle => break,
                Step::Slice if block => return Poll::Pending,
                Step::Slice => break,
                Step::World => return Poll::Pending,
            }
            if is_in_order {
                self.note(cx);
            }
        }
        self.note(cx);
        match block && self.events.is_empty() {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    }
}

/// The length of the events that were written; of one that does not fit, its length below zero.
async fn wait(caller: &mut Ctx<'_>, how: u32, (at, count): (u32, u32)) -> wasmtime::Result<i32> {
    breathe(caller).await?;
    if world(caller.data_mut()).is_none() {
        return Ok(BAD);
    }
    let block = how == BLOCK;
    if how == SLICE
        && let Some(clock) = caller.data().clock.stepped()
    {
        // The shell's tasks are in no schedule of the host's, which would do this for a part of its own.
        clock.lapse(schedule::SLICE);
    }
    let waits = caller.data().running.waits();
    wait_for(caller, |caller, cx| {
        let polled = beside(caller, |caller| match world(caller.data_mut()) {
            Some(world) if world.events.is_empty() => world.poll(cx, block),
            _ => Poll::Ready(()),
        });
        if polled.is_ready() {
            schedule::goes_on();
        }
        polled
    })
    .await;
    drop(waits);
    let Ok((mut memory, guest)) = memory::split(caller) else { return Ok(BAD) };
    let Some(world) = world(guest) else { return Ok(BAD) };
    let Some(first) = world.events.front() else { return Ok(told(&mut memory, (at, count), &[0])) };
    let least = 1 + first.bytes.len();
    if least > count as usize {
        return Ok(i32::try_from(least).map_or(BAD, |it| -it));
    }
    // As many as there is room for, and no more is looked at.
    let (mut bytes, mut some) = (vec![0], 0);
    for it in world.events.iter().take(EVENTS_MAX) {
        if bytes.len() + it.bytes.len() > count as usize {
            break;
        }
        bytes.extend_from_slice(&it.bytes);
        some += 1;
    }
    bytes[0] = some as u8;
    let answer = told(&mut memory, (at, count), &bytes);
    if answer != BAD {
        world.events.drain(..some);
    }
    Ok(answer)
}

/// Puts a list of events where the guest wants it: its length, or below zero what it would take.
fn told(memory: &mut Memory<'_>, (at, count): (u32, u32), bytes: &[u8]) -> i32 {
    let length = i32::try_from(bytes.len()).unwrap_or(BAD);
    if bytes.len() > count as usize {
        return -length;
    }
    match memory.put(at, bytes) {
        Ok(()) => length,
        Err(_) => BAD,
    }
}
