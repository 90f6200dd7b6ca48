//! The six messages.

use std::sync::Arc;

use drydock_contract::{FailureCode, ToolRequest};

use super::{Failure, Json, Manifest, RuntimeOptions};

/// From host to runner.
#[derive(Debug, Clone, PartialEq)]
pub enum HostMessage {
    /// Run this program.
    Execute(Execute),
    /// Stop the execution of that id, soon.
    Cancel {
        /// Which execution.
        id: Arc<str>,
    },
    /// What a tool answered.
    ToolResult(ToolResult),
}

/// From runner to host.
#[derive(Debug, Clone, PartialEq)]
pub enum RunnerMessage {
    /// The execution was accepted and its clock runs.
    Started {
        /// Which execution.
        id: Arc<str>,
    },
    /// The program calls a tool.
    ToolCall(ToolCall),
    /// The execution ended.
    Done(Done),
}

/// `execute`.
#[derive(Debug, Clone, PartialEq)]
pub struct Execute {
    /// The execution.
    pub id: Arc<str>,
    /// The program.
    pub code: Arc<str>,
    /// Its limits.
    pub options: RuntimeOptions,
    /// What it can call.
    pub providers: Arc<[Manifest]>,
    /// A value the program sees as `args`. A member of ours: other runners ignore it.
    pub args: Option<Json>,
}

/// `tool_result`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call.
    pub call_id: Arc<str>,
    /// What came of it.
    pub answer: Result<Json, Failure>,
}

/// `tool_call`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The call.
    pub call_id: Arc<str>,
    /// The namespace.
    pub provider_name: Arc<str>,
    /// The tool's name in the guest.
    pub safe_tool_name: Arc<str>,
    /// Its argument; nothing for `undefined`.
    pub input: Option<Json>,
}

impl ToolCall {
    /// The same as a request to tools.
    pub fn request(self) -> ToolRequest {
        ToolRequest {
            provider: self.provider_name,
            tool: self.safe_tool_name,
            input: self.input.map(Json::into_bytes),
            span: 0,
            depth: 0,
        }
    }
}

/// `done`.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// The execution.
    pub id: Arc<str>,
    /// The result, nothing for `undefined`; or why there is none.
    pub outcome: Result<Option<Json>, Failure>,
    /// How long it took.
    pub duration_ms: f64,
    /// What it logged.
    pub logs: Vec<String>,
}

/// The code of that spelling. One nobody knows is `runtime_error`: nothing a peer says can raise the
/// class of a failure.
pub(super) fn code(text: &str) -> FailureCode {
    FailureCode::known(text).unwrap_or(FailureCode::RuntimeError)
}
