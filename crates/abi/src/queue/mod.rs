//! `queue.*`: messages by topic, first in, first out. A request is a JSON object, or one of these types for callers in this
//! process; an answer is a JSON value.
//!
//! What is polled is taken for good. What is leased is hidden until the lease ends, and comes again unless it was
//! acknowledged; a receipt names one lease of one message.

mod messages;
mod text;

use std::{fmt, str::FromStr};

use drydock_contract::{Denial, port::LeaseId};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{
    broker::{self, Blob},
    listing::Listing,
};

pub use messages::Messages;
pub use text::OPERATIONS;

/// Adds messages.
pub const PUBLISH: &str = "queue.publish";
/// Takes messages.
pub const POLL: &str = "queue.poll";
/// Takes messages until they are acknowledged.
pub const LEASE: &str = "queue.lease";
/// Acknowledges leases.
pub const ACK: &str = "queue.ack";
/// Gives leased messages back.
pub const NACK: &str = "queue.nack";
/// How many messages there are.
pub const DEPTH: &str = "queue.depth";
/// Looks at messages.
pub const PEEK: &str = "queue.peek";
/// Lists topics.
pub const TOPICS: &str = "queue.topics";

/// The longest name of a topic, in bytes.
pub const TOPIC_BYTES_MAX: usize = 256;
/// The longest message, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 256 << 10;
/// Messages of one request or answer.
pub const BATCH_MAX: u32 = 256;
/// Bytes of the messages of one request or answer.
pub const BATCH_BYTES_MAX: usize = 1 << 20;
/// The longest request with messages: characters that JSON spells with six, and what is said beside them.
pub const PUBLISH_REQUEST_BYTES_MAX: u64 = 6 * BATCH_BYTES_MAX as u64 + (64 << 10);
/// The longest request without messages.
pub const REQUEST_BYTES_MAX: u64 = 64 << 10;
/// The longest answer, likewise.
pub const REPLY_BYTES_MAX: u64 = PUBLISH_REQUEST_BYTES_MAX;
/// How long one request waits for a message.
pub const WAIT_MS_MAX: u64 = 60_000;
/// How long a lease lasts if it is not said.
pub const LEASE_MS: u64 = 30_000;
/// How long it lasts at most, and how far away a message that is given back can be seen again.
pub const LEASE_MS_MAX: u64 = 12 * 3_600_000;
/// How often a message is leased before it is dead, if it is not said.
pub const ATTEMPTS: u32 = 5;
/// How often at most.
pub const ATTEMPTS_MAX: u32 = 1_000;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueRequest {
    /// To add messages.
    Publish(Publish),
    /// To take some.
    Poll(Poll),
    /// To lease some.
    Lease(Lease),
    /// To acknowledge leases.
    Ack(Ack),
    /// To give messages back.
    Nack(Nack),
    /// How many there are.
    Depth(Depth),
    /// To look at the first of them.
    Peek(Peek),
    /// Which topics there are.
    Topics(Listing),
}

/// `queue.publish`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publish {
    /// Where.
    pub topic: String,
    /// What, in this order.
    pub messages: Messages,
}

/// `queue.poll`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Poll {
    /// Where.
    pub topic: String,
    /// How many at most.
    #[serde(default = "one")]
    pub max: u32,
    /// How long to wait if there is none.
    #[serde(default)]
    pub wait_ms: u64,
    /// Bytes of all of them: whoever has little room says so, and a message that is longer stays.
    #[serde(skip)]
    pub bytes_max: Option<u64>,
}

/// `queue.lease`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    /// Where.
    pub topic: String,
    /// How many at most.
    #[serde(default = "one")]
    pub max: u32,
    /// How long to wait if there is none.
    #[serde(default)]
    pub wait_ms: u64,
    /// How long nobody else sees them.
    #[serde(default = "lease_ms")]
    pub visibility_ms: u64,
    /// How often each may be leased before it is dead.
    #[serde(default = "attempts")]
    pub attempts_max: u32,
}

/// `queue.ack`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ack {
    /// Where.
    pub topic: String,
    /// Which leases.
    pub receipts: Vec<Receipt>,
}

/// `queue.nack`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nack {
    /// Where.
    pub topic: String,
    /// Which leases.
    pub receipts: Vec<Receipt>,
    /// After how long they are to be seen again.
    #[serde(default)]
    pub visibility_ms: u64,
}

/// `queue.depth`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Depth {
    /// Where.
    pub topic: String,
}

/// `queue.peek`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peek {
    /// Where.
    pub topic: String,
    /// How many at most.
    #[serde(default = "one")]
    pub max: u32,
}

const fn one() -> u32 {
    1
}

const fn lease_ms() -> u64 {
    LEASE_MS
}

const fn attempts() -> u32 {
    ATTEMPTS
}

impl<'de> Deserialize<'de> for Publish {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Wire {
            topic: String,
            #[serde(default)]
            message: Option<Blob>,
            #[serde(default)]
            messages: Option<Messages>,
        }
        let Wire { topic, message, messages } = Wire::deserialize(from)?;
        let messages = match (message, messages) {
            (Some(one), None) => Messages::one(&one.0),
            (None, Some(messages)) => messages,
            _ => return Err(D::Error::custom("either `message` or `messages` says what is published")),
        };
        Ok(Self { topic, messages })
    }
}

/// One lease of one message, as `MESSAGE.ATTEMPT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Receipt(pub LeaseId);

/// The text is no receipt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is no receipt")]
pub struct BadReceipt;

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0.message, self.0.attempt)
    }
}

impl FromStr for Receipt {
    type Err = BadReceipt;

    fn from_str(text: &str) -> Result<Self, BadReceipt> {
        let (message, attempt) = text.split_once('.').ok_or(BadReceipt)?;
        let lease = LeaseId {
            message: message.parse().map_err(|_| BadReceipt)?,
            attempt: attempt.parse().map_err(|_| BadReceipt)?,
        };
        // One text for each: what is written otherwise was not made here.
        let receipt = Self(lease);
        if receipt.to_string() == text { Ok(receipt) } else { Err(BadReceipt) }
    }
}

impl Serialize for Receipt {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Receipt {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum QueueValue {
    /// To `queue.publish`.
    Published(Published),
    /// To `queue.poll`, `queue.lease` and `queue.peek`.
    Messages(Told),
    /// To `queue.ack` and `queue.nack`.
    Settled(Settled),
    /// To `queue.depth`.
    Depth(Deep),
    /// To `queue.topics`.
    Topics(TopicList),
}

/// They are there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// How many came.
    pub published: u64,
    /// How many the topic has now.
    pub depth: u64,
}

/// Messages, the first first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    /// At least one, but where it was only looked.
    pub messages: Vec<Message>,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Its bytes.
    pub message: Blob,
    /// When it was published.
    pub published_ms: u64,
    /// Of a leased one, which of its leases this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// Of a leased one, what it is acknowledged by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Receipt>,
}

/// Leases that were ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settled {
    /// How many were.
    pub settled: u64,
    /// Those that there were not: their time was over and somebody else took the message, or they were ended before.
    pub unknown: Vec<Receipt>,
}

/// How many messages a topic has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deep {
    /// All of them.
    pub depth: u64,
    /// Those that are leased or not to be seen yet.
    pub hidden: u64,
}

/// Topics, sorted by their bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TopicList {
    /// What there is.
    pub topics: Vec<Topic>,
    /// Where to go on; nothing at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A topic that has messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topic {
    /// Its name.
    pub topic: String,
    /// How many it has.
    pub depth: u64,
}

impl QueueRequest {
    /// Reads one.
    pub fn decode(operation: &str, payload: &[u8]) -> Result<Self, Denial> {
        match operation {
            PUBLISH => broker::parse(operation, payload).map(Self::Publish),
            POLL => broker::parse(operation, payload).map(Self::Poll),
            LEASE => broker::parse(operation, payload).map(Self::Lease),
            ACK => broker::parse(operation, payload).map(Self::Ack),
            NACK => broker::parse(operation, payload).map(Self::Nack),
            DEPTH => broker::parse(operation, payload).map(Self::Depth),
            PEEK => broker::parse(operation, payload).map(Self::Peek),
            TOPICS => broker::parse(operation, payload).map(Self::Topics),
            other => Err(Denial::Malformed(format!("`{}` is no operation of queue", other.escape_debug()))),
        }
    }
}

#[cfg(test)]
mod tests;
