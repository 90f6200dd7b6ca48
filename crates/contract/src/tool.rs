//! A session's tools: named things a program may ask for, and how asking can end.
//!
//! Whoever holds a [`Tools`] may call any of them, so guests never do: between them and their tools
//! stands the gate. Inputs and results are JSON as text; nobody on the way needs to look inside.

use std::{fmt, sync::Arc};

use bytes::Bytes;

use crate::BoxFuture;

macro_rules! codes {
    ($($variant:ident $text:literal $doc:literal,)*) => {
        /// How a program or a tool failed: the closed list of the message protocol.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum FailureCode { $(#[doc = $doc] $variant,)* }

        impl FailureCode {
            /// Every code.
            pub const ALL: &'static [FailureCode] = &[$(FailureCode::$variant,)*];

            /// The code as messages spell it.
            pub const fn as_str(self) -> &'static str {
                match self { $(FailureCode::$variant => $text,)* }
            }

            /// The code of that spelling.
            pub fn known(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|code| code.as_str() == text)
            }
        }
    };
}

codes! {
    Timeout "timeout" "It took too long, or was cancelled.",
    MemoryLimit "memory_limit" "It wanted more memory than it may have.",
    ValidationError "validation_error" "An input or a result is not what its schema says.",
    ToolError "tool_error" "The tool failed, or may not be used.",
    SerializationError "serialization_error" "A value is not JSON, too deep or too large.",
    RuntimeError "runtime_error" "The program threw.",
    InternalError "internal_error" "Something between program and tool broke.",
}

impl fmt::Display for FailureCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why there is no result, in words for whoever wrote the program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolFailure {
    /// Which kind.
    pub code: FailureCode,
    /// What happened.
    pub message: String,
}

impl ToolFailure {
    /// A failure of that kind.
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// One call of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRequest {
    /// The namespace.
    pub provider: Arc<str>,
    /// The tool's name as the program spells it.
    pub tool: Arc<str>,
    /// JSON, or nothing where the program passed nothing.
    pub input: Option<Bytes>,
    /// Which call this is, for what is derived of it: known where the gate let it through, zero before.
    pub span: u64,
    /// How many runs lie between the host and the program that calls, itself included: as with the span.
    pub depth: u32,
}

impl ToolRequest {
    /// `provider.tool`: what grants and records call it.
    pub fn name(&self) -> String {
        let mut name = String::with_capacity(self.provider.len() + 1 + self.tool.len());
        name.push_str(&self.provider);
        name.push('.');
        name.push_str(&self.tool);
        name
    }
}

/// What a call ends with: JSON, or why not.
pub type ToolAnswer = Result<Bytes, ToolFailure>;

/// Tools that can be called. Dropping the future abandons the call.
pub trait Tools: Send + Sync {
    /// Calls one.
    fn call(&self, request: ToolRequest) -> BoxFuture<'_, ToolAnswer>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_the_protocols_seven() {
        let all: Vec<_> = FailureCode::ALL.iter().map(|it| it.as_str()).collect();
        assert_eq!(
            all.join(" "),
            "timeout memory_limit validation_error tool_error serialization_error runtime_error internal_error"
        );
        for code in FailureCode::ALL {
            assert_eq!(FailureCode::known(code.as_str()), Some(*code));
        }
        assert_eq!(FailureCode::known("root"), None);
    }
}
