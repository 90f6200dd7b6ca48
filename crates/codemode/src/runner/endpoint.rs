//! The rules of a runner: one execution at a time, and never a word that was not asked for.
//!
//! Feed it [`Input`], carry out [`Output`]. Long-lived: after `done` it takes the next `execute`.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use drydock_contract::{FailureCode, ToolRequest};

use super::{Finished, Program, RunnerLimits, truncate_logs};
use crate::{
    protocol::{
        Done, Execute, Failure, Head, HostMessage, Json, RunnerMessage, RuntimeOptions, ToolCall, ToolResult,
    },
    result::timed_out,
    rules::{Admitted, CallRules, fits, namespaces_are_names, program_fits},
    time::milliseconds,
};

/// What happened.
#[derive(Debug)]
pub enum Input {
    /// The host said something.
    Message(HostMessage),
    /// The host said more than is read.
    TooLong(Head, usize),
    /// The program called a tool.
    Called {
        /// By which the guest knows the call.
        ticket: u64,
        /// The call.
        request: ToolRequest,
    },
    /// The program ended.
    Finished(Finished),
    /// The alarm went off.
    TimeUp,
}

/// What is to be done.
#[derive(Debug, PartialEq)]
pub enum Output {
    /// Send this.
    Send(RunnerMessage),
    /// Run this in a fresh guest.
    Start(Program),
    /// Hand the guest an answer.
    Deliver {
        /// To which call.
        ticket: u64,
        /// The answer.
        answer: Result<Json, Failure>,
    },
    /// Tell the guest to end.
    CancelGuest,
    /// Wake me after this long, instead of whenever was said before.
    SetAlarm(Duration),
    /// Drop the guest, ended or not.
    DropGuest,
}

#[derive(Debug)]
struct Active {
    id: Arc<str>,
    options: RuntimeOptions,
    began: Duration,
    cancelled: bool,
    /// By call: the guest's ticket.
    pending: HashMap<Arc<str>, (u64, Admitted)>,
    /// The host decides which of them run; none waits here.
    calls: CallRules<()>,
}

/// The rules of a runner.
#[derive(Debug)]
pub struct Endpoint {
    limits: RunnerLimits,
    active: Option<Active>,
    /// Calls of the runner's whole life: no id is used twice.
    calls: u64,
    out: VecDeque<Output>,
}

impl Endpoint {
    /// A runner that waits for its first execution.
    pub fn new(limits: RunnerLimits) -> Self {
        Self { limits, active: None, calls: 0, out: VecDeque::new() }
    }

    /// The next thing to be done.
    pub fn next_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// Takes in what happened at the time `now`.
    pub fn on(&mut self, input: Input, now: Duration) {
        match input {
            Input::Message(HostMessage::Execute(execute)) => self.execute(execute, now),
            Input::Message(HostMessage::Cancel { id }) => self.cancel(&id),
            Input::Message(HostMessage::ToolResult(result)) => self.tool_result(result),
            Input::TooLong(head, bytes_max) => self.too_long(&head, bytes_max),
            Input::Called { ticket, request } => self.called(ticket, request),
            Input::Finished(finished) => self.finished(finished, now),
            Input::TimeUp => self.time_up(now),
        }
    }

    fn execute(&mut self, execute: Execute, now: Duration) {
        if let Some(active) = &self.active {
            // A second one of the same id is the same one told twice: an answer would end the first.
            if active.id != execute.id {
                let text = "the runner already has an active execution";
                self.refuse(execute.id, Failure::new(FailureCode::InternalError, text));
            }
            return;
        }
        let acceptable = program_fits(&execute.code, self.limits.code_bytes_max)
            .and_then(|()| namespaces_are_names(&execute.providers));
        if let Err(failure) = acceptable {
            self.refuse(execute.id, failure);
            return;
        }
        let Execute { id, code, options, providers, args } = execute;
        self.active = Some(Active {
            id: Arc::clone(&id),
            options,
            began: now,
            cancelled: false,
            pending: HashMap::new(),
            calls: CallRules::new(self.limits.of_calls()),
        });
        self.send(RunnerMessage::Started { id });
        let timeout = options.timeout();
        if timeout.is_zero() {
            self.finish(Finished::without_logs(Err(timed_out())), now);
            return;
        }
        self.out.push_back(Output::SetAlarm(timeout + self.limits.end_within));
        self.out.push_back(Output::Start(Program {
            code,
            providers,
            options,
            args,
            console: None,
            file: None,
        }));
    }

    fn cancel(&mut self, id: &str) {
        let Some(active) = self.active.as_mut().filter(|it| &*it.id == id && !it.cancelled) else { return };
        active.cancelled = true;
        let mut tickets: Vec<u64> =
            std::mem::take(&mut active.pending).into_values().map(|it| it.0).collect();
        active.calls.give_up();
        tickets.sort_unstable();
        self.out.push_back(Output::CancelGuest);
        for ticket in tickets {
            self.out.push_back(Output::Deliver { ticket, answer: Err(timed_out()) });
        }
        self.out.push_back(Output::SetAlarm(self.limits.end_within));
    }

    fn tool_result(&mut self, result: ToolResult) {
        let Some(active) = &mut self.active else { return };
        if let Some((ticket, admitted)) = active.pending.remove(&result.call_id) {
            let answer = active.calls.end(admitted, result.answer);
            self.out.push_back(Output::Deliver { ticket, answer });
        }
    }

    /// A message was dropped for its length; whoever waits for it is told.
    fn too_long(&mut self, head: &Head, bytes_max: usize) {
        let text = format!("message exceeds the limit of {bytes_max} bytes");
        let failure = Failure::new(FailureCode::SerializationError, text);
        match (head.kind.as_deref(), &head.id, &head.call_id) {
            (Some("execute"), Some(id), _) if self.active.as_ref().is_none_or(|it| *it.id != **id) => {
                self.refuse(id.as_str().into(), failure);
            }
            (Some("tool_result"), _, Some(id)) => {
                self.tool_result(ToolResult { call_id: id.as_str().into(), answer: Err(failure) });
            }
            _ => {}
        }
    }

    fn called(&mut self, ticket: u64, request: ToolRequest) {
        let Some(active) = self.active.as_mut() else { return };
        let parsed = match request.input.map(Json::parse).transpose() {
            Ok(input) => active.calls.admit(input.as_ref().map(AsRef::as_ref)).map(|it| (it, input)),
            Err(error) => {
                let failure = Failure::new(FailureCode::SerializationError, error.to_string());
                Err(active.calls.refuse(failure))
            }
        };
        let (admitted, input) = match parsed {
            Ok(admitted) => admitted,
            Err(failure) => {
                self.out.push_back(Output::Deliver { ticket, answer: Err(failure) });
                return;
            }
        };
        self.calls += 1;
        let call_id: Arc<str> = format!("call-{}", self.calls).into();
        active.pending.insert(Arc::clone(&call_id), (ticket, admitted));
        self.send(RunnerMessage::ToolCall(ToolCall {
            call_id,
            provider_name: request.provider,
            safe_tool_name: request.tool,
            input,
        }));
    }

    fn finished(&mut self, finished: Finished, now: Duration) {
        if self.active.is_some() {
            self.finish(finished, now);
        }
    }

    /// The guest did not end by itself: it is not waited for any longer.
    fn time_up(&mut self, now: Duration) {
        if self.active.is_some() {
            self.finish(Finished::without_logs(Err(timed_out())), now);
        }
    }

    fn finish(&mut self, finished: Finished, now: Duration) {
        let Some(active) = self.active.take() else { return };
        let limits = self.limits;
        let outcome = finished.outcome.and_then(|result| {
            fits("result", result.as_ref().map(AsRef::as_ref), limits.result_bytes_max, limits.depth_max)
                .map(|()| result)
        });
        self.out.push_back(Output::DropGuest);
        self.send(RunnerMessage::Done(Done {
            id: active.id,
            outcome,
            duration_ms: milliseconds(now.saturating_sub(active.began)),
            logs: truncate_logs(finished.logs, &active.options).into_lines(),
        }));
    }

    fn refuse(&mut self, id: Arc<str>, failure: Failure) {
        self.send(RunnerMessage::Done(Done {
            id,
            outcome: Err(failure),
            duration_ms: 0.0,
            logs: Vec::new(),
        }));
    }

    fn send(&mut self, message: RunnerMessage) {
        self.out.push_back(Output::Send(message));
    }
}
