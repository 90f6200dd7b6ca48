//! Who drives the runs of agents that were opened over HTTP: tasks of the server, of which no more than so many ask models
//! and call tools at once. A run that waits for a person has no place among them, and nobody holds it.
//!
//! A server that ends drops what it drives. What it drove is `failed` (`interrupted`) then, and goes on when it is resumed;
//! what waits for a person is taken up again by the next server.

use std::{collections::HashMap, sync::Arc};

use axum::http::StatusCode;
use drydock_contract::{AgentId, AgentStatus, Tenant};
use drydock_embed::agent::{AgentChanges, AgentError, AgentRun, DockAgents, Driven};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast};

use crate::{app::Bounds, error::ApiError};

/// Heads that are looked at, at once.
const HEADS_MAX: usize = 256;
/// Pieces of a turn that wait for a listener.
const WORDS_MAX: usize = 1_024;
/// Where principals of callers over HTTP begin.
pub(crate) const OVER_HTTP: &str = "http";

/// Whether a caller over HTTP opened what has this principal: one without a token, or one with.
pub(crate) fn is_over_http(principal: &str) -> bool {
    principal.strip_prefix(OVER_HTTP).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

/// Places for runs.
pub(crate) struct Drivers {
    all: Arc<Semaphore>,
    tenant_max: usize,
    tenants: Mutex<HashMap<Tenant, Arc<Semaphore>>>,
    /// What models say in runs that somebody listens to, while they say it.
    words: Arc<Mutex<HashMap<AgentId, broadcast::Sender<String>>>>,
}

/// A place among those that are driven, given back when it is dropped.
pub(crate) struct Driving {
    _tenant: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

impl Drivers {
    pub(crate) fn new(bounds: &Bounds) -> Self {
        Self {
            all: Arc::new(Semaphore::new(bounds.agents_max)),
            tenant_max: bounds.tenant_agents_max,
            tenants: Mutex::default(),
            words: Arc::default(),
        }
    }

    /// What the model of a run says from now on, word by word. Whoever listens too slowly misses some: the turn has all.
    pub(crate) fn words_of(&self, run: &AgentId) -> broadcast::Receiver<String> {
        let mut words = self.words.lock();
        words.retain(|_, it| it.receiver_count() > 0);
        let new = || broadcast::channel(WORDS_MAX).0;
        words.entry(run.clone()).or_insert_with(new).subscribe()
    }

    fn of(&self, tenant: &Tenant) -> Arc<Semaphore> {
        let made = || Arc::new(Semaphore::new(self.tenant_max));
        Arc::clone(self.tenants.lock().entry(tenant.clone()).or_insert_with(made))
    }

    /// A place now, for a run that somebody asks for.
    pub(crate) fn place(&self, tenant: &Tenant) -> Result<Driving, ApiError> {
        let full = |_| {
            let text = "as many runs of agents go on as may; try again when one has ended, or cancel one";
            ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_running", text)
        };
        let tenant = self.of(tenant).try_acquire_owned().map_err(full)?;
        Ok(Driving { _tenant: tenant, _all: Arc::clone(&self.all).try_acquire_owned().map_err(full)? })
    }

    /// A place as soon as there is one, for a run that goes on after a person's answer.
    async fn next_place(&self, tenant: &Tenant) -> Option<Driving> {
        let tenant = self.of(tenant).acquire_owned().await.ok()?;
        Some(Driving { _tenant: tenant, _all: Arc::clone(&self.all).acquire_owned().await.ok()? })
    }

    /// Drives a run on a task of its own, through every question that people are asked.
    pub(crate) fn drive(self: &Arc<Self>, agents: DockAgents, tenant: Tenant, run: AgentRun, place: Driving) {
        let drivers = Arc::clone(self);
        tokio::spawn(async move {
            let id = run.id().clone();
            if let Err(error) = drivers.drive_on(&agents, &tenant, run, place).await {
                tracing::warn!(target: "drydock::serve", "run {id} of an agent: {error}");
            }
        });
    }

    async fn drive_on(
        &self,
        agents: &DockAgents,
        tenant: &Tenant,
        mut run: AgentRun,
        mut place: Driving,
    ) -> Result<(), AgentError> {
        loop {
            let (words, id) = (Arc::clone(&self.words), run.id().clone());
            run.on_words(move |said| {
                if let Some(to) = words.lock().get(&id) {
                    // Nobody listens any more.
                    let _ = to.send(said.to_owned());
                }
            });
            if let Driven::Ended(_) = run.drive().await? {
                return Ok(());
            }
            let id = run.id().clone();
            drop((run, place));
            let Some((resumed, its_place)) = self.when_answered(agents, tenant, &id).await? else {
                return Ok(());
            };
            (run, place) = (resumed, its_place);
        }
    }

    /// The run again, once a person has answered; nothing if somebody else has it by then.
    async fn when_answered(
        &self,
        agents: &DockAgents,
        tenant: &Tenant,
        id: &drydock_contract::AgentId,
    ) -> Result<Option<(AgentRun, Driving)>, AgentError> {
        agents.until_answered(id).await?;
        let Some(place) = self.next_place(tenant).await else { return Ok(None) };
        if agents.show(id).await?.status != AgentStatus::Waiting {
            return Ok(None);
        }
        match agents.resume(id, &AgentChanges::default()).await {
            Ok(run) => Ok(Some((run, place))),
            Err(error) if error.code() == "run_held" => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Takes up what another server of this data drove and what waits for a person since. Runs of the command line are not
    /// its affair.
    pub(crate) fn take_up(self: &Arc<Self>, agents: DockAgents, tenant: Tenant) {
        // Where nothing runs tasks, as in a test of a route, nothing is driven either.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let drivers = Arc::clone(self);
        runtime.spawn(async move {
            if let Err(error) = drivers.take_up_all(&agents, &tenant).await {
                tracing::warn!(target: "drydock::serve", "runs of agents were not taken up: {error}");
            }
        });
    }

    async fn take_up_all(self: &Arc<Self>, agents: &DockAgents, tenant: &Tenant) -> Result<(), AgentError> {
        let mut after = None;
        loop {
            let heads = agents.list(after.as_ref(), HEADS_MAX).await?;
            let Some(last) = heads.last() else { return Ok(()) };
            after = Some(last.id.clone());
            let is_ours = |it: &drydock_contract::AgentHead| {
                it.status == AgentStatus::Waiting && is_over_http(&it.principal)
            };
            for head in heads.into_iter().filter(is_ours) {
                let (drivers, agents, tenant) = (Arc::clone(self), agents.clone(), tenant.clone());
                tokio::spawn(async move {
                    match drivers.when_answered(&agents, &tenant, &head.id).await {
                        Ok(Some((run, place))) => drivers.drive(agents, tenant, run, place),
                        Ok(None) => {}
                        Err(error) => {
                            tracing::warn!(target: "drydock::serve", "run {} of an agent: {error}", head.id);
                        }
                    }
                });
            }
        }
    }
}
