//! `queue`: passes messages between guests of a tenant, first in, first out. A grant names topics.
//!
//! Whoever waits for a message hears of those that come through this process at once, and of others within a tenth of a
//! second. A message that is polled is gone with whoever polled it; one that is leased comes again.

mod policy;
mod request;
#[cfg(test)]
mod tests;

use std::{
    future::poll_fn,
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

use drydock_abi::{
    broker::{Answer, Failure},
    queue::{
        ACK, BATCH_BYTES_MAX, DEPTH, Deep, LEASE, Message, NACK, PEEK, POLL, PUBLISH,
        PUBLISH_REQUEST_BYTES_MAX, Published, QueueRequest, QueueValue, REPLY_BYTES_MAX, REQUEST_BYTES_MAX,
        Receipt, Settled, TOPICS, Told, Topic, TopicList,
    },
};
use drydock_contract::{
    CallError, Cap, Denial, Tenant, Timestamp,
    port::{Clock, LeaseId, Leasing, QueueMessage, QueueRefusal, Queues, Settling, Taking},
};
use drydock_gate::{
    Audited, CapSpec, Capability, Class, Import, NotAdmitted, Operation, Permit, Refused, Session,
};

pub use policy::Ready;
use policy::{INVALID_TOPIC, MESSAGE_TOO_LARGE, QUEUE_FULL, TENANT_FULL, bound};

use crate::{
    broker::{Broker, Policy},
    kv::broken,
};

/// How long whoever waits believes that nothing came through another process.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The power to pass messages.
pub struct Queue {
    queues: Arc<dyn Queues>,
    clock: Arc<dyn Clock>,
}

impl Queue {
    /// Over what keeps them; `clock` says when a lease is over, and wakes who waits.
    pub fn new(queues: Arc<dyn Queues>, clock: Arc<dyn Clock>) -> Self {
        Self { queues, clock }
    }
}

const fn operation(name: &'static str, bytes_max: u64, audited: Audited, summary: &'static str) -> Operation {
    Operation {
        name,
        class: Class::Look,
        request_bytes_max: bytes_max,
        in_flight_max: None,
        audited,
        summary,
    }
}

const fn small(name: &'static str, audited: Audited, summary: &'static str) -> Operation {
    operation(name, REQUEST_BYTES_MAX, audited, summary)
}

impl Broker for Queue {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Queue,
        operations: &[
            operation(
                PUBLISH,
                PUBLISH_REQUEST_BYTES_MAX,
                Audited::Everything,
                "Adds messages to a topic, as JSON. Subject: the topic.",
            ),
            small(
                POLL,
                Audited::Everything,
                "Takes the first messages of a topic for good. Subject: the topic.",
            ),
            small(LEASE, Audited::Everything, "Takes them until they are acknowledged. Subject: the topic."),
            small(ACK, Audited::Everything, "Acknowledges leased messages. Subject: the topic."),
            small(NACK, Audited::Everything, "Gives leased messages back. Subject: the topic."),
            small(DEPTH, Audited::Denials, "How many messages a topic has. Subject: the topic."),
            small(PEEK, Audited::Denials, "Looks at the first messages. Subject: the topic."),
            small(
                TOPICS,
                Audited::Denials,
                "Topics that begin with a text. A grant admits it that admits every such topic.",
            ),
        ],
        imports: &[
            Import {
                module: "env",
                name: "host_publish",
                signature: "(topic: i32, topic_len: i32, msg: i32, msg_len: i32) -> i32",
            },
            Import {
                module: "env",
                name: "host_poll",
                signature: "(topic: i32, topic_len: i32, out: i32, out_cap: i32) -> i32",
            },
            Import {
                module: "env",
                name: "host_queue_call",
                signature: "(op: i32, op_len: i32, req: i32, req_len: i32) -> i32",
            },
        ],
    };
    const REPLY_BYTES_MAX: u64 = REPLY_BYTES_MAX;
    const BOUNDS: &'static [&'static str] = &[INVALID_TOPIC, MESSAGE_TOO_LARGE, QUEUE_FULL, TENANT_FULL];
    type Request = QueueRequest;
    type Ready = Ready;
    type Value = QueueValue;

    fn decode(operation: &str, payload: &[u8]) -> Result<QueueRequest, Denial> {
        QueueRequest::decode(operation, payload)
    }

    fn digested(request: &QueueRequest) -> [&[u8]; 2] {
        request::digested(request)
    }

    fn digested_besides(request: &QueueRequest) -> Vec<u8> {
        request::digested_besides(request)
    }

    fn subject(request: &QueueRequest) -> &str {
        request::subject(request)
    }

    fn not_admitted(request: &QueueRequest, why: NotAdmitted) -> Denial {
        request::not_admitted(request, why)
    }

    fn check(_: &Policy, _: &Session, request: QueueRequest) -> Result<Ready, Refused> {
        policy::check(request)
    }

    fn label(ready: &Ready) -> Arc<str> {
        Arc::clone(&ready.label)
    }

    async fn act<C: Capability>(
        &self,
        permit: &Permit<'_, C>,
        ready: Ready,
    ) -> Result<Answer<QueueValue>, CallError> {
        let (tenant, now) = (&permit.session().spec().tenant, self.clock.now());
        let queues = &self.queues;
        match ready.request {
            QueueRequest::Publish(it) => {
                let messages: Vec<Vec<u8>> = it.messages.iter().map(<[u8]>::to_vec).collect();
                let published = messages.len() as u64;
                match queues.publish(tenant, &it.topic, messages, now).await.map_err(broken)? {
                    Ok(deep) => Ok(Ok(QueueValue::Published(Published { published, depth: deep.messages }))),
                    Err(refusal) => refused(refusal),
                }
            }
            QueueRequest::Poll(it) => {
                let bytes_max = it.bytes_max.unwrap_or(BATCH_BYTES_MAX as u64);
                let taking = |_| Taking { messages_max: it.max as usize, bytes_max, lease: None };
                self.take(tenant, &it.topic, it.wait_ms, taking).await
            }
            QueueRequest::Lease(it) => {
                let lasts = Duration::from_millis(it.visibility_ms);
                let taking = |now: Timestamp| {
                    let lease = Some(Leasing { until: now.plus(lasts), attempts_max: it.attempts_max });
                    Taking { messages_max: it.max as usize, bytes_max: BATCH_BYTES_MAX as u64, lease }
                };
                self.take(tenant, &it.topic, it.wait_ms, taking).await
            }
            QueueRequest::Ack(it) => self.settle(tenant, &it.topic, it.receipts, Settling::Done).await,
            QueueRequest::Nack(it) => {
                let again = now.plus(Duration::from_millis(it.visibility_ms));
                self.settle(tenant, &it.topic, it.receipts, Settling::Again(again)).await
            }
            QueueRequest::Depth(it) => {
                let deep = queues.depth(tenant, &it.topic, now).await.map_err(broken)?;
                Ok(Ok(QueueValue::Depth(Deep { depth: deep.messages, hidden: deep.hidden })))
            }
            QueueRequest::Peek(it) => {
                let (most, bytes) = (it.max as usize, BATCH_BYTES_MAX as u64);
                let seen = queues.peek(tenant, &it.topic, most, bytes, now).await.map_err(broken)?;
                Ok(Ok(told(seen, None)))
            }
            QueueRequest::Topics(it) => {
                let (rows, after) = (it.limit as usize, it.after.as_deref());
                // One more than is told says whether there is more.
                let mut all = queues.topics(tenant, it.prefix(), after, rows + 1).await.map_err(broken)?;
                let more = all.len() > rows;
                all.truncate(rows);
                let next = all.last().filter(|_| more).map(|it| it.0.clone());
                let topics = all.into_iter().map(|(topic, depth)| Topic { topic, depth }).collect();
                Ok(Ok(QueueValue::Topics(TopicList { topics, next })))
            }
        }
    }
}

impl Queue {
    /// Takes messages, and waits for one if there is none. Dropped while it waits, it has taken nothing.
    async fn take(
        &self,
        tenant: &Tenant,
        topic: &str,
        wait_ms: u64,
        taking: impl Fn(Timestamp) -> Taking,
    ) -> Result<Answer<QueueValue>, CallError> {
        let end = Instant::now().checked_add(Duration::from_millis(wait_ms));
        loop {
            // Listened for before it is looked, so that nothing comes in between.
            let arrival = self.queues.arrival(tenant, topic);
            let now = self.clock.now();
            let taking = taking(now);
            match self.queues.take(tenant, topic, taking, now).await.map_err(broken)? {
                Ok(messages) if !messages.is_empty() => return Ok(Ok(told(messages, taking.lease))),
                Ok(_) => {}
                Err(refusal) => return refused(refusal),
            }
            let left = end.map(|it| it.saturating_duration_since(Instant::now())).unwrap_or_default();
            if left.is_zero() {
                return Ok(Err(Failure::new("empty", "the topic has no message that can be taken")));
            }
            let mut alarm = self.clock.alarm(Instant::now() + left.min(LOOK_AGAIN));
            let mut arrival = arrival;
            poll_fn(|cx| {
                if arrival.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(());
                }
                alarm.as_mut().map_or(Poll::Pending, |it| it.as_mut().poll(cx))
            })
            .await;
        }
    }

    async fn settle(
        &self,
        tenant: &Tenant,
        topic: &str,
        receipts: Vec<Receipt>,
        settling: Settling,
    ) -> Result<Answer<QueueValue>, CallError> {
        let leases = receipts.iter().map(|it| it.0).collect();
        let settled = self.queues.settle(tenant, topic, leases, settling, self.clock.now()).await;
        let settled = settled.map_err(broken)?;
        if !settled.contains(&true) {
            return Ok(Err(Failure::new("not_found", "no receipt is of a lease that holds")));
        }
        let known = settled.iter().filter(|it| **it).count() as u64;
        let unknown = receipts.into_iter().zip(settled).filter(|it| !it.1).map(|it| it.0).collect();
        Ok(Ok(QueueValue::Settled(Settled { settled: known, unknown })))
    }
}

fn told(messages: Vec<QueueMessage>, lease: Option<Leasing>) -> QueueValue {
    let messages = messages.into_iter().map(|it| Message {
        published_ms: it.published.as_millis(),
        attempt: lease.map(|_| it.attempt),
        receipt: lease.map(|_| Receipt(LeaseId { message: it.id, attempt: it.attempt })),
        message: it.body.into(),
    });
    QueueValue::Messages(Told { messages: messages.collect() })
}

/// What only looking found.
fn refused(refusal: QueueRefusal) -> Result<Answer<QueueValue>, CallError> {
    match refusal {
        QueueRefusal::TopicFull { max } => {
            let why =
                format!("the topic would have more than {max} messages, the most there may be; poll some");
            Err(bound(QUEUE_FULL, why).into())
        }
        QueueRefusal::TenantFull { max } => {
            let why =
                format!("the tenant would have more than {max} messages, the most there may be; poll some");
            Err(bound(TENANT_FULL, why).into())
        }
        QueueRefusal::NoRoom { bytes_max } => {
            let mib = bytes_max >> 20;
            let why = format!("the messages of the tenant take {mib} MiB, the most they may; poll some");
            Err(bound(TENANT_FULL, why).into())
        }
        QueueRefusal::TooLong { bytes } => {
            let why = format!("the message has {bytes} bytes, more than whoever asks has room for; it stays");
            Ok(Err(Failure::new("reply_too_large", why)))
        }
    }
}
