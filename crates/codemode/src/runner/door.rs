//! The door of a guest: it leads to the guest's tools, and nowhere else.
//!
//! For whoever runs a guest that asks by `Call`. Nothing is decided here: what a call may do is decided
//! where the tools are, at the host's gate.

use std::sync::Arc;

use drydock_abi::tool::{CALL, REQUEST_BYTES_MAX, decode_request, encode_reply};
use drydock_contract::{BoxFuture, Call, CallError, Denial, Dispatch, Reply, Tools};

/// Answers `tool.call` with the tools it was made of, and refuses everything else.
pub struct ToolDoor(Arc<dyn Tools>);

impl ToolDoor {
    /// A door to these tools.
    pub fn new(tools: Arc<dyn Tools>) -> Self {
        Self(tools)
    }
}

impl Dispatch for ToolDoor {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move {
            if call.operation != CALL {
                let known = call.operation.floor_char_boundary(64);
                return Err(Denial::UnknownOperation(call.operation[..known].to_owned()).into());
            }
            let bytes = (call.payload.len() as u64).saturating_add(call.unread_bytes);
            if bytes > REQUEST_BYTES_MAX {
                let max = REQUEST_BYTES_MAX;
                return Err(Denial::TooLarge { what: "request", bytes, max }.into());
            }
            let request = decode_request(call.payload).map_err(|bad| Denial::Malformed(bad.to_string()))?;
            let answer = self.0.call(request).await;
            Ok(Reply::of_bytes(encode_reply(answer), call.streams))
        })
    }
}
