//! What a model said in one turn.

use serde::{Deserialize, Serialize};

use super::{Message, ToolCall};

/// One turn of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// Which model it was, as its server calls it.
    pub model: String,
    /// What it said.
    pub content: String,
    /// The tools that it wants called, in its order.
    #[serde(default)]
    pub tool_calls: Vec<ToolCall>,
    /// Why it stopped.
    pub stop_reason: StopReason,
    /// What it took.
    pub usage: Usage,
}

/// Why a turn is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It had said everything.
    EndTurn,
    /// It waits for its tools.
    ToolCalls,
    /// It had no tokens left.
    MaxTokens,
    /// It met one of the texts that end a turn.
    StopSequence,
    /// It, or whoever runs it, will not answer this.
    Refusal,
    /// Something else.
    Other,
}

/// What a turn took. A server that does not count says nothing of it, and then these are zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens read, those of a cache too.
    pub input_tokens: u64,
    /// How many of them came from a cache of the server's.
    pub cached_input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// What that costs in millionths, by the prices that the model was configured with; nothing without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// How often the server was asked.
    pub attempts: u32,
}

impl Completion {
    /// The message that goes on with the transcript.
    pub fn into_message(self) -> Message {
        Message::Assistant { content: self.content, tool_calls: self.tool_calls }
    }
}
