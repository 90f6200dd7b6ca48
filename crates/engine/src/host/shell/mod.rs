//! The door of the shell's guest (`drydock_abi::shell`): commands with their streams, pipes, and one wait for whatever
//! happens first. Only a module that is linked as a shell has these imports; no grant gives them to anybody else.
//!
//! The guest is as hostile as any. What it names is looked up among what this line has, every range is checked, and what
//! it holds here is on its bill and limited in number. What does little and never waits does not look at the clock: the
//! guest's own code, without which there is no next call, is interrupted by it.

mod ask;
mod bell;
mod file;
mod handle;
mod inside;
mod line;
mod stage;
mod streams;
mod wait;

use drydock_abi::shell::{BAD, FAILED, SPACE};
use wasmtime::{Caller, Linker, Module};

use crate::{
    guest::{Guest, Held},
    memory,
};

pub(crate) use line::Line;

type Ctx<'a> = Caller<'a, Guest>;

/// Links all of it.
pub(crate) fn link(linker: &mut Linker<Guest>, _: &Module) -> wasmtime::Result<()> {
    linker.func_wrap(SPACE, "take", |mut caller: Ctx<'_>, at: u32, count: u32| -> i32 {
        let Ok((mut memory, guest)) = memory::split(&mut caller) else { return BAD };
        let Some(line) = &mut guest.line else { return BAD };
        let input = std::mem::take(&mut line.input);
        if input.len() != count as usize || memory.put(at, &input).is_err() {
            return BAD;
        }
        0
    })?;
    linker.func_wrap(
        SPACE,
        "answer",
        |mut caller: Ctx<'_>, at: u32, count: u32| -> wasmtime::Result<i32> {
            let Ok((memory, guest)) = memory::split(&mut caller) else { return Ok(BAD) };
            let (Some(line), Ok(bytes)) = (&mut guest.line, memory.bytes(at, count)) else { return Ok(BAD) };
            if bytes.len() > drydock_abi::shell::MESSAGE_BYTES_MAX {
                return Ok(BAD);
            }
            // The host holds a copy until the call is over, which is up to the guest.
            line.answer = None;
            // One that there is no room for may be tried again shorter, without what the shell keeps.
            let Some(held) = Held::take(&guest.meter, u64::from(count)) else { return Ok(FAILED) };
            line.answer = Some((bytes.to_vec(), held));
            Ok(0)
        },
    )?;
    streams::link(linker)?;
    stage::link(linker)?;
    wait::link(linker)?;
    ask::link(linker)
}
