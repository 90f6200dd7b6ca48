//! What all brokers say alike: an operation of one is a JSON object, its answer a JSON value, and what could not be had is
//! `{"error": {"code", "message"}}`. Callers in this process send and take the same types as values.
//!
//! The texts and schemas that people and models are shown of an operation stand beside its types, so that code mode, MCP and
//! the server read one list.

mod blob;

use std::borrow::Cow;

use drydock_contract::Denial;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

pub use blob::Blob;

/// What could not be had, though it was allowed: an answer too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The stable code.
    pub code: Cow<'static, str>,
    /// In words.
    pub message: String,
}

impl Failure {
    /// Because of this.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into() }
    }
}

/// What a broker answers.
pub type Answer<T> = Result<T, Failure>;

/// One operation as people and models are told of it.
pub struct OperationText {
    /// What is asked at the gate, as `noun.verb`.
    pub name: &'static str,
    /// For a person.
    pub title: &'static str,
    /// For a model.
    pub description: &'static str,
    /// Whether it only looks.
    pub is_read: bool,
    /// The JSON Schema of its request.
    pub input: fn() -> Value,
    /// The JSON Schema of its answer.
    pub output: fn() -> Value,
}

impl OperationText {
    /// What is done, without to what.
    pub fn verb(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(_, verb)| verb)
    }
}

/// Every operation that programs and agents may ask for as JSON, in the order they are offered. What a session was not
/// granted it is not offered.
pub fn all() -> impl Iterator<Item = &'static OperationText> {
    [
        crate::kv::OPERATIONS,
        crate::queue::OPERATIONS,
        crate::secret::OPERATIONS,
        crate::fetch::OPERATIONS,
        crate::tcp::OPERATIONS,
        crate::tls::OPERATIONS,
        crate::udp::OPERATIONS,
        crate::browse::OPERATIONS,
        crate::search::OPERATIONS,
        crate::llm::OPERATIONS,
        crate::parallel::OPERATIONS,
    ]
    .into_iter()
    .flatten()
}

/// Reads a request.
pub fn parse<T: DeserializeOwned>(operation: &str, payload: &[u8]) -> Result<T, Denial> {
    serde_json::from_slice(payload)
        .map_err(|error| Denial::Malformed(format!("no request of `{operation}`: {error}")))
}

/// An answer as bytes.
pub fn answer_json<T: Serialize>(answer: &Answer<T>) -> Vec<u8> {
    let told = match answer {
        Ok(value) => serde_json::to_vec(value),
        Err(failure) => serde_json::to_vec(&json!({ "error": failure })),
    };
    // Texts, numbers and blobs: there is nothing in them that JSON cannot say.
    told.unwrap_or_default()
}

/// What could not be had, as JSON: a denial is told like that too, to a guest that reads answers.
pub fn failure_json(code: &str, message: &str) -> Vec<u8> {
    json!({ "error": { "code": code, "message": message } }).to_string().into_bytes()
}

/// The code of an answer that says what could not be had.
pub fn failure_code(answer: &[u8]) -> Option<String> {
    // No value begins like that, and a long one is not read for it.
    if !answer.starts_with(br#"{"error":"#) {
        return None;
    }
    let value: Value = serde_json::from_slice(answer).ok()?;
    Some(value.get("error")?.get("code")?.as_str()?.to_owned())
}

/// The schema of an object with these properties and no others.
pub fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// The schema of a text.
pub fn text(about: &str) -> Value {
    json!({ "type": "string", "description": about })
}

/// The schema of a count.
pub fn count(about: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": about })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_from_a_value_by_its_code() {
        let failed: Answer<u8> = Err(Failure::new("not_found", "there is none"));
        for (answer, want) in [
            (answer_json(&failed), Some("not_found")),
            (failure_json("denied", "\"no\""), Some("denied")),
            (answer_json(&Ok(7)), None),
            (br#"{"error":7}"#.to_vec(), None),
            (br#"{"error":{"code":"x""#.to_vec(), None),
            (Vec::new(), None),
        ] {
            assert_eq!(failure_code(&answer).as_deref(), want);
        }
    }
}
