//! Which topics there can be, and how much goes into one request.

use std::sync::Arc;

use drydock_abi::{
    listing::ROWS_MAX,
    queue::{
        ATTEMPTS_MAX, BATCH_BYTES_MAX, BATCH_MAX, LEASE_MS_MAX, MESSAGE_BYTES_MAX, Messages, QueueRequest,
        TOPIC_BYTES_MAX, WAIT_MS_MAX,
    },
};
use drydock_contract::{Cap, Denial};
use drydock_gate::Refused;

use super::request::subject;
use crate::program::{all, short};

pub(super) const INVALID_TOPIC: &str = "invalid_topic";
pub(super) const MESSAGE_TOO_LARGE: &str = "message_too_large";
pub(super) const QUEUE_FULL: &str = "queue_full";
pub(super) const TENANT_FULL: &str = "tenant_full";

/// What is put behind a topic's name for its dead: a topic that is published to leaves room for it.
const DEAD_BYTES: usize = ".dead".len();

/// A request that may be carried out.
pub struct Ready {
    pub(super) request: QueueRequest,
    pub(super) label: Arc<str>,
}

pub(super) fn bound(code: &'static str, why: String) -> Denial {
    Denial::ByPower { cap: Cap::Queue, code, why }
}

pub(super) fn check(request: QueueRequest) -> Result<Ready, Refused> {
    let label = match &request {
        QueueRequest::Topics(topics) => all(topics.prefix()),
        other => short(subject(other)),
    };
    match within_bounds(&request) {
        Ok(()) => Ok(Ready { request, label }),
        Err(denial) => Err(Refused { denial, subjects: label.into() }),
    }
}

fn within_bounds(request: &QueueRequest) -> Result<(), Denial> {
    if let QueueRequest::Topics(topics) = request {
        if topics.prefix().len() > TOPIC_BYTES_MAX {
            return Err(bad_topic(topics.prefix().len(), 0, TOPIC_BYTES_MAX));
        }
        return between("limit", topics.limit.into(), 1, ROWS_MAX.into());
    }
    let most = match request {
        QueueRequest::Publish(_) => TOPIC_BYTES_MAX - DEAD_BYTES,
        _ => TOPIC_BYTES_MAX,
    };
    let bytes = subject(request).len();
    if !(1..=most).contains(&bytes) {
        return Err(bad_topic(bytes, 1, most));
    }
    let batch = |max: u32| between("max", max.into(), 1, BATCH_MAX.into());
    let wait = |wait_ms| between("wait_ms", wait_ms, 0, WAIT_MS_MAX);
    let receipts = |count: usize| between("receipts", count as u64, 1, BATCH_MAX.into());
    match request {
        QueueRequest::Publish(it) => messages(&it.messages),
        QueueRequest::Poll(it) => batch(it.max).and(wait(it.wait_ms)),
        QueueRequest::Lease(it) => {
            let lasts = between("visibility_ms", it.visibility_ms, 1, LEASE_MS_MAX);
            let attempts = between("attempts_max", it.attempts_max.into(), 1, ATTEMPTS_MAX.into());
            batch(it.max).and(wait(it.wait_ms)).and(lasts).and(attempts)
        }
        QueueRequest::Ack(it) => receipts(it.receipts.len()),
        QueueRequest::Nack(it) => {
            receipts(it.receipts.len()).and(between("visibility_ms", it.visibility_ms, 0, LEASE_MS_MAX))
        }
        QueueRequest::Peek(it) => batch(it.max),
        QueueRequest::Depth(_) | QueueRequest::Topics(_) => Ok(()),
    }
}

fn messages(all: &Messages) -> Result<(), Denial> {
    between("messages", all.len() as u64, 1, BATCH_MAX.into())?;
    if let Some(long) = all.iter().map(<[u8]>::len).find(|it| *it > MESSAGE_BYTES_MAX) {
        let why = format!("a message of {long} bytes exceeds the limit of {MESSAGE_BYTES_MAX}");
        return Err(bound(MESSAGE_TOO_LARGE, why));
    }
    if all.bytes() > BATCH_BYTES_MAX {
        let bytes = all.bytes();
        let why = format!("messages of {bytes} bytes together exceed the limit of {BATCH_BYTES_MAX}");
        return Err(bound(MESSAGE_TOO_LARGE, why));
    }
    Ok(())
}

fn bad_topic(bytes: usize, least: usize, most: usize) -> Denial {
    bound(INVALID_TOPIC, format!("a topic of {bytes} bytes is none; it has {least} to {most}"))
}

fn between(name: &str, it: u64, least: u64, most: u64) -> Result<(), Denial> {
    match (least..=most).contains(&it) {
        true => Ok(()),
        false => Err(Denial::Malformed(format!("`{name}` is {least} to {most}, and not {it}"))),
    }
}
