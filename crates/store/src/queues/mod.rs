//! Messages by topic in SQLite, one file for each tenant (`queue.sqlite`), which is made by the first message.
//!
//! Messages that come and go together are one commit (decision 0100). A message that was taken and whose taker is gone
//! before it was handed over goes back to its place: numbers are the order, and they are never given twice.

mod settle;
mod sql;
mod take;

use std::{
    hash::{BuildHasher as _, RandomState},
    path::PathBuf,
    sync::Arc,
};

use drydock_contract::{
    BoxFuture, Switch, Tenant, Timestamp,
    port::{LeaseId, LedgerError, QueueMessage, QueueRefusal, Queues, Settling, Taking, TopicDepth},
};

use crate::{
    Home, TenantHome,
    commits::{Commits, Shelf},
    key_values::Range,
    ledger::file::Kind,
};

/// The longest name of a topic, in bytes.
pub const TOPIC_BYTES_MAX: usize = 256;
/// What the topic for the dead is called after.
pub const DEAD: &str = ".dead";
/// Messages of one topic. Those for the dead have as many as the tenant.
pub const TOPIC_MESSAGES_MAX: u64 = 1_000;
/// Messages of one tenant.
pub const TENANT_MESSAGES_MAX: u64 = 50_000;
/// The file of one tenant.
pub const QUEUES_FILE_BYTES_MAX: u64 = 1 << 30;

static KIND: Kind = Kind {
    // The body comes last, so that whatever is known of a message is read without it.
    tables: "
CREATE TABLE mark (one INTEGER PRIMARY KEY CHECK (one = 1), next INTEGER NOT NULL, messages INTEGER NOT NULL) STRICT;
INSERT INTO mark VALUES (1, 1, 0);
CREATE TABLE topic (id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, messages INTEGER NOT NULL) STRICT;
CREATE TABLE message (
    id INTEGER PRIMARY KEY, topic INTEGER NOT NULL, visible INTEGER NOT NULL, is_leased INTEGER NOT NULL,
    attempts INTEGER NOT NULL, attempts_max INTEGER NOT NULL, published INTEGER NOT NULL, body BLOB NOT NULL
) STRICT;
CREATE INDEX message_topic ON message (topic, id);
",
    version: 1,
    logged: true,
    bytes_max: QUEUES_FILE_BYTES_MAX,
    checked: false,
    remedy: "the messages of this tenant cannot be had. Put a backup in its place; or move it away, which loses them",
};

static SHELF: Shelf =
    Shelf { kind: &KIND, path: TenantHome::queues_file, lock: "queue", open_max: 16, glances: false };

/// Groups of topics that hear of arrivals together.
const BELLS: usize = 64;

/// The messages of all tenants of a home. Any number of threads and processes may use it.
#[derive(Debug)]
pub struct SqliteQueues {
    commits: Commits,
    bells: Arc<Bells>,
    bytes_max: u64,
}

/// Who waits for messages is woken by those that come through this process. A bell is for many topics: whoever is woken
/// looks.
#[derive(Debug)]
struct Bells {
    hasher: RandomState,
    bells: [Switch; BELLS],
}

impl Bells {
    fn of(&self, tenant: &Tenant, topic: &str) -> &Switch {
        &self.bells[(self.hasher.hash_one((tenant, topic)) % BELLS as u64) as usize]
    }
}

impl SqliteQueues {
    /// Those of a home. Opens nothing.
    pub fn of(home: &Home) -> Self {
        Self::on(home, &SHELF)
    }

    fn on(home: &Home, shelf: &'static Shelf) -> Self {
        let bells = Bells { hasher: RandomState::new(), bells: std::array::from_fn(|_| Switch::default()) };
        Self { commits: Commits::of(home, shelf), bells: Arc::new(bells), bytes_max: shelf.kind.bytes_max }
    }

    fn check(topic: &str) -> Result<(), LedgerError> {
        if (1..=TOPIC_BYTES_MAX).contains(&topic.len()) {
            return Ok(());
        }
        let problem = format!("takes topics of 1 to {TOPIC_BYTES_MAX} bytes");
        Err(LedgerError { code: "ledger_limit", path: PathBuf::from("queue.sqlite"), problem, cause: None })
    }
}

/// What is waited for while it is asked for by a name that was looked at.
type Waited<'a, T> = BoxFuture<'a, Result<T, LedgerError>>;

impl Queues for SqliteQueues {
    fn publish<'a>(
        &'a self,
        tenant: &'a Tenant,
        topic: &'a str,
        messages: Vec<Vec<u8>>,
        now: Timestamp,
    ) -> Waited<'a, Result<TopicDepth, QueueRefusal>> {
        Box::pin(async move {
            Self::check(topic)?;
            let ring = {
                let (bells, tenant, topic) = (Arc::clone(&self.bells), tenant.clone(), topic.to_owned());
                Box::new(move || bells.of(&tenant, &topic).wake())
            };
            let publish = sql::Publish { topic: topic.into(), messages, now, ring };
            match self.commits.submit(tenant, publish, None).await {
                Ok(made) => Ok(made.0),
                Err(error) if error.code == "ledger_limit" => {
                    Ok(Err(QueueRefusal::NoRoom { bytes_max: self.bytes_max }))
                }
                Err(error) => Err(error),
            }
        })
    }

    fn take<'a>(
        &'a self,
        tenant: &'a Tenant,
        topic: &'a str,
        taking: Taking,
        now: Timestamp,
    ) -> Waited<'a, Result<Vec<QueueMessage>, QueueRefusal>> {
        Box::pin(async move {
            Self::check(topic)?;
            let (weak, whose, of) = (self.commits.weak(), tenant.clone(), Vec::from(topic));
            // Nobody took them over, so nobody has them.
            let lost = move |taken: take::Taken| {
                let (Some(inner), Ok(messages)) = (weak.upgrade(), taken.0) else { return };
                if !messages.is_empty() {
                    let back = take::PutBack { topic: of, messages, leased: taking.lease.is_some() };
                    inner.submit_for_nobody(&whose, back);
                }
            };
            let take = take::Take { topic: topic.into(), taking, now };
            Ok(self.commits.submit(tenant, take, Some(Box::new(lost))).await?.0)
        })
    }

    fn settle<'a>(
        &'a self,
        tenant: &'a Tenant,
        topic: &'a str,
        leases: Vec<LeaseId>,
        settling: Settling,
        now: Timestamp,
    ) -> Waited<'a, Vec<bool>> {
        Box::pin(async move {
            Self::check(topic)?;
            let count = leases.len();
            let settle = settle::Settle { topic: topic.into(), leases, settling, now };
            let mut settled = self.commits.submit(tenant, settle, None).await?;
            settled.resize(count, false);
            if settling != Settling::Done {
                self.bells.of(tenant, topic).wake();
            }
            Ok(settled)
        })
    }

    fn peek<'a>(
        &'a self,
        tenant: &'a Tenant,
        topic: &'a str,
        messages_max: usize,
        bytes_max: u64,
        now: Timestamp,
    ) -> Waited<'a, Vec<QueueMessage>> {
        Box::pin(async move {
            Self::check(topic)?;
            let peek = take::Peek { topic: topic.into(), messages_max, bytes_max, now };
            self.commits.submit(tenant, peek, None).await
        })
    }

    fn depth<'a>(&'a self, tenant: &'a Tenant, topic: &'a str, now: Timestamp) -> Waited<'a, TopicDepth> {
        Box::pin(async move {
            Self::check(topic)?;
            self.commits.submit(tenant, sql::Depth { topic: topic.into(), now }, None).await
        })
    }

    fn topics<'a>(
        &'a self,
        tenant: &'a Tenant,
        prefix: &'a str,
        after: Option<&'a str>,
        rows_max: usize,
    ) -> Waited<'a, Vec<(String, u64)>> {
        Box::pin(async move {
            let topics = sql::Topics { range: Range::of(prefix, after), rows_max };
            self.commits.submit(tenant, topics, None).await
        })
    }

    fn arrival(&self, tenant: &Tenant, topic: &str) -> BoxFuture<'static, ()> {
        Box::pin(self.bells.of(tenant, topic).listen())
    }
}

#[cfg(test)]
mod tests;
