//! Whether anything goes on in a run while people are asked on the way of its sub-agents.

use std::collections::BTreeMap;

use drydock_agent::{Event, tools::AGENT};
use drydock_contract::{AgentId, AgentStatus, BoxFuture};

use super::{
    AgentError, DockAgents,
    child::{DEPTH_MAX, child_id},
};

impl DockAgents {
    /// Whether all that a run waits for are people: every call of it that goes on is a sub-agent's, and each of these
    /// waits for an answer, or is such a run itself. No event of it says so.
    pub async fn waits_for_people(&self, run: &AgentId) -> Result<bool, AgentError> {
        let events = self.all_events(run).await?;
        Ok(match children_at_work(run, &events) {
            Some(children) => self.all_wait(children, 1).await?,
            None => false,
        })
    }

    fn all_wait(&self, runs: Vec<AgentId>, depth: u32) -> BoxFuture<'_, Result<bool, AgentError>> {
        Box::pin(async move {
            for run in runs {
                let Some(head) = self.store().head(self.dock.tenant(), &run).await? else { return Ok(false) };
                let waits = match head.status {
                    AgentStatus::Waiting => !self.is_answered(&run).await?,
                    AgentStatus::Running if depth < DEPTH_MAX => {
                        match children_at_work(&run, &self.all_events(&run).await?) {
                            Some(children) => self.all_wait(children, depth + 1).await?,
                            None => false,
                        }
                    }
                    _ => false,
                };
                if !waits {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }
}

/// The sub-agents that a run's calls wait for; nothing where another call goes on, or none.
fn children_at_work(run: &AgentId, events: &[Event]) -> Option<Vec<AgentId>> {
    let mut open = BTreeMap::new();
    for event in events {
        match event {
            Event::Calling { step, id, tool, .. } => {
                open.insert(id.as_str(), (*step, tool.as_str()));
            }
            // One that waits for a person itself is not at work.
            Event::Result { id, .. } | Event::Asked { call: Some(id), .. } => {
                open.remove(id.as_str());
            }
            _ => {}
        }
    }
    if open.is_empty() || open.values().any(|it| it.1 != AGENT) {
        return None;
    }
    Some(open.into_iter().map(|(id, (step, _))| child_id(run, step, id)).collect())
}

#[cfg(test)]
mod tests {
    use drydock_agent::CallOutcome;

    use super::*;

    #[test]
    fn a_run_is_at_work_where_anything_but_sub_agents_is() {
        let run = AgentId::of(1);
        let calling =
            |id: &str, tool: &str| Event::Calling { at_ms: 0, step: 2, id: id.into(), tool: tool.into() };
        let over = Event::Result {
            at_ms: 0,
            step: 2,
            id: "b".into(),
            tool: "shell".into(),
            output: String::new(),
            outcome: CallOutcome::Done { exit_code: None },
            files_changed: None,
            whole: None,
            spent: None,
            ms: 0,
        };
        let mut events = vec![calling("a", AGENT), calling("b", "shell")];
        assert_eq!(children_at_work(&run, &events), None);
        events.push(over);
        assert_eq!(children_at_work(&run, &events), Some(vec![child_id(&run, 2, "a")]));
        assert_eq!(children_at_work(&run, &[]), None);
    }
}
