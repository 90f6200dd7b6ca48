//! What the document says of values by key and of messages.

use drydock_embed::{broker::OperationText, kv, listing, queue};
use serde_json::{Value, json};

use super::{About, as_json, count, number, plain, text};

/// What is said of the operation that a route asks for.
fn answer(all: &[OperationText], name: &str) -> Value {
    all.iter().find(|it| it.name == name).map_or_else(|| json!({}), |it| (it.output)())
}

pub(super) fn about(id: &str, any_bytes: Value) -> About {
    let of_kv = |name, summary| plain(summary, as_json(answer(kv::OPERATIONS, name)));
    let of_queue = |name, summary| plain(summary, as_json(answer(queue::OPERATIONS, name)));
    let rows = || vec![("prefix", text()), ("after", text()), ("limit", count(u64::from(listing::ROWS_MAX)))];
    let some = || ("max", count(u64::from(queue::BATCH_MAX)));
    let settling = |about: About, more: Value| {
        let receipts =
            json!({ "type": "array", "items": text(), "minItems": 1, "maxItems": queue::BATCH_MAX });
        let mut properties = json!({ "receipts": receipts });
        if let (Some(all), Some(more)) = (properties.as_object_mut(), more.as_object()) {
            all.extend(more.clone());
        }
        let body = json!({
            "type": "object", "properties": properties, "required": ["receipts"], "additionalProperties": false,
        });
        About { body: as_json(body), body_required: true, ..about }
    };
    match id {
        "kv_list" => About { query: rows(), ..of_kv(kv::LIST, "Keys that guests keep values under") },
        "kv_get" => plain("The bytes of a value; its version is the entity's tag", any_bytes),
        "kv_put" => About {
            query: vec![("if_version", number()), ("ttl_ms", number())],
            body: any_bytes,
            ..of_kv(kv::PUT, "Keep a value under a key")
        },
        "kv_delete" => About { query: vec![("if_version", number())], ..of_kv(kv::DELETE, "Remove a value") },
        "queue_topics" => About { query: rows(), ..of_queue(queue::TOPICS, "Topics that have messages") },
        "queue_depth" => of_queue(queue::DEPTH, "How many messages a topic has"),
        "queue_peek" => About {
            query: vec![some()],
            ..of_queue(queue::PEEK, "The first messages of a topic, which stay")
        },
        "queue_publish" => {
            About { body: any_bytes, ..of_queue(queue::PUBLISH, "Add a message to a topic: the body is one") }
        }
        "queue_poll" => About {
            query: vec![some(), ("wait_ms", number())],
            ..of_queue(queue::POLL, "Take the first messages of a topic for good")
        },
        "queue_lease" => About {
            query: vec![
                some(),
                ("wait_ms", number()),
                ("visibility_ms", number()),
                ("attempts_max", count(u64::from(queue::ATTEMPTS_MAX))),
            ],
            ..of_queue(queue::LEASE, "Take the first messages of a topic until they are acknowledged")
        },
        "queue_ack" => settling(of_queue(queue::ACK, "Acknowledge leased messages"), json!({})),
        _ => {
            settling(of_queue(queue::NACK, "Give leased messages back"), json!({ "visibility_ms": number() }))
        }
    }
}
