//! Does what comes next, until nothing does: asks the model, makes calls, writes down what came of them.
//!
//! Everything is written before it is acted on ([`Driving::keep`]), and nothing is known here that events do not say, so
//! whoever is killed anywhere loses nothing but what was in flight. The gate is the only way to act, the port the only place
//! that anything is kept.

mod call;
mod model;
mod race;
mod review;
mod tool;

use drydock_abi::llm;
use drydock_contract::{
    AgentHead, AgentStatus, BoxFuture, Dispatch, Tenant,
    port::{AgentRefusal, Agents, Clock, LedgerError, RunHold},
};

use crate::{BadRun, Event, Host, Next, Order, Run, RunEnd, cut::beginning, next, tools::ToolText};

/// Of a result, what a list of runs shows.
const RESULT_SHOWN_BYTES_MAX: usize = 2_000;

/// What it takes to drive a run.
#[derive(Clone, Copy)]
pub struct Driver<'a> {
    /// The gate, bound to the run's session.
    pub door: &'a dyn Dispatch,
    /// Where reviews are asked.
    pub agents: &'a dyn Agents,
    /// Whose run it is.
    pub tenant: &'a Tenant,
    /// The run, in our hands.
    pub hold: &'a dyn RunHold,
    /// Its session and its files.
    pub host: &'a dyn Host,
    /// The time that events are written with: the tape's, where there is one.
    pub clock: &'a dyn Clock,
    /// The time that bounds calls: the machine's, whatever the run believes.
    pub timer: &'a dyn Clock,
    /// What the model is offered.
    pub tools: &'a [&'static ToolText],
    /// How calls of one turn go on.
    pub order: Order,
}

/// How far a run was driven.
#[derive(Debug)]
pub struct Driven {
    /// Why it is not driven further.
    pub stop: Stop,
    /// Where it is.
    pub run: Run,
    /// Its head, as it is kept.
    pub head: AgentHead,
}

/// Why a run is not driven further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// It came to its end.
    Ended(RunEnd),
    /// It waits for people, and nobody need hold it: whoever hears of an answer, or that a time is over, drives it again.
    Paused {
        /// When the first question counts as refused, in milliseconds since the epoch.
        until_ms: Option<u64>,
    },
}

/// A run cannot be driven. What was kept of it stands; it is gone on with from there.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// What happens in it cannot be kept: nothing was done that is not.
    #[error(transparent)]
    Unkept(#[from] LedgerError),
    /// The same, by a rule of whoever keeps it.
    #[error("the run cannot be kept: {0}")]
    Refused(#[from] AgentRefusal),
    /// Its events are none that it can have.
    #[error(transparent)]
    Damaged(#[from] BadRun),
}

impl DriveError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unkept(error) => error.code,
            Self::Refused(refusal) => refusal.code(),
            Self::Damaged(bad) => bad.code(),
        }
    }
}

impl<'a> Driver<'a> {
    /// Drives a run to its end, or to where it waits for people. `first` is written before everything else: how it
    /// starts, that it is resumed, what somebody says. A run that has not begun is [`Run::default`].
    pub fn drive(
        &self,
        run: Run,
        head: AgentHead,
        first: Vec<Event>,
    ) -> impl Future<Output = Result<Driven, DriveError>> + Send + use<'a> {
        let driver = *self;
        async move {
            let cancelled = Some(driver.hold.cancelled());
            let snapshot = run.changed_by();
            let offered = driver.tools.iter().map(|it| it.offered()).collect();
            let mut driving = Driving { driver, run, head, cancelled, snapshot, offered, put: Vec::new() };
            if !first.is_empty() {
                driving.keep(first).await?;
            }
            driving.begin().await?;
            let stop = loop {
                if let Some(stop) = driving.step().await? {
                    break stop;
                }
            };
            Ok(Driven { stop, run: driving.run, head: driving.head })
        }
    }
}

/// A run that is being driven.
struct Driving<'a> {
    driver: Driver<'a>,
    run: Run,
    head: AgentHead,
    /// Ready once somebody wants its end; nothing once that was heard.
    cancelled: Option<BoxFuture<'a, ()>>,
    /// The last turn whose files were kept.
    snapshot: Option<u64>,
    /// The tools as a model is told of them, made once.
    offered: Vec<llm::Tool>,
    /// Reviews that were put into the queue from here.
    put: Vec<drydock_contract::AgentId>,
}

impl Driving<'_> {
    /// What whoever drove it before may not have come to.
    async fn begin(&mut self) -> Result<(), DriveError> {
        for given in self.run.given().to_vec() {
            self.give(&given).await?;
        }
        if let Some(step) = self.snapshot.filter(|_| !self.run.has_open_calls()) {
            self.driver.host.snapshot(step).await;
        }
        Ok(())
    }

    /// Does what comes next. Something, where that is the last.
    async fn step(&mut self) -> Result<Option<Stop>, DriveError> {
        if self.run.end().is_none() && self.is_cancelled().await {
            return self.end(RunEnd::Cancelled).await.map(Some);
        }
        match next(&self.run, self.driver.order) {
            Next::Complete => return self.complete().await,
            Next::Compact(messages) => self.compact(messages).await?,
            Next::Nudge => {
                let at_ms = self.now_ms();
                self.keep(vec![Event::Nudged { at_ms }]).await?;
            }
            Next::Act(acts) => return self.act(acts).await,
            Next::AskForMore(purse) => self.ask_for_more(purse).await?,
            Next::Wait => return self.wait().await,
            Next::End(end) => return self.end(end).await.map(Some),
            Next::Nothing => {
                // Whoever drives a run that is over is told how it ended.
                let end = self.run.end().cloned().unwrap_or(RunEnd::Cancelled);
                return Ok(Some(Stop::Ended(end)));
            }
        }
        Ok(None)
    }

    async fn end(&mut self, end: RunEnd) -> Result<Stop, DriveError> {
        let at_ms = self.now_ms();
        let mut events = vec![Event::Ended { at_ms, end: end.clone(), spent: None }];
        self.note_spent(&mut events).await;
        self.keep(events).await?;
        Ok(Stop::Ended(end))
    }

    /// Says with the last of these events what was spent in the run's name and is in no event yet, so that whoever goes on
    /// with the run has what is left of its budget, and no more.
    async fn note_spent(&mut self, events: &mut [Event]) {
        let Some(all) = self.driver.host.spent().await else { return };
        let told = events.iter_mut().rev().find_map(|it| match it {
            Event::Result { spent, .. } | Event::Ended { spent, .. } => Some(spent),
            _ => None,
        });
        if let Some(told) = told {
            *told = all.beyond(self.run.spent());
        }
    }

    fn now_ms(&self) -> u64 {
        self.driver.clock.now().as_millis()
    }

    /// Writes events down, with the head that follows from them. What cannot follow is not written.
    async fn keep(&mut self, events: Vec<Event>) -> Result<(), DriveError> {
        let at = self.run.events();
        events.iter().try_for_each(|event| self.run.on(event))?;
        self.head = self.head_now();
        let json = events.iter().map(Event::to_json).collect();
        self.driver.hold.append(at, json, self.head.clone()).await??;
        self.driver.host.on_events(at, &events, &self.head);
        if self.run.changed_by() != self.snapshot {
            self.snapshot = self.run.changed_by();
            if let Some(step) = self.snapshot {
                self.driver.host.snapshot(step).await;
            }
        }
        Ok(())
    }

    fn head_now(&self) -> AgentHead {
        let run = &self.run;
        let (result, reason) = match run.end() {
            Some(RunEnd::Done { result }) => {
                (Some(beginning(result, RESULT_SHOWN_BYTES_MAX).to_owned()), None)
            }
            Some(RunEnd::Failed { code, .. }) => (None, Some(code.clone())),
            Some(RunEnd::Cancelled) | None => (None, None),
        };
        AgentHead {
            status: self.status_now(),
            model: run.bounds().map_or_else(String::new, |it| it.model.clone()),
            steps: run.steps(),
            usage: run.usage(),
            updated_ms: self.now_ms(),
            result,
            reason,
            ..self.head.clone()
        }
    }

    /// A run says that it waits once what it asks can be read, and not before.
    fn status_now(&self) -> AgentStatus {
        let is_put = |it| self.put.contains(it);
        match self.run.status() {
            AgentStatus::Waiting if !self.run.pending().keys().all(is_put) => AgentStatus::Running,
            status => status,
        }
    }

    /// Says of the head what it waits for, if it does not say so yet.
    async fn note_waiting(&mut self) -> Result<(), DriveError> {
        match self.head.status {
            AgentStatus::Waiting => Ok(()),
            _ => self.keep(Vec::new()).await,
        }
    }
}
