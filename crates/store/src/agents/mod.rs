//! Runs of agents in SQLite, one file for each tenant (`agents.sqlite`), which is made by the first run.
//!
//! What is written together is one commit (decision 0100), and an append of a run that goes on waits for no disk (decision
//! 0122). Who drives a run is written beside it; that a driver lives is known by a lock that the kernel frees when it dies.
//! Nobody writes down that a run was interrupted: whoever looks sees it.

mod drive;
mod driver;
mod hold;
mod issue;
mod look;
mod news;
mod review;
mod row;

use std::{path::PathBuf, sync::Arc, time::Instant};

use drydock_contract::{
    AgentHead, AgentId, BoxFuture, FiledIssue, Review, ReviewAnswer, ReviewState, Tenant, Timestamp,
    port::{AgentRefusal, Agents, Holding, LedgerError, RunHold, Wanted},
};

use self::{
    drive::Driven,
    driver::Driver,
    hold::SqliteHold,
    look::{Look, Looking},
    news::{Desk, Listening, WAIT_MAX},
};
use crate::{
    Home, TenantHome,
    commits::{Commits, Shelf, Work},
    ledger::file::Kind,
};

/// Runs of one tenant.
pub const AGENT_RUNS_MAX: u64 = 10_000;
/// Bytes of events, heads, reviews and issues of one tenant.
pub const AGENTS_BYTES_MAX: u64 = 1 << 30;
/// The file of one tenant: what is kept in it, and what keeping it takes.
pub const AGENTS_FILE_BYTES_MAX: u64 = 5 << 29;
/// Reviews of one tenant that wait.
pub const REVIEWS_PENDING_MAX: u64 = 1_000;
/// Reviews of one tenant that are kept, with their runs.
pub const REVIEWS_MAX: u64 = 20_000;
/// Issues of one tenant.
pub const ISSUES_MAX: u64 = 1_000;

/// Numbers of events that a run has: more than it may have events.
const EVENTS_A_RUN: i64 = 1 << 20;

static KIND: Kind = Kind {
    // Events of a run follow each other: their number is the run's and their own. Texts in JSON are blobs: half of SQLite's
    // functions end a text at a NUL. They come last, so that whatever is known of a row is read without them.
    tables: "
CREATE TABLE mark (
    one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL, runs INTEGER NOT NULL, reviews INTEGER NOT NULL,
    issues INTEGER NOT NULL, bytes INTEGER NOT NULL, synced INTEGER NOT NULL
) STRICT;
INSERT INTO mark VALUES (1, 0, 0, 0, 0, 0, 0);
CREATE TABLE run (
    no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, holder BLOB, cancel INTEGER, changed INTEGER NOT NULL,
    events INTEGER NOT NULL, bytes INTEGER NOT NULL, head BLOB NOT NULL
) STRICT;
CREATE INDEX run_changed ON run (changed);
CREATE INDEX run_ending ON run (no) WHERE cancel IS NOT NULL;
CREATE TABLE event (at INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
CREATE TABLE review (
    no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, run INTEGER NOT NULL, state INTEGER NOT NULL, expires INTEGER,
    body BLOB NOT NULL
) STRICT;
CREATE INDEX review_run ON review (run);
CREATE INDEX review_pending ON review (no) WHERE state = 0;
CREATE TABLE issue (
    no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title BLOB NOT NULL UNIQUE, body BLOB NOT NULL
) STRICT;
",
    version: 1,
    logged: true,
    bytes_max: AGENTS_FILE_BYTES_MAX,
    checked: false,
    remedy: "the runs of this tenant's agents cannot be had. Put a backup in its place; or move it away, which loses them",
};

static SHELF: Shelf =
    Shelf { kind: &KIND, path: TenantHome::agents_file, lock: "agents", open_max: 8, glances: true };

/// The runs of all tenants of a home. Any number of threads and processes may use it.
#[derive(Debug)]
pub struct SqliteAgents {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    commits: Commits,
    shared: Arc<Shared>,
}

/// What work on files needs besides them. It keeps no file open, so that work may keep it.
#[derive(Debug)]
struct Shared {
    driver: Driver,
    news: Desk,
    bytes_max: u64,
}

impl SqliteAgents {
    /// Those of a home. Opens nothing.
    pub fn of(home: &Home) -> Self {
        Self::on(home, &SHELF, AGENTS_BYTES_MAX)
    }

    fn on(home: &Home, shelf: &'static Shelf, bytes_max: u64) -> Self {
        let shared = Arc::new(Shared { driver: Driver::of(home), news: Desk::new(), bytes_max });
        Self { inner: Arc::new(Inner { commits: Commits::of(home, shelf), shared }) }
    }

    fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.inner.shared)
    }
}

impl Inner {
    /// What is read: at once where that takes no waiting, else in line.
    async fn look<L: Look>(&self, tenant: &Tenant, look: L) -> Result<L::Made, LedgerError> {
        if let Some(found) = self.commits.glance(tenant, |conn| look.of(conn)) {
            return Ok(found);
        }
        self.commits.submit(tenant, Looking(look), None).await
    }

    /// What changes something that must be there.
    async fn change<T, W>(&self, tenant: &Tenant, work: W) -> Result<Result<T, AgentRefusal>, LedgerError>
    where
        T: Send,
        W: Work<Made = Option<Result<T, AgentRefusal>>>,
    {
        match self.commits.submit(tenant, work, None).await {
            Ok(made) => Ok(made.unwrap_or(Err(AgentRefusal::Absent))),
            Err(error) => self.shared.refused(error).map(Err),
        }
    }

    async fn drive<W: Work<Made = Driven>>(
        &self,
        tenant: &Tenant,
        work: W,
    ) -> Result<Result<(), AgentRefusal>, LedgerError> {
        match self.commits.submit(tenant, work, None).await {
            Ok(None) => Ok(Err(AgentRefusal::Absent)),
            Ok(Some(Ok(driven))) => Ok(driven),
            Ok(Some(Err(cause))) => {
                let problem = "cannot be driven from here, because no lock could be made; see to it that its disk \
                               is well and not full";
                let (path, cause) = (PathBuf::from("agents.sqlite"), Some(cause.into()));
                Err(LedgerError { code: "ledger_unavailable", path, problem: problem.to_owned(), cause })
            }
            Err(error) => self.shared.refused(error).map(Err),
        }
    }
}

impl Shared {
    /// A file that may not grow is a refusal like the count of its bytes.
    fn refused(&self, error: LedgerError) -> Result<AgentRefusal, LedgerError> {
        match error.code {
            "ledger_limit" => Ok(AgentRefusal::NoRoom { bytes_max: self.bytes_max }),
            _ => Err(error),
        }
    }
}

/// What is waited for.
type Waited<'a, T> = BoxFuture<'a, Result<T, LedgerError>>;
type Refusable<'a, T> = Waited<'a, Result<T, AgentRefusal>>;

impl Agents for SqliteAgents {
    fn create<'a>(&'a self, tenant: &'a Tenant, head: AgentHead) -> Holding<'a> {
        Box::pin(async move {
            let (id, head) = match row::written(&head) {
                Ok(bytes) => (head.id, bytes),
                Err(why) => return Ok(Err(why)),
            };
            let hold = SqliteHold::begin(&self.inner, tenant, &id);
            let create = drive::Create { shared: self.shared(), id, head, hold: hold.number };
            let driven = self.inner.drive(tenant, create).await?;
            Ok(driven.map(|()| Box::new(hold) as Box<dyn RunHold>))
        })
    }

    fn hold<'a>(&'a self, tenant: &'a Tenant, run: &'a AgentId) -> Holding<'a> {
        Box::pin(async move {
            let hold = SqliteHold::begin(&self.inner, tenant, run);
            let (shared, tenant_too, id) = (self.shared(), tenant.clone(), run.clone());
            let take = drive::Take { shared, tenant: tenant_too, id, hold: hold.number, version: 0 };
            let driven = self.inner.drive(tenant, take).await?;
            Ok(driven.map(|()| Box::new(hold) as Box<dyn RunHold>))
        })
    }

    fn head<'a>(&'a self, tenant: &'a Tenant, run: &'a AgentId) -> Waited<'a, Option<AgentHead>> {
        Box::pin(self.inner.look(tenant, look::Head { shared: self.shared(), id: run.clone() }))
    }

    fn list<'a>(
        &'a self,
        tenant: &'a Tenant,
        after: Option<&'a AgentId>,
        rows_max: usize,
    ) -> Waited<'a, Vec<AgentHead>> {
        let list = look::List { shared: self.shared(), after: after.cloned(), rows_max };
        Box::pin(self.inner.look(tenant, list))
    }

    fn events<'a>(
        &'a self,
        tenant: &'a Tenant,
        run: &'a AgentId,
        from: u64,
        bytes_max: usize,
    ) -> Waited<'a, Vec<Vec<u8>>> {
        Box::pin(self.inner.look(tenant, look::Events { id: run.clone(), from, bytes_max }))
    }

    fn changed<'a>(&'a self, tenant: &'a Tenant, run: &'a AgentId, from: u64) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let _listening = Listening::to(&self.inner, tenant);
            let began = Instant::now();
            let mut first = None;
            loop {
                let rings = self.inner.shared.news.bell(tenant, run).listen();
                // What cannot be read has not changed: whoever asks for it hears why.
                let state = self.inner.look(tenant, look::State { id: run.clone() }).await.ok().flatten();
                let is_there = state.is_some_and(|(events, _)| events > from);
                if is_there || *first.get_or_insert(state) != state || began.elapsed() >= WAIT_MAX {
                    return;
                }
                rings.await;
            }
        })
    }

    fn cancel<'a>(&'a self, tenant: &'a Tenant, run: &'a AgentId, now: Timestamp) -> Waited<'a, bool> {
        let (shared, id, now_ms) = (self.shared(), run.clone(), now.as_millis());
        let cancel = look::Cancel { shared, tenant: tenant.clone(), id, now_ms, done: None };
        Box::pin(self.inner.commits.submit(tenant, cancel, None))
    }

    fn remove<'a>(&'a self, tenant: &'a Tenant, run: &'a AgentId) -> Refusable<'a, bool> {
        Box::pin(async move {
            let (shared, whose, id) = (self.shared(), tenant.clone(), run.clone());
            let remove = look::Remove { shared, tenant: whose, id, version: None };
            Ok(self.inner.commits.submit(tenant, remove, None).await?.unwrap_or(Ok(false)))
        })
    }

    fn ask<'a>(&'a self, tenant: &'a Tenant, review: Review) -> Refusable<'a, ()> {
        let review = Review { state: ReviewState::Pending, ..review };
        let ask = review::Ask { shared: self.shared(), tenant: tenant.clone(), review, version: None };
        Box::pin(self.inner.change(tenant, ask))
    }

    fn review<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a AgentId,
        now: Timestamp,
    ) -> Waited<'a, Option<Review>> {
        Box::pin(self.inner.look(tenant, review::Find { id: id.clone(), now }))
    }

    fn reviews<'a>(
        &'a self,
        tenant: &'a Tenant,
        run: Option<&'a AgentId>,
        wanted: Wanted,
        rows_max: usize,
        now: Timestamp,
    ) -> Waited<'a, Vec<Review>> {
        Box::pin(self.inner.look(tenant, review::List { run: run.cloned(), wanted, rows_max, now }))
    }

    fn answer<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a AgentId,
        answer: ReviewAnswer,
        by: &'a str,
        now: Timestamp,
    ) -> Refusable<'a, Review> {
        let (shared, whose, id, by) = (self.shared(), tenant.clone(), id.clone(), by.to_owned());
        let answer = review::Answer { shared, tenant: whose, id, answer, by, now, version: None };
        Box::pin(self.inner.change(tenant, answer))
    }

    fn file_issue<'a>(&'a self, tenant: &'a Tenant, issue: FiledIssue) -> Refusable<'a, FiledIssue> {
        Box::pin(async move {
            if let Err(why) = issue::File::check(&issue) {
                return Ok(Err(why));
            }
            self.inner.change(tenant, issue::File { shared: self.shared(), issue }).await
        })
    }

    fn issues<'a>(
        &'a self,
        tenant: &'a Tenant,
        after: Option<&'a AgentId>,
        rows_max: usize,
    ) -> Waited<'a, Vec<FiledIssue>> {
        Box::pin(self.inner.look(tenant, issue::List { after: after.cloned(), rows_max }))
    }

    fn remove_issue<'a>(&'a self, tenant: &'a Tenant, id: &'a AgentId) -> Waited<'a, bool> {
        Box::pin(self.inner.commits.submit(tenant, issue::Remove { id: id.clone() }, None))
    }
}

#[cfg(test)]
mod tests;
