//! Host and runner in one process and one task: messages are handed over as the values they are.

use std::{
    collections::VecDeque,
    future::poll_fn,
    pin::pin,
    sync::Arc,
    task::{Context, Poll},
};

use drydock_contract::BoxFuture;
use parking_lot::Mutex;

use super::{ExecuteRequest, Executor};
use crate::{
    ExecuteResult, Time,
    host::{Drive, Event, HostLimits, Transport, TransportError, drive},
    protocol::{HostMessage, RunnerMessage, RuntimeOptions},
    runner::{Guest, Heard, Port, RunnerLimits, serve},
};

/// Runs programs with a guest of this process.
pub struct InProcess {
    guest: Arc<dyn Guest>,
    time: Arc<dyn Time>,
    /// Limits of an execution that says nothing else.
    pub options: RuntimeOptions,
    /// Limits of the host's end.
    pub host_limits: HostLimits,
    /// Limits of the runner's end.
    pub runner_limits: RunnerLimits,
}

impl InProcess {
    /// With the usual limits.
    pub fn new(guest: Arc<dyn Guest>, time: Arc<dyn Time>) -> Self {
        Self {
            guest,
            time,
            options: RuntimeOptions::default(),
            host_limits: HostLimits::default(),
            runner_limits: RunnerLimits::default(),
        }
    }
}

impl Executor for InProcess {
    fn execute(&self, request: ExecuteRequest) -> BoxFuture<'_, ExecuteResult> {
        Box::pin(async move {
            let execute = match request.open(self.options, &self.host_limits) {
                Ok(execute) => execute,
                Err(result) => return result,
            };
            let pipe = Arc::new(Pipe::default());
            let with = Drive {
                execute,
                tools: request.tools,
                time: Arc::clone(&self.time),
                signal: request.signal,
                limits: self.host_limits,
            };
            let mut host = pin!(drive(with, Box::new(HostEnd(Arc::clone(&pipe)))));
            let mut runner_end = RunnerEnd(Arc::clone(&pipe));
            let mut runner = pin!(serve(&mut runner_end, &*self.guest, &*self.time, self.runner_limits));
            poll_fn(|cx| {
                // Neither end wakes the other: they are polled in turn until both have nothing to say.
                loop {
                    if let Poll::Ready(result) = host.as_mut().poll(cx) {
                        return Poll::Ready(result);
                    }
                    if runner.as_mut().poll(cx).is_ready() || pipe.is_empty() {
                        return Poll::Pending;
                    }
                }
            })
            .await
        })
    }
}

#[derive(Default)]
struct Pipe {
    to_runner: Mutex<VecDeque<HostMessage>>,
    to_host: Mutex<VecDeque<RunnerMessage>>,
}

impl Pipe {
    fn is_empty(&self) -> bool {
        self.to_runner.lock().is_empty() && self.to_host.lock().is_empty()
    }
}

struct HostEnd(Arc<Pipe>);

impl Transport for HostEnd {
    fn send(&mut self, message: HostMessage) -> Result<(), TransportError> {
        self.0.to_runner.lock().push_back(message);
        Ok(())
    }

    fn poll_event(&mut self, _: &mut Context<'_>) -> Poll<Event> {
        self.0
            .to_host
            .lock()
            .pop_front()
            .map_or(Poll::Pending, |message| Poll::Ready(Event::Message(message)))
    }

    /// The runner's future is dropped when the host's has ended.
    fn terminate(&mut self) {}

    fn dispose(&mut self, _: Option<&ExecuteResult>) {}
}

struct RunnerEnd(Arc<Pipe>);

impl Port for RunnerEnd {
    fn send(&mut self, message: RunnerMessage) {
        self.0.to_host.lock().push_back(message);
    }

    fn poll_heard(&mut self, _: &mut Context<'_>) -> Poll<Heard> {
        self.0
            .to_runner
            .lock()
            .pop_front()
            .map_or(Poll::Pending, |message| Poll::Ready(Heard::Message(message)))
    }

    fn poll_sent(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}
