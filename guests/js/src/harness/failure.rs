//! Why an execution has no result: the code, the words, and the place in the program.

use super::tools;
use js::engine;
use js::place::{self, Place};
use js::prelude::*;
use js::value::{Kind, Value};

/// What a program that ran out of memory is told, whatever it did with the error.
pub const MEMORY: &str = "Execution ran out of memory";
const TIMEOUT: &str = "Execution timed out";

/// Longer texts are cut: a program may throw a string of any size.
const MESSAGE_BYTES_MAX: usize = 64 << 10;
const STACK_BYTES_MAX: usize = 8 << 10;

/// One failure.
pub struct Failure {
    pub code: String,
    pub message: String,
    pub hint: Option<&'static str>,
    pub place: Option<Place>,
    pub stack: Option<String>,
}

impl Failure {
    pub fn new(code: &str, message: &str) -> Self {
        Self { code: code.to_owned(), message: message.to_owned(), hint: None, place: None, stack: None }
    }

    /// It waits for what cannot come. The host would find out when the time is up; we know already.
    pub fn never_settles() -> Self {
        let hint = Some("the program waits for a promise that nothing can settle");
        Self { hint, ..Self::new("timeout", TIMEOUT) }
    }

    /// For what the program threw and did not catch.
    pub fn of_thrown(thrown: &Value, program: &str) -> Self {
        if engine::memory_ran_out() {
            return Self::new("memory_limit", MEMORY);
        }
        let stack = thrown.error_stack().to_string_lossy().map(|it| cut(it, STACK_BYTES_MAX));
        let stack = stack.filter(|it| !it.is_empty());
        let place = stack.as_deref().and_then(place::first).map(|it| place::in_characters(it, program));
        let (code, message) = match tools::classification(thrown) {
            Some(from_host) => from_host,
            None => ("runtime_error".to_owned(), message_of(thrown)),
        };
        // Asking for the message may have run the program's own code.
        if engine::memory_ran_out() {
            return Self::new("memory_limit", MEMORY);
        }
        Self { code, message: cut(message, MESSAGE_BYTES_MAX), hint: None, place, stack }
    }
}

/// `.message` if it is a string, else `String(value)`.
fn message_of(thrown: &Value) -> String {
    if thrown.kind() == Kind::Symbol {
        let name = thrown.get(c"description").and_then(|it| it.to_string_lossy()).unwrap_or_default();
        return format!("Symbol({name})");
    }
    if thrown.kind() == Kind::Object
        && let Some(message) = thrown.get(c"message").and_then(|it| it.to_string_lossy())
    {
        return message;
    }
    thrown.to_text().and_then(|it| it.to_string_lossy()).unwrap_or_default()
}

fn cut(mut text: String, bytes_max: usize) -> String {
    if text.len() > bytes_max {
        text.truncate(text.floor_char_boundary(bytes_max));
    }
    text
}
