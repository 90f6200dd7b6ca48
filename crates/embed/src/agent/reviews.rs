//! What people are asked on the way of runs, and what they say.

use drydock_contract::{
    AgentId, CallError, Fault, Review, ReviewAnswer, ReviewKind, ReviewState,
    port::{AgentRefusal, Clock as _, Wanted},
};
use serde_json::Value;

use super::{AgentError, DockAgents};
use crate::SystemClock;

/// Reviews of one run that are looked at.
const REVIEWS_MAX: usize = 1000;

impl DockAgents {
    /// Reviews, the oldest first: of all runs or of one, only those that wait or all.
    pub async fn reviews(
        &self,
        run: Option<&AgentId>,
        wanted: Wanted,
        rows_max: usize,
    ) -> Result<Vec<Review>, AgentError> {
        let (store, now) = (self.store(), SystemClock.now());
        Ok(store.reviews(self.dock.tenant(), run, wanted, rows_max, now).await?)
    }

    /// One review.
    pub async fn review(&self, id: &AgentId) -> Result<Review, AgentError> {
        let found = self.store().review(self.dock.tenant(), id, SystemClock.now()).await?;
        Ok(found.ok_or(AgentRefusal::Absent)?)
    }

    /// Answers a review, once and in its time. Whoever drives the run hears of it; a run that nobody drives goes on when it is
    /// resumed.
    pub async fn answer(&self, id: &AgentId, answer: ReviewAnswer, by: &str) -> Result<Review, AgentError> {
        let (store, now) = (self.store(), SystemClock.now());
        let review = store.answer(self.dock.tenant(), id, answer, by, now).await??;
        self.answered.notify(usize::MAX);
        Ok(review)
    }

    /// Puts something into a run's queue for people to look at: the seed's `put_review`. The run does not wait for it.
    pub async fn put_review(&self, run: &AgentId, title: &str, what: Value) -> Result<AgentId, AgentError> {
        self.show(run).await?;
        let (id, now) = (new_id()?, SystemClock.now());
        let review = Review {
            id: id.clone(),
            run: run.clone(),
            call: None,
            kind: ReviewKind::Other,
            title: title.to_owned(),
            what,
            grant: None,
            asked_ms: now.0 / 1_000_000,
            expires_ms: None,
            state: ReviewState::Pending,
        };
        self.store().ask(self.dock.tenant(), review).await??;
        Ok(id)
    }

    /// Takes the oldest thing out of a run's queue that was put there and that nobody took: the seed's `take_review`. Each is
    /// taken once, whoever else takes.
    pub async fn take_review(&self, run: &AgentId, by: &str) -> Result<Option<Review>, AgentError> {
        let waiting = self.reviews(Some(run), Wanted::Pending, REVIEWS_MAX).await?;
        for review in waiting.into_iter().filter(|it| it.kind == ReviewKind::Other) {
            match self.answer(&review.id, ReviewAnswer::Once, by).await {
                Ok(taken) => return Ok(Some(taken)),
                // Somebody else was faster.
                Err(AgentError::Refused(AgentRefusal::Answered | AgentRefusal::Expired)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

/// A new id of a run or a review.
pub(super) fn new_id() -> Result<AgentId, AgentError> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits)
        .map_err(|error| CallError::from(Fault::Internal(format!("no randomness: {error}"))))?;
    Ok(AgentId::of(u128::from_le_bytes(bits)))
}
