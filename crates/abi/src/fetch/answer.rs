//! What came of a fetch: an answer, or why there is none in six kinds, which are the return codes of the ABI.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use drydock_contract::{CallError, Cap, Denial, Fault, text::printable};
use serde::Serialize;

/// What came of it.
pub type FetchAnswer = Result<Fetched, FetchFailure>;

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// What the server says.
    pub status: u16,
    /// Its headers, in their order; a name may be there more than once.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Bytes,
}

/// Why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FetchFailure {
    /// Which of the six.
    pub kind: FailureKind,
    /// The stable code.
    pub code: &'static str,
    /// In words.
    pub message: String,
    /// What a person would say on the command line to have it allowed, where that helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flag: Option<String>,
}

/// The return codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(i32)]
pub enum FailureKind {
    /// Policy said no.
    Denied = 1,
    /// The request itself is no good.
    Invalid = 2,
    /// Name server, network or server failed.
    Transport = 3,
    /// More bytes than may be sent or read.
    TooLarge = 4,
    /// Time was up.
    Timeout = 5,
    /// The principal has used up what it has.
    Quota = 6,
}

/// The same of a call that the gate refused or that failed.
pub fn failure_of(error: &CallError) -> FetchFailure {
    let (kind, code) = match error {
        CallError::Denied(Denial::Malformed(_)) => (FailureKind::Invalid, error.code()),
        CallError::Denied(Denial::TooLarge { .. }) => (FailureKind::TooLarge, error.code()),
        CallError::Denied(
            Denial::RateLimited { .. } | Denial::TooManyProcesses { .. } | Denial::BudgetExceeded { .. },
        ) => (FailureKind::Quota, error.code()),
        CallError::Denied(_) => (FailureKind::Denied, error.code()),
        CallError::Failed(Fault::Overdue) => (FailureKind::Timeout, error.code()),
        // What broke is for whoever runs us; a guest learns that it was not its doing.
        CallError::Failed(_) => {
            let message = "the request could not be made".to_owned();
            return FetchFailure {
                kind: FailureKind::Transport,
                code: "internal_error",
                message,
                flag: None,
            };
        }
    };
    let flag = match error {
        CallError::Denied(denial) => denial.flag(),
        CallError::Failed(_) => None,
    };
    let message = match error {
        // Nobody asked for a capability: they asked for a host.
        CallError::Denied(Denial::NotGranted { cap: Cap::Net, subjects, why })
            if !subjects.first().is_empty() =>
        {
            format!("host `{}` is not granted{why}", printable(subjects.first()))
        }
        error => error.to_string(),
    };
    FetchFailure { kind, code, message, flag }
}

impl FetchFailure {
    /// As JSON.
    pub fn to_json(&self) -> Vec<u8> {
        // Strings alone: there is nothing in it that JSON cannot say.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// An answer as an extension is shown it: `status`, `headers` with repeated ones joined, `headers_all` with each of them
/// by itself, `body_b64`.
pub fn answer_json(fetched: &Fetched) -> Vec<u8> {
    #[derive(Serialize)]
    struct Shown<'a> {
        status: u16,
        headers: BTreeMap<&'a str, String>,
        headers_all: &'a [(String, String)],
        body_b64: String,
    }
    let mut each: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, value) in &fetched.headers {
        each.entry(name).or_default().push(value);
    }
    let headers = each.iter().map(|(name, values)| (*name, values.join(", "))).collect();
    // Pairs, as in the request and in the answer of an extension, which may hand them on.
    let headers_all = &fetched.headers;
    let (status, body_b64) = (fetched.status, STANDARD.encode(&fetched.body));
    let shown = Shown { status, headers, headers_all, body_b64 };
    // Numbers and strings: there is nothing in it that JSON cannot say.
    serde_json::to_vec(&shown).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use drydock_contract::port::Subjects;

    use super::*;

    #[test]
    fn an_answer_has_repeated_headers_joined_and_by_themselves() {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let headers = vec![header("set-cookie", "a=1"), header("date", "now"), header("set-cookie", "b=2")];
        let json = answer_json(&Fetched { status: 200, headers, body: Bytes::from_static(b"hi") });
        assert_eq!(
            String::from_utf8(json).unwrap(),
            r#"{"status":200,"headers":{"date":"now","set-cookie":"a=1, b=2"},"headers_all":[["set-cookie","a=1"],["date","now"],["set-cookie","b=2"]],"body_b64":"aGk="}"#
        );
    }

    #[test]
    fn each_refusal_of_the_gate_is_one_of_the_six_kinds() {
        for (error, want) in [
            (CallError::from(Denial::Revoked), 1),
            (Denial::NotGranted { cap: Cap::Net, subjects: Subjects::none(), why: "" }.into(), 1),
            (Denial::Malformed("x".into()).into(), 2),
            (Fault::Internal("secret".into()).into(), 3),
            (Denial::TooLarge { what: "request", bytes: 2, max: 1 }.into(), 4),
            (Fault::Overdue.into(), 5),
            (Denial::RateLimited { calls_max: 1, window_s: 1 }.into(), 6),
            (Denial::spent("calls").into(), 6),
        ] {
            let failure = failure_of(&error);
            assert_eq!(failure.kind as i32, want, "{error}");
            assert!(!failure.message.contains("secret"));
        }
    }
}
