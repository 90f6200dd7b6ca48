//! Why a tool has no answer, in words that a model can go by: a stable code and a sentence.

use std::borrow::Cow;

use bytes::Bytes;
use drydock_agent::tools::{ToolDenial, ToolOutput};
use drydock_contract::{CallError, FailureCode, ToolAnswer, ToolFailure};

use crate::{BadSetup, SandboxError};

/// It has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ToolError {
    /// A stable code.
    pub code: Cow<'static, str>,
    /// A sentence.
    pub message: String,
    /// If policy said no: what would have helped.
    pub denials: Vec<ToolDenial>,
}

impl ToolError {
    /// An error of that code.
    pub fn new(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), denials: Vec::new() }
    }

    /// As the gate carries it. What was refused is an answer, because only an answer can say which grant would have helped.
    pub(super) fn answer(self) -> ToolAnswer {
        if !self.denials.is_empty() {
            let output = ToolOutput::text(format!("error: {self}"));
            return Ok(Bytes::from(ToolOutput { denials: self.denials, ..output }.to_json()));
        }
        let kind = match &*self.code {
            "bad_arguments" => FailureCode::ValidationError,
            "timeout" | "cancelled" => FailureCode::Timeout,
            "unknown_tool" | "internal_error" => FailureCode::InternalError,
            _ => FailureCode::ToolError,
        };
        Err(ToolFailure::new(kind, self.to_string()))
    }
}

impl From<CallError> for ToolError {
    fn from(error: CallError) -> Self {
        let denials = match &error {
            CallError::Denied(denial) => vec![ToolDenial::from(&denial.details())],
            CallError::Failed(_) => Vec::new(),
        };
        Self { code: error.code().into(), message: error.to_string(), denials }
    }
}

impl From<SandboxError> for ToolError {
    fn from(SandboxError { code, message, denial }: SandboxError) -> Self {
        let denials = denial.iter().map(|it| ToolDenial::from(&**it)).collect();
        Self { code: code.into(), message, denials }
    }
}

impl From<BadSetup> for ToolError {
    fn from(error: BadSetup) -> Self {
        match error {
            BadSetup::Denied(denial) => CallError::from(denial).into(),
            other => Self::new("internal_error", other.to_string()),
        }
    }
}
