//! The calls of one program in this process: weighed as both ends of the protocol would weigh them, then
//! made at once.
//!
//! A tool that answers without waiting costs the program no turn of the executor: its answer is there when
//! `call` returns. Any other is handed to whoever drives the execution and goes on while the program does.

use std::{
    collections::{HashMap, VecDeque},
    future::ready,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use drydock_contract::{BoxFuture, FailureCode, ToolAnswer, ToolFailure, ToolRequest, Tools};
use futures_util::stream::{FuturesUnordered, Stream as _};
use parking_lot::Mutex;

use crate::{
    host::HostLimits,
    result::timed_out,
    runner::{RunnerLimits, shallow_enough},
};

/// What a program is given as its tools.
pub(super) struct Calls {
    tools: Arc<dyn Tools>,
    limits: CallLimits,
    state: Mutex<State>,
}

/// The narrower of what the two ends allow.
#[derive(Debug, Clone, Copy)]
struct CallLimits {
    running_max: usize,
    pending_max: usize,
    calls_max: usize,
    pending_bytes_max: usize,
    input_bytes_max: usize,
    input_depth_max: usize,
    result_bytes_max: usize,
}

/// Which call, and what its input weighs.
#[derive(Debug, Clone, Copy)]
struct Ticket {
    number: u64,
    input_bytes: usize,
}

/// A call that is under way, and what comes of it.
type Slow = BoxFuture<'static, (Ticket, ToolAnswer)>;

/// Calls that are under way. Made with the first of them: most programs have none.
#[derive(Default)]
pub(super) struct Driven(Option<FuturesUnordered<Slow>>);

#[derive(Default)]
struct State {
    made: usize,
    running: usize,
    pending_bytes: usize,
    /// Calls that wait for their turn.
    waiting: VecDeque<(Ticket, ToolRequest)>,
    /// Calls that did not end at once and nobody drives yet.
    begun: Vec<Slow>,
    slots: HashMap<u64, Slot>,
    /// Nobody wants an answer any more.
    given_up: bool,
    driver: Option<Waker>,
}

/// Where the program waits for an answer.
#[derive(Default)]
struct Slot {
    answer: Option<ToolAnswer>,
    program: Option<Waker>,
}

impl Calls {
    pub(super) fn new(tools: Arc<dyn Tools>, host: &HostLimits, runner: &RunnerLimits) -> Self {
        let limits = CallLimits {
            running_max: host.calls_running_max,
            pending_max: host.calls_pending_max.min(runner.calls_pending_max),
            calls_max: host.calls_max,
            pending_bytes_max: host.pending_bytes_max.min(runner.pending_bytes_max),
            input_bytes_max: host.tool_input_bytes_max.min(runner.tool_input_bytes_max),
            input_depth_max: runner.depth_max,
            result_bytes_max: host.tool_result_bytes_max,
        };
        Self { tools, limits, state: Mutex::default() }
    }

    /// Whether one more call may be made, and if not, why.
    fn admit(&self, state: &State, request: &ToolRequest) -> Result<(), ToolFailure> {
        let limits = &self.limits;
        let refuse = |text: String| Err(ToolFailure::new(FailureCode::ToolError, text));
        if state.given_up {
            return Err(timed_out());
        }
        if state.made >= limits.calls_max {
            return refuse(format!("one execution may call tools {} times", limits.calls_max));
        }
        if state.running + state.waiting.len() >= limits.pending_max {
            return refuse(format!("{} tool calls are pending already", limits.pending_max));
        }
        let bytes = input_bytes(request);
        if state.pending_bytes + bytes > limits.pending_bytes_max {
            let max = limits.pending_bytes_max;
            return refuse(format!("the inputs of pending tool calls exceed {max} bytes"));
        }
        let too_large = |text| Err(ToolFailure::new(FailureCode::SerializationError, text));
        if bytes > limits.input_bytes_max {
            let max = limits.input_bytes_max;
            return too_large(format!("tool input of {bytes} bytes exceeds the limit of {max}"));
        }
        request.input.as_ref().map_or(Ok(()), |it| shallow_enough("tool input", it, limits.input_depth_max))
    }

    /// A tool's answer as the program may see it. That it is JSON is for the program's own parser to find.
    fn judge(&self, answer: ToolAnswer) -> ToolAnswer {
        let (bytes, max) = (answer.as_ref().map_or(0, |it| it.len()), self.limits.result_bytes_max);
        if bytes > max {
            let text = format!("tool result of {bytes} bytes exceeds the limit of {max}");
            return Err(ToolFailure::new(FailureCode::SerializationError, text));
        }
        answer
    }

    /// A call that owns everything it needs.
    fn begin(&self, request: ToolRequest) -> BoxFuture<'static, ToolAnswer> {
        let tools = Arc::clone(&self.tools);
        Box::pin(async move { tools.call(request).await })
    }

    /// Moves on what is under way; true if an answer came of it.
    pub(super) fn poll(&self, driven: &mut Driven, cx: &mut Context<'_>) -> bool {
        {
            let mut state = self.state.lock();
            if !state.driver.as_ref().is_some_and(|it| it.will_wake(cx.waker())) {
                state.driver = Some(cx.waker().clone());
            }
            for call in state.begun.drain(..) {
                driven.0.get_or_insert_default().push(call);
            }
            while state.running < self.limits.running_max
                && let Some((ticket, request)) = state.waiting.pop_front()
            {
                state.running += 1;
                let call = self.begin(request);
                driven.0.get_or_insert_default().push(Box::pin(async move { (ticket, call.await) }));
            }
        }
        let Some(under_way) = &mut driven.0 else { return false };
        let mut answered = false;
        while let Poll::Ready(Some((ticket, answer))) = Pin::new(&mut *under_way).poll_next(cx) {
            self.deliver(ticket, answer);
            answered = true;
        }
        answered
    }

    fn deliver(&self, ticket: Ticket, answer: ToolAnswer) {
        let answer = self.judge(answer);
        let mut state = self.state.lock();
        state.end(ticket);
        // A call that the program has given up gets nothing.
        let Some(slot) = state.slots.get_mut(&ticket.number) else { return };
        slot.answer = Some(answer);
        let program = slot.program.take();
        drop(state);
        if let Some(program) = program {
            program.wake();
        }
    }

    /// Nobody wants an answer any more: whoever still waits for one is told, and no call begins.
    pub(super) fn give_up(&self) {
        let mut state = self.state.lock();
        state.given_up = true;
        state.waiting.clear();
        let begun = std::mem::take(&mut state.begun);
        let mut programs = Vec::new();
        for slot in state.slots.values_mut().filter(|it| it.answer.is_none()) {
            slot.answer = Some(Err(timed_out()));
            programs.extend(slot.program.take());
        }
        drop(state);
        drop(begun);
        programs.into_iter().for_each(Waker::wake);
    }
}

impl State {
    fn end(&mut self, ticket: Ticket) {
        self.running -= 1;
        self.pending_bytes -= ticket.input_bytes;
    }

    fn wait_for(&mut self, ticket: Ticket) {
        self.slots.insert(ticket.number, Slot::default());
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }
}

impl Tools for Calls {
    fn call(&self, request: ToolRequest) -> BoxFuture<'_, ToolAnswer> {
        let mut state = self.state.lock();
        if let Err(failure) = self.admit(&state, &request) {
            return Box::pin(ready(Err(failure)));
        }
        let ticket = Ticket { number: state.made as u64, input_bytes: input_bytes(&request) };
        state.made += 1;
        state.pending_bytes += ticket.input_bytes;
        if state.running >= self.limits.running_max || !state.waiting.is_empty() {
            state.waiting.push_back((ticket, request));
            state.wait_for(ticket);
            return Box::pin(Waiting { calls: self, ticket });
        }
        state.running += 1;
        drop(state);
        let mut call = self.begin(request);
        // Whom to wake is not known yet. If it has to wait, the driver asks again before it rests.
        match call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => {
                self.state.lock().end(ticket);
                Box::pin(ready(self.judge(answer)))
            }
            Poll::Pending => {
                let mut state = self.state.lock();
                state.begun.push(Box::pin(async move { (ticket, call.await) }));
                state.wait_for(ticket);
                Box::pin(Waiting { calls: self, ticket })
            }
        }
    }
}

/// A program that waits for an answer.
struct Waiting<'a> {
    calls: &'a Calls,
    ticket: Ticket,
}

impl Future for Waiting<'_> {
    type Output = ToolAnswer;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<ToolAnswer> {
        let mut state = self.calls.state.lock();
        let slot = state.slots.entry(self.ticket.number).or_default();
        match slot.answer.take() {
            Some(answer) => Poll::Ready(answer),
            None => {
                slot.program = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.calls.state.lock().slots.remove(&self.ticket.number);
    }
}

fn input_bytes(request: &ToolRequest) -> usize {
    request.input.as_ref().map_or(0, |it| it.len())
}
