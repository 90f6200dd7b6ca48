//! The tools of a session, by way of its gate: what a host session is given, so that no call of a tool
//! goes around grants, rates and the audit.

use std::sync::Arc;

use drydock_abi::tool::{CALL, request_bytes};
use drydock_contract::{
    BoxFuture, Call, CallError, FailureCode, Streams, ToolAnswer, ToolFailure, ToolRequest, Tools,
};
use drydock_gate::{Gate, Session};

/// Every call becomes a `Call{tool.call}` of the session at the gate. The tools behind it are the
/// session's own.
pub struct Gated {
    gate: Arc<Gate>,
    session: Session,
}

impl Gated {
    /// Calls of this session.
    pub fn new(gate: Arc<Gate>, session: Session) -> Self {
        Self { gate, session }
    }
}

impl Tools for Gated {
    fn call(&self, request: ToolRequest) -> BoxFuture<'_, ToolAnswer> {
        Box::pin(async move {
            let name = request.name();
            tracing::trace!(target: "drydock::hop", "codemode: `{name}` becomes a call of the session");
            let bytes = request_bytes(&request);
            let call = Call::typed(CALL, request, bytes, Streams::default());
            match self.gate.dispatch(&self.session, call).await {
                Ok(mut reply) => reply.value::<ToolAnswer>().unwrap_or_else(|| {
                    Err(ToolFailure::new(FailureCode::InternalError, "the gate's answer is no tool's"))
                }),
                Err(CallError::Denied(denial)) => {
                    Err(ToolFailure::new(FailureCode::ToolError, denial.to_string()))
                }
                // What broke is for whoever runs us; the program learns that something did.
                Err(CallError::Failed(fault)) => Err(ToolFailure::new(
                    FailureCode::InternalError,
                    format!("Tool {name} could not be called: {}", fault.code()),
                )),
            }
        })
    }
}
