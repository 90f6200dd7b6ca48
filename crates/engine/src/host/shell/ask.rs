//! Questions of the shell that have an answer at once.

use drydock_abi::shell::{
    BAD, CATCHES_INTERRUPT, COMMAND_NAMES, HAS_COMMAND, InsideEnd, LAST_LIMIT, NOT_FOUND, SPACE, WAS_CHANGED,
};
use drydock_contract::{
    Outcome,
    port::{FileLimit, TreePath},
    text,
};
use wasmtime::Linker;

use super::{Ctx, streams::world};
use crate::{
    guest::Guest,
    memory::{self, Memory},
};

/// Longest thing that is asked about.
const ASKED_BYTES_MAX: u32 = 64 << 10;

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap(
        SPACE,
        "ask",
        |mut caller: Ctx<'_>, what: u32, at: u32, count: u32, out: u32, cap: u32| -> wasmtime::Result<i32> {
            Ok(ask(&mut caller, what, (at, count), (out, cap)))
        },
    )?;
    linker.func_wrap(SPACE, "is_over", |mut caller: Ctx<'_>| -> i32 {
        world(caller.data_mut()).map_or(1, |it| i32::from(it.desk.is_over()))
    })?;
    linker.func_wrap(SPACE, "left", |mut caller: Ctx<'_>, level: u32| -> i64 {
        let clock = caller.data().clock.stepped().cloned();
        let inside = world(caller.data_mut()).and_then(|it| it.inside.get(&level));
        inside.map_or(0, |it| it.left_ms(clock.as_deref()))
    })?;
    linker.func_wrap(SPACE, "ended", |mut caller: Ctx<'_>, level: u32, kind: u32, status: i32| {
        let outcome = match InsideEnd::of(kind, status) {
            InsideEnd::Exited(status) => Outcome::Exited(status),
            InsideEnd::TimedOut => Outcome::TimedOut,
            InsideEnd::Cancelled => Outcome::Cancelled,
        };
        if let Some(world) = world(caller.data_mut()) {
            world.end_inside(level, outcome);
        }
    })?;
    Ok(())
}

fn ask(caller: &mut Ctx<'_>, what: u32, (at, count): (u32, u32), (out, cap): (u32, u32)) -> i32 {
    if count > ASKED_BYTES_MAX {
        return BAD;
    }
    let Ok((mut memory, guest)) = memory::split(caller) else { return BAD };
    let Ok(asked) = memory.bytes(at, count) else { return BAD };
    match what {
        CATCHES_INTERRUPT => {
            let catches = asked == [1];
            world(guest).map_or(BAD, |it| {
                it.desk.catches_interrupt(catches);
                0
            })
        }
        HAS_COMMAND => {
            let Ok(name) = std::str::from_utf8(asked) else { return 0 };
            world(guest).map_or(0, |it| i32::from(it.desk.has_command(name)))
        }
        NOT_FOUND => {
            let name = text::from_bytes(asked);
            let Some(said) = world(guest).map(|it| it.desk.not_found(&name)) else { return BAD };
            told(&mut memory, &said, (out, cap))
        }
        COMMAND_NAMES => {
            let Some(names) = world(guest).map(|it| it.desk.command_names()) else { return BAD };
            told(&mut memory, &names.join("\n"), (out, cap))
        }
        WAS_CHANGED => i32::from(was_changed(asked, guest).unwrap_or(true)),
        LAST_LIMIT => {
            let met = guest.quota.take();
            let number = met.and_then(|it| FileLimit::ALL.iter().position(|one| *one == it));
            number.and_then(|it| i32::try_from(it).ok()).unwrap_or(BAD)
        }
        _ => BAD,
    }
}

/// Writes as much of a text as there is room for.
fn told(memory: &mut Memory<'_>, text: &str, (out, cap): (u32, u32)) -> i32 {
    let text = &text.as_bytes()[..text.floor_char_boundary(cap as usize)];
    match memory.put(out, text) {
        Ok(()) => i32::try_from(text.len()).unwrap_or(BAD),
        Err(_) => BAD,
    }
}

/// Whether the line changed a file; nothing if it is not said of which.
fn was_changed(asked: &[u8], guest: &mut Guest) -> Option<bool> {
    let split = asked.iter().position(|byte| *byte == 0)?;
    let path = TreePath::new(&text::from_bytes(&asked[..split])).ok()?;
    let descriptor = std::str::from_utf8(&asked[split + 1..]).ok()?.parse().ok()?;
    let (file, ..) = guest.descriptors.shared_file(descriptor, true)?;
    let stat = file.stat();
    Some(world(guest)?.desk.was_changed(&path, stat))
}
