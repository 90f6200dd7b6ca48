//! Messages of the tenant, for whoever manages them or works on them from outside. Each request is a call at the gate, on
//! record under the caller's name. A topic without messages is none.

use drydock_embed::{
    listing::{Listing, ROWS_MAX},
    queue::{
        ACK, ATTEMPTS, ATTEMPTS_MAX, Ack, BATCH_MAX, DEPTH, Depth, LEASE, LEASE_MS, LEASE_MS_MAX, Lease,
        MESSAGE_BYTES_MAX, Message, Messages, NACK, Nack, PEEK, POLL, PUBLISH, Peek, Poll, Publish,
        QueueRequest, QueueValue, Receipt, TOPICS, WAIT_MS_MAX,
    },
};
use serde::Deserialize;

use super::{
    kept::{asked, kept, long, whole},
    off_thread,
};
use crate::{
    ask::{Answer, Ask},
    error::ApiError,
    json,
};

/// The largest body that names receipts.
const RECEIPTS_BYTES_MAX: u64 = 64 << 10;

/// A body that names leases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    receipts: Vec<Receipt>,
    #[serde(default)]
    visibility_ms: u64,
}

/// Bytes of an answer to a look: behind them the messages stay for another.
const PEEK_BYTES_MAX: usize = 1 << 20;

/// Asks once it is the tenant's turn, which lasts as long as it waits for messages.
async fn asked_for(ask: &Ask, operation: &str, request: QueueRequest) -> Result<QueueValue, ApiError> {
    let _turn = ask.turn().await?;
    asked(kept(ask)?.ask_queue(operation, request).await)
}

fn topic(ask: &Ask) -> String {
    ask.found("topic").to_owned()
}

fn batch(given: Option<String>) -> Result<u32, ApiError> {
    let number = whole("max", given, u64::from(BATCH_MAX))?.unwrap_or(1);
    Ok(u32::try_from(number).unwrap_or(BATCH_MAX))
}

/// `GET /v1/queues?prefix=P&after=T&limit=N`.
pub(crate) async fn topics(ask: Ask) -> Answer {
    let [prefix, after, limit] = ask.parameters(["prefix", "after", "limit"])?;
    let limit = whole("limit", limit, u64::from(ROWS_MAX))?.unwrap_or(u64::from(ROWS_MAX));
    let listing = Listing::new(prefix.unwrap_or_default(), after, u32::try_from(limit).unwrap_or(ROWS_MAX));
    long(asked_for(&ask, TOPICS, QueueRequest::Topics(listing)).await?).await
}

/// How deep a topic is; one without messages is none.
async fn deep(ask: &Ask) -> Result<QueueValue, ApiError> {
    match asked_for(ask, DEPTH, QueueRequest::Depth(Depth { topic: topic(ask) })).await? {
        QueueValue::Depth(deep) if deep.depth == 0 => Err(ApiError::absent("topic")),
        deep => Ok(deep),
    }
}

/// `GET /v1/queues/{topic}`: how many messages it has.
pub(crate) async fn depth(ask: Ask) -> Answer {
    ask.parameters([])?;
    Ok(json::ok(&deep(&ask).await?))
}

/// `POST /v1/queues/{topic}/messages`: the body is a message.
pub(crate) async fn publish(mut ask: Ask) -> Answer {
    ask.parameters([])?;
    let body = ask.body(MESSAGE_BYTES_MAX as u64).await?;
    let publish = Publish { topic: topic(&ask), messages: Messages::one(&body) };
    Ok(json::ok(&asked_for(&ask, PUBLISH, QueueRequest::Publish(publish)).await?))
}

/// `GET /v1/queues/{topic}/messages?max=N`: the first messages, as many as an answer has room for; they stay.
pub(crate) async fn peek(ask: Ask) -> Answer {
    let [max] = ask.parameters(["max"])?;
    let max = batch(max)?;
    deep(&ask).await?;
    let mut seen = asked_for(&ask, PEEK, QueueRequest::Peek(Peek { topic: topic(&ask), max })).await?;
    off_thread::<_, ApiError>(move || {
        if let QueueValue::Messages(told) = &mut seen {
            let mut left = PEEK_BYTES_MAX;
            let fits = |it: &Message| {
                let spelled = serde_json::to_vec(it).map_or(0, |it| it.len());
                left = left.checked_sub(spelled)?;
                Some(())
            };
            let fitting = told.messages.iter().map_while(fits).count();
            told.messages.truncate(fitting.max(1));
        }
        Ok(json::ok(&seen))
    })
    .await
}

/// `POST /v1/queues/{topic}/poll?max=N&wait_ms=N`: takes messages for good.
pub(crate) async fn poll(ask: Ask) -> Answer {
    let [max, wait_ms] = ask.parameters(["max", "wait_ms"])?;
    let wait_ms = ask.caller.wait_ms(whole("wait_ms", wait_ms, WAIT_MS_MAX)?)?;
    let poll = Poll { topic: topic(&ask), max: batch(max)?, wait_ms, bytes_max: None };
    long(asked_for(&ask, POLL, QueueRequest::Poll(poll)).await?).await
}

/// `POST /v1/queues/{topic}/lease?max=N&wait_ms=N&visibility_ms=N&attempts_max=N`.
pub(crate) async fn lease(ask: Ask) -> Answer {
    let [max, wait_ms, lasts, attempts] =
        ask.parameters(["max", "wait_ms", "visibility_ms", "attempts_max"])?;
    let attempts = whole("attempts_max", attempts, u64::from(ATTEMPTS_MAX))?.unwrap_or(u64::from(ATTEMPTS));
    let lease = Lease {
        topic: topic(&ask),
        max: batch(max)?,
        wait_ms: ask.caller.wait_ms(whole("wait_ms", wait_ms, WAIT_MS_MAX)?)?,
        visibility_ms: whole("visibility_ms", lasts, LEASE_MS_MAX)?.unwrap_or(LEASE_MS),
        attempts_max: u32::try_from(attempts).unwrap_or(ATTEMPTS_MAX),
    };
    long(asked_for(&ask, LEASE, QueueRequest::Lease(lease)).await?).await
}

/// `POST /v1/queues/{topic}/ack`: leased messages are done.
pub(crate) async fn ack(mut ask: Ask) -> Answer {
    ask.parameters([])?;
    deep(&ask).await?;
    let Named { receipts, .. } = ask.json(RECEIPTS_BYTES_MAX).await?;
    let ack = Ack { topic: topic(&ask), receipts };
    Ok(json::ok(&asked_for(&ask, ACK, QueueRequest::Ack(ack)).await?))
}

/// `POST /v1/queues/{topic}/nack`: leased messages go back.
pub(crate) async fn nack(mut ask: Ask) -> Answer {
    ask.parameters([])?;
    deep(&ask).await?;
    let Named { receipts, visibility_ms } = ask.json(RECEIPTS_BYTES_MAX).await?;
    let nack = Nack { topic: topic(&ask), receipts, visibility_ms };
    Ok(json::ok(&asked_for(&ask, NACK, QueueRequest::Nack(nack)).await?))
}
