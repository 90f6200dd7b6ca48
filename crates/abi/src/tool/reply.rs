//! The reply of a tool call.

use bytes::Bytes;
use drydock_contract::{FailureCode, ToolAnswer, ToolFailure};
use serde::Deserialize;

use super::{FAILURE_MARK, encode_failure};

/// The bytes are no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no reply of a tool: {0}")]
pub struct BadToolReply(String);

#[derive(Deserialize)]
struct Failure {
    code: String,
    message: String,
}

/// Reads a reply. A code nobody knows is `runtime_error`: nothing a peer says can raise its class.
pub fn decode_reply(reply: Bytes) -> Result<ToolAnswer, BadToolReply> {
    let Some((&FAILURE_MARK, failure)) = reply.split_first() else { return Ok(Ok(reply)) };
    let wire: Failure = serde_json::from_slice(failure).map_err(|bad| BadToolReply(bad.to_string()))?;
    let code = FailureCode::known(&wire.code).unwrap_or(FailureCode::RuntimeError);
    Ok(Err(ToolFailure { code, message: wire.message }))
}

/// Writes a reply. A result must be JSON.
pub fn encode_reply(answer: ToolAnswer) -> Vec<u8> {
    match answer {
        Ok(result) => result.into(),
        Err(failure) => encode_failure(failure.code.as_str(), &failure.message),
    }
}
