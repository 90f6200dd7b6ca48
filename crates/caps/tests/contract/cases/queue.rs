//! `queue`: over what really keeps messages, behind a door that never answers for one topic.

use std::sync::Arc;

use drydock_abi::queue::{
    ACK, DEPTH, LEASE, MESSAGE_BYTES_MAX, NACK, PEEK, POLL, PUBLISH, TOPIC_BYTES_MAX, TOPICS,
};
use drydock_caps::{
    broker::{Broker as _, Brokered},
    queue::Queue,
};
use drydock_contract::{
    BoxFuture, Tenant, Timestamp,
    port::{LeaseId, LedgerError, QueueMessage, QueueRefusal, Queues, Settling, Taking, TopicDepth},
};
use drydock_gate::{CapSpec, Gate};
use drydock_store::{Home, SqliteQueues};
use drydock_testkit::FixedClock;
use serde_json::json;

use crate::{
    fakes::{WAITS, Working, clock},
    suite::{Ask, Case, Later, Refusal, Who},
};

pub(crate) struct OfQueue {
    kept: Arc<SqliteQueues>,
    working: Working,
    _home: tempfile::TempDir,
}

impl Default for OfQueue {
    fn default() -> Self {
        let home = tempfile::tempdir().unwrap();
        let kept = Arc::new(SqliteQueues::of(&Home::open(home.path()).unwrap()));
        Self { kept, working: Working::default(), _home: home }
    }
}

/// A tenant that has as many messages as it may is told so of this topic.
const ONE_TOO_MANY: &str = "one-too-many";

struct Door(Arc<SqliteQueues>, Working);

impl Queues for Door {
    fn publish<'a>(
        &'a self,
        tenant: &'a Tenant,
        topic: &'a str,
        messages: Vec<Vec<u8>>,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Result<TopicDepth, QueueRefusal>, LedgerError>> {
        match topic {
            WAITS => Box::pin(self.1.for_ever()),
            ONE_TOO_MANY => Box::pin(async { Ok(Err(QueueRefusal::TenantFull { max: 50_000 })) }),
            _ => self.0.publish(tenant, topic, messages, now),
        }
    }

    fn take<'a>(
        &'a self,
        tenant: &'a Tenant,
        topic: &'a str,
        taking: Taking,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Result<Vec<QueueMessage>, QueueRefusal>, LedgerError>> {
        self.0.take(tenant, topic, taking, now)
    }

    fn settle<'a>(
        &'a self,
        tenant: &'a Tenant,
        topic: &'a str,
        leases: Vec<LeaseId>,
        settling: Settling,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Vec<bool>, LedgerError>> {
        match topic {
            WAITS => Box::pin(self.1.for_ever()),
            _ => self.0.settle(tenant, topic, leases, settling, now),
        }
    }

    fn peek<'a>(
        &'a self,
        tenant: &'a Tenant,
        topic: &'a str,
        messages_max: usize,
        bytes_max: u64,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Vec<QueueMessage>, LedgerError>> {
        match topic {
            WAITS => Box::pin(self.1.for_ever()),
            _ => self.0.peek(tenant, topic, messages_max, bytes_max, now),
        }
    }

    fn depth<'a>(
        &'a self,
        tenant: &'a Tenant,
        topic: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<TopicDepth, LedgerError>> {
        match topic {
            WAITS => Box::pin(self.1.for_ever()),
            _ => self.0.depth(tenant, topic, now),
        }
    }

    fn topics<'a>(
        &'a self,
        tenant: &'a Tenant,
        prefix: &'a str,
        after: Option<&'a str>,
        rows_max: usize,
    ) -> BoxFuture<'a, Result<Vec<(String, u64)>, LedgerError>> {
        match prefix {
            WAITS => Box::pin(self.1.for_ever()),
            _ => self.0.topics(tenant, prefix, after, rows_max),
        }
    }

    fn arrival(&self, tenant: &Tenant, topic: &str) -> BoxFuture<'static, ()> {
        self.0.arrival(tenant, topic)
    }
}

fn about(operation: &str, topic: &str) -> Ask {
    Ask::json(&match operation {
        PUBLISH => json!({ "topic": topic, "message": "x" }),
        ACK | NACK => json!({ "topic": topic, "receipts": ["1.1"] }),
        TOPICS => json!({ "prefix": topic }),
        POLL | LEASE | DEPTH | PEEK => json!({ "topic": topic }),
        other => panic!("{other} is new"),
    })
}

impl Case for OfQueue {
    fn spec(&self) -> &'static CapSpec {
        &Queue::SPEC
    }

    fn bounds(&self) -> &'static [&'static str] {
        Queue::BOUNDS
    }

    fn behind(&self, gate: Gate, at: &Arc<FixedClock>) -> Gate {
        let queues = Arc::new(Door(Arc::clone(&self.kept), self.working.clone()));
        gate.with(Brokered::new(Queue::new(queues, clock(at)), clock(at)))
    }

    fn elsewhere(&self) -> (&'static str, &'static str) {
        ("other", "denied")
    }

    fn good<'a>(&'a self, operation: &'static str, _: &'a Who) -> Later<'a, Ask> {
        Box::pin(async move { about(operation, "t") })
    }

    fn malformed(&self, operation: &'static str) -> Vec<Ask> {
        let bad = match operation {
            PUBLISH => json!({ "topic": "t", "messages": [] }),
            POLL | PEEK => json!({ "topic": "t", "max": 0 }),
            LEASE => json!({ "topic": "t", "visibility_ms": 0 }),
            ACK | NACK => json!({ "topic": "t", "receipts": [] }),
            TOPICS => json!({ "limit": 0 }),
            _ => json!({ "topic": 7 }),
        };
        vec![Ask::json(&bad)]
    }

    fn refusals<'a>(&'a self, operation: &'static str, who: &'a Who) -> Later<'a, Vec<Refusal>> {
        Box::pin(async move {
            let long = "t".repeat(TOPIC_BYTES_MAX + 1);
            let mut all = vec![Refusal::judged("invalid_topic", about(operation, &long))];
            if operation != PUBLISH {
                return all;
            }
            let many = json!({ "topic": "full", "messages": vec![""; 250] });
            for _ in 0..4 {
                who.told(PUBLISH, Ask::json(&many)).await;
            }
            let message = "m".repeat(MESSAGE_BYTES_MAX + 1);
            let large = Ask::json(&json!({ "topic": "t", "message": message }));
            all.push(Refusal::judged("message_too_large", large));
            all.push(Refusal::acting("queue_full", about(PUBLISH, "full")));
            all.push(Refusal::acting("tenant_full", about(PUBLISH, ONE_TOO_MANY)));
            all
        })
    }

    fn waiting<'a>(&'a self, operation: &'static str, _: &'a Who) -> Option<Later<'a, Ask>> {
        Some(Box::pin(async move {
            match operation {
                // Nobody publishes to it.
                POLL | LEASE => Ask::json(&json!({ "topic": "nobody", "wait_ms": 60_000 })),
                _ => about(operation, WAITS),
            }
        }))
    }
}
