//! One execution as its host sees it, from `execute` to the result. Decides; does nothing.
//!
//! Feed it [`Input`], carry out [`Output`]. It settles exactly once and then ignores everything.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use drydock_contract::{FailureCode, ToolAnswer};

use super::HostLimits;
use crate::{
    ExecuteResult,
    protocol::{
        Done, Execute, Failure, Head, HostMessage, Json, RunnerMessage, RuntimeOptions, ToolCall, ToolResult,
    },
    result::timed_out,
    rules::{Admitted, CallRules, returned_fits},
    runner::truncate_logs,
    time::milliseconds,
};

/// What a session waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alarm {
    /// The program's time and a little more.
    Backstop,
    /// The time a cancelled runner has left.
    Grace,
}

/// What happened.
#[derive(Debug)]
pub enum Input {
    /// The runner said something.
    Message(RunnerMessage),
    /// The runner said more than is read.
    TooLong(Head, usize),
    /// A tool that was dispatched has answered.
    ToolFinished {
        /// Which call.
        call_id: Arc<str>,
        /// What it said.
        answer: ToolAnswer,
    },
    /// The transport has closed.
    Closed(String),
    /// A message could not be sent.
    SendFailed(String),
    /// An alarm went off.
    TimeUp(Alarm),
    /// The caller wants no result any more.
    Abort,
}

/// What is to be done.
#[derive(Debug, PartialEq)]
pub enum Output {
    /// Send this.
    Send(HostMessage),
    /// Call this tool.
    Dispatch(ToolCall),
    /// Wake me after this long.
    SetAlarm(Alarm, Duration),
    /// Abandon every tool call.
    AbortTools,
    /// End the runner.
    Terminate,
    /// It is over.
    Settle(ExecuteResult),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// `cancel` was sent; whatever happens now, it was a timeout, unless the runner still says `done`.
    Cancelling,
    Settled,
}

/// The rules of one execution.
#[derive(Debug)]
pub struct HostSession {
    id: Arc<str>,
    options: RuntimeOptions,
    limits: HostLimits,
    began: Duration,
    phase: Phase,
    /// Every call that was ever let in: one id, one call.
    seen: HashSet<Arc<str>>,
    /// Calls under way.
    running: HashMap<Arc<str>, Admitted>,
    calls: CallRules<ToolCall>,
    out: VecDeque<Output>,
}

impl HostSession {
    /// Begins an execution at the time `now`.
    pub fn begin(execute: Execute, limits: HostLimits, now: Duration) -> Self {
        let mut session = Self {
            id: Arc::clone(&execute.id),
            options: execute.options,
            limits,
            began: now,
            phase: Phase::Running,
            seen: HashSet::new(),
            running: HashMap::new(),
            calls: CallRules::new(limits.of_calls()),
            out: VecDeque::new(),
        };
        let patience = execute.options.timeout() + limits.backstop;
        session.out.push_back(Output::SetAlarm(Alarm::Backstop, patience));
        session.out.push_back(Output::Send(HostMessage::Execute(execute)));
        session
    }

    /// The next thing to be done.
    pub fn next_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// Takes in what happened at the time `now`.
    pub fn on(&mut self, input: Input, now: Duration) {
        if self.phase == Phase::Settled {
            return;
        }
        match input {
            // The host needs no `started`: a runner that never says it is a slow runner.
            Input::Message(RunnerMessage::Started { .. }) => {}
            Input::Message(RunnerMessage::ToolCall(call)) => self.tool_called(call),
            Input::Message(RunnerMessage::Done(done)) if done.id == self.id => self.done(done),
            Input::Message(RunnerMessage::Done(_)) => {}
            Input::TooLong(head, bytes_max) => self.too_long(&head, bytes_max, now),
            Input::ToolFinished { call_id, answer } => self.tool_finished(call_id, answer),
            Input::Closed(reason) | Input::SendFailed(reason) => self.lost(reason, now),
            Input::TimeUp(Alarm::Backstop) | Input::Abort => self.cancel(),
            Input::TimeUp(Alarm::Grace) => self.give_up(now),
        }
    }

    fn tool_called(&mut self, call: ToolCall) {
        if self.seen.contains(&call.call_id) {
            return;
        }
        self.note(&call.call_id);
        match self.calls.admit(call.input.as_ref().map(AsRef::as_ref)) {
            Err(failure) => self.answer(call.call_id, Err(failure)),
            Ok(admitted) => {
                let now = self.calls.start_or_queue(admitted, call);
                self.dispatch(now);
            }
        }
    }

    fn dispatch(&mut self, call: Option<(Admitted, ToolCall)>) {
        let Some((admitted, call)) = call else { return };
        self.running.insert(Arc::clone(&call.call_id), admitted);
        self.out.push_back(Output::Dispatch(call));
    }

    /// Remembers a call. Past the last that may be made there is nothing worth remembering.
    fn note(&mut self, call_id: &Arc<str>) {
        if self.seen.len() < self.limits.calls_max {
            self.seen.insert(Arc::clone(call_id));
        }
    }

    fn tool_finished(&mut self, call_id: Arc<str>, answer: ToolAnswer) {
        if self.phase != Phase::Running {
            return;
        }
        let Some(admitted) = self.running.remove(&call_id) else { return };
        let answer = self.calls.end(admitted, answer).and_then(|bytes| {
            let bad = |error| format!("the tool returned a value that is {error}");
            Json::parse(bytes).map_err(|error| Failure::new(FailureCode::SerializationError, bad(error)))
        });
        self.answer(call_id, answer);
        let next = self.calls.next();
        self.dispatch(next);
    }

    fn answer(&mut self, call_id: Arc<str>, answer: Result<Json, Failure>) {
        self.out.push_back(Output::Send(HostMessage::ToolResult(ToolResult { call_id, answer })));
    }

    /// The runner's word, also after `cancel`. Its sizes are ours.
    fn done(&mut self, done: Done) {
        let max = self.limits.result_bytes_max;
        let outcome = done.outcome.and_then(|result| returned_fits(result.as_ref(), max).map(|()| result));
        let logs = truncate_logs(done.logs, &self.options);
        self.settle(ExecuteResult {
            outcome,
            // The runner has cut it already, and messages do not tell: a log without room for more counts.
            logs_cut: logs.is_cut() || logs.is_full(),
            logs: logs.into_lines(),
            duration_ms: done.duration_ms,
        });
    }

    /// A message was dropped for its length; whoever waits for it is told.
    fn too_long(&mut self, head: &Head, bytes_max: usize, now: Duration) {
        let text = format!("message exceeds the limit of {bytes_max} bytes");
        let failure = Failure::new(FailureCode::SerializationError, text);
        match (head.kind.as_deref(), &head.id, &head.call_id) {
            (Some("done"), Some(id), _) if **id == *self.id => {
                self.settle(ExecuteResult::failed(failure, self.elapsed(now)));
            }
            (Some("tool_call"), _, Some(id)) if !self.seen.contains(id.as_str()) => {
                let call_id: Arc<str> = id.as_str().into();
                self.note(&call_id);
                let refused = self.calls.refuse(failure);
                self.answer(call_id, Err(refused));
            }
            _ => {}
        }
    }

    fn cancel(&mut self) {
        if self.phase != Phase::Running {
            return;
        }
        self.phase = Phase::Cancelling;
        self.calls.give_up();
        self.out.push_back(Output::AbortTools);
        self.out.push_back(Output::Send(HostMessage::Cancel { id: Arc::clone(&self.id) }));
        self.out.push_back(Output::SetAlarm(Alarm::Grace, self.limits.cancel_grace));
    }

    fn give_up(&mut self, now: Duration) {
        if self.phase == Phase::Cancelling {
            self.out.push_back(Output::Terminate);
            self.settle(ExecuteResult::failed(timed_out(), self.elapsed(now)));
        }
    }

    fn lost(&mut self, reason: String, now: Duration) {
        let failure = match self.phase {
            Phase::Cancelling => timed_out(),
            _ => Failure::new(FailureCode::InternalError, reason),
        };
        self.settle(ExecuteResult::failed(failure, self.elapsed(now)));
    }

    /// Nothing is sent after this, and no tool works on for a result nobody reads.
    fn settle(&mut self, result: ExecuteResult) {
        self.phase = Phase::Settled;
        self.calls.give_up();
        self.out.retain(|output| !matches!(output, Output::Send(_) | Output::Dispatch(_)));
        self.out.push_back(Output::AbortTools);
        self.out.push_back(Output::Settle(result));
    }

    fn elapsed(&self, now: Duration) -> f64 {
        milliseconds(now.saturating_sub(self.began))
    }
}
