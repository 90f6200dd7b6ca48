//! `agent`: a task for a run of its own. Who starts it, with which grants and which share of the budget, is the affair of
//! whoever drives runs; here its arguments are read.

use drydock_agent::tools::{AgentArguments, ToolOutput};
use drydock_contract::{BoxFuture, CallId};
use serde_json::{Map, Value};

use super::{AgentTools, Called, ToolError};

/// A call for a sub-agent.
#[derive(Debug)]
pub struct SubCall {
    /// What it is to do, and within which bounds.
    pub arguments: AgentArguments,
    /// The same as the model wrote it: by this the call is found in the transcript.
    pub written: Map<String, Value>,
    /// The gate's call that it is part of.
    pub call: CallId,
    /// How many runs lie between the host and it.
    pub depth: u32,
}

/// Runs sub-agents, with no more than their parent has.
pub trait SubAgents: Send + Sync {
    /// Runs one to its end. Dropping the future ends it.
    fn run(&self, call: SubCall) -> BoxFuture<'_, Result<ToolOutput, ToolError>>;
}

impl AgentTools {
    pub(super) async fn sub_agent(
        &self,
        call: Called,
        input: Option<&[u8]>,
        arguments: AgentArguments,
    ) -> Result<ToolOutput, ToolError> {
        let Some(children) = &self.children else {
            return Err(ToolError::new(
                "no_sub_agents",
                "this run may start no sub-agents; do the task yourself",
            ));
        };
        if arguments.task.trim().is_empty() {
            return Err(ToolError::new("bad_arguments", "`task` is empty: say what is to be done"));
        }
        let written = serde_json::from_slice(input.unwrap_or(b"{}")).unwrap_or_default();
        children.run(SubCall { arguments, written, call: call.id, depth: call.depth }).await
    }
}
