//! What a request is about: one topic, or all that begin with a text.

use drydock_abi::queue::{Ack, Depth, Lease, Nack, Peek, Poll, Publish, QueueRequest};
use drydock_contract::{Cap, Denial, port::Subjects};
use drydock_gate::NotAdmitted;

/// The topic.
pub(super) fn subject(request: &QueueRequest) -> &str {
    match request {
        QueueRequest::Publish(Publish { topic, .. })
        | QueueRequest::Poll(Poll { topic, .. })
        | QueueRequest::Lease(Lease { topic, .. })
        | QueueRequest::Ack(Ack { topic, .. })
        | QueueRequest::Nack(Nack { topic, .. })
        | QueueRequest::Depth(Depth { topic })
        | QueueRequest::Peek(Peek { topic, .. }) => topic,
        QueueRequest::Topics(listing) => listing.subject(),
    }
}

pub(super) fn digested(request: &QueueRequest) -> [&[u8]; 2] {
    let rest: &[u8] = match request {
        QueueRequest::Publish(publish) => publish.messages.framed(),
        QueueRequest::Topics(topics) => topics.after.as_deref().unwrap_or_default().as_bytes(),
        _ => &[],
    };
    [subject(request).as_bytes(), rest]
}

/// Bounds, times and receipts.
pub(super) fn digested_besides(request: &QueueRequest) -> Vec<u8> {
    match request {
        QueueRequest::Publish(_) | QueueRequest::Depth(_) => Vec::new(),
        other => format!("{other:?}").into_bytes(),
    }
}

pub(super) fn not_admitted(request: &QueueRequest, why: NotAdmitted) -> Denial {
    let why = match (request, why) {
        (QueueRequest::Topics(_), _) => ": no grant admits all topics that begin so",
        (_, NotAdmitted::ByName) => ": no grant names this topic",
        (_, NotAdmitted::ByTerms) => " with these arguments",
    };
    Denial::NotGranted { cap: Cap::Queue, subjects: Subjects::cut(subject(request)), why }
}
