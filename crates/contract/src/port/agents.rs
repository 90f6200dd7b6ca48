//! Runs of agents, what happened in them, what people are asked and what they are told: each tenant's its own, kept until
//! it is removed.
//!
//! A run is driven by whoever holds it, and by nobody else: a [`RunHold`] that is dropped, or whose process died, is free
//! again. Events are appended in order and never changed. Another tenant's run, review or issue is absent.
//!
//! What was answered survives the machine. Only appends of a run that says `running` survive no more than the process:
//! there are several in each step, and a sync of a disk takes longer than everything else in it. A power cut can take the
//! last of these, never one out of the middle; [`RunHold::sync`] keeps them.
//!
//! Time is the caller's: nothing here looks at a clock to decide what something is. A call whose answer nobody waits for
//! any more may have been done or not.

use super::LedgerError;
use crate::{AgentHead, AgentId, BoxFuture, FiledIssue, Review, ReviewAnswer, Tenant, Timestamp};

/// Bytes of one event.
pub const AGENT_EVENT_BYTES_MAX: usize = 2 << 20;
/// Bytes of all events of one append.
pub const AGENT_APPEND_BYTES_MAX: usize = 16 << 20;
/// Bytes of a head as JSON.
pub const AGENT_HEAD_BYTES_MAX: usize = 64 << 10;
/// Events of one run.
pub const AGENT_EVENTS_MAX: u64 = 100_000;
/// Bytes of a review as JSON.
pub const REVIEW_BYTES_MAX: usize = 256 << 10;
/// Bytes of the title of an issue.
pub const ISSUE_TITLE_BYTES_MAX: usize = 512;
/// Bytes of the body of an issue.
pub const ISSUE_BODY_BYTES_MAX: usize = 64 << 10;

/// A run that is asked for, to be driven.
pub type Holding<'a> = BoxFuture<'a, Result<Result<Box<dyn RunHold>, AgentRefusal>, LedgerError>>;

/// Keeps runs, their events and reviews.
pub trait Agents: Send + Sync {
    /// A run that is new, and held by whoever made it. One of that id that is there already is `Diverged`.
    fn create<'a>(&'a self, tenant: &'a Tenant, head: AgentHead) -> Holding<'a>;

    /// A run that is there, for whoever will drive it. That somebody asked for its end before is forgotten by that.
    fn hold<'a>(&'a self, tenant: &'a Tenant, run: &'a AgentId) -> Holding<'a>;

    /// Its head, if the tenant has it. One that says `running` and that nobody holds is `failed` (`interrupted`).
    fn head<'a>(
        &'a self,
        tenant: &'a Tenant,
        run: &'a AgentId,
    ) -> BoxFuture<'a, Result<Option<AgentHead>, LedgerError>>;

    /// Heads, those that were made last first, behind `after` and no more than `rows_max`. Behind one that is not there
    /// is nothing.
    fn list<'a>(
        &'a self,
        tenant: &'a Tenant,
        after: Option<&'a AgentId>,
        rows_max: usize,
    ) -> BoxFuture<'a, Result<Vec<AgentHead>, LedgerError>>;

    /// Events of a run from number `from` on (the first has number 0): JSON each, as many as fit, and one at least where
    /// there is one, however long it is. Whoever wants all asks again behind these until there are none.
    fn events<'a>(
        &'a self,
        tenant: &'a Tenant,
        run: &'a AgentId,
        from: u64,
        bytes_max: usize,
    ) -> BoxFuture<'a, Result<Vec<Vec<u8>>, LedgerError>>;

    /// Waits until there is an event of that number, something else of the run has changed since the wait began (its head,
    /// who holds it, the answer to a review), or some time is over: a second or so, so that whoever follows asks for the
    /// head again. Other processes are heard too.
    fn changed<'a>(&'a self, tenant: &'a Tenant, run: &'a AgentId, from: u64) -> BoxFuture<'a, ()>;

    /// Asks whoever holds it to end it; where nobody does, or whoever did is gone before it ended, it is `cancelled` by
    /// that. False if it was over, or is not there; one that was interrupted is not over yet.
    fn cancel<'a>(
        &'a self,
        tenant: &'a Tenant,
        run: &'a AgentId,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<bool, LedgerError>>;

    /// Forgets a run that is over, its events and its reviews; what it filed stays. False if there is none.
    fn remove<'a>(
        &'a self,
        tenant: &'a Tenant,
        run: &'a AgentId,
    ) -> BoxFuture<'a, Result<Result<bool, AgentRefusal>, LedgerError>>;

    /// Puts a question of a run into the queue, as pending. One of that id and that run that is there stays as it is.
    fn ask<'a>(
        &'a self,
        tenant: &'a Tenant,
        review: Review,
    ) -> BoxFuture<'a, Result<Result<(), AgentRefusal>, LedgerError>>;

    /// One review, if the tenant has it; one whose time is over is expired.
    fn review<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a AgentId,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Review>, LedgerError>>;

    /// Reviews, the oldest first: of all runs or of one, only those that are pending or all.
    fn reviews<'a>(
        &'a self,
        tenant: &'a Tenant,
        run: Option<&'a AgentId>,
        wanted: Wanted,
        rows_max: usize,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Vec<Review>, LedgerError>>;

    /// Answers a review, once, and before its time is over.
    fn answer<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a AgentId,
        answer: ReviewAnswer,
        by: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Result<Review, AgentRefusal>, LedgerError>>;

    /// Files an issue, and answers what is kept: where the tenant has one of that title, that one, and it was seen once
    /// more. The same id again changes nothing.
    fn file_issue<'a>(
        &'a self,
        tenant: &'a Tenant,
        issue: FiledIssue,
    ) -> BoxFuture<'a, Result<Result<FiledIssue, AgentRefusal>, LedgerError>>;

    /// Issues, those that were filed last first, behind `after` and no more than `rows_max`. Behind one that is not there
    /// is nothing.
    fn issues<'a>(
        &'a self,
        tenant: &'a Tenant,
        after: Option<&'a AgentId>,
        rows_max: usize,
    ) -> BoxFuture<'a, Result<Vec<FiledIssue>, LedgerError>>;

    /// Forgets an issue. False if there is none.
    fn remove_issue<'a>(
        &'a self,
        tenant: &'a Tenant,
        id: &'a AgentId,
    ) -> BoxFuture<'a, Result<bool, LedgerError>>;
}

/// Which reviews are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Those that wait.
    Pending,
    /// All that are kept.
    All,
}

/// A run in the hands of whoever drives it.
pub trait RunHold: Send + Sync {
    /// Which one.
    fn run(&self) -> &AgentId;

    /// Appends events and writes the head, both or neither. `at` is the number of the first: somebody else's events in
    /// its place, or none before it, are an error and no merge. No events and a head is a change of the head alone. A head
    /// that says the run is over expires the questions of the run that wait.
    fn append<'a>(
        &'a self,
        at: u64,
        events: Vec<Vec<u8>>,
        head: AgentHead,
    ) -> BoxFuture<'a, Result<Result<(), AgentRefusal>, LedgerError>>;

    /// What was appended so far survives the machine. To be waited for before anything is done that must not be done
    /// twice.
    fn sync(&self) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// Ready once somebody asked for the end of the run, also from another process.
    fn cancelled(&self) -> BoxFuture<'_, ()>;
}

/// Why nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentRefusal {
    /// The tenant has no such run, review or issue.
    #[error("there is no such run, review or issue")]
    Absent,
    /// Somebody drives the run.
    #[error("somebody drives this run already")]
    Held,
    /// The run still goes on.
    #[error("the run is not over; cancel it first")]
    NotOver,
    /// There are events of that number, or another run or review of that id.
    #[error("the run has other events than whoever drives it knows, or there is another of its id")]
    Diverged,
    /// Somebody answered before.
    #[error("the review was answered before")]
    Answered,
    /// Its time is over.
    #[error("the review's time is over")]
    Expired,
    /// There are as many as a tenant, or a run, may have.
    #[error("there are {max} {what}, and that is the most; remove some")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many that are.
        max: u64,
    },
    /// One thing alone is longer than it may be.
    #[error("{what} has {bytes} bytes, and {bytes_max} is the most")]
    TooLong {
        /// What.
        what: &'static str,
        /// How long it is.
        bytes: u64,
        /// How long it may be.
        bytes_max: u64,
    },
    /// An issue has no title.
    #[error("an issue has a title: one line that says what is missing or does not work")]
    NoTitle,
    /// All that is kept of runs is as large as it may be.
    #[error("runs of this tenant take as much room as they may ({bytes_max} bytes); remove some")]
    NoRoom {
        /// Bytes.
        bytes_max: u64,
    },
}

impl AgentRefusal {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Absent => "not_found",
            Self::Held => "run_held",
            Self::NotOver => "run_not_over",
            Self::Diverged => "run_diverged",
            Self::Answered => "review_answered",
            Self::Expired => "review_expired",
            Self::TooMany { .. } => "too_many",
            Self::TooLong { .. } => "too_long",
            Self::NoTitle => "no_title",
            Self::NoRoom { .. } => "no_room",
        }
    }
}
