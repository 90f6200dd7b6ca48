//! What a caller gets, whether the guest answered or not.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Pairs;

/// The answer, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// The guest's, or 500.
    pub status: u16,
    /// The guest's.
    pub headers: BTreeMap<String, String>,
    /// The guest's, in its order, where it gave a list: a name may come more than once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers_all: Option<Pairs>,
    /// The guest's, in base64.
    pub body_b64: Option<String>,
    /// Why there is no answer.
    pub error: Option<Failure>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind of failure, for machines.
    pub kind: FailureKind,
    /// Which one: the handler's own number, or a stable name.
    pub code: Code,
    /// For people.
    pub message: String,
}

/// A number that a handler chose, or a name of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Code {
    /// What the handler answered.
    Number(i32),
    /// A stable name.
    Name(String),
}

/// The kinds of failure. The last two are no guest's doing: the gate's no, and our own defects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Refused before any guest code ran: it is no module, or imports what is not offered.
    Link,
    /// The guest broke the contract.
    Abi,
    /// The handler answered non-zero.
    App,
    /// The guest did what wasm forbids.
    Trap,
    /// Its time, or its fuel, was up.
    Timeout,
    /// It begins with more memory than it may have.
    Memory,
    /// It was refused the network.
    Egress,
    /// A body was larger than it may be.
    TooLarge,
    /// The gate refused the call, or it was cancelled.
    Denied,
    /// More wait for a slot already than may: to be tried again later.
    Saturated,
    /// Something of ours broke.
    Internal,
}

impl Envelope {
    /// There is no answer.
    pub fn failed(kind: FailureKind, code: Code, message: String) -> Self {
        let error = Some(Failure { kind, code, message });
        Self { status: 500, headers: BTreeMap::new(), headers_all: None, body_b64: None, error }
    }
}

impl From<&str> for Code {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_has_all_four_members_and_a_code_that_is_a_number_or_a_name() {
        let failed = Envelope::failed(FailureKind::App, Code::Number(7), "handler answered 7".into());
        assert_eq!(
            serde_json::to_string(&failed).unwrap(),
            r#"{"status":500,"headers":{},"body_b64":null,"error":{"kind":"app","code":7,"message":"handler answered 7"}}"#
        );
        let large = Envelope::failed(FailureKind::TooLarge, "too_large".into(), String::new());
        let text = serde_json::to_string(&large).unwrap();
        assert!(text.contains(r#""kind":"too_large","code":"too_large""#));
        assert_eq!(serde_json::from_str::<Envelope>(&text).unwrap(), large);
    }
}
