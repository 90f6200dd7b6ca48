//! `env.host_publish(topic, topic_len, msg, msg_len) -> 0`, and `env.host_poll(topic, topic_len, out, out_cap) -> n`; -1 where
//! there is no answer, and `env.host_error` tells the code (`empty`, where there is no message).
//!
//! A message that does not fit, or whose place is not in the guest's memory, stays in the queue: that is looked at before it
//! is taken.

use drydock_abi::queue::{
    Messages, POLL, PUBLISH, PUBLISH_REQUEST_BYTES_MAX, Poll, Publish, QueueRequest, QueueValue,
    REQUEST_BYTES_MAX,
};
use wasmtime::{Caller, Linker};

use super::{
    broker::{ask, copy, text},
    reply::{REFUSED, give, refuse, room},
};
use crate::{guest::Guest, memory};

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        "env",
        "host_publish",
        |mut caller: Caller<'_, Guest>, (topic, topic_len, at, count): (u32, u32, u32, u32)| {
            Box::new(async move { publish(&mut caller, (topic, topic_len), (at, count)).await })
        },
    )?;
    linker.func_wrap_async(
        "env",
        "host_poll",
        |mut caller: Caller<'_, Guest>, (topic, topic_len, out, cap): (u32, u32, u32, u32)| {
            Box::new(async move { poll(&mut caller, (topic, topic_len), out, cap).await })
        },
    )?;
    Ok(())
}

async fn publish(
    caller: &mut Caller<'_, Guest>,
    topic: (u32, u32),
    message: (u32, u32),
) -> wasmtime::Result<i32> {
    let Some(taken) = copy(caller, PUBLISH, PUBLISH_REQUEST_BYTES_MAX, [topic, message]).await? else {
        return Ok(REFUSED);
    };
    let [topic, message] = taken.parts;
    let topic = match text(caller, PUBLISH, topic).await {
        Ok(topic) => topic,
        Err(refused) => return Ok(refused),
    };
    let publish = Publish { topic, messages: Messages::one(&message) };
    match ask::<QueueValue>(caller, PUBLISH, QueueRequest::Publish(publish), taken.bytes).await {
        Ok(_) => Ok(0),
        Err(refused) => Ok(refused),
    }
}

async fn poll(
    caller: &mut Caller<'_, Guest>,
    topic: (u32, u32),
    out: u32,
    cap: u32,
) -> wasmtime::Result<i32> {
    let cap = room(cap);
    let Some(taken) = copy(caller, POLL, REQUEST_BYTES_MAX, [topic]).await? else { return Ok(REFUSED) };
    let [topic] = taken.parts;
    let topic = match text(caller, POLL, topic).await {
        Ok(topic) => topic,
        Err(refused) => return Ok(refused),
    };
    let has_place = memory::split(caller).is_ok_and(|(memory, _)| memory.bytes(out, cap).is_ok());
    if !has_place {
        return Ok(refuse(caller, "bad_pointer"));
    }
    let poll = Poll { topic, max: 1, wait_ms: 0, bytes_max: Some(cap.into()) };
    match ask(caller, POLL, QueueRequest::Poll(poll), taken.bytes).await {
        Ok(QueueValue::Messages(told)) => match told.messages.first() {
            Some(first) => Ok(give(caller, out, cap, &first.message.0)),
            None => Ok(refuse(caller, "empty")),
        },
        Ok(_) => Ok(refuse(caller, "internal_error")),
        Err(refused) => Ok(refused),
    }
}
