//! `alga.http.fetch`: asks at the door, and puts the answer where the guest's own `alloc` says.
//!
//! Everything that the guest could have got wrong about its memory is looked at before anything is sent: a breach ends it,
//! and no request was made. What the network did is a return code. The answer is the guest's to free.

use std::sync::Arc;

use drydock_abi::fetch::{
    FETCH, FETCH_REQUEST_BYTES_MAX, FETCHES_MAX, FailureKind, FetchAnswer, Fetched, answer_json, failure_of,
};
use drydock_contract::{Call, Streams};
use wasmtime::Caller;

use super::place::{Breaches, TUPLE_BYTES, place, refuse_again};
use crate::{
    guest::{Guest, breathe},
    memory,
    outcome::Stop,
    wait::wait_for_others,
};

/// The answer is there.
const FETCHED: i32 = 0;

const BREACHES: Breaches = Breaches {
    range: "http.fetch: the request or the tuple is not in the guest's memory",
    place: "http.fetch: `alloc` answered no place for the answer",
    again: "http.fetch: called from `alloc`, which was asked for the place of an answer",
};
const BREACH: Stop = Stop::Breach(BREACHES.range);

pub(super) async fn fetch(
    caller: &mut Caller<'_, Guest>,
    at: u32,
    count: u32,
    out: u32,
) -> wasmtime::Result<i32> {
    refuse_again(caller, BREACHES)?;
    breathe(caller).await?;
    let (memory, guest) = memory::split(caller).map_err(|_| BREACH)?;
    let Ok(request) = memory.bytes(at, count) else { return Err(BREACH.into()) };
    if memory.bytes(out, TUPLE_BYTES).is_err() {
        return Err(BREACH.into());
    }
    let door = Arc::clone(&guest.door);
    // More than is read of one stays where it is: then it is refused by its size alone, and on record.
    if u64::from(count) > FETCH_REQUEST_BYTES_MAX {
        let refused = door.dispatch(Call::oversized(FETCH, count.into())).await;
        return Ok(refused.err().map_or(FailureKind::TooLarge, |error| failure_of(&error).kind) as i32);
    }
    if guest.fetches == FETCHES_MAX {
        return Ok(FailureKind::Quota as i32);
    }
    guest.fetches += 1;
    let request = request.to_vec();
    let call = Call::new(FETCH, &request, Streams::default()).answered_typed();
    let answer = wait_for_others(caller, door.dispatch(call)).await;
    let fetched = match answer.map(|mut reply| reply.value::<FetchAnswer>()) {
        Ok(Some(Ok(fetched))) => fetched,
        Ok(Some(Err(failure))) => return Ok(failure.kind as i32),
        Ok(None) => return Ok(FailureKind::Transport as i32),
        Err(error) => return Ok(failure_of(&error).kind as i32),
    };
    drop(request);
    hand_over(caller, out, fetched).await
}

/// Hands the answer over.
async fn hand_over(caller: &mut Caller<'_, Guest>, out: u32, fetched: Fetched) -> wasmtime::Result<i32> {
    let json = answer_json(&fetched);
    drop(fetched);
    match place(caller, out, &json, BREACHES).await? {
        true => Ok(FETCHED),
        false => Ok(FailureKind::TooLarge as i32),
    }
}
