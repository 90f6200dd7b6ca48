//! Runs that go on by themselves: driven by a task, and by nobody while a person is asked.

use std::time::Duration;

use drydock_contract::{AgentId, AgentStatus, port::Wanted};

use super::{AgentChanges, AgentError, AgentFiles, AgentRun, DockAgents, Driven};

/// Between two looks whether somebody answered in another process.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Reviews of one run that are looked at.
const REVIEWS_MAX: usize = 1000;
/// Heads that are looked at, at once.
const HEADS_MAX: usize = 256;

impl DockAgents {
    /// Drives a run from here on, on this runtime, until it ends; answers at once with its id. While it waits for a person
    /// nobody holds it, no thread and, where its files are kept, no session; what it comes to is in its head and its events.
    pub fn start(&self, run: AgentRun) -> AgentId {
        let (agents, id) = (self.clone(), run.id().clone());
        tokio::spawn(async move {
            let id = run.id().clone();
            if let Err(error) = agents.drive_on(run).await {
                tracing::warn!("run {id} of an agent: {error}");
            }
        });
        id
    }

    /// Takes up the runs that wait for a person and that nobody drives, as a server does when it starts. How many those are.
    pub async fn take_up(&self) -> Result<usize, AgentError> {
        let (mut taken, mut after) = (0, None);
        loop {
            let heads = self.list(after.as_ref(), HEADS_MAX).await?;
            let Some(last) = heads.last() else { return Ok(taken) };
            after = Some(last.id.clone());
            for head in heads.into_iter().filter(|it| it.status == AgentStatus::Waiting) {
                let is_ours = self.powers_of(&head.id).await.is_ok_and(|it| it.child.is_none());
                if is_ours {
                    taken += 1;
                    let agents = self.clone();
                    tokio::spawn(async move {
                        if let Err(error) = agents.go_on_when_answered(&head.id).await {
                            tracing::warn!("run {} of an agent: {error}", head.id);
                        }
                    });
                }
            }
        }
    }

    /// Drives a run to its end, through every question that people are asked.
    pub async fn drive_on(&self, mut run: AgentRun) -> Result<(), AgentError> {
        loop {
            match run.drive().await? {
                Driven::Ended(_) => return Ok(()),
                // Files in memory are gone with the session, and so is a tape.
                Driven::Waiting if run.powers().files == AgentFiles::Memory || run.is_recorded() => {
                    run.until_answered().await?;
                }
                Driven::Waiting => {
                    let id = run.id().clone();
                    drop(run);
                    return Box::pin(self.go_on_when_answered(&id)).await;
                }
            }
        }
    }

    async fn go_on_when_answered(&self, id: &AgentId) -> Result<(), AgentError> {
        self.until_answered(id).await?;
        // Somebody may have cancelled it, or drive it by now.
        if self.show(id).await?.status != AgentStatus::Waiting {
            return Ok(());
        }
        match self.resume(id, &AgentChanges::default()).await {
            Err(AgentError::Refused(drydock_contract::port::AgentRefusal::Held)) => Ok(()),
            other => self.drive_on(other?).await,
        }
    }

    /// Waits until nothing that the run was asked about waits for an answer any more: answered, expired, or the run is over.
    pub async fn until_answered(&self, run: &AgentId) -> Result<(), AgentError> {
        loop {
            let heard = self.answered.listen();
            if self.is_answered(run).await? {
                return Ok(());
            }
            let _ = tokio::time::timeout(LOOK_AGAIN, heard).await;
        }
    }

    pub(super) async fn is_answered(&self, run: &AgentId) -> Result<bool, AgentError> {
        if self.show(run).await?.status.is_over() {
            return Ok(true);
        }
        let waiting = self.reviews(Some(run), Wanted::Pending, REVIEWS_MAX).await?;
        // What was put into its queue is nothing that it waits for.
        Ok(waiting.iter().all(|it| it.kind == drydock_contract::ReviewKind::Other))
    }
}
