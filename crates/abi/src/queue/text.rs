//! What people and models are told of `queue.*`.

use serde_json::{Value, json};

use super::{
    ACK, ATTEMPTS, ATTEMPTS_MAX, BATCH_BYTES_MAX, BATCH_MAX, DEPTH, LEASE, LEASE_MS, LEASE_MS_MAX,
    MESSAGE_BYTES_MAX, NACK, PEEK, POLL, PUBLISH, TOPIC_BYTES_MAX, TOPICS, WAIT_MS_MAX,
};
use crate::{
    broker::{Blob, OperationText, count, object, text},
    listing::ROWS_MAX,
};

/// All of them.
pub const OPERATIONS: &[OperationText] = &[
    OperationText {
        name: PUBLISH,
        title: "Publish messages",
        description: "Adds a message, or several at once, behind those that the topic has. Fails with `queue_full` at \
                      1,000 messages of a topic and `tenant_full` at 50,000 of all.",
        is_read: false,
        input: || {
            let one = Blob::schema(&format!("At most {MESSAGE_BYTES_MAX} bytes"));
            let request = json!({
                "topic": topic(), "message": one,
                "messages": {
                    "type": "array", "items": Blob::schema("A message"), "minItems": 1, "maxItems": BATCH_MAX,
                    "description": format!("In the place of `message`; {BATCH_BYTES_MAX} bytes together at most"),
                },
            });
            object(request, &["topic"])
        },
        output: || {
            let told =
                json!({ "published": count("How many came"), "depth": count("How many the topic has") });
            object(told, &["published", "depth"])
        },
    },
    OperationText {
        name: POLL,
        title: "Take messages",
        description: "Takes the first messages of a topic for good, waiting for one if it is said how long. Fails with \
                      `empty` if none came. Use `lease` where a message must not be lost with whoever took it.",
        is_read: false,
        input: || object(json!({ "topic": topic(), "max": max(), "wait_ms": wait() }), &["topic"]),
        output: messages,
    },
    OperationText {
        name: LEASE,
        title: "Lease messages",
        description: "Takes the first messages of a topic until the lease ends. Acknowledge each by its receipt, or it \
                      comes again; after `attempts_max` leases it goes to the topic with `.dead` behind its name.",
        is_read: false,
        input: || {
            let request = json!({
                "topic": topic(), "max": max(), "wait_ms": wait(),
                "visibility_ms": milliseconds(&format!("How long nobody else sees them; {LEASE_MS} if it is not said"), 1),
                "attempts_max": {
                    "type": "integer", "minimum": 1, "maximum": ATTEMPTS_MAX,
                    "description": format!("How often each may be leased; {ATTEMPTS} if it is not said"),
                },
            });
            object(request, &["topic"])
        },
        output: messages,
    },
    OperationText {
        name: ACK,
        title: "Acknowledge messages",
        description: "Says that leased messages are done: they never come again. Fails with `not_found` if none of the \
                      receipts is of a lease that still holds.",
        is_read: false,
        input: || object(json!({ "topic": topic(), "receipts": receipts() }), &["topic", "receipts"]),
        output: settled,
    },
    OperationText {
        name: NACK,
        title: "Give messages back",
        description: "Ends leases without having done the messages: they can be seen again, at once or later. Fails as \
                      `ack` does.",
        is_read: false,
        input: || {
            let request = json!({
                "topic": topic(), "receipts": receipts(),
                "visibility_ms": milliseconds("After how long they can be seen again; at once if it is not said", 0),
            });
            object(request, &["topic", "receipts"])
        },
        output: settled,
    },
    OperationText {
        name: DEPTH,
        title: "Count messages",
        description: "How many messages a topic has.",
        is_read: true,
        input: || object(json!({ "topic": topic() }), &["topic"]),
        output: || {
            let told = json!({ "depth": count("All"), "hidden": count("Those that are leased or not to be seen yet") });
            object(told, &["depth", "hidden"])
        },
    },
    OperationText {
        name: PEEK,
        title: "Look at messages",
        description: "The first messages of a topic, which stay where they are.",
        is_read: true,
        input: || object(json!({ "topic": topic(), "max": max() }), &["topic"]),
        output: messages,
    },
    OperationText {
        name: TOPICS,
        title: "List topics",
        description: "The topics that have messages, sorted. If `next` is there, ask again with it as `after`.",
        is_read: true,
        input: || {
            let request = json!({
                "prefix": text("How they begin; every character stands for itself"),
                "after": text("Only topics behind this one"),
                "limit": { "type": "integer", "minimum": 1, "maximum": ROWS_MAX },
            });
            object(request, &[])
        },
        output: || {
            let row =
                object(json!({ "topic": topic(), "depth": count("How many it has") }), &["topic", "depth"]);
            let told = json!({ "topics": { "type": "array", "items": row }, "next": text("Where to go on") });
            object(told, &["topics"])
        },
    },
];

fn topic() -> Value {
    json!({ "type": "string", "description": format!("1 to {TOPIC_BYTES_MAX} bytes of UTF-8") })
}

fn max() -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": BATCH_MAX, "description": "How many at most; 1 if it is not said" })
}

fn milliseconds(about: &str, least: u64) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": LEASE_MS_MAX, "description": about })
}

fn wait() -> Value {
    json!({
        "type": "integer", "minimum": 0, "maximum": WAIT_MS_MAX,
        "description": "How many milliseconds to wait if there is none",
    })
}

fn receipts() -> Value {
    json!({ "type": "array", "items": text("As `lease` told it"), "minItems": 1, "maxItems": BATCH_MAX })
}

fn messages() -> Value {
    let row = json!({
        "message": Blob::schema("Its bytes"), "published_ms": count("When, in milliseconds since 1970"),
        "attempt": count("Of a leased one, which of its leases this is"), "receipt": text("Of a leased one"),
    });
    let row = object(row, &["message", "published_ms"]);
    object(json!({ "messages": { "type": "array", "items": row } }), &["messages"])
}

fn settled() -> Value {
    let told = json!({
        "settled": count("How many leases were ended"),
        "unknown": { "type": "array", "items": text("A receipt of no lease that holds") },
    });
    object(told, &["settled", "unknown"])
}
