//! One call of a tool, at the gate.

use std::{
    future::poll_fn,
    pin::pin,
    task::Poll,
    time::{Duration, Instant},
};

use bytes::Bytes;
use drydock_abi::{
    llm::ToolCall,
    tool::{CALL, decode_reply, request_bytes},
};
use drydock_contract::{
    Call, CallError, Denial, Dispatch, FailureCode, Reply, Streams, ToolAnswer, ToolFailure, ToolRequest,
    port::Clock,
};

use crate::tools::{self, PROVIDER, ToolOutput};

/// What came of a call.
pub(super) enum Made {
    /// It answered.
    Output(ToolOutput),
    /// It has no answer: the code, and what the model is told.
    Failed(String, String),
    /// The gate said no to calling it.
    Denied(Denial),
}

/// Calls a tool. After `wall_ms` it is dropped, which ends what it started; a sub-agent has bounds of its own.
pub(super) async fn make(door: &dyn Dispatch, timer: &dyn Clock, call: ToolCall, wall_ms: u64) -> Made {
    let is_bounded = call.name != tools::AGENT;
    let name = call.name.clone();
    let mut work = pin!(at_the_gate(door, call));
    let end = Instant::now().checked_add(Duration::from_millis(wall_ms)).filter(|_| is_bounded);
    // Only where the work is not done at once does anybody look at a clock.
    let mut alarm = None;
    poll_fn(|cx| {
        if let Poll::Ready(made) = work.as_mut().poll(cx) {
            return Poll::Ready(made);
        }
        let Some(end) = end else { return Poll::Pending };
        let Some(alarm) = alarm.get_or_insert_with(|| timer.alarm(end)) else { return Poll::Pending };
        alarm.as_mut().poll(cx).map(|()| {
            let why = format!("`{name}` was ended after {wall_ms} ms; what it did until then is done");
            Made::Failed("timeout".into(), why)
        })
    })
    .await
}

async fn at_the_gate(door: &dyn Dispatch, call: ToolCall) -> Made {
    // The model's arguments, which are JSON already: there is nothing in them that JSON cannot say.
    let input = serde_json::to_vec(&call.arguments).unwrap_or_default();
    let request = ToolRequest {
        provider: PROVIDER.into(),
        tool: call.name.as_str().into(),
        input: Some(Bytes::from(input)),
        span: 0,
        depth: 0,
    };
    let bytes = request_bytes(&request);
    match door.dispatch(Call::typed(CALL, request, bytes, Streams::default())).await {
        Ok(reply) => read(reply),
        Err(CallError::Denied(denial)) => Made::Denied(denial),
        Err(CallError::Failed(fault)) => {
            Made::Failed(fault.code().into(), format!("`{}` could not be called: {fault}", call.name))
        }
    }
}

fn read(mut reply: Reply) -> Made {
    let answer = match reply.value::<ToolAnswer>() {
        Some(answer) => answer,
        // A door that only speaks in bytes.
        None => decode_reply(Bytes::from(reply.payload))
            .unwrap_or_else(|bad| Err(ToolFailure::new(FailureCode::InternalError, bad.to_string()))),
    };
    match answer.map(|json| serde_json::from_slice::<ToolOutput>(&json)) {
        Ok(Ok(output)) => Made::Output(output),
        Ok(Err(bad)) => Made::Failed("bad_answer".into(), format!("the tool's answer is none: {bad}")),
        Err(ToolFailure { code, message }) => Made::Failed(code.as_str().into(), message),
    }
}
