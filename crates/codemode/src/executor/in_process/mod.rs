//! Host and runner in one process, without messages: the program's calls go straight to its tools.
//!
//! The rules are those of the two ends: what is refused, what an answer may weigh, how long anything may
//! take. An execution whose tools answer at once takes one poll, one that never waits makes no timer.

mod calls;

use std::{
    future::poll_fn,
    panic::AssertUnwindSafe,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use drydock_contract::{BoxFuture, FailureCode, Switch, schedule};
use event_listener::EventListener;
use futures_util::FutureExt as _;
use parking_lot::Mutex;

use super::{ExecuteRequest, Executor};
use crate::{
    ExecuteResult, Time,
    host::HostLimits,
    protocol::{Failure, Json, Manifest, RuntimeOptions},
    result::timed_out,
    rules::{fits, namespaces_are_names, returned_fits},
    runner::{Finished, Guest, Program, RunnerLimits, truncate_logs},
    signal::is_tripped,
    time::milliseconds,
};
use calls::{Calls, Driven};

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
    /// The providers whose names were found good last: most programs of an executor have the same.
    checked: Mutex<Option<Arc<[Manifest]>>>,
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
            checked: Mutex::default(),
        }
    }

    /// Runs a program with another guest than its own, under the same limits.
    pub async fn execute_on(&self, guest: &dyn Guest, request: ExecuteRequest) -> ExecuteResult {
        let began = self.time.now();
        let code_bytes_max = self.host_limits.code_bytes_max.min(self.runner_limits.code_bytes_max);
        let options = match request.admit(self.options, code_bytes_max) {
            Ok(options) => options,
            Err(result) => return result,
        };
        if let Err(failure) = self.check_names(&request.providers) {
            return ExecuteResult::failed(failure, 0.0);
        }
        let finished = match options.timeout() {
            Duration::ZERO => Finished::without_logs(Err(timed_out())),
            timeout => {
                tracing::trace!(target: "drydock::hop", "codemode: a program within its limits goes to its guest");
                let program = Program {
                    code: request.code,
                    providers: request.providers,
                    options,
                    args: request.args,
                    console: request.console,
                    file: request.file,
                };
                let clock = self.time.stepped();
                let limits = self.host_limits.of_calls().narrowed(self.runner_limits.of_calls());
                let calls = Arc::new(Calls::new(request.tools, limits, clock.clone()));
                let cancel = Arc::new(Switch::default());
                let mut work = Work {
                    guest: start(guest, program, &calls, &cancel),
                    calls,
                    driven: Driven::default(),
                    cancel,
                    signal: request.signal,
                    listener: None,
                    alarm: None,
                    time: &*self.time,
                    is_stepped: clock.is_some(),
                    end_by: began + timeout + self.runner_limits.end_within,
                    grace: self.host_limits.cancel_grace,
                };
                poll_fn(|cx| match &clock {
                    None => work.poll(cx),
                    Some(clock) => schedule::moving(clock, || work.poll(cx)),
                })
                .await
            }
        };
        let logs = truncate_logs(finished.logs, &options);
        ExecuteResult {
            outcome: finished.outcome.and_then(|result| self.judge(result)),
            logs_cut: finished.logs_cut || logs.is_cut(),
            logs: logs.into_lines(),
            duration_ms: milliseconds(self.time.now().saturating_sub(began)),
        }
    }

    fn check_names(&self, providers: &Arc<[Manifest]>) -> Result<(), Failure> {
        let known = self.checked.lock().as_ref().is_some_and(|it| Arc::ptr_eq(it, providers));
        if !known {
            namespaces_are_names(providers)?;
            *self.checked.lock() = Some(Arc::clone(providers));
        }
        Ok(())
    }

    fn judge(&self, result: Option<Json>) -> Result<Option<Json>, Failure> {
        let RunnerLimits { result_bytes_max, depth_max, .. } = self.runner_limits;
        fits("result", result.as_ref().map(AsRef::as_ref), result_bytes_max, depth_max)?;
        returned_fits(result.as_ref(), self.host_limits.result_bytes_max)?;
        Ok(result)
    }
}

impl Executor for InProcess {
    fn execute(&self, request: ExecuteRequest) -> BoxFuture<'_, ExecuteResult> {
        Box::pin(self.execute_on(&*self.guest, request))
    }
}

/// Begins a program. A guest that panics is a failed execution.
fn start<'a>(
    guest: &'a dyn Guest,
    program: Program,
    calls: &Arc<Calls>,
    cancel: &Arc<Switch>,
) -> BoxFuture<'a, Finished> {
    let (tools, cancel) = (Arc::clone(calls), Arc::clone(cancel));
    Box::pin(async move {
        let run = AssertUnwindSafe(async move { guest.run(program, tools, cancel).await }).catch_unwind();
        run.await.unwrap_or_else(|_| {
            Finished::without_logs(Err(Failure::new(FailureCode::InternalError, "the guest broke")))
        })
    })
}

/// One execution.
struct Work<'a> {
    guest: BoxFuture<'a, Finished>,
    calls: Arc<Calls>,
    driven: Driven,
    cancel: Arc<Switch>,
    signal: Option<Arc<Switch>>,
    listener: Option<EventListener>,
    /// Made only if the program has to wait.
    alarm: Option<BoxFuture<'static, ()>>,
    time: &'a dyn Time,
    /// Whether the program's time is not the real one.
    is_stepped: bool,
    /// When a guest that does not end by itself is waited for no longer.
    end_by: Duration,
    grace: Duration,
}

impl Work<'_> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Finished> {
        // Nobody listens before there is something to wait for: most programs never wait.
        if self.signal.as_ref().is_some_and(|it| it.is_tripped()) {
            self.signal = None;
            self.cancel();
        }
        loop {
            if let Poll::Ready(finished) = self.guest.as_mut().poll(cx) {
                return Poll::Ready(finished);
            }
            // By a clock that is not the real one, its calls go on when the program waits for them, and not when
            // the machine took the thread from it.
            if self.is_stepped && !schedule::is_inside() {
                break;
            }
            if !self.calls.poll(&mut self.driven, cx) {
                break;
            }
        }
        // A tool may have been what made the caller lose interest.
        if self.aborted(cx) {
            self.cancel();
            cx.waker().wake_by_ref();
        }
        let left = || self.time.sleep(self.end_by.saturating_sub(self.time.now()));
        match self.alarm.get_or_insert_with(left).as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Finished::without_logs(Err(timed_out()))),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Whether the caller has lost interest since it was last asked.
    fn aborted(&mut self, cx: &mut Context<'_>) -> bool {
        let is_over = is_tripped(self.signal.as_ref(), &mut self.listener, cx);
        if is_over {
            self.signal = None;
        }
        is_over
    }

    /// Tells the program to end, and its tools that nobody waits for them.
    fn cancel(&mut self) {
        self.driven = Driven::default();
        self.calls.give_up();
        self.cancel.trip();
        self.alarm = Some(self.time.sleep(self.grace));
    }
}
