//! `tool`: calls a tool of the session. Which tools there are is the session's business, which of them
//! may be called, and with what, the grants'.

mod policy;
mod request;
#[cfg(test)]
mod tests;

use std::{any::Any, sync::Arc};

pub use drydock_abi::tool::CALL;
use drydock_abi::tool::{REPLY_BYTES_MAX, REQUEST_BYTES_MAX, encode_reply};
use drydock_contract::{
    CallError, Cap, Denial, FailureCode, Reply, Streams, Terms, ToolFailure, ToolRequest,
};
use drydock_gate::{
    Audited, CapSpec, Capability, Class, Import, NotAdmitted, Operation, Permit, Refused, Session,
};

pub use policy::{Ready, pattern};
pub use request::ToolCall;

/// The power to call tools.
#[derive(Debug, Default)]
pub struct Tool;

impl Capability for Tool {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Tool,
        operations: &[Operation {
            name: CALL,
            class: Class::Tool,
            request_bytes_max: REQUEST_BYTES_MAX,
            in_flight_max: None,
            audited: Audited::Everything,
            summary: "Calls a tool of the session. Request and reply: the tool wire.",
        }],
        imports: &[
            Import { module: "env", name: "tool_start", signature: "(req: i32, req_len: i32) -> i32" },
            Import { module: "env", name: "tool_next", signature: "(out: i32, out_cap: i32) -> i64" },
            Import { module: "env", name: "tool_wait", signature: "(nanos: i64) -> i32" },
        ],
    };

    const REPLY_BYTES_MAX: u64 = REPLY_BYTES_MAX;
    type Request = ToolCall;
    type Ready = Ready;
    type Policy = ();

    fn policy(&self) -> &() {
        &()
    }

    fn decode(_: &str, payload: &[u8]) -> Result<ToolCall, Denial> {
        request::decode(payload)
    }

    fn decode_typed(_: &str, value: Box<dyn Any + Send>) -> Option<ToolCall> {
        value.downcast::<ToolRequest>().ok().map(|it| ToolCall::new(*it))
    }

    fn digested(request: &ToolCall) -> Option<[&[u8]; 2]> {
        Some([request.name.as_bytes(), request.request.input.as_deref().unwrap_or_default()])
    }

    fn subject(request: &ToolCall) -> &str {
        &request.name
    }

    fn within(request: &ToolCall, terms: &Terms) -> bool {
        policy::within(request, terms)
    }

    fn judge_terms(terms: &Terms) -> Result<(), String> {
        policy::judge_terms(terms)
    }

    fn not_admitted(request: &ToolCall, why: NotAdmitted) -> Denial {
        let (why, rules) = match why {
            NotAdmitted::ByName => ("", Some(Vec::new())),
            NotAdmitted::ByTerms => (" with these arguments", policy::exactly(request)),
        };
        Denial::ToolNotGranted { tool: Denial::subject(&request.name), why, rules: rules.map(Arc::from) }
    }

    fn check(_: &(), session: &Session, request: ToolCall) -> Result<Ready, Refused> {
        Ok(policy::check(session, request))
    }

    fn label(ready: &Ready) -> Arc<str> {
        Arc::clone(&ready.label)
    }

    async fn perform(
        &self,
        permit: Permit<'_, Self>,
        ready: Ready,
        streams: Streams,
    ) -> Result<Reply, CallError> {
        let Ready { tools, request, label } = ready;
        tracing::trace!(target: "drydock::hop", "caps/tool: `{label}` is a tool of the session");
        let answer = match tools {
            Some(tools) => {
                let (span, depth) = (permit.call().0, permit.session().depth());
                tools.call(ToolRequest { span, depth, ..request }).await
            }
            None => Err(ToolFailure::new(FailureCode::InternalError, format!("Unknown tool {label}"))),
        };
        // Whoever lost their rights while the tool was busy gets nothing out of it.
        let answer = match permit.still_valid() {
            true => answer,
            false => Err(ToolFailure::new(FailureCode::ToolError, format!("Tool {label} was cancelled"))),
        };
        if !permit.wants_typed() {
            return Ok(Reply::of_bytes(encode_reply(answer), streams));
        }
        let digested = answer.as_ref().ok().cloned();
        Ok(Reply { digested, ..Reply::of_value(answer, streams) })
    }
}
