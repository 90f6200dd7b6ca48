//! What a guest says at its end, and what the engine says of it, as the end of a program.

use bytes::Bytes;
use drydock_codemode::protocol::{Failure, Json};
use drydock_contract::{FailureCode, Outcome};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Where in the program's own text it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1.
    pub column: u32,
}

/// What is said of a failure besides its code and its message, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Remarks {
    pub(super) position: Option<Position>,
    pub(super) hint: Option<String>,
}

/// The longest hint. The guest's own are sentences.
const HINT_BYTES_MAX: usize = 200;

/// A program's end.
pub(super) struct End {
    pub(super) outcome: Result<Option<Json>, Failure>,
    pub(super) remarks: Remarks,
}

impl End {
    fn without_remarks(outcome: Result<Option<Json>, Failure>) -> Self {
        Self { outcome, remarks: Remarks::default() }
    }

    pub(super) fn failed(code: FailureCode, text: impl Into<String>) -> Self {
        Self::without_remarks(Err(Failure::new(code, text)))
    }
}

#[derive(Deserialize)]
struct Wire<'a> {
    ok: bool,
    #[serde(borrow, default)]
    result: Member<'a>,
    #[serde(borrow, default)]
    error: Option<WireError<'a>>,
}

/// A member that may be missing; one that is `null` is there.
#[derive(Default)]
struct Member<'a>(Option<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Member<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(|raw| Self(Some(raw)))
    }
}

#[derive(Deserialize)]
struct WireError<'a> {
    #[serde(borrow)]
    code: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    message: std::borrow::Cow<'a, str>,
    line: Option<u32>,
    column: Option<u32>,
    #[serde(borrow)]
    hint: Option<std::borrow::Cow<'a, str>>,
}

/// The end of a program whose guest ended so and wrote this.
pub(super) fn end(outcome: &Outcome, stdout: Vec<u8>) -> End {
    let failed = |code, text: &str| End::failed(code, text);
    match outcome {
        Outcome::Exited(0) => read(stdout.into()),
        Outcome::TimedOut | Outcome::OutOfFuel | Outcome::Cancelled => {
            failed(FailureCode::Timeout, "Execution timed out")
        }
        Outcome::OutOfMemory => failed(FailureCode::MemoryLimit, "Execution exceeded its memory limit"),
        Outcome::OutputLimit => {
            failed(FailureCode::SerializationError, "Guest code returned a value that is too large")
        }
        Outcome::InputLimit => failed(FailureCode::RuntimeError, "the program is too large"),
        Outcome::Exited(status) => {
            failed(FailureCode::InternalError, &format!("the guest ended with status {status}"))
        }
        Outcome::Trapped(reason) => {
            failed(FailureCode::InternalError, &format!("the guest trapped: {reason}"))
        }
    }
}

fn read(stdout: Bytes) -> End {
    let broken = |why: &dyn std::fmt::Display| {
        End::failed(FailureCode::InternalError, format!("the guest's answer is broken: {why}"))
    };
    let wire: Wire<'_> = match serde_json::from_slice(&stdout) {
        Ok(wire) => wire,
        Err(error) => return broken(&error),
    };
    match (wire.ok, wire.error) {
        (true, _) => {
            let result = wire.result.0.map(|raw| Json::parse(stdout.slice_ref(raw.get().as_bytes())));
            match result.transpose() {
                Ok(result) => End::without_remarks(Ok(result)),
                Err(error) => broken(&error),
            }
        }
        (false, Some(error)) => {
            // Only the codes of the list exist, whatever a guest says.
            let code = FailureCode::known(&error.code).unwrap_or(FailureCode::RuntimeError);
            let position = error.line.map(|line| Position { line, column: error.column.unwrap_or(1) });
            let hint = error.hint.map(|it| it[..it.floor_char_boundary(HINT_BYTES_MAX)].to_owned());
            let remarks = Remarks { position, hint };
            End { outcome: Err(Failure::new(code, error.message)), remarks }
        }
        (false, None) => broken(&"it has no error"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(stdout: &str) -> String {
        match end(&Outcome::Exited(0), stdout.into()).outcome {
            Ok(None) => "undefined".into(),
            Ok(Some(json)) => format!("{json:?}"),
            Err(failure) => format!("{}: {}", failure.code, failure.message),
        }
    }

    #[test]
    fn null_is_a_result_and_nothing_is_undefined() {
        assert_eq!(text(r#"{"ok":true}"#), "undefined");
        assert!(text(r#"{"ok":true,"result":null}"#).contains("null"));
        assert!(text(r#"{"ok":true,"result":{"a":[1]}}"#).contains(r#"{"a":[1]}"#));
    }

    #[test]
    fn a_guest_cannot_invent_codes_or_break_the_host() {
        assert_eq!(text(r#"{"ok":false,"error":{"code":"root","message":"m"}}"#), "runtime_error: m");
        for broken in ["", "{", "null", r#"{"ok":false}"#, "\u{0}"] {
            assert!(text(broken).starts_with("internal_error"), "{broken}");
        }
    }

    #[test]
    fn a_hint_is_kept_and_has_an_end() {
        let answer = |hint: &str| {
            format!(r#"{{"ok":false,"error":{{"code":"timeout","message":"m","hint":"{hint}"}}}}"#)
        };
        let hint = |text: &str| end(&Outcome::Exited(0), answer(text).into()).remarks.hint.unwrap();
        assert_eq!(hint("wait"), "wait");
        assert_eq!(hint(&"é".repeat(1000)).len(), HINT_BYTES_MAX);
    }

    #[test]
    fn every_ending_of_a_run_has_its_code() {
        for (outcome, code) in [
            (Outcome::TimedOut, FailureCode::Timeout),
            (Outcome::Cancelled, FailureCode::Timeout),
            (Outcome::OutOfMemory, FailureCode::MemoryLimit),
            (Outcome::OutputLimit, FailureCode::SerializationError),
            (Outcome::Trapped("x".into()), FailureCode::InternalError),
            (Outcome::Exited(3), FailureCode::InternalError),
        ] {
            let failure = end(&outcome, Vec::new()).outcome.unwrap_err();
            assert_eq!(failure.code, code, "{outcome}");
        }
    }
}
