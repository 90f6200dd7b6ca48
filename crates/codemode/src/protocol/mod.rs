//! The messages between a host and a runner, as types, and as lines of JSON.
//!
//! What is well formed becomes a value; what is not becomes nothing at all, because both sides must
//! ignore it. Members nobody knows are tolerated everywhere. Payloads stay the text they are: no message
//! is too deep to be read.

mod head;
mod json;
mod lines;
mod manifest;
mod members;
mod message;
mod options;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use head::Head;
pub use json::{DEPTH_MAX, Json, JsonError, dismantle};
pub use lines::{LINE_BYTES_MAX, Line, Lines};
pub use manifest::{Manifest, ManifestTool};
pub use message::{Done, Execute, HostMessage, RunnerMessage, ToolCall, ToolResult};
pub use options::RuntimeOptions;
pub use read::{host_message, runner_message};
pub use write::{host_line, runner_line};

/// How an execution or a tool failed, with a code of the protocol's list.
pub use drydock_contract::ToolFailure as Failure;
