//! Starting a program is a call like any other: the gate lets it through, records its beginning and its end, and ends
//! it when its principal is revoked.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::{Arc, LazyLock},
    task::Poll,
    time::Duration,
};

use bytes::Bytes;
use drydock_caps::code::RUN;
use drydock_codemode::{
    ExecuteResult, Gated,
    executor::{ExecuteOptions, ExecuteRequest},
    protocol::{Failure, RuntimeOptions},
    provider::Providers,
};
use drydock_contract::{
    BoxFuture, Budget, Call, CallError, Denial, Dispatch, Entropy, FailureCode, Fault, Limits, Outcome,
    Streams, Switch, Tenant,
};
use drydock_gate::{Cut, DefaultLimits, Gate, ProgramEnd, ProgramStart, Session, StartedProgram};

use super::{CodeInput, CodeResult, JsGuest, Language, Place, guest::OneProgram};
use crate::DockSession;

/// What a grant names.
pub(super) static JAVASCRIPT: LazyLock<Arc<str>> = LazyLock::new(|| "javascript".into());
/// What a grant names.
pub(super) static PYTHON: LazyLock<Arc<str>> = LazyLock::new(|| "python".into());

/// The path of a program that has none: in the working directory.
static UNNAMED: LazyLock<Arc<str>> = LazyLock::new(|| "./-".into());

/// Asks the gate to have the program run.
pub(super) async fn through_the_gate<T: Ended, F: Future<Output = T> + Send + 'static>(
    session: &DockSession,
    language: &Arc<str>,
    text: Arc<str>,
    run: impl FnOnce(StartedProgram) -> F + Send + 'static,
) -> Result<T, CallError> {
    tracing::trace!(target: "drydock::hop", "embed: a program and what runs it become a call");
    let bytes = text.len() as u64;
    let run = Box::new(move |started: StartedProgram| -> BoxFuture<'static, ProgramEnd> {
        Box::pin(async move {
            let ([principal, session], mark) = (started.session.switches(), started.session.mark());
            let (tape, call) = (started.session.spec().tape.clone(), started.session.lineage().call);
            let result = run(started).await;
            if let (Some(tape), Outcome::TimedOut) = (&tape, result.outcome()) {
                tape.cut(call, Cut { timed_out: true, fuel: 0 });
            }
            // Code mode's own word for whatever ends a program from outside is a timeout; the record knows better.
            let outcome = match result.outcome() {
                Outcome::TimedOut if principal.tripped_since(mark) || session.is_tripped() => {
                    Outcome::Cancelled
                }
                outcome => outcome,
            };
            let digested = result.digested();
            ProgramEnd { outcome, digested, result: Box::new(result) }
        })
    });
    let start = ProgramStart { language: Arc::clone(language), text, run };
    let call = Call::typed(RUN, start, bytes, Streams::default());
    let mut reply = session.gate.dispatch(&session.session, call).await?;
    let broken = || Fault::Internal("the gate's answer is no program's".into());
    let ended = reply.value::<T>().ok_or_else(broken)?;
    tracing::trace!(target: "drydock::hop", "embed: {} and what the program left", ended.outcome());
    Ok(ended)
}

/// What is left of a program, of which the record says how it ended.
pub(super) trait Ended: Send + 'static {
    fn outcome(&self) -> Outcome;

    /// Its result in JSON, which the record has a digest of; no bytes for `undefined`, and nothing for a failure.
    fn digested(&self) -> Option<Bytes>;
}

impl Ended for CodeResult {
    fn outcome(&self) -> Outcome {
        outcome_of(&self.execute)
    }

    fn digested(&self) -> Option<Bytes> {
        digested_of(&self.execute)
    }
}

/// What the record's digest of a result is made of.
pub(super) fn digested_of(result: &ExecuteResult) -> Option<Bytes> {
    let result = result.outcome.as_ref().ok()?;
    Some(result.as_ref().map_or_else(Bytes::new, |it| it.bytes().clone()))
}

/// How a program's end is recorded where nothing more is known than its result.
pub(super) fn outcome_of(result: &ExecuteResult) -> Outcome {
    match result.code() {
        None => Outcome::Exited(0),
        Some(FailureCode::Timeout) => Outcome::TimedOut,
        Some(FailureCode::MemoryLimit) => Outcome::OutOfMemory,
        Some(_) => Outcome::Exited(1),
    }
}

/// A program that was not run, in the protocol's terms.
pub(super) fn failure_of(error: &CallError) -> Failure {
    let code = match error {
        CallError::Denied(Denial::Revoked | Denial::Cancelled) | CallError::Failed(Fault::Overdue) => {
            FailureCode::Timeout
        }
        CallError::Denied(_) => FailureCode::ToolError,
        CallError::Failed(_) => FailureCode::InternalError,
    };
    Failure::new(code, format!("the program could not be run: {error}"))
}

/// What the caller asks for, as far as the session goes: where its limits were chosen, they bound the caller's.
pub(super) fn bounded(asked: ExecuteOptions, session: &Session) -> ExecuteOptions {
    let spec = session.spec();
    let (limits, defaults) = (spec.limits, spec.default_limits);
    within(asked, limits, defaults)
}

fn within(asked: ExecuteOptions, limits: Limits, defaults: DefaultLimits) -> ExecuteOptions {
    let usual = RuntimeOptions::default();
    let bound = |asked: Option<f64>, usual: f64, most: f64, is_default: bool| match is_default {
        true => asked,
        false => Some(asked.filter(|it| it.is_finite()).unwrap_or(usual).min(most)),
    };
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    ExecuteOptions {
        timeout_ms: bound(asked.timeout_ms, usual.timeout_ms, millis(limits.wall_max), defaults.wall),
        memory_limit_bytes: bound(
            asked.memory_limit_bytes,
            usual.memory_limit_bytes,
            limits.memory_bytes_max as f64,
            defaults.memory,
        ),
        ..asked
    }
}

/// The time of a program that is replayed: real time does not end it, unless it did when it was recorded.
pub(super) fn taped(options: ExecuteOptions, session: &Session) -> ExecuteOptions {
    let Some(tape) = &session.spec().tape else { return options };
    if tape.was_cut(session.lineage().call).is_some() {
        return options;
    }
    let usual = RuntimeOptions::default().timeout_ms;
    let asked = Duration::try_from_secs_f64(options.timeout_ms.unwrap_or(usual) / 1e3);
    let time = asked.map_or(Duration::MAX, |it| tape.time(it));
    ExecuteOptions { timeout_ms: Some(time.as_secs_f64() * 1e3), ..options }
}

/// What the run of a program has of the call that started it.
#[derive(Clone, Default)]
pub(super) struct Bearings {
    pub(super) entropy: Entropy,
    pub(super) budget: Option<Arc<Budget>>,
    pub(super) tenant: Tenant,
    pub(super) depth: u32,
    /// The gate as the program asks it for hosts out there; none for a program that nobody started there.
    pub(super) door: Option<Arc<dyn Dispatch>>,
}

impl Bearings {
    /// Time that a program computes is charged to the session's fuel where somebody chose how much that is; otherwise
    /// its time is its limit.
    pub(super) fn of(gate: &Arc<Gate>, started: &StartedProgram) -> Self {
        let spec = started.session.spec();
        Self {
            entropy: started.entropy,
            budget: spec.budget.clone().filter(|_| {
                !spec.default_limits.fuel && spec.tape.as_ref().is_none_or(|it| it.charges_time())
            }),
            tenant: spec.tenant.clone(),
            depth: started.session.depth().saturating_sub(1),
            door: Some(gate.door(&started.session)),
        }
    }
}

/// What all JavaScript programs of one session share.
pub(super) struct Programs {
    pub(super) gate: Arc<Gate>,
    pub(super) providers: Arc<Providers>,
    pub(super) guest: Arc<JsGuest>,
    pub(super) place: Place,
}

/// A JavaScript program that was let through.
pub(super) struct Job {
    pub(super) programs: Arc<Programs>,
    pub(super) text: Arc<str>,
    pub(super) input: CodeInput,
}

impl Job {
    pub(super) async fn run(self, started: StartedProgram) -> CodeResult {
        let guest = self.programs.guest.for_program(Bearings::of(&self.programs.gate, &started));
        let end = Arc::new(Switch::default());
        let [principal, session] = started.session.switches();
        let from = [Some(principal), Some(session), self.input.signal.clone()];
        let work = pin!(self.execute(&guest, started.session, &end));
        let execute = forwarding(work, &from, &end).await;
        let remarks = guest.remarks();
        CodeResult { execute, position: remarks.position, hint: remarks.hint, refused: None }
    }

    async fn execute(&self, guest: &OneProgram<'_>, session: Session, end: &Arc<Switch>) -> ExecuteResult {
        let code = match self.input.language {
            Language::JavaScript => Arc::clone(&self.text),
            Language::TypeScript => {
                // Apart, because most programs are not: what stripping takes is no part of them.
                let stripping =
                    Box::pin(guest.stripper().strip(self.text.to_string(), Arc::clone(end))).await;
                match stripping {
                    Ok(text) => text.into(),
                    Err(error) => {
                        guest.refuse(&error);
                        return ExecuteResult::failed((&error).into(), 0.0);
                    }
                }
            }
        };
        let options = taped(bounded(self.input.options, &session), &session);
        let Programs { gate, providers, place, .. } = &*self.programs;
        let gated = Gated::new(Arc::clone(gate), session);
        let request = ExecuteRequest {
            options,
            args: self.input.args.clone(),
            signal: Some(Arc::clone(end)),
            console: self.input.console.clone(),
            file: Some(Arc::clone(self.input.file.as_ref().unwrap_or(&UNNAMED))),
            ..ExecuteRequest::new(code).with(providers).through(Arc::new(gated))
        };
        match place {
            Place::Here(here) => here.execute_on(guest, request).await,
            Place::Elsewhere(executor) => executor.execute(request).await,
        }
    }
}

/// Does the work, and trips `to` once any of the others is tripped. Work that does not wait costs nothing more.
pub(super) async fn forwarding<T>(
    mut work: Pin<&mut impl Future<Output = T>>,
    from: &[Option<Arc<Switch>>; 3],
    to: &Switch,
) -> T {
    let mut listeners = Vec::new();
    let is_over = || from.iter().flatten().any(|it| it.is_tripped());
    let mut is_told = is_over();
    if is_told {
        to.trip();
    }
    poll_fn(|cx| {
        loop {
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(done);
            }
            if is_told {
                return Poll::Pending;
            }
            if listeners.is_empty() {
                listeners.extend(from.iter().flatten().map(|it| it.listen()));
            }
            for (listener, switch) in listeners.iter_mut().zip(from.iter().flatten()) {
                while Pin::new(&mut *listener).poll(cx).is_ready() {
                    *listener = switch.listen();
                }
            }
            if !is_over() {
                return Poll::Pending;
            }
            is_told = true;
            to.trip();
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_somebody_chose_for_the_session_bound_those_of_the_caller() {
        let limits =
            Limits { wall_max: Duration::from_secs(2), memory_bytes_max: 32 << 20, ..Limits::default() };
        let asked = ExecuteOptions { timeout_ms: Some(9_000.0), ..ExecuteOptions::default() };
        let chosen = within(asked, limits, DefaultLimits::default());
        assert_eq!(
            (chosen.timeout_ms, chosen.memory_limit_bytes),
            (Some(2_000.0), Some(f64::from(32 << 20)))
        );
        assert_eq!(within(asked, limits, DefaultLimits::ALL), asked);
        let less = ExecuteOptions { timeout_ms: Some(1.0), ..asked };
        assert_eq!(within(less, limits, DefaultLimits::default()).timeout_ms, Some(1.0));
    }
}
