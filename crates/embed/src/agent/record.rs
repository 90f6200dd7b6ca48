//! What came of a run, as its caller gets it.

use drydock_agent::Event;
use drydock_contract::{AgentHead, AgentId, AgentStatus, AgentUsage};
use serde::Serialize;

use super::trace;

/// A run and everything that happened in it: `{result, steps, events, log, usage}` as the seed has it, and which run it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunRecord {
    /// Which run.
    pub id: AgentId,
    /// How far it is.
    pub status: AgentStatus,
    /// What it came to; nothing where it is not done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Why it failed: a stable code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Turns of the model.
    pub steps: u64,
    /// Everything that happened, in order.
    pub events: Vec<Event>,
    /// The same for a person: a line each.
    pub log: Vec<String>,
    /// What its turns cost.
    pub usage: AgentUsage,
}

impl RunRecord {
    /// Of its head and all of its events.
    pub(super) fn of(head: AgentHead, events: Vec<Event>) -> Self {
        let AgentHead { id, status, steps, usage, result, reason, .. } = head;
        // The head has the beginning of the result; the last event has it whole.
        let whole = events.iter().rev().find_map(|it| match it {
            Event::Ended { end: drydock_agent::RunEnd::Done { result }, .. } => Some(result.clone()),
            _ => None,
        });
        let result = (status == AgentStatus::Done).then(|| whole.or(result)).flatten();
        let log = trace::log(&events);
        Self { id, status, result, reason, steps, events, log, usage }
    }
}
