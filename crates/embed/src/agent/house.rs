//! The runs of one tenant: what there is, how far each is, and what happened in it.

use std::sync::Arc;

use drydock_agent::{Event, definition::AgentDefinition};
use drydock_contract::{
    AgentHead, AgentId,
    port::{AgentRefusal, Agents, Clock as _},
};
use drydock_store::{Quota, Workspaces};

use super::{
    AgentError, AgentPowers, RunRecord, SnapshotQuota, ToolkitPlaces, furnish, snapshots::Snapshots,
    tools::exec::ExecSettings,
};
use crate::{Dock, SecretSource, Setup, SystemClock};

/// What holds for all runs of whoever opens them.
#[derive(Clone, Default)]
pub struct AgentSettings {
    /// What the session of each run begins with, besides what its own powers say: limits, an embedder's commands, headers
    /// with secrets. What is granted here every run has.
    pub setup: Setup,
    /// How much the snapshots of one run may take.
    pub snapshots: SnapshotQuota,
    /// What a person configured for the trusted tools.
    pub exec: Arc<ExecSettings>,
    /// Reads their keys.
    pub secrets: Option<Arc<SecretSource>>,
    /// Where toolkits are looked for.
    pub toolkits: ToolkitPlaces,
    /// Knows agents that are defined here, for sub-agents that are called by their names.
    pub definitions: Option<Arc<Definitions>>,
}

/// Finds an agent by its name.
pub type Definitions = dyn Fn(&str) -> Option<AgentDefinition> + Send + Sync;

/// The runs of a tenant. Cheap to clone; clones are the same.
#[derive(Clone)]
pub struct DockAgents {
    pub(super) dock: Dock,
    pub(super) settings: Arc<AgentSettings>,
    /// Somebody answered a review, or put something into a queue.
    pub(super) answered: Arc<event_listener::Event>,
}

/// Bytes of events that are read at once: what they are read into may take fifty times as much, for each who follows.
const EVENTS_BYTES_MAX: usize = 256 << 10;

impl Dock {
    /// The runs of agents of the tenant.
    pub fn agents(&self) -> DockAgents {
        self.agents_with(AgentSettings::default())
    }

    /// The same with settings for those that are opened or resumed.
    pub fn agents_with(&self, settings: AgentSettings) -> DockAgents {
        DockAgents {
            dock: self.clone(),
            settings: Arc::new(settings),
            answered: Arc::clone(&self.agents_answered),
        }
    }
}

impl DockAgents {
    pub(super) fn store(&self) -> &Arc<dyn Agents> {
        &self.dock.agents
    }

    /// The machine that they run on.
    pub fn dock(&self) -> &Dock {
        &self.dock
    }

    /// Heads of runs, those that began last first, behind `after`.
    pub async fn list(&self, after: Option<&AgentId>, rows_max: usize) -> Result<Vec<AgentHead>, AgentError> {
        Ok(self.store().list(self.dock.tenant(), after, rows_max).await?)
    }

    /// How far a run is. One whose driver is gone is `failed` (`interrupted`).
    pub async fn show(&self, run: &AgentId) -> Result<AgentHead, AgentError> {
        let head = self.store().head(self.dock.tenant(), run).await?;
        Ok(head.ok_or(AgentRefusal::Absent)?)
    }

    /// What happened in a run from event number `from` on, as many as fit; the next number is as many further.
    pub async fn events(&self, run: &AgentId, from: u64) -> Result<Vec<Event>, AgentError> {
        self.show(run).await?;
        self.read(run, from).await
    }

    /// Waits until there is an event of that number, the run is elsewhere, or about a second is over: whoever follows a run
    /// then reads on and asks for its head.
    pub async fn changed(&self, run: &AgentId, from: u64) {
        self.store().changed(self.dock.tenant(), run, from).await;
    }

    /// A run with everything that happened in it.
    pub async fn record(&self, run: &AgentId) -> Result<RunRecord, AgentError> {
        let head = self.show(run).await?;
        Ok(RunRecord::of(head, self.all_events(run).await?))
    }

    /// Asks for the end of a run and of those that it started; where nobody drives one, it is `cancelled` at once. False if it
    /// was over.
    pub async fn cancel(&self, run: &AgentId) -> Result<bool, AgentError> {
        self.show(run).await?;
        let (store, tenant) = (self.store(), self.dock.tenant());
        let done = store.cancel(tenant, run, SystemClock.now()).await?;
        // Whoever drove it drops its sub-agents; what they were is `cancelled` too, and not only interrupted.
        let mut above = vec![run.clone()];
        while let Some(parent) = above.pop() {
            for child in furnish::children_in(&parent, &self.all_events(&parent).await?) {
                if store.head(tenant, &child).await?.is_some() {
                    store.cancel(tenant, &child, SystemClock.now()).await?;
                    above.push(child);
                }
            }
        }
        self.answered.notify(usize::MAX);
        Ok(done)
    }

    /// Forgets a run that is over: its events, its reviews, its snapshots and a workspace of its own. False if there is none.
    pub async fn remove(&self, run: &AgentId) -> Result<bool, AgentError> {
        let Some(head) = self.store().head(self.dock.tenant(), run).await? else { return Ok(false) };
        let powers = self.powers_of(run).await.ok();
        if !self.store().remove(self.dock.tenant(), run).await?? {
            return Ok(false);
        }
        let (Some(powers), Some(_)) = (powers, head.workspace) else { return Ok(true) };
        if let Some(snapshots) = self.snapshots(&powers, run)? {
            let is_own = powers.files == super::AgentFiles::Own;
            crate::instance::off_thread(move || match is_own {
                true => snapshots.all.remove(&snapshots.workspace),
                false => snapshots.forget(),
            })
            .await?;
        }
        Ok(true)
    }

    /// What a run was opened with.
    pub(super) async fn powers_of(&self, run: &AgentId) -> Result<AgentPowers, AgentError> {
        let first = self.store().events(self.dock.tenant(), run, 0, 1).await?;
        let broken = |why: String| AgentError::Broken { run: run.clone(), why };
        let first = first.first().ok_or_else(|| broken("it has no beginning".into()))?;
        match serde_json::from_slice(first).map_err(|error| broken(error.to_string()))? {
            Event::Started { opened_by, .. } => powers_in(run, opened_by),
            _ => Err(broken("it has no beginning".into())),
        }
    }

    /// The snapshots of a run, if its files are kept.
    pub(super) fn snapshots(
        &self,
        powers: &AgentPowers,
        run: &AgentId,
    ) -> Result<Option<Snapshots>, AgentError> {
        let Some(workspace) = powers.workspace(run)? else { return Ok(None) };
        let all = Workspaces::of(&self.dock.home.tenant(self.dock.tenant()), Quota::default());
        Ok(Some(Snapshots { all, workspace, run: run.clone(), quota: self.settings.snapshots }))
    }

    /// Every event of a run.
    pub(super) async fn all_events(&self, run: &AgentId) -> Result<Vec<Event>, AgentError> {
        let mut all = Vec::new();
        loop {
            let more = self.read(run, all.len() as u64).await?;
            if more.is_empty() {
                return Ok(all);
            }
            all.extend(more);
        }
    }

    async fn read(&self, run: &AgentId, from: u64) -> Result<Vec<Event>, AgentError> {
        let bytes = self.store().events(self.dock.tenant(), run, from, EVENTS_BYTES_MAX).await?;
        let read = |it: &Vec<u8>| serde_json::from_slice(it);
        let events = bytes.iter().map(read).collect::<Result<Vec<Event>, _>>();
        events.map_err(|error| AgentError::Broken { run: run.clone(), why: error.to_string() })
    }
}

/// The powers that a run was opened with, as its first event has them.
pub(super) fn powers_in(
    run: &AgentId,
    opened_by: serde_json::Map<String, serde_json::Value>,
) -> Result<AgentPowers, AgentError> {
    let read = serde_json::from_value(opened_by.into());
    read.map_err(|error| AgentError::Broken { run: run.clone(), why: error.to_string() })
}
