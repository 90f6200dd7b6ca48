//! Carries out what a [`HostSession`] says, over a transport.
//!
//! One future does it all: dropping it abandons the tools and disposes of the transport.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use drydock_contract::{BoxFuture, Switch, ToolAnswer, Tools};
use event_listener::EventListener;
use futures_util::stream::{FuturesUnordered, Stream as _};

use super::{Alarm, Event, HostLimits, HostSession, Input, Output, Transport};
use crate::{
    ExecuteResult, Time,
    protocol::{Execute, ToolCall},
    signal::is_tripped,
};

/// What happens between two looks at the clock, at most.
const STEPS_MAX: usize = 256;

/// Everything one execution is driven with.
pub struct Drive {
    /// What is sent first.
    pub execute: Execute,
    /// Who answers the program's calls.
    pub tools: Arc<dyn Tools>,
    /// The clock.
    pub time: Arc<dyn Time>,
    /// Tripped when the caller wants no result any more.
    pub signal: Option<Arc<Switch>>,
    /// Limits of the session.
    pub limits: HostLimits,
}

/// Runs one execution to its end. The transport is disposed of in any case.
pub async fn drive(with: Drive, transport: Box<dyn Transport>) -> ExecuteResult {
    let session = HostSession::begin(with.execute, with.limits, with.time.now());
    let mut work = Work {
        session,
        held: Held { transport, result: None },
        calls: FuturesUnordered::new(),
        tools: with.tools,
        time: with.time,
        alarms: Vec::new(),
        signal: with.signal,
        listener: None,
    };
    poll_fn(|cx| work.poll(cx)).await
}

/// A transport that cannot be forgotten.
struct Held {
    transport: Box<dyn Transport>,
    result: Option<ExecuteResult>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.transport.dispose(self.result.as_ref());
    }
}

struct Work {
    session: HostSession,
    held: Held,
    calls: FuturesUnordered<BoxFuture<'static, (Arc<str>, ToolAnswer)>>,
    tools: Arc<dyn Tools>,
    time: Arc<dyn Time>,
    alarms: Vec<(Alarm, BoxFuture<'static, ()>)>,
    signal: Option<Arc<Switch>>,
    listener: Option<EventListener>,
}

impl Work {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<ExecuteResult> {
        for _ in 0..STEPS_MAX {
            while let Some(output) = self.session.next_output() {
                if let Some(result) = self.carry_out(output, cx) {
                    self.held.result = Some(result.clone());
                    return Poll::Ready(result);
                }
            }
            let Some(input) = self.next_input(cx) else { return Poll::Pending };
            if let Some(input) = input {
                self.session.on(input, self.time.now());
            }
        }
        // There is more, but somebody else may have something to do: a clock, for one.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// What happened next; nothing if there is nothing, and nothing inside for what has no meaning.
    fn next_input(&mut self, cx: &mut Context<'_>) -> Option<Option<Input>> {
        if self.aborted(cx) {
            self.signal = None;
            return Some(Some(Input::Abort));
        }
        let rung = self.alarms.iter_mut().position(|(_, sleep)| sleep.as_mut().poll(cx).is_ready());
        if let Some(index) = rung {
            return Some(Some(Input::TimeUp(self.alarms.swap_remove(index).0)));
        }
        let event = match self.held.transport.poll_event(cx) {
            Poll::Ready(event) => event,
            // Answers are made only as fast as the runner takes them.
            Poll::Pending if self.held.transport.is_congested() => return None,
            Poll::Pending => {
                let Poll::Ready(Some((call_id, answer))) = Pin::new(&mut self.calls).poll_next(cx) else {
                    return None;
                };
                return Some(Some(Input::ToolFinished { call_id, answer }));
            }
        };
        Some(match event {
            Event::Message(message) => Some(Input::Message(message)),
            Event::TooLong(head, max) => Some(Input::TooLong(head, max)),
            Event::Closed(reason) => Some(Input::Closed(reason)),
            Event::Junk => None,
        })
    }

    fn aborted(&mut self, cx: &mut Context<'_>) -> bool {
        is_tripped(self.signal.as_ref(), &mut self.listener, cx)
    }

    /// Begins a call at once: a program may make one, not wait for it, and be done with the next message.
    fn begin(&mut self, call: ToolCall, cx: &mut Context<'_>) {
        let tools = Arc::clone(&self.tools);
        let call_id = Arc::clone(&call.call_id);
        let mut future: BoxFuture<'static, _> =
            Box::pin(async move { (call_id, tools.call(call.request()).await) });
        if !self.held.transport.is_congested()
            && let Poll::Ready((call_id, answer)) = future.as_mut().poll(cx)
        {
            return self.session.on(Input::ToolFinished { call_id, answer }, self.time.now());
        }
        self.calls.push(future);
    }

    fn carry_out(&mut self, output: Output, cx: &mut Context<'_>) -> Option<ExecuteResult> {
        match output {
            Output::Send(message) => {
                if let Err(error) = self.held.transport.send(message) {
                    self.session.on(Input::SendFailed(error.to_string()), self.time.now());
                }
            }
            Output::Dispatch(call) => self.begin(call, cx),
            Output::SetAlarm(alarm, span) => self.alarms.push((alarm, self.time.sleep(span))),
            Output::AbortTools => self.calls = FuturesUnordered::new(),
            Output::Terminate => self.held.transport.terminate(),
            Output::Settle(result) => return Some(result),
        }
        None
    }
}
