//! What programs and agents are told of `http.fetch`.

use serde_json::{Value, json};

use super::FETCH;
use crate::broker::{OperationText, count, object, text};

/// The operation as an entry of the list.
pub const OPERATIONS: &[OperationText] = &[OperationText {
    name: FETCH,
    title: "Make an HTTP request",
    description: "Makes one HTTP request to a host that was granted, and answers status, headers and body. Redirects are \
                  answers like any other.",
    is_read: false,
    input,
    output,
}];

fn input() -> Value {
    let value =
        json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] });
    let properties = json!({
        "url": text("An http or https URL"),
        "method": text("GET, unless it is said"),
        "headers": { "type": "object", "additionalProperties": value, "description": "A value, or several" },
        "body_b64": text("The body, in base64"),
        "timeout_ms": count("Less time than the host gives"),
        "max_bytes": count("A shorter answer than the host gives"),
        "decode": { "type": "boolean", "description": "Unpack an answer that is packed" },
    });
    object(properties, &["url"])
}

fn output() -> Value {
    let pair = json!({ "type": "array", "items": { "type": "string" } });
    let properties = json!({
        "status": { "type": "integer" },
        "headers": { "type": "object", "additionalProperties": { "type": "string" } },
        "headers_all": { "type": "array", "items": pair, "description": "Name and value of each header by itself" },
        "body_b64": text("The body, in base64"),
    });
    object(properties, &["status", "headers", "headers_all", "body_b64"])
}
