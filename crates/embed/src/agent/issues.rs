//! What agents filed for whoever runs the installation: it outlives its run, and goes when somebody forgets it.

use drydock_contract::{AgentId, FiledIssue};

use super::{AgentError, DockAgents};

impl DockAgents {
    /// Issues of all runs, those that were filed last first, behind `after`.
    pub async fn issues(
        &self,
        after: Option<&AgentId>,
        rows_max: usize,
    ) -> Result<Vec<FiledIssue>, AgentError> {
        Ok(self.store().issues(self.dock.tenant(), after, rows_max).await?)
    }

    /// Forgets an issue. False if there is none.
    pub async fn remove_issue(&self, id: &AgentId) -> Result<bool, AgentError> {
        Ok(self.store().remove_issue(self.dock.tenant(), id).await?)
    }
}
