//! Bytes in JSON as the host writes them: a string, or `{"base64": "…"}`.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

/// Bytes as JSON.
pub(crate) fn of(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => Value::String(text.to_owned()),
        Err(_) => json!({ "base64": STANDARD.encode(bytes) }),
    }
}

/// The bytes of it.
pub(crate) fn bytes(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::String(text) => Some(text.clone().into_bytes()),
        value => STANDARD.decode(value.get("base64")?.as_str()?).ok(),
    }
}

#[test]
fn bytes_come_back_as_they_went() {
    for given in [&b"text"[..], b"", b"a\0b", b"\xff\xfe"] {
        assert_eq!(bytes(&of(given)).as_deref(), Some(given));
    }
    assert_eq!(bytes(&json!(7)), None);
}
