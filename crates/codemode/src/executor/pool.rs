//! A bounded set of long-lived runners, used one execution at a time.
//!
//! The runner that came back last is used first; whoever waits longest gets the next. One whose execution
//! ended as `internal_error` or `timeout`, or was abandoned, is ended, and another started in its place at
//! once, so that nobody later pays for it.

use std::{
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use drydock_contract::{BoxFuture, FailureCode, Switch};
use futures_util::future::{Either, select};
use parking_lot::Mutex;

use super::{
    ExecuteRequest, Executor, Launch,
    remote::{not_started, told},
};
use crate::{
    ExecuteResult, Time,
    host::{Drive, Event, HostLimits, Transport, TransportError, drive},
    protocol::{HostMessage, RuntimeOptions},
    provider::{Turn, Turns},
    result::timed_out,
};

/// How much junk an idle runner may have said.
const JUNK_MAX: usize = 1_000;

/// How many runners, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolSettings {
    /// Runners at once.
    pub runners_max: usize,
    /// Runners that are kept however long they are idle.
    pub runners_min: usize,
    /// How long others are kept.
    pub idle_max: Duration,
}

impl Default for PoolSettings {
    fn default() -> Self {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        Self { runners_max: cpus.min(4), runners_min: 0, idle_max: Duration::from_secs(30) }
    }
}

/// Runs programs on runners that are used again.
pub struct Pool {
    shared: Arc<Shared>,
    /// Limits of an execution that says nothing else.
    pub options: RuntimeOptions,
    /// Limits of the host's end.
    pub limits: HostLimits,
}

struct Shared {
    launch: Arc<dyn Launch>,
    time: Arc<dyn Time>,
    settings: PoolSettings,
    turns: Arc<Turns>,
    /// Idle runners, the last used at the end.
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    runners: Vec<(Duration, Box<dyn Transport>)>,
    closed: bool,
}

impl Pool {
    /// A pool with no runner in it yet.
    pub fn new(launch: Arc<dyn Launch>, time: Arc<dyn Time>, settings: PoolSettings) -> Self {
        let turns = Turns::new(settings.runners_max.max(1));
        let shared = Shared { launch, time, settings, turns, idle: Mutex::default() };
        Self { shared: Arc::new(shared), options: RuntimeOptions::default(), limits: HostLimits::default() }
    }

    /// Starts runners until there are as many as are always kept, at least one, and runs an empty program
    /// on each. The first failure is the answer.
    pub async fn prewarm(&self) -> Result<(), ExecuteResult> {
        let wanted = self.shared.settings.runners_min.clamp(1, self.shared.settings.runners_max.max(1));
        let warmed = (0..wanted).map(|_| self.execute(ExecuteRequest::new("undefined")));
        for result in futures_util::future::join_all(warmed).await {
            if result.outcome.is_err() {
                return Err(result);
            }
        }
        Ok(())
    }

    /// Ends runners that were idle for too long. Whoever has a clock of their own calls this now and then;
    /// each execution does as well.
    pub fn sweep(&self) {
        self.shared.sweep();
    }

    /// How many runners are idle.
    pub fn idle(&self) -> usize {
        self.shared.idle.lock().runners.len()
    }

    /// Ends every idle runner, and those in use when they come back. Nothing is executed after this.
    pub fn close(&self) {
        let mut idle = self.shared.idle.lock();
        idle.closed = true;
        let runners = std::mem::take(&mut idle.runners);
        drop(idle);
        runners.into_iter().for_each(|(_, runner)| end(runner, None));
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.close();
    }
}

impl Executor for Pool {
    fn execute(&self, request: ExecuteRequest) -> BoxFuture<'_, ExecuteResult> {
        Box::pin(async move {
            let Some(turn) = self.shared.turn(request.signal.as_ref()).await else {
                return ExecuteResult::failed(timed_out(), 0.0);
            };
            let execute = match request.open(self.options, &self.limits) {
                Ok(execute) => execute,
                Err(result) => return result,
            };
            let runner = match self.shared.runner() {
                Ok(runner) => runner,
                Err(error) => return not_started(&error),
            };
            let with = Drive {
                execute,
                tools: request.tools,
                time: Arc::clone(&self.shared.time),
                signal: request.signal,
                limits: self.limits,
            };
            let lease = Lease { runner: Some(runner), shared: Arc::clone(&self.shared), turn: Some(turn) };
            told(drive(with, Box::new(lease)).await, request.console)
        })
    }
}

impl Shared {
    /// A turn, or nothing if the caller gave up first.
    async fn turn(&self, signal: Option<&Arc<Switch>>) -> Option<Turn> {
        let taking = self.turns.take();
        let Some(signal) = signal else { return Some(taking.await) };
        let tripped = Box::pin(async {
            while !signal.is_tripped() {
                let listener = signal.listen();
                if !signal.is_tripped() {
                    listener.await;
                }
            }
        });
        match select(tripped, taking).await {
            Either::Left(_) => None,
            Either::Right((turn, _)) => Some(turn),
        }
    }

    fn runner(&self) -> Result<Box<dyn Transport>, TransportError> {
        self.sweep();
        loop {
            let mut idle = self.idle.lock();
            if idle.closed {
                return Err(TransportError("the pool is closed".into()));
            }
            let Some((_, mut runner)) = idle.runners.pop() else { break };
            drop(idle);
            if is_silent(&mut *runner) {
                return Ok(runner);
            }
            end(runner, None);
        }
        self.launch.launch()
    }

    fn sweep(&self) {
        let now = self.time.now();
        let mut idle = self.idle.lock();
        let spare = idle.runners.len().saturating_sub(self.settings.runners_min);
        let old = |since: Duration| now.saturating_sub(since) >= self.settings.idle_max;
        let count = idle.runners.iter().take(spare).take_while(|it| old(it.0)).count();
        let ended: Vec<_> = idle.runners.drain(..count).collect();
        drop(idle);
        ended.into_iter().for_each(|(_, runner)| end(runner, None));
    }

    /// Takes a runner back, or puts another in the place of one that cannot be used again.
    fn give_back(&self, runner: Box<dyn Transport>, result: Option<&ExecuteResult>) {
        let spent = match result.map(ExecuteResult::code) {
            Some(code) => matches!(code, Some(FailureCode::InternalError | FailureCode::Timeout)),
            None => true,
        };
        let runner = match spent {
            false => Some(runner),
            true => {
                end(runner, result);
                let closed = self.idle.lock().closed;
                // If it cannot be started now, whoever needs it will be told why.
                if closed { None } else { self.launch.launch().ok() }
            }
        };
        let Some(runner) = runner else { return };
        let mut idle = self.idle.lock();
        if idle.closed {
            drop(idle);
            return end(runner, result);
        }
        idle.runners.push((self.time.now(), runner));
    }
}

/// Whether an idle runner is there and has nothing to say. One that has gone, or speaks without being
/// asked, is of no use to the next execution, and none of its business.
fn is_silent(runner: &mut dyn Transport) -> bool {
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..JUNK_MAX {
        match runner.poll_event(&mut cx) {
            Poll::Pending => return true,
            Poll::Ready(Event::Junk) => {}
            Poll::Ready(_) => return false,
        }
    }
    false
}

fn end(mut runner: Box<dyn Transport>, result: Option<&ExecuteResult>) {
    runner.terminate();
    runner.dispose(result);
}

/// A runner for one session.
struct Lease {
    runner: Option<Box<dyn Transport>>,
    shared: Arc<Shared>,
    turn: Option<Turn>,
}

impl Transport for Lease {
    fn send(&mut self, message: HostMessage) -> Result<(), TransportError> {
        match &mut self.runner {
            Some(runner) => runner.send(message),
            None => Err(TransportError("the runner was given back".into())),
        }
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        match &mut self.runner {
            Some(runner) => runner.poll_event(cx),
            None => Poll::Ready(Event::Closed("the runner was given back".into())),
        }
    }

    fn is_congested(&self) -> bool {
        self.runner.as_ref().is_some_and(|runner| runner.is_congested())
    }

    fn terminate(&mut self) {
        if let Some(runner) = &mut self.runner {
            runner.terminate();
        }
    }

    fn dispose(&mut self, result: Option<&ExecuteResult>) {
        if let Some(runner) = self.runner.take() {
            self.shared.give_back(runner, result);
        }
        // The turn goes last: whoever gets it finds the runner.
        self.turn = None;
    }
}
