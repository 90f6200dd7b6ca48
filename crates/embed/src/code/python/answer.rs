//! How a Python program ended, from what it left and what the engine says of it.
//!
//! Nothing a program writes becomes a code: besides `runtime_error` and `serialization_error` it can only end
//! with the very failure that one of its tools had.

use std::collections::VecDeque;

use drydock_codemode::protocol::{Failure, Json};
use drydock_contract::{FailureCode, Outcome, ToolFailure};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::host::Left;

/// What is kept of a traceback and of a hint.
const TEXT_BYTES_MAX: usize = 64 << 10;
const DISPLAYS_MAX: usize = 64;

/// A program's end.
#[derive(Debug, Default)]
pub(super) struct End {
    pub(super) outcome: Option<Result<Option<Json>, Failure>>,
    pub(super) displays: Vec<Value>,
    pub(super) traceback: Option<String>,
    pub(super) line: Option<u32>,
    pub(super) hint: Option<String>,
}

#[derive(Deserialize)]
struct Wire<'a> {
    ok: bool,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<WireError>,
    #[serde(default)]
    displays: Vec<Value>,
}

#[derive(Deserialize)]
struct WireError {
    code: String,
    message: String,
    line: Option<u32>,
    hint: Option<String>,
    traceback: Option<String>,
}

/// The end of a program whose run ended so and that left this.
pub(super) fn end(outcome: &Outcome, left: Left) -> End {
    let failed = |code, text: String| End { outcome: Some(Err(Failure::new(code, text))), ..End::default() };
    match outcome {
        Outcome::Exited(status) => match (left.answer, status) {
            (Some(answer), _) => read(&answer, &left.failures),
            // It left by `os._exit`, or by a way of its own.
            (None, 0) => End { outcome: Some(Ok(None)), ..End::default() },
            (None, status) => {
                failed(FailureCode::RuntimeError, format!("the program ended with status {status}"))
            }
        },
        Outcome::TimedOut | Outcome::OutOfFuel | Outcome::Cancelled => {
            failed(FailureCode::Timeout, "Execution timed out".into())
        }
        Outcome::OutOfMemory => {
            failed(FailureCode::MemoryLimit, "Execution exceeded its memory limit".into())
        }
        Outcome::OutputLimit => failed(FailureCode::RuntimeError, "output_limit: it wrote too much".into()),
        Outcome::InputLimit => failed(FailureCode::RuntimeError, "input_limit: its stdin is too long".into()),
        Outcome::Trapped(reason) => {
            failed(FailureCode::RuntimeError, format!("the interpreter trapped: {reason}"))
        }
    }
}

fn read(answer: &[u8], failures: &VecDeque<ToolFailure>) -> End {
    let broken = |why: &dyn std::fmt::Display| {
        let text = format!("the program's answer is broken: {why}");
        End { outcome: Some(Err(Failure::new(FailureCode::RuntimeError, text))), ..End::default() }
    };
    let wire: Wire<'_> = match serde_json::from_slice(answer) {
        Ok(wire) => wire,
        Err(error) => return broken(&error),
    };
    let displays = wire.displays.into_iter().take(DISPLAYS_MAX).collect();
    match (wire.ok, wire.error) {
        (true, _) => match wire.result.map(|raw| Json::parse(raw.get().to_owned())).transpose() {
            Ok(result) => End { outcome: Some(Ok(result)), displays, ..End::default() },
            Err(error) => broken(&error),
        },
        (false, Some(error)) => {
            let failure = Failure::new(code_of(&error, failures), error.message);
            End {
                outcome: Some(Err(failure)),
                displays,
                traceback: error.traceback.map(bounded),
                line: error.line,
                hint: error.hint.map(bounded),
            }
        }
        (false, None) => broken(&"it has no error"),
    }
}

fn code_of(error: &WireError, failures: &VecDeque<ToolFailure>) -> FailureCode {
    let claimed = FailureCode::known(&error.code).unwrap_or(FailureCode::RuntimeError);
    let of_a_tool = || failures.iter().any(|it| it.code == claimed && it.message == error.message);
    match claimed {
        FailureCode::SerializationError => claimed,
        _ if of_a_tool() => claimed,
        _ => FailureCode::RuntimeError,
    }
}

fn bounded(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(outcome: &Outcome, answer: Option<&str>, failures: &[(FailureCode, &str)]) -> String {
        let left = Left {
            answer: answer.map(|it| it.to_owned().into()),
            failures: failures.iter().map(|it| ToolFailure::new(it.0, it.1)).collect(),
            kept: None,
        };
        match end(outcome, left).outcome.unwrap() {
            Ok(None) => "nothing".into(),
            Ok(Some(json)) => json.as_str().to_owned(),
            Err(failure) => format!("{}: {}", failure.code, failure.message),
        }
    }

    #[test]
    fn every_ending_has_its_words() {
        let fine = Outcome::Exited(0);
        let cases = [
            (fine.clone(), Some(r#"{"ok":true}"#), "nothing"),
            (fine.clone(), Some(r#"{"ok":true,"result":{"a":[1]}}"#), r#"{"a":[1]}"#),
            (Outcome::Exited(3), Some(r#"{"ok":true,"exit":3}"#), "nothing"),
            (fine.clone(), None, "nothing"),
            (Outcome::Exited(3), None, "runtime_error: the program ended with status 3"),
            (fine.clone(), Some("{"), "runtime_error: the program's answer is broken"),
            (fine, Some(r#"{"ok":false}"#), "runtime_error: the program's answer is broken: it has no error"),
            (Outcome::TimedOut, Some(r#"{"ok":true}"#), "timeout: Execution timed out"),
            (Outcome::OutOfMemory, None, "memory_limit: Execution exceeded its memory limit"),
            (Outcome::Trapped("x".into()), None, "runtime_error: the interpreter trapped: x"),
        ];
        for (outcome, answer, want) in cases {
            let told = told(&outcome, answer, &[]);
            assert!(told.starts_with(want), "{outcome} {answer:?}: {told}");
        }
    }

    #[test]
    fn a_code_is_a_tools_own_or_none_at_all() {
        let claim =
            |code: &str| format!(r#"{{"ok":false,"error":{{"code":"{code}","message":"m","line":2}}}}"#);
        let failed = [(FailureCode::ValidationError, "m"), (FailureCode::Timeout, "other")];
        for (code, want) in [
            ("validation_error", "validation_error: m"),
            ("timeout", "runtime_error: m"),
            ("memory_limit", "runtime_error: m"),
            ("root", "runtime_error: m"),
            ("serialization_error", "serialization_error: m"),
        ] {
            assert_eq!(told(&Outcome::Exited(1), Some(&claim(code)), &failed), want, "{code}");
        }
    }
}
