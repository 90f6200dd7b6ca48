//! What a well-meant program can rely on.

use serde_json::json;

use super::{Setup, failure, programs, tools, value};
use crate::executor::{ExecuteOptions, ExecuteRequest};

pub(super) async fn simple_expression(setup: &Setup<'_>) {
    let result = setup.run(programs::SIMPLE).await;
    assert_eq!(value(&result), json!(2));
    assert!(result.logs.is_empty() && result.duration_ms >= 0.0, "{result:?}");
}

pub(super) async fn console(setup: &Setup<'_>) {
    let result = setup.run(programs::CONSOLE).await;
    assert_eq!(value(&result), json!(5));
    assert_eq!(result.logs, [r#"hello {"a":1} undefined"#, "careful"]);
}

pub(super) async fn no_ambient_globals(setup: &Setup<'_>) {
    assert_eq!(value(&setup.run(programs::AMBIENT).await), serde_json::Value::from(vec!["undefined"; 6]));
}

pub(super) async fn provider_call(setup: &Setup<'_>) {
    let (providers, _) = tools::providers(None);
    let result = setup.executor.execute(ExecuteRequest::new(programs::CALL).with(&providers)).await;
    assert_eq!(value(&result)["sum"].as_f64(), Some(5.0), "{result:?}");
}

pub(super) async fn validation_error(setup: &Setup<'_>) {
    let (providers, _) = tools::providers(None);
    let result = setup.executor.execute(ExecuteRequest::new(programs::INVALID_CALL).with(&providers)).await;
    assert_eq!(failure(&result), ("validation_error", "Invalid input for tool add: data/x must be number"));
}

pub(super) async fn tool_error(setup: &Setup<'_>) {
    let (providers, _) = tools::providers(None);
    let result = setup.executor.execute(ExecuteRequest::new(programs::FAILING_CALL).with(&providers)).await;
    assert_eq!(failure(&result), ("tool_error", "tool exploded"));
}

pub(super) async fn timeout_loop(setup: &Setup<'_>) {
    let options = ExecuteOptions { timeout_ms: Some(100.0), ..ExecuteOptions::default() };
    let result = setup.run_within(programs::LOOP, options).await;
    assert_eq!(failure(&result), ("timeout", "Execution timed out"));
}

pub(super) async fn log_truncation(setup: &Setup<'_>) {
    let lines = ExecuteOptions { max_log_lines: Some(3.0), ..ExecuteOptions::default() };
    let result = setup.run_within(programs::FLOOD, lines).await;
    assert_eq!(result.logs, ["line 0", "line 1", "line 2"]);
    let chars = ExecuteOptions { max_log_chars: Some(8.0), ..ExecuteOptions::default() };
    let result = setup.run_within(programs::FLOOD, chars).await;
    assert_eq!(result.logs, ["line 0", "li"]);
    assert_eq!(value(&result), json!("done"));
}

pub(super) async fn overrides(setup: &Setup<'_>) {
    let began = setup.time.now();
    let short = ExecuteOptions { timeout_ms: Some(50.0), ..ExecuteOptions::default() };
    let result = setup.run_within(programs::LOOP, short).await;
    assert_eq!(failure(&result).0, "timeout");
    let took = setup.time.now().saturating_sub(began);
    assert!(took.as_millis() < 2_000, "the executor's own five seconds were not waited for: {took:?}");
    let none = ExecuteOptions { timeout_ms: Some(0.0), ..ExecuteOptions::default() };
    assert_eq!(failure(&setup.run_within(programs::SIMPLE, none).await).0, "timeout");
}

pub(super) async fn serialization_error(setup: &Setup<'_>) {
    for code in [programs::UNSERIALIZABLE, programs::BIG_INTEGER] {
        let result = setup.run(code).await;
        assert_eq!(failure(&result), ("serialization_error", "Guest code returned a non-serializable value"));
    }
}

pub(super) async fn no_leak(setup: &Setup<'_>) {
    assert_eq!(value(&setup.run(programs::LEAVE).await), json!("left"));
    assert_eq!(value(&setup.run(programs::LOOK).await), json!(["undefined", "undefined"]));
}
