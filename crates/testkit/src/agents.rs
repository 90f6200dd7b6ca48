//! Runs of agents in memory, for tests of whoever drives them: what the port promises of one process, and no limits but
//! those of single things.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use drydock_contract::{
    AgentHead, AgentId, AgentStatus, BoxFuture, FiledIssue, Review, ReviewAnswer, ReviewState, Switch,
    Tenant, Timestamp,
    port::{
        AGENT_APPEND_BYTES_MAX, AGENT_EVENT_BYTES_MAX, AgentRefusal, Agents, Holding, ISSUE_BODY_BYTES_MAX,
        ISSUE_TITLE_BYTES_MAX, LedgerError, RunHold, Wanted,
    },
};
use parking_lot::Mutex;

/// How long somebody waits for news that do not come.
const NEWS_WAIT: Duration = Duration::from_secs(1);

/// Keeps runs in memory. Clones keep the same ones, so that a test can drop whoever drives a run and look at it after.
#[derive(Debug, Clone, Default)]
pub struct MemoryAgents(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    tenants: Mutex<BTreeMap<Tenant, Kept>>,
    news: Switch,
}

#[derive(Debug, Default)]
struct Kept {
    /// Those that were made last come last.
    runs: Vec<Run>,
    reviews: Vec<Review>,
    issues: Vec<FiledIssue>,
}

#[derive(Debug)]
struct Run {
    head: AgentHead,
    events: Vec<Vec<u8>>,
    is_held: bool,
    cancel: bool,
    changes: u64,
}

impl Run {
    /// As whoever asks sees it.
    fn seen(&self) -> AgentHead {
        let mut head = self.head.clone();
        if head.status == AgentStatus::Running && !self.is_held {
            match self.cancel {
                true => head.status = AgentStatus::Cancelled,
                false => {
                    head.status = AgentStatus::Failed;
                    head.reason = Some("interrupted".into());
                }
            }
        }
        head
    }
}

impl Kept {
    fn run(&mut self, id: &AgentId) -> Option<&mut Run> {
        self.runs.iter_mut().find(|it| it.head.id == *id)
    }

    fn expire_of(&mut self, run: &AgentId) {
        for review in self.reviews.iter_mut().filter(|it| it.run == *run) {
            if review.state == ReviewState::Pending {
                review.state = ReviewState::Expired;
            }
        }
    }
}

fn seen(review: &Review, now: Timestamp) -> Review {
    let over = review.expires_ms.is_some_and(|it| it <= now.as_millis());
    let mut review = review.clone();
    if over && review.state == ReviewState::Pending {
        review.state = ReviewState::Expired;
    }
    review
}

fn too_long(what: &'static str, bytes: usize, max: usize) -> Result<(), AgentRefusal> {
    let refusal = AgentRefusal::TooLong { what, bytes: bytes as u64, bytes_max: max as u64 };
    if bytes > max { Err(refusal) } else { Ok(()) }
}

impl MemoryAgents {
    fn with<T>(&self, tenant: &Tenant, act: impl FnOnce(&mut Kept) -> T) -> T {
        let done = act(self.0.tenants.lock().entry(tenant.clone()).or_default());
        self.0.news.wake();
        done
    }

    fn look<T>(&self, tenant: &Tenant, act: impl FnOnce(&mut Kept) -> T) -> T {
        act(self.0.tenants.lock().entry(tenant.clone()).or_default())
    }

    fn holding(&self, tenant: &Tenant, run: &AgentId) -> Box<dyn RunHold> {
        Box::new(MemoryHold { agents: self.clone(), tenant: tenant.clone(), run: run.clone() })
    }

    fn cut<T: Clone>(
        kept: &[T],
        id: impl Fn(&T) -> &AgentId,
        after: Option<&AgentId>,
        rows_max: usize,
    ) -> Vec<T> {
        let newest = kept.iter().rev();
        let behind = newest.skip_while(|it| after.is_some_and(|after| id(it) != after));
        behind.skip(usize::from(after.is_some())).take(rows_max).cloned().collect()
    }
}

/// What is known at once.
fn ready<'a, T: Send + 'a>(told: T) -> BoxFuture<'a, Result<T, LedgerError>> {
    Box::pin(async move { Ok(told) })
}

impl Agents for MemoryAgents {
    fn create<'a>(&'a self, tenant: &'a Tenant, head: AgentHead) -> Holding<'a> {
        let run = head.id.clone();
        let made = self.with(tenant, |kept| {
            if kept.run(&head.id).is_some() {
                return Err(AgentRefusal::Diverged);
            }
            kept.runs.push(Run { head, events: Vec::new(), is_held: true, cancel: false, changes: 1 });
            Ok(())
        });
        ready(made.map(|()| self.holding(tenant, &run)))
    }

    fn hold<'a>(&'a self, tenant: &'a Tenant, run: &'a AgentId) -> Holding<'a> {
        let held = self.with(tenant, |kept| {
            let run = kept.run(run).ok_or(AgentRefusal::Absent)?;
            if run.is_held {
                return Err(AgentRefusal::Held);
            }
            (run.is_held, run.cancel) = (true, false);
            Ok(())
        });
        ready(held.map(|()| self.holding(tenant, run)))
    }

    fn head<'a>(
        &'a self,
        tenant: &'a Tenant,
        run: &'a AgentId,
    ) -> BoxFuture<'a, Result<Option<AgentHead>, LedgerError>> {
        ready(self.look(tenant, |kept| kept.run(run).map(|it| it.seen())))
    }

    fn list<'a>(
        &'a self,
        tenant: &'a Tenant,
        after: Option<&'a AgentId>,
        rows_max: usize,
    ) -> BoxFuture<'a, Result<Vec<AgentHead>, LedgerError>> {
        let heads: Vec<_> = self.look(tenant, |kept| kept.runs.iter().map(Run::seen).collect());
        ready(Self::cut(&heads, |it| &it.id, after, rows_max))
    }

    fn events<'a>(
        &'a self,
        tenant: &'a Tenant,
        run: &'a AgentId,
        from: u64,
        bytes_max: usize,
    ) -> BoxFuture<'a, Result<Vec<Vec<u8>>, LedgerError>> {
        let events = self.look(tenant, |kept| {
            let all = kept.run(run).map(|it| &it.events[..]).unwrap_or_default();
            let mut bytes = 0;
            let rest = all.iter().skip(usize::try_from(from).unwrap_or(usize::MAX)).enumerate();
            let fits = rest.take_while(|(at, it)| {
                bytes += it.len();
                *at == 0 || bytes <= bytes_max
            });
            fits.map(|it| it.1.clone()).collect()
        });
        ready(events)
    }

    fn changed<'a>(&'a self, tenant: &'a Tenant, run: &'a AgentId, from: u64) -> BoxFuture<'a, ()> {
        let began = Instant::now();
        let look = move || {
            self.look(tenant, |kept| kept.run(run).map(|it| (it.events.len() as u64, it.changes, it.is_held)))
        };
        let first = look();
        Box::pin(async move {
            loop {
                let news = self.0.news.listen();
                let now = look();
                if now != first || now.is_none_or(|it| it.0 > from) || began.elapsed() >= NEWS_WAIT {
                    return;
                }
                // Nothing here has a clock that wakes anybody, so a thread is the clock.
                let agents = self.clone();
                std::thread::spawn(move || {
                    std::thread::sleep(NEWS_WAIT);
                    agents.0.news.wake();
                });
                news.await;
            }
        })
    }

    fn cancel<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a AgentId,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        let cancelled = self.with(tenant, |kept| {
            let Some(run) = kept.run(id) else { return false };
            if run.head.status.is_over() || (run.cancel && !run.is_held) {
                return false;
            }
            (run.cancel, run.changes) = (true, run.changes + 1);
            if !run.is_held {
                (run.head.status, run.head.updated_ms) = (AgentStatus::Cancelled, now.as_millis());
                kept.expire_of(id);
            }
            true
        });
        ready(cancelled)
    }

    fn remove<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a AgentId,
    ) -> BoxFuture<'a, Result<Result<bool, AgentRefusal>, LedgerError>> {
        let removed = self.with(tenant, |kept| {
            let Some(run) = kept.run(id) else { return Ok(false) };
            if run.is_held {
                return Err(AgentRefusal::Held);
            }
            if !run.seen().status.is_over() {
                return Err(AgentRefusal::NotOver);
            }
            kept.runs.retain(|it| it.head.id != *id);
            kept.reviews.retain(|it| it.run != *id);
            Ok(true)
        });
        ready(removed)
    }

    fn ask<'a>(
        &'a self,
        tenant: &'a Tenant,
        mut review: Review,
    ) -> BoxFuture<'a, Result<Result<(), AgentRefusal>, LedgerError>> {
        let asked = self.with(tenant, |kept| {
            if kept.run(&review.run).is_none() {
                return Err(AgentRefusal::Absent);
            }
            if let Some(there) = kept.reviews.iter().find(|it| it.id == review.id) {
                return if there.run == review.run { Ok(()) } else { Err(AgentRefusal::Diverged) };
            }
            review.state = ReviewState::Pending;
            kept.reviews.push(review);
            Ok(())
        });
        ready(asked)
    }

    fn review<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a AgentId,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Review>, LedgerError>> {
        let found =
            self.look(tenant, |kept| kept.reviews.iter().find(|it| it.id == *id).map(|it| seen(it, now)));
        ready(found)
    }

    fn reviews<'a>(
        &'a self,
        tenant: &'a Tenant,
        run: Option<&'a AgentId>,
        wanted: Wanted,
        rows_max: usize,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Vec<Review>, LedgerError>> {
        let found = self.look(tenant, |kept| {
            let all = kept.reviews.iter().filter(|it| run.is_none_or(|run| it.run == *run));
            let wants =
                |it: &Review| matches!((wanted, &it.state), (Wanted::All, _) | (_, ReviewState::Pending));
            all.map(|it| seen(it, now)).filter(wants).take(rows_max).collect()
        });
        ready(found)
    }

    fn answer<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a AgentId,
        answer: ReviewAnswer,
        by: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Result<Review, AgentRefusal>, LedgerError>> {
        let answered = self.with(tenant, |kept| {
            let review = kept.reviews.iter_mut().find(|it| it.id == *id).ok_or(AgentRefusal::Absent)?;
            match seen(review, now).state {
                ReviewState::Answered { .. } => return Err(AgentRefusal::Answered),
                ReviewState::Expired => return Err(AgentRefusal::Expired),
                ReviewState::Pending => {}
            }
            review.state = ReviewState::Answered { given: answer, by: by.to_owned(), at_ms: now.as_millis() };
            let review = review.clone();
            if let Some(run) = kept.run(&review.run) {
                run.changes += 1;
            }
            Ok(review)
        });
        ready(answered)
    }

    fn file_issue<'a>(
        &'a self,
        tenant: &'a Tenant,
        issue: FiledIssue,
    ) -> BoxFuture<'a, Result<Result<FiledIssue, AgentRefusal>, LedgerError>> {
        let filed = self.with(tenant, |kept| {
            too_long("the title of an issue", issue.title.len(), ISSUE_TITLE_BYTES_MAX)?;
            too_long("the body of an issue", issue.body.len(), ISSUE_BODY_BYTES_MAX)?;
            if issue.title.trim().is_empty() {
                return Err(AgentRefusal::NoTitle);
            }
            if let Some(there) = kept.issues.iter_mut().find(|it| it.id == issue.id) {
                return Ok(there.clone());
            }
            if let Some(there) = kept.issues.iter_mut().find(|it| it.title == issue.title) {
                there.seen += 1;
                return Ok(there.clone());
            }
            let issue = FiledIssue { seen: 1, ..issue };
            kept.issues.push(issue.clone());
            Ok(issue)
        });
        ready(filed)
    }

    fn issues<'a>(
        &'a self,
        tenant: &'a Tenant,
        after: Option<&'a AgentId>,
        rows_max: usize,
    ) -> BoxFuture<'a, Result<Vec<FiledIssue>, LedgerError>> {
        ready(self.look(tenant, |kept| Self::cut(&kept.issues, |it| &it.id, after, rows_max)))
    }

    fn remove_issue<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a AgentId,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        let removed = self.with(tenant, |kept| {
            let before = kept.issues.len();
            kept.issues.retain(|it| it.id != *id);
            kept.issues.len() < before
        });
        ready(removed)
    }
}

struct MemoryHold {
    agents: MemoryAgents,
    tenant: Tenant,
    run: AgentId,
}

impl RunHold for MemoryHold {
    fn run(&self) -> &AgentId {
        &self.run
    }

    fn append<'a>(
        &'a self,
        at: u64,
        events: Vec<Vec<u8>>,
        head: AgentHead,
    ) -> BoxFuture<'a, Result<Result<(), AgentRefusal>, LedgerError>> {
        let appended = self.agents.with(&self.tenant, |kept| {
            for event in &events {
                too_long("an event", event.len(), AGENT_EVENT_BYTES_MAX)?;
            }
            let bytes = events.iter().map(Vec::len).sum();
            too_long("what is appended at once", bytes, AGENT_APPEND_BYTES_MAX)?;
            let run = kept.run(&self.run).ok_or(AgentRefusal::Absent)?;
            if run.events.len() as u64 != at || head.id != self.run {
                return Err(AgentRefusal::Diverged);
            }
            run.events.extend(events);
            run.changes += 1;
            let is_over = head.status.is_over();
            run.head = head;
            if is_over {
                kept.expire_of(&self.run);
            }
            Ok(())
        });
        ready(appended)
    }

    fn sync(&self) -> BoxFuture<'_, Result<(), LedgerError>> {
        ready(())
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            loop {
                let news = self.agents.0.news.listen();
                if self.agents.look(&self.tenant, |kept| kept.run(&self.run).is_none_or(|it| it.cancel)) {
                    return;
                }
                news.await;
            }
        })
    }
}

impl Drop for MemoryHold {
    fn drop(&mut self) {
        self.agents.with(&self.tenant, |kept| {
            let Some(run) = kept.run(&self.run) else { return };
            run.is_held = false;
            // Nobody is there any more who could end it.
            if run.cancel && !run.head.status.is_over() {
                run.head.status = AgentStatus::Cancelled;
                kept.expire_of(&self.run);
            }
        });
    }
}
