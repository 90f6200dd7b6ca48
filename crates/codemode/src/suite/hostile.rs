//! What a program that means no good, or a caller that is in a hurry, gets.

use std::{sync::Arc, time::Duration};

use drydock_contract::Switch;

use super::{Setup, failure, programs, tools};
use crate::executor::{ExecuteOptions, ExecuteRequest};

pub(super) async fn messages_that_look_like_limits(setup: &Setup<'_>) {
    let result = setup.run(programs::LOOKS_LIKE_TIMEOUT).await;
    assert_eq!(failure(&result), ("runtime_error", "Execution timed out"));
    let result = setup.run(programs::LOOKS_LIKE_MEMORY).await;
    assert_eq!(failure(&result), ("runtime_error", "out of memory"));
}

pub(super) async fn names_and_codes_of_errors(setup: &Setup<'_>) {
    assert_eq!(failure(&setup.run(programs::CLAIMS_CODE).await), ("runtime_error", "mine"));
    assert_eq!(failure(&setup.run(programs::CLAIMS_PLAINLY).await), ("runtime_error", "forged"));
}

pub(super) async fn tool_in_flight(setup: &Setup<'_>) {
    let (providers, watch) = tools::providers(None);
    let options = ExecuteOptions { timeout_ms: Some(100.0), ..ExecuteOptions::default() };
    let request = ExecuteRequest { options, ..ExecuteRequest::new(programs::HANGING_CALL) };
    let result = setup.executor.execute(request.with(&providers)).await;
    assert_eq!(failure(&result), ("timeout", "Execution timed out"));
    let signals = watch.signals.lock();
    assert_eq!(signals.len(), 1, "the tool was called once");
    assert!(signals[0].is_tripped(), "and told that nobody waits any more");
}

pub(super) async fn caller_abort(setup: &Setup<'_>) {
    let signal = Arc::new(Switch::default());
    let (providers, watch) = tools::providers(Some(Arc::clone(&signal)));
    let began = setup.time.now();
    let request = ExecuteRequest { signal: Some(signal), ..ExecuteRequest::new(programs::HANGING_CALL) };
    let result = setup.executor.execute(request.with(&providers)).await;
    assert_eq!(failure(&result), ("timeout", "Execution timed out"));
    prompt(setup, began);
    assert!(watch.signals.lock()[0].is_tripped());
}

pub(super) async fn already_aborted(setup: &Setup<'_>) {
    let signal = Arc::new(Switch::default());
    signal.trip();
    let began = setup.time.now();
    let request = ExecuteRequest { signal: Some(signal), ..ExecuteRequest::new(programs::LOOP) };
    let result = setup.executor.execute(request).await;
    assert_eq!(failure(&result), ("timeout", "Execution timed out"));
    assert!(result.logs.is_empty() && result.duration_ms == 0.0, "{result:?}");
    prompt(setup, began);
}

fn prompt(setup: &Setup<'_>, began: Duration) {
    let took = setup.time.now().saturating_sub(began);
    assert!(took < Duration::from_millis(500), "it took {took:?}");
}
