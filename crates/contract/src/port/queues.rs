//! Messages by topic, first in, first out, each tenant's its own.
//!
//! A message is taken for good, or leased: then it is hidden until a moment, and there again unless whoever has it says that
//! it is done. One that was leased too often goes to the topic for the dead, `TOPIC.dead`.

use super::LedgerError;
use crate::{BoxFuture, Tenant, Timestamp};

/// Keeps messages. Whoever asks says what time it is. What was answered survives the machine.
pub trait Queues: Send + Sync {
    /// Adds messages behind those that are there, all of them or none.
    fn publish<'a>(
        &'a self,
        tenant: &'a Tenant,
        topic: &'a str,
        messages: Vec<Vec<u8>>,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Result<TopicDepth, QueueRefusal>, LedgerError>>;

    /// Takes the first messages that can be seen; none is an empty list. Messages of an answer that nobody waits for any
    /// more are put back.
    fn take<'a>(
        &'a self,
        tenant: &'a Tenant,
        topic: &'a str,
        taking: Taking,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Result<Vec<QueueMessage>, QueueRefusal>, LedgerError>>;

    /// Ends leases, and says of each whether there was such a one.
    fn settle<'a>(
        &'a self,
        tenant: &'a Tenant,
        topic: &'a str,
        leases: Vec<LeaseId>,
        settling: Settling,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Vec<bool>, LedgerError>>;

    /// The first messages that can be seen, which stay where they are.
    fn peek<'a>(
        &'a self,
        tenant: &'a Tenant,
        topic: &'a str,
        messages_max: usize,
        bytes_max: u64,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Vec<QueueMessage>, LedgerError>>;

    /// How many messages a topic has.
    fn depth<'a>(
        &'a self,
        tenant: &'a Tenant,
        topic: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<TopicDepth, LedgerError>>;

    /// Topics that have messages and begin so, sorted, those behind `after` and no more than `rows_max`.
    fn topics<'a>(
        &'a self,
        tenant: &'a Tenant,
        prefix: &'a str,
        after: Option<&'a str>,
        rows_max: usize,
    ) -> BoxFuture<'a, Result<Vec<(String, u64)>, LedgerError>>;

    /// Ready when something may have come to a topic through this process. What other processes publish is not heard.
    fn arrival(&self, tenant: &Tenant, topic: &str) -> BoxFuture<'static, ()>;
}

/// How messages are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taking {
    /// How many at most.
    pub messages_max: usize,
    /// Bytes of all of them at most.
    pub bytes_max: u64,
    /// What becomes of them.
    pub lease: Option<Leasing>,
}

/// What a lease is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leasing {
    /// Until when nobody else sees the message.
    pub until: Timestamp,
    /// How often it may be leased before it is dead.
    pub attempts_max: u32,
}

/// What becomes of messages whose lease ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settling {
    /// They are done.
    Done,
    /// They are to be seen again from then on.
    Again(Timestamp),
}

/// One lease of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LeaseId {
    /// Which message.
    pub message: u64,
    /// Which of its leases.
    pub attempt: u32,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueMessage {
    /// Its number: messages of a tenant are numbered as they come.
    pub id: u64,
    /// How often it was leased, this time included.
    pub attempt: u32,
    /// When it was published.
    pub published: Timestamp,
    /// Its bytes.
    pub body: Vec<u8>,
}

/// How many messages a topic has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TopicDepth {
    /// All of them.
    pub messages: u64,
    /// Those that cannot be seen now.
    pub hidden: u64,
}

/// Why nothing was added or taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueRefusal {
    /// The topic would have more messages than it may.
    TopicFull {
        /// How many that are.
        max: u64,
    },
    /// The tenant would.
    TenantFull {
        /// How many that are.
        max: u64,
    },
    /// All that is kept for the tenant is as large as it may be.
    NoRoom {
        /// Bytes on disk.
        bytes_max: u64,
    },
    /// The first message alone is longer than whoever asks takes. It stays.
    TooLong {
        /// How long it is.
        bytes: u64,
    },
}
