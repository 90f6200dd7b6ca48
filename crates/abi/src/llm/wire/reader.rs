//! The body of an answer as it comes, in events or whole, whichever the server chose.

use serde_json::Value;

use super::{BadAnswer, BadStream, Dialect, EventReader, anthropic, draft::Draft, openai};
use crate::llm::{COMPLETION_BYTES_MAX, Completion};

/// The longest event, and the longest answer that comes whole: a turn, and what JSON makes of it.
const EVENT_BYTES_MAX: usize = 2 * COMPLETION_BYTES_MAX;

/// Reads one answer.
#[derive(Debug)]
pub struct AnswerReader {
    dialect: Dialect,
    draft: Draft,
    form: Form,
    is_over: bool,
}

#[derive(Debug)]
enum Form {
    Events(EventReader),
    Whole(Vec<u8>),
}

impl From<BadStream> for BadAnswer {
    fn from(_: BadStream) -> Self {
        Self::TooLarge
    }
}

impl AnswerReader {
    /// An answer whose server says that it is of this type.
    pub fn new(dialect: Dialect, content_type: Option<&str>) -> Self {
        let is_json = content_type
            .is_some_and(|it| it.trim_start().to_ascii_lowercase().starts_with("application/json"));
        let form = match is_json {
            true => Form::Whole(Vec::new()),
            false => Form::Events(EventReader::new(EVENT_BYTES_MAX)),
        };
        Self { dialect, draft: Draft::default(), form, is_over: false }
    }

    /// Takes some bytes, and tells what was said in them.
    pub fn push(&mut self, bytes: &[u8], mut said: impl FnMut(&str)) -> Result<(), BadAnswer> {
        let Self { dialect, draft, form, is_over } = self;
        match form {
            Form::Whole(all) => {
                if all.len() + bytes.len() > EVENT_BYTES_MAX {
                    return Err(BadAnswer::TooLarge);
                }
                all.extend_from_slice(bytes);
                Ok(())
            }
            Form::Events(events) => events.push(bytes, |event| {
                // What comes after the end is nothing to us.
                if *is_over {
                    return Ok(());
                }
                let (over, words) = match dialect {
                    Dialect::OpenAi => openai::event(draft, &event.data)?,
                    Dialect::Anthropic => anthropic::event(draft, &event.data)?,
                };
                *is_over = over;
                if !words.is_empty() {
                    said(&words);
                }
                Ok(())
            }),
        }
    }

    /// Whether nothing more is waited for.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The turn, now that there is nothing more to read.
    pub fn finish(mut self) -> Result<Completion, BadAnswer> {
        if let Form::Whole(bytes) = &self.form {
            let value: Value =
                serde_json::from_slice(bytes).map_err(|error| BadAnswer::Garbage(error.to_string()))?;
            match self.dialect {
                Dialect::OpenAi => openai::whole(&mut self.draft, &value)?,
                Dialect::Anthropic => anthropic::whole(&mut self.draft, &value)?,
            }
        } else if !self.is_over && self.draft.stop_reason.is_none() {
            return Err(BadAnswer::CutOff);
        }
        self.draft.finish()
    }
}
