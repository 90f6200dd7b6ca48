//! The tool wire, and the input as a value for whoever has to compare it with a grant.

use std::sync::OnceLock;

use drydock_abi::{json::depth, tool::decode_request};
use drydock_contract::{Denial, ToolRequest};
use serde_json::Value;

/// How deep an input may be nested that is compared with a grant.
const DEPTH_MAX: usize = 100;

/// A request to call a tool.
#[derive(Debug)]
pub struct ToolCall {
    /// `provider.tool`.
    pub name: String,
    /// The call itself.
    pub request: ToolRequest,
    value: OnceLock<Option<Value>>,
}

impl ToolCall {
    pub(super) fn new(request: ToolRequest) -> Self {
        Self { name: request.name(), request, value: OnceLock::new() }
    }

    /// The input as a value; nothing if it is no JSON or nested too deeply to be judged. Read once
    /// however many grants ask, and never for a session whose grants do not.
    pub(super) fn input(&self) -> Option<&Value> {
        self.value.get_or_init(|| read(self.request.input.as_deref())).as_ref()
    }
}

fn read(input: Option<&[u8]>) -> Option<Value> {
    let Some(text) = input else { return Some(Value::Null) };
    if depth(text) > DEPTH_MAX {
        return None;
    }
    serde_json::from_slice(text).ok()
}

pub(super) fn decode(payload: &[u8]) -> Result<ToolCall, Denial> {
    let request = decode_request(payload).map_err(|bad| Denial::Malformed(bad.to_string()))?;
    Ok(ToolCall::new(request))
}
