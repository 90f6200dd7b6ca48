//! What the document says of values by key and of messages.

use drydock_embed::{broker::OperationText, kv, listing, queue};
use serde_json::{Value, json};

use super::{About, as_json, count, number, plain, text};

/// What is said of the operation that a route asks for, in the words that agents and programs read.
fn of(all: &[OperationText], name: &str) -> About {
    let text = all.iter().find(|it| it.name == name);
    text.map_or_else(|| plain("", json!({})), |it| plain(it.title, as_json((it.output)())))
}

pub(super) fn about(id: &str, any_bytes: Value) -> About {
    let of_kv = |name| of(kv::OPERATIONS, name);
    let of_queue = |name| of(queue::OPERATIONS, name);
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
        "kv_list" => About { query: rows(), ..of_kv(kv::LIST) },
        "kv_get" => plain("The bytes of a value; its version is the entity's tag", any_bytes),
        "kv_put" => About {
            query: vec![("if_version", number()), ("ttl_ms", number())],
            body: any_bytes,
            ..of_kv(kv::PUT)
        },
        "kv_delete" => About { query: vec![("if_version", number())], ..of_kv(kv::DELETE) },
        "queue_topics" => About { query: rows(), ..of_queue(queue::TOPICS) },
        "queue_depth" => of_queue(queue::DEPTH),
        "queue_peek" => About { query: vec![some()], ..of_queue(queue::PEEK) },
        "queue_publish" => {
            // One, and as it is.
            About {
                summary: "Add a message to a topic: the body is one",
                body: any_bytes,
                ..of_queue(queue::PUBLISH)
            }
        }
        "queue_poll" => About { query: vec![some(), ("wait_ms", number())], ..of_queue(queue::POLL) },
        "queue_lease" => About {
            query: vec![
                some(),
                ("wait_ms", number()),
                ("visibility_ms", number()),
                ("attempts_max", count(u64::from(queue::ATTEMPTS_MAX))),
            ],
            ..of_queue(queue::LEASE)
        },
        "queue_ack" => settling(of_queue(queue::ACK), json!({})),
        _ => settling(of_queue(queue::NACK), json!({ "visibility_ms": number() })),
    }
}
