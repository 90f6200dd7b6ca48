//! How an execution ended, for whoever asked for it.

use drydock_contract::FailureCode;

use crate::protocol::{Done, Failure, Json, RunnerMessage, runner_line};

/// The end of one execution.
#[derive(Debug, Clone, PartialEq)]
pub struct ExecuteResult {
    /// The result, nothing for `undefined`; or why there is none.
    pub outcome: Result<Option<Json>, Failure>,
    /// What the program logged.
    pub logs: Vec<String>,
    /// Whether it logged more than that.
    pub logs_cut: bool,
    /// How long it took.
    pub duration_ms: f64,
}

/// What every timeout says, whoever notices it.
pub(crate) const TIMED_OUT: &str = "Execution timed out";

/// The failure of an execution or a call that took too long or was cancelled.
pub(crate) fn timed_out() -> Failure {
    Failure::new(FailureCode::Timeout, TIMED_OUT)
}

impl ExecuteResult {
    /// An execution that failed and left no logs.
    pub fn failed(failure: Failure, duration_ms: f64) -> Self {
        Self { outcome: Err(failure), logs: Vec::new(), logs_cut: false, duration_ms }
    }

    /// The code of the failure, if it is one.
    pub fn code(&self) -> Option<FailureCode> {
        self.outcome.as_ref().err().map(|failure| failure.code)
    }

    /// The protocol's JSON of it: `{"ok":…,"durationMs":…,"logs":…,"result" or "error":…}`, and at its end
    /// `"logsCut":true` if the log is not all of it.
    pub fn to_json(&self) -> String {
        let done = Done {
            id: "".into(),
            outcome: self.outcome.clone(),
            logs: self.logs.clone(),
            duration_ms: self.duration_ms,
        };
        let line = String::from_utf8(runner_line(&RunnerMessage::Done(done))).unwrap_or_default();
        // The same members as in `done`, less the two that are about the session.
        let mut line = line.trim_end().replacen(r#""type":"done","id":"","#, "", 1);
        if self.logs_cut && line.pop() == Some('}') {
            line.push_str(r#","logsCut":true}"#);
        }
        line
    }
}
