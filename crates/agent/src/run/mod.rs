//! Where a run is, folded from its events. Pure: the same events give the same run, in whichever process.
//!
//! What an event may follow is checked ([`fold`]): a list that nobody here has written is a damaged one, and is said to be,
//! with the number of the event. What comes next is a matter of its own ([`crate::next`]).

mod fold;
mod open;
mod review;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use drydock_abi::llm::Message;
use drydock_contract::{AgentId, AgentStatus, AgentUsage};
use serde_json::{Map, Value};

use crate::{Event, Next, Order, Purse, RunEnd, RunOptions, Spent, next};

pub use fold::BadRun;
pub(crate) use fold::judge_calls;
pub(crate) use open::{OpenCall, OpenTurn, Place};
pub(crate) use review::more_of;
pub use review::{Given, Pending};

/// Where a run is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    events: u64,
    origin: Option<Origin>,
    messages: Vec<Message>,
    /// What they weigh.
    bytes: usize,
    steps: u64,
    usage: AgentUsage,
    phase: Phase,
    was_nudged: bool,
    /// Turns in a row that made the same calls.
    alike: u64,
    last_calls: Option<u64>,
    pending: BTreeMap<AgentId, Pending>,
    /// Tools whose calls nobody need be asked about, and how often; nothing for the rest of the run.
    free: BTreeMap<String, Option<u64>>,
    given: Vec<Given>,
    more: BTreeMap<Purse, u64>,
    /// Purses that somebody was asked to fill and did not.
    closed: Option<Purse>,
    /// Grants that people refused: nobody is asked for them again.
    refused: Vec<Value>,
    /// The last turn whose calls are over and may have changed files.
    changed_by: Option<u64>,
    /// What is to be said to the model once the calls of its turn are answered.
    notes: Vec<String>,
    end: Option<RunEnd>,
}

/// What the first event said, and what changed since.
#[derive(Debug, Clone, PartialEq)]
struct Origin {
    at_ms: u64,
    system: String,
    task: String,
    agent: Option<String>,
    options: RunOptions,
    opened_by: Map<String, Value>,
}

/// Whose turn it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Phase {
    /// Nothing happened yet.
    #[default]
    New,
    /// The model's.
    Model,
    /// Tools', for a turn that is not answered yet.
    Calls(OpenTurn),
    /// Nobody's: the model said this, and wants nothing more.
    Spoke(String),
    /// The model said nothing and wants nothing.
    Silent,
    /// Nobody's: the model called `done`.
    Done(String),
}

impl Run {
    /// Folds what is kept of a run.
    pub fn read<T: AsRef<[u8]>>(events: impl IntoIterator<Item = T>) -> Result<Self, BadRun> {
        let mut run = Self::default();
        for event in events {
            let at = run.events;
            let event = Event::parse(event.as_ref()).map_err(|bad| BadRun::new(at, bad.to_string()))?;
            run.on(&event)?;
        }
        Ok(run)
    }

    /// Folds events.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<Self, BadRun> {
        let mut run = Self::default();
        events.into_iter().try_for_each(|event| run.on(event))?;
        Ok(run)
    }

    /// How many events there were: the number of the next.
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// Whether there is a first event.
    pub const fn is_begun(&self) -> bool {
        self.origin.is_some()
    }

    /// When it began, in milliseconds since the epoch.
    pub fn started_ms(&self) -> u64 {
        self.origin.as_ref().map_or(0, |it| it.at_ms)
    }

    /// What the model is told before everything else.
    pub fn system(&self) -> &str {
        self.origin.as_ref().map_or("", |it| &it.system)
    }

    /// What it was asked.
    pub fn task(&self) -> &str {
        self.origin.as_ref().map_or("", |it| &it.task)
    }

    /// What the agent is called, if it has a name.
    pub fn agent(&self) -> Option<&str> {
        self.origin.as_ref()?.agent.as_deref()
    }

    /// Its options as they are now. Of a run that has no event, the usual ones.
    pub fn options(&self) -> RunOptions {
        self.origin.as_ref().map(|it| it.options.clone()).unwrap_or_default()
    }

    pub(crate) fn bounds(&self) -> Option<&RunOptions> {
        self.origin.as_ref().map(|it| &it.options)
    }

    /// What whoever opened it needs to open its session again.
    pub fn opened_by(&self) -> Option<&Map<String, Value>> {
        self.origin.as_ref().map(|it| &it.opened_by)
    }

    /// What was said so far, as a model is told it: the task first. While calls are open, the turn that made them is the
    /// last.
    pub fn transcript(&self) -> &[Message] {
        &self.messages
    }

    /// What the transcript weighs, in bytes of its texts.
    pub const fn transcript_bytes(&self) -> usize {
        self.bytes
    }

    /// Turns of the model so far.
    pub const fn steps(&self) -> u64 {
        self.steps
    }

    /// What they cost, summaries included, and what programs of the run asked models.
    pub const fn usage(&self) -> AgentUsage {
        self.usage
    }

    /// The same as a budget counts it.
    pub const fn spent(&self) -> Spent {
        let AgentUsage { input_tokens, output_tokens, cost_micros, .. } = self.usage;
        Spent { tokens: input_tokens.saturating_add(output_tokens), cost_micros }
    }

    /// How it ended, if nobody resumed it since.
    pub const fn end(&self) -> Option<&RunEnd> {
        self.end.as_ref()
    }

    /// What people are asked and have not answered.
    pub const fn pending(&self) -> &BTreeMap<AgentId, Pending> {
        &self.pending
    }

    /// The grants that people gave to the run, but for those that were for one call which is over.
    pub fn given(&self) -> &[Given] {
        &self.given
    }

    /// How much it may still spend; none where there is no end to it. A session that is opened again has this much.
    pub fn left(&self, purse: Purse) -> Option<u64> {
        let options = self.bounds()?;
        let (most, spent) = match purse {
            Purse::Tokens => (options.tokens_max?, self.spent().tokens),
            Purse::CostMicros => (options.cost_micros_max?, self.spent().cost_micros),
        };
        let more = self.more.get(&purse).copied().unwrap_or_default();
        Some(most.saturating_add(more).saturating_sub(spent))
    }

    /// How far it is, as far as events say: one that is not over may be driven by nobody.
    pub fn status(&self) -> AgentStatus {
        let waits = || !self.pending.is_empty() && next(self, Order::SideBySide) == Next::Wait;
        match &self.end {
            Some(RunEnd::Done { .. }) => AgentStatus::Done,
            Some(RunEnd::Cancelled) => AgentStatus::Cancelled,
            Some(RunEnd::Failed { .. }) => AgentStatus::Failed,
            None if waits() => AgentStatus::Waiting,
            None => AgentStatus::Running,
        }
    }

    /// The last turn whose calls are over and may have changed files.
    pub const fn changed_by(&self) -> Option<u64> {
        self.changed_by
    }

    /// Whether its last turn has calls that are not answered.
    pub const fn has_open_calls(&self) -> bool {
        matches!(self.phase, Phase::Calls(_))
    }

    pub(crate) const fn phase(&self) -> &Phase {
        &self.phase
    }

    pub(crate) const fn was_nudged(&self) -> bool {
        self.was_nudged
    }

    /// How many turns in a row, the last one included, made the same calls.
    pub(crate) const fn alike(&self) -> u64 {
        self.alike
    }

    pub(crate) const fn closed(&self) -> Option<Purse> {
        self.closed
    }

    /// Whether a person may be asked for this grant: nobody refused it, is being asked, or gave it in vain.
    pub(crate) fn may_ask_for(&self, grant: &Value, call: Option<&str>) -> bool {
        let is_asked = |it: &Pending| it.grant.as_ref() == Some(grant);
        let is_given = |it: &Given| it.grant == *grant && (it.uses.is_none() || it.call.as_deref() == call);
        !self.refused.contains(grant)
            && !self.pending.values().any(is_asked)
            && !self.given.iter().any(is_given)
    }

    pub(crate) const fn open_turn(&self) -> Option<&OpenTurn> {
        match &self.phase {
            Phase::Calls(open) => Some(open),
            _ => None,
        }
    }

    pub(crate) const fn free(&self) -> &BTreeMap<String, Option<u64>> {
        &self.free
    }
}
