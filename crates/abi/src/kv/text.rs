//! What people and models are told of `kv.*`.

use serde_json::{Value, json};

use super::{DELETE, GET, INCREMENT, KEY_BYTES_MAX, LIST, PUT, VALUE_BYTES_MAX};
use crate::{
    broker::{Blob, OperationText, count, object, text},
    listing::ROWS_MAX,
};

/// All of them.
pub const OPERATIONS: &[OperationText] = &[
    OperationText {
        name: GET,
        title: "Read a value",
        description: "The value of a key, with its version. Fails with `not_found` if there is none.",
        is_read: true,
        input: || object(json!({ "key": key() }), &["key"]),
        output: || {
            let value = json!({
                "value": Blob::schema("Its bytes"), "version": version(), "expires_ms": expires(),
            });
            object(value, &["value", "version"])
        },
    },
    OperationText {
        name: PUT,
        title: "Write a value",
        description: "Keeps a value of at most 1 MiB under a key, in the place of what was there. With `if_version` only \
                      if the key has that version (0: if there is none), else it fails with `conflict`.",
        is_read: false,
        input: || {
            let request = json!({
                "key": key(), "value": Blob::schema(&format!("At most {VALUE_BYTES_MAX} bytes")),
                "if_version": count("Only if the key has this version; 0: only if there is none"), "ttl_ms": ttl(),
            });
            object(request, &["key", "value"])
        },
        output: || object(json!({ "version": version() }), &["version"]),
    },
    OperationText {
        name: DELETE,
        title: "Remove a value",
        description: "Removes a key. Whether it was there is the answer, and no failure.",
        is_read: false,
        input: || {
            let request = json!({ "key": key(), "if_version": count("Only if the key has this version") });
            object(request, &["key"])
        },
        output: || object(json!({ "deleted": { "type": "boolean" } }), &["deleted"]),
    },
    OperationText {
        name: LIST,
        title: "List keys",
        description: "The keys that begin with a text, sorted. If `next` is there, ask again with it as `after`.",
        is_read: true,
        input: || {
            let request = json!({
                "prefix": text("How they begin; every character stands for itself"),
                "after": text("Only keys behind this one"),
                "limit": { "type": "integer", "minimum": 1, "maximum": ROWS_MAX },
            });
            object(request, &[])
        },
        output: || {
            let row = json!({
                "key": text("The key"), "bytes": count("How long its value is"), "version": version(), "expires_ms": expires(),
            });
            let row = object(row, &["key", "bytes", "version"]);
            let told = json!({ "keys": { "type": "array", "items": row }, "next": text("Where to go on") });
            object(told, &["keys"])
        },
    },
    OperationText {
        name: INCREMENT,
        title: "Add to a number",
        description: "Adds to the whole number that a key holds as decimal text, or to 0, at once and before anybody else. \
                      Fails with `not_a_number` or `overflow`.",
        is_read: false,
        input: || {
            let by = json!({ "type": "integer", "description": "By how much; 1 if it is not said" });
            object(json!({ "key": key(), "by": by, "ttl_ms": ttl() }), &["key"])
        },
        output: || {
            let sum = json!({ "type": "integer", "description": "What it is now" });
            object(json!({ "sum": sum, "version": version() }), &["sum", "version"])
        },
    },
];

fn key() -> Value {
    json!({ "type": "string", "description": format!("1 to {KEY_BYTES_MAX} bytes of UTF-8") })
}

fn version() -> Value {
    count("Higher with every change")
}

fn expires() -> Value {
    count("When it is gone, in milliseconds since 1970")
}

fn ttl() -> Value {
    json!({ "type": "integer", "minimum": 1, "description": "After how many milliseconds it is gone by itself" })
}
