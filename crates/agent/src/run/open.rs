//! The calls of a turn that is not answered yet.

use drydock_abi::llm::{Message, ToolCall};
use drydock_contract::AgentId;

/// A turn of the model with calls, not all of which have their answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OpenTurn {
    pub(crate) step: u64,
    pub(crate) calls: Vec<OpenCall>,
}

/// One of its calls.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OpenCall {
    pub(crate) call: ToolCall,
    pub(crate) place: Place,
    /// Whether it was made, and may have changed files.
    pub(crate) may_have_changed: bool,
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Place {
    /// Nothing was done about it.
    New,
    /// A person is asked.
    Asked(AgentId),
    /// A person said yes.
    Allowed,
    /// A person said no, or nothing: what the model is to be told.
    Refused { code: String, why: String },
    /// It was about to be made. Nobody here knows whether it was.
    Announced,
    /// It is over.
    Answered { output: String, is_error: bool },
}

impl OpenTurn {
    pub(crate) fn call_mut(&mut self, id: &str) -> Option<&mut OpenCall> {
        self.calls.iter_mut().find(|it| it.call.id == id)
    }

    /// The answers as a model reads them, in the order of the calls; none while one is missing.
    pub(crate) fn answers(&self) -> Option<Vec<Message>> {
        self.calls
            .iter()
            .map(|it| match &it.place {
                Place::Answered { output, is_error } => Some(Message::Tool {
                    tool_call_id: it.call.id.clone(),
                    content: output.clone(),
                    is_error: *is_error,
                }),
                _ => None,
            })
            .collect()
    }
}
