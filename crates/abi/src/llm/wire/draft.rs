//! A turn that is being put together from fragments.

use serde_json::{Map, Value};

use super::BadAnswer;
use crate::llm::{COMPLETION_BYTES_MAX, Completion, StopReason, TOOL_CALLS_MAX, ToolCall, Usage};

/// The longest name and id of a call.
const NAME_BYTES_MAX: usize = 128;

/// What is there of a turn so far.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) model: String,
    pub(super) content: String,
    calls: Vec<PartialCall>,
    pub(super) stop_reason: Option<StopReason>,
    pub(super) usage: Usage,
    bytes: usize,
}

/// A call whose arguments are still being written.
#[derive(Debug, Default)]
pub(super) struct PartialCall {
    /// What its fragments refer to it by.
    pub(super) key: Option<u64>,
    pub(super) id: String,
    pub(super) name: String,
    /// Text of a JSON object.
    pub(super) arguments: String,
}

impl Draft {
    pub(super) fn say(&mut self, text: &str) -> Result<(), BadAnswer> {
        self.take(text.len())?;
        self.content.push_str(text);
        Ok(())
    }

    pub(super) fn argue(&mut self, at: usize, text: &str) -> Result<(), BadAnswer> {
        self.take(text.len())?;
        if let Some(call) = self.calls.get_mut(at) {
            call.arguments.push_str(text);
        }
        Ok(())
    }

    /// A new call, and its place.
    pub(super) fn call(&mut self, call: PartialCall) -> Result<usize, BadAnswer> {
        if self.calls.len() >= TOOL_CALLS_MAX {
            return Err(BadAnswer::TooManyCalls);
        }
        self.take(call.id.len() + call.name.len() + call.arguments.len())?;
        self.calls.push(call);
        Ok(self.calls.len() - 1)
    }

    /// The latest call with this key.
    pub(super) fn place_of(&self, key: u64) -> Option<usize> {
        self.calls.iter().rposition(|it| it.key == Some(key))
    }

    pub(super) fn last(&self) -> Option<usize> {
        self.calls.len().checked_sub(1)
    }

    pub(super) fn get(&mut self, at: usize) -> Option<&mut PartialCall> {
        self.calls.get_mut(at)
    }

    fn take(&mut self, bytes: usize) -> Result<(), BadAnswer> {
        self.bytes += bytes;
        if self.bytes > COMPLETION_BYTES_MAX { Err(BadAnswer::TooLarge) } else { Ok(()) }
    }

    /// The turn, if it can be one.
    pub(super) fn finish(self) -> Result<Completion, BadAnswer> {
        let Self { model, content, calls, stop_reason, usage, .. } = self;
        let mut tool_calls: Vec<ToolCall> = Vec::with_capacity(calls.len());
        for (at, call) in calls.into_iter().enumerate() {
            let PartialCall { id, name, arguments, .. } = call;
            if name.is_empty() || name.len() > NAME_BYTES_MAX || id.len() > NAME_BYTES_MAX {
                return Err(BadAnswer::Garbage("it calls a tool without a proper name".into()));
            }
            // Some servers give all calls of a turn the same id, or none.
            let taken = id.is_empty() || tool_calls.iter().any(|it| it.id == id);
            let id = if taken { format!("call_{at}_{id}") } else { id };
            let (arguments, malformed) = match parse(&arguments) {
                Some(map) => (map, None),
                None => (Map::new(), Some(arguments)),
            };
            tool_calls.push(ToolCall { id, name, arguments, malformed });
        }
        let stop_reason = match stop_reason {
            // Some servers say that a turn is over which waits for its tools.
            Some(StopReason::EndTurn | StopReason::Other) | None if !tool_calls.is_empty() => {
                StopReason::ToolCalls
            }
            reason => reason.unwrap_or(StopReason::Other),
        };
        Ok(Completion { model, content, tool_calls, stop_reason, usage })
    }
}

fn parse(arguments: &str) -> Option<Map<String, Value>> {
    match arguments.trim() {
        "" | "null" => Some(Map::new()),
        text => serde_json::from_str(text).ok(),
    }
}
