//! Where an answer goes: a place that the guest's own `alloc` says, and the place to the words that the guest named.

use wasmtime::{Caller, TypedFunc};

use crate::{
    guest::{Guest, Held},
    memory,
    outcome::Stop,
};

/// The words that an answer's place is told in.
pub(super) const TUPLE_BYTES: u32 = 8;

/// What a guest is ended with that broke its side.
#[derive(Clone, Copy)]
pub(super) struct Breaches {
    /// The request or the tuple is not in its memory.
    pub(super) range: &'static str,
    /// It has no place for the answer.
    pub(super) place: &'static str,
    /// It asked for one more answer while it was asked where to put one.
    pub(super) again: &'static str,
}

/// Refuses what `alloc` asks for while it is asked for a place. Each call of the guest from inside one of its own has a stack
/// of the pool to itself, and nothing else bounds how many of them there would be.
pub(super) fn refuse_again(caller: &Caller<'_, Guest>, breaches: Breaches) -> Result<(), Stop> {
    match caller.data().placing {
        true => Err(Stop::Breach(breaches.again)),
        false => Ok(()),
    }
}

/// Writes the answer to a place of the guest's own, and the place to the tuple. Its memory may have moved meanwhile. False
/// if the guest has no memory left for it.
pub(super) async fn place(
    caller: &mut Caller<'_, Guest>,
    out: u32,
    answer: &[u8],
    breaches: Breaches,
) -> wasmtime::Result<bool> {
    let no_place = || Stop::Breach(breaches.place);
    let bytes = u32::try_from(answer.len()).map_err(|_| no_place())?;
    // What the host holds of it until it is copied counts as the guest's, which has to have room for it anyway.
    let Some(held) = Held::take(&caller.data().meter, u64::from(bytes)) else { return Ok(false) };
    let alloc = alloc_of(caller).ok_or_else(no_place)?;
    caller.data_mut().placing = true;
    let at = alloc.call_async(&mut *caller, bytes).await;
    caller.data_mut().placing = false;
    let at = at?;
    if at == 0 {
        return Err(no_place().into());
    }
    let (mut memory, _) = memory::split(caller).map_err(|_| no_place())?;
    memory.put(at, answer).map_err(|_| no_place())?;
    let tuple = [at.to_le_bytes(), bytes.to_le_bytes()].concat();
    memory.put(out, &tuple).map_err(|_| Stop::Breach(breaches.range))?;
    drop(held);
    Ok(true)
}

/// The guest's allocator. A start function runs before its instance is known, and asks the instance that calls.
fn alloc_of(caller: &mut Caller<'_, Guest>) -> Option<TypedFunc<u32, u32>> {
    let known = caller.data().alloc;
    let alloc = match known {
        Some(alloc) => alloc,
        None => caller.get_export("alloc")?.into_func()?,
    };
    alloc.typed(&*caller).ok()
}
