//! The suite every executor must pass: what a program can rely on, wherever it runs.
//!
//! Sixteen cases for any [`Executor`], two more for a [`Pool`]. Whoever builds a set-up runs
//! them all: `for (title, case) in CASES { case(&setup).await }`. A case that fails panics with its reason.

#![expect(clippy::expect_used, reason = "a case that fails panics with its reason")]

mod cases;
mod hostile;
mod pooled;
pub mod programs;
mod tools;

use drydock_contract::BoxFuture;
use serde_json::Value;

pub use pooled::{keeps_nothing_between_runs, lives_from_prewarm_to_close};
pub use tools::Watch;

use crate::{
    ExecuteResult, Time,
    executor::{ExecuteOptions, ExecuteRequest, Executor},
};

/// What is tested, and the clock it lives by.
pub struct Setup<'a> {
    /// The executor.
    pub executor: &'a dyn Executor,
    /// Its clock.
    pub time: &'a dyn Time,
}

/// One case.
pub type Case = for<'a> fn(&'a Setup<'a>) -> BoxFuture<'a, ()>;

/// The sixteen.
pub const CASES: &[(&str, Case)] = &[
    ("executes a simple expression", |it| Box::pin(cases::simple_expression(it))),
    ("captures the console", |it| Box::pin(cases::console(it))),
    ("exposes no globals of Node", |it| Box::pin(cases::no_ambient_globals(it))),
    ("calls a provider", |it| Box::pin(cases::provider_call(it))),
    ("surfaces validation_error", |it| Box::pin(cases::validation_error(it))),
    ("surfaces tool_error", |it| Box::pin(cases::tool_error(it))),
    ("times out a loop", |it| Box::pin(cases::timeout_loop(it))),
    ("does not upgrade guest messages into timeout or memory_limit", |it| {
        Box::pin(hostile::messages_that_look_like_limits(it))
    }),
    ("does not trust guest error names", |it| Box::pin(hostile::names_and_codes_of_errors(it))),
    ("truncates logs", |it| Box::pin(cases::log_truncation(it))),
    ("lets a call override the limits", |it| Box::pin(cases::overrides(it))),
    ("aborts an in-flight tool on timeout", |it| Box::pin(hostile::tool_in_flight(it))),
    ("returns promptly on caller abort", |it| Box::pin(hostile::caller_abort(it))),
    ("starts nothing if already aborted", |it| Box::pin(hostile::already_aborted(it))),
    ("surfaces serialization_error", |it| Box::pin(cases::serialization_error(it))),
    ("leaks no globals between executions", |it| Box::pin(cases::no_leak(it))),
];

impl Setup<'_> {
    pub(super) async fn run(&self, code: &str) -> ExecuteResult {
        self.executor.execute(ExecuteRequest::new(code)).await
    }

    pub(super) async fn run_within(&self, code: &str, options: ExecuteOptions) -> ExecuteResult {
        self.executor.execute(ExecuteRequest { options, ..ExecuteRequest::new(code) }).await
    }
}

/// The value of a result, or a panic that shows what it was instead.
fn value(result: &ExecuteResult) -> Value {
    match &result.outcome {
        Ok(Some(json)) => json.to_value().expect("the suite's results are flat"),
        other => unreachable!("a value was expected: {other:?}"),
    }
}

/// The code and message of a failure.
fn failure(result: &ExecuteResult) -> (&'static str, &str) {
    match &result.outcome {
        Err(failure) => (failure.code.as_str(), &failure.message),
        other => unreachable!("a failure was expected: {other:?}"),
    }
}
