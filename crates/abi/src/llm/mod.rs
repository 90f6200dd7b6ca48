//! `llm.complete`: one turn of a language model. What callers say and hear of it ([`Complete`], [`Completion`]), and the
//! formats that models' servers speak ([`wire`]): OpenAI's chat completions and Anthropic's Messages. A [`Script`] is a
//! model without a server, and so is a run that was [`Recorded`].
//!
//! All of it is bytes and values: nobody is asked here, and no key is seen.

mod answer;
mod operation;
mod recorded;
mod request;
mod script;
pub mod wire;

pub use answer::{Completion, StopReason, Usage};
pub use operation::OPERATIONS;
pub use recorded::{BadRecorded, Recorded};
pub use request::{Asked, BadComplete, Complete, Deltas, Message, Tool, ToolCall, ToolChoice};
pub use script::{BadScript, Script};

/// The operation.
pub const COMPLETE: &str = "llm.complete";
/// The largest request that is read: a whole transcript.
pub const COMPLETE_BYTES_MAX: u64 = 8 << 20;
/// The longest answer, text and arguments together.
pub const COMPLETION_BYTES_MAX: usize = 4 << 20;
/// What a server may send for it, with everything around the text.
pub const RECEIVED_BYTES_MAX: u64 = 32 << 20;
/// Messages of a request.
pub const MESSAGES_MAX: usize = 4096;
/// Tools of a request.
pub const TOOLS_MAX: usize = 256;
/// Calls of tools in one turn.
pub const TOOL_CALLS_MAX: usize = 128;
/// Texts that end a turn.
pub const STOPS_MAX: usize = 8;
/// The longest name of a model.
pub const MODEL_BYTES_MAX: usize = 256;
