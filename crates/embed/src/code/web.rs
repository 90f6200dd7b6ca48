//! Hosts out there, as a program asks for them: one request of the power `net` at the gate, and its answer as JSON.
//!
//! A program has no import of its own for this. It asks whoever runs it, as it does for its text, and that is here; what it
//! may reach is decided by the session's grants, as for a command.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use drydock_abi::fetch::{FETCH, FetchAnswer, FetchFailure, failure_of};
use drydock_contract::{Call, Dispatch, FailureCode, Fault, Streams, ToolAnswer, ToolFailure};
use serde_json::json;

/// How a program spells it; of no provider.
pub(super) const FETCH_TOOL: &str = "fetch";

/// Makes the request. A failure is an answer too: the program makes an error of its own language of it.
pub(super) async fn fetch(door: Option<Arc<dyn Dispatch>>, request: Bytes) -> ToolAnswer {
    let Some(door) = door else {
        return Err(ToolFailure::new(FailureCode::ToolError, "there is no network for this program"));
    };
    let call = Call::new(FETCH, &request, Streams::default()).answered_typed();
    let broken = || Fault::Internal("the gate answered in another form".into());
    let answer: FetchAnswer = match door.dispatch(call).await {
        Ok(mut reply) => reply.value().unwrap_or_else(|| Err(failure_of(&broken().into()))),
        Err(error) => Err(failure_of(&error)),
    };
    let told = match &answer {
        Ok(fetched) => json!({ "status": fetched.status, "headers": fetched.headers,
            "body_b64": STANDARD.encode(&fetched.body) }),
        Err(FetchFailure { kind, code, message, flag }) => {
            json!({ "error": { "kind": kind, "code": code, "message": message, "flag": flag } })
        }
    };
    Ok(Bytes::from(told.to_string()))
}
