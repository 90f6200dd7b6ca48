//! A runner elsewhere, started anew for each execution: a child process, or whatever else can be
//! launched.

use std::sync::Arc;

use drydock_contract::{BoxFuture, FailureCode};

use super::{ExecuteRequest, Executor};
use crate::{
    ExecuteResult, Time,
    host::{Drive, HostLimits, Transport, TransportError, drive},
    protocol::{Failure, RuntimeOptions},
    runner::Console,
};

/// Starts runners.
pub trait Launch: Send + Sync {
    /// Starts one. What takes time happens behind the transport, while the execution's clock runs.
    fn launch(&self) -> Result<Box<dyn Transport>, TransportError>;
}

/// Runs programs on runners that are used once.
pub struct Remote {
    launch: Arc<dyn Launch>,
    time: Arc<dyn Time>,
    /// Limits of an execution that says nothing else.
    pub options: RuntimeOptions,
    /// Limits of the host's end.
    pub limits: HostLimits,
}

impl Remote {
    /// With the usual limits.
    pub fn new(launch: Arc<dyn Launch>, time: Arc<dyn Time>) -> Self {
        Self { launch, time, options: RuntimeOptions::default(), limits: HostLimits::default() }
    }
}

impl Executor for Remote {
    fn execute(&self, request: ExecuteRequest) -> BoxFuture<'_, ExecuteResult> {
        Box::pin(async move {
            let execute = match request.open(self.options, &self.limits) {
                Ok(execute) => execute,
                Err(result) => return result,
            };
            let transport = match self.launch.launch() {
                Ok(transport) => transport,
                Err(error) => return not_started(&error),
            };
            let with = Drive {
                execute,
                tools: request.tools,
                time: Arc::clone(&self.time),
                signal: request.signal,
                limits: self.limits,
            };
            told(drive(with, transport).await, request.console)
        })
    }
}

/// Tells the console what the runner has told at last.
pub(super) fn told(result: ExecuteResult, console: Option<Console>) -> ExecuteResult {
    if let Some(console) = console {
        result.logs.iter().for_each(|line| console.tell(line));
    }
    result
}

/// There is no runner.
pub(super) fn not_started(error: &TransportError) -> ExecuteResult {
    let text = format!("could not start a runner: {error}");
    ExecuteResult::failed(Failure::new(FailureCode::InternalError, text), 0.0)
}
