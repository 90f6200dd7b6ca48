//! Where a replay keeps its events: in memory, and nowhere afterwards. What people are asked is answered as it was.

use std::{collections::BTreeMap, future::pending, sync::Arc};

use drydock_agent::Event;
use drydock_contract::{
    AgentHead, AgentId, BoxFuture, FiledIssue, Review, ReviewAnswer, ReviewState, Tenant, Timestamp,
    port::{AgentRefusal, Agents, LedgerError, RunHold, Wanted},
};
use parking_lot::Mutex;

type Answer<'a, T> = BoxFuture<'a, Result<T, LedgerError>>;

/// One run, gone through again.
pub(super) struct ReplayStore {
    /// What people answered, by review; nothing where nobody did in time.
    answers: BTreeMap<AgentId, Option<ReviewAnswer>>,
    /// The reviews in the order in which they were asked.
    asked: Vec<AgentId>,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    events: Vec<Event>,
    head: Option<AgentHead>,
    reviews: BTreeMap<AgentId, Review>,
}

struct Hold(AgentId, Arc<Mutex<Kept>>);

impl ReplayStore {
    /// Answers as the events say.
    pub(super) fn of(events: &[Event]) -> Self {
        let (mut answers, mut asked) = (BTreeMap::new(), Vec::new());
        for event in events {
            match event {
                Event::Answered { review, answer, .. } => {
                    drop(answers.insert(review.clone(), answer.clone()))
                }
                Event::Asked { review, .. } => asked.push(review.clone()),
                _ => {}
            }
        }
        Self { answers, asked, kept: Arc::default() }
    }

    /// The ids that its reviews had, the first one last.
    pub(super) fn ids(&self) -> Vec<AgentId> {
        self.asked.iter().rev().cloned().collect()
    }

    /// What happened.
    pub(super) fn events(&self) -> Vec<Event> {
        self.kept.lock().events.clone()
    }
}

fn now<'a, T: Send + 'a>(value: T) -> Answer<'a, T> {
    Box::pin(std::future::ready(Ok(value)))
}

impl Agents for ReplayStore {
    fn create<'a>(
        &'a self,
        _: &'a Tenant,
        head: AgentHead,
    ) -> Answer<'a, Result<Box<dyn RunHold>, AgentRefusal>> {
        let id = head.id.clone();
        let mut kept = self.kept.lock();
        // A second one is a sub-agent: what comes of it is in its parent's events.
        let place = match kept.head {
            Some(_) => Arc::default(),
            None => Arc::clone(&self.kept),
        };
        kept.head.get_or_insert(head);
        now(Ok(Box::new(Hold(id, place))))
    }

    fn hold<'a>(
        &'a self,
        _: &'a Tenant,
        _: &'a AgentId,
    ) -> Answer<'a, Result<Box<dyn RunHold>, AgentRefusal>> {
        now(Err(AgentRefusal::Absent))
    }

    fn head<'a>(&'a self, _: &'a Tenant, run: &'a AgentId) -> Answer<'a, Option<AgentHead>> {
        now(self.kept.lock().head.clone().filter(|it| it.id == *run))
    }

    fn list<'a>(&'a self, _: &'a Tenant, _: Option<&'a AgentId>, _: usize) -> Answer<'a, Vec<AgentHead>> {
        now(Vec::new())
    }

    fn events<'a>(&'a self, _: &'a Tenant, _: &'a AgentId, _: u64, _: usize) -> Answer<'a, Vec<Vec<u8>>> {
        now(Vec::new())
    }

    fn changed<'a>(&'a self, _: &'a Tenant, _: &'a AgentId, _: u64) -> BoxFuture<'a, ()> {
        Box::pin(pending())
    }

    fn cancel<'a>(&'a self, _: &'a Tenant, _: &'a AgentId, _: Timestamp) -> Answer<'a, bool> {
        now(false)
    }

    fn remove<'a>(&'a self, _: &'a Tenant, _: &'a AgentId) -> Answer<'a, Result<bool, AgentRefusal>> {
        now(Ok(false))
    }

    fn ask<'a>(&'a self, _: &'a Tenant, review: Review) -> Answer<'a, Result<(), AgentRefusal>> {
        self.kept.lock().reviews.insert(review.id.clone(), review);
        now(Ok(()))
    }

    fn review<'a>(&'a self, _: &'a Tenant, id: &'a AgentId, at: Timestamp) -> Answer<'a, Option<Review>> {
        let found = self.kept.lock().reviews.get(id).cloned();
        now(found.map(|review| match self.answers.get(id) {
            Some(Some(given)) => {
                let (given, by, at_ms) = (given.clone(), "replay".to_owned(), at.as_millis());
                Review { state: ReviewState::Answered { given, by, at_ms }, ..review }
            }
            Some(None) => Review { state: ReviewState::Expired, ..review },
            None => review,
        }))
    }

    fn reviews<'a>(
        &'a self,
        _: &'a Tenant,
        _: Option<&'a AgentId>,
        _: Wanted,
        _: usize,
        _: Timestamp,
    ) -> Answer<'a, Vec<Review>> {
        now(Vec::new())
    }

    fn answer<'a>(
        &'a self,
        _: &'a Tenant,
        _: &'a AgentId,
        _: ReviewAnswer,
        _: &'a str,
        _: Timestamp,
    ) -> Answer<'a, Result<Review, AgentRefusal>> {
        now(Err(AgentRefusal::Absent))
    }

    fn file_issue<'a>(
        &'a self,
        _: &'a Tenant,
        issue: FiledIssue,
    ) -> Answer<'a, Result<FiledIssue, AgentRefusal>> {
        now(Ok(issue))
    }

    fn issues<'a>(&'a self, _: &'a Tenant, _: Option<&'a AgentId>, _: usize) -> Answer<'a, Vec<FiledIssue>> {
        now(Vec::new())
    }

    fn remove_issue<'a>(&'a self, _: &'a Tenant, _: &'a AgentId) -> Answer<'a, bool> {
        now(false)
    }
}

impl RunHold for Hold {
    fn run(&self) -> &AgentId {
        &self.0
    }

    fn append<'a>(
        &'a self,
        at: u64,
        events: Vec<Vec<u8>>,
        head: AgentHead,
    ) -> Answer<'a, Result<(), AgentRefusal>> {
        let mut kept = self.1.lock();
        if at != kept.events.len() as u64 {
            return now(Err(AgentRefusal::Diverged));
        }
        kept.events.extend(events.iter().filter_map(|it| Event::parse(it).ok()));
        kept.head = Some(head);
        now(Ok(()))
    }

    fn sync(&self) -> Answer<'_, ()> {
        now(())
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(pending())
    }
}
