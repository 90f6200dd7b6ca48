//! What servers of models speak: a turn to be asked for as the body of a request, and the body of an answer as a turn,
//! read as it comes, cut anywhere.
//!
//! A server is foreign: what it sends is bounded, and what makes no sense is an error by its name.

mod anthropic;
mod draft;
mod openai;
mod reader;
mod sse;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

pub use reader::AnswerReader;
pub use sse::{BadStream, Event, EventReader};

use super::Complete;

/// Which of the formats a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// OpenAI's chat completions, which most servers speak.
    OpenAi,
    /// Anthropic's Messages.
    Anthropic,
}

impl Dialect {
    /// What follows the base URL.
    pub fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "/chat/completions",
            Self::Anthropic => "/messages",
        }
    }

    /// The header that carries the key, and what stands before the key in it.
    pub fn key_header(self) -> (&'static str, &'static str) {
        match self {
            Self::OpenAi => ("authorization", "Bearer "),
            Self::Anthropic => ("x-api-key", ""),
        }
    }

    /// Further headers of every request.
    pub fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::OpenAi => &[],
            Self::Anthropic => &[("anthropic-version", "2023-06-01")],
        }
    }

    /// The body of a request for a model as its server calls it. Members of `extra` stand last, in the place of ours; one
    /// that is null takes ours away.
    pub fn body(self, request: &Complete, model: &str, extra: &Map<String, Value>) -> Vec<u8> {
        let mut body = match self {
            Self::OpenAi => openai::body(request, model),
            Self::Anthropic => anthropic::body(request, model),
        };
        for (name, value) in extra {
            match value {
                Value::Null => drop(body.remove(name)),
                value => drop(body.insert(name.clone(), value.clone())),
            }
        }
        // Texts, numbers and values that were JSON: there is nothing in it that JSON cannot say.
        serde_json::to_vec(&body).unwrap_or_default()
    }
}

/// What a server sent is no turn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAnswer {
    /// It is not what the format says.
    #[error("the model's server sent no proper answer: {0}")]
    Garbage(String),
    /// It is longer than a turn may be.
    #[error("the model's answer is longer than it may be")]
    TooLarge,
    /// It calls more tools than a turn may.
    #[error("the model called more than {} tools in one turn", super::TOOL_CALLS_MAX)]
    TooManyCalls,
    /// It stopped in the middle.
    #[error("the model's answer stopped in the middle")]
    CutOff,
    /// The server gave up in the middle, and says why.
    #[error("the model's server gave up: {message}")]
    Error {
        /// In its words.
        message: String,
        /// Whether it says that it may go better another time.
        again: bool,
    },
}

impl BadAnswer {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Garbage(_) => "bad_answer",
            Self::TooLarge => "answer_too_large",
            Self::TooManyCalls => "too_many_tool_calls",
            Self::CutOff => "answer_cut_off",
            Self::Error { .. } => "model_failed",
        }
    }

    /// Whether asking again may help.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::CutOff | Self::Error { again: true, .. })
    }
}

/// The sentence of an answer that is an error, shortened.
pub fn error_text(body: &[u8]) -> String {
    const CHARS_MAX: usize = 200;
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let error = value.get("error").unwrap_or(&value);
    let said = error.get("message").or_else(|| value.get("message")).or(Some(error)).and_then(Value::as_str);
    let text = said.map_or_else(|| String::from_utf8_lossy(body).into_owned(), str::to_owned);
    let plain = text.chars().map(|it| if it.is_control() { ' ' } else { it });
    plain.take(CHARS_MAX).collect::<String>().trim().to_owned()
}

/// A member's text, or an empty one.
fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A member's number, or zero.
fn number(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or_default()
}
