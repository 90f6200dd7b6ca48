//! What one execution may ask of its runner, beyond the limits that travel with it.

use std::time::Duration;

use crate::rules::CallLimits;

/// Limits of a runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunnerLimits {
    /// Bytes of a program.
    pub code_bytes_max: usize,
    /// Tool calls that wait for an answer.
    pub calls_pending_max: usize,
    /// Bytes of the inputs of tool calls that wait for an answer.
    pub pending_bytes_max: usize,
    /// Bytes of one tool's input.
    pub tool_input_bytes_max: usize,
    /// Bytes of the program's result.
    pub result_bytes_max: usize,
    /// Levels of nesting in a result or an input.
    pub depth_max: usize,
    /// How long a guest may take to end after its time is up or it was cancelled.
    pub end_within: Duration,
}

impl Default for RunnerLimits {
    fn default() -> Self {
        Self {
            code_bytes_max: 8 << 20,
            calls_pending_max: 10_000,
            pending_bytes_max: 64 << 20,
            tool_input_bytes_max: 8 << 20,
            result_bytes_max: 32 << 20,
            depth_max: 1_000,
            end_within: Duration::from_millis(50),
        }
    }
}

impl RunnerLimits {
    /// What of it the rules of tool calls look at. How many calls run, how many there may be in all and what an answer
    /// weighs is the host's business.
    pub(crate) fn of_calls(&self) -> CallLimits {
        CallLimits {
            running_max: usize::MAX,
            pending_max: self.calls_pending_max,
            calls_max: usize::MAX,
            pending_bytes_max: self.pending_bytes_max,
            input_bytes_max: self.tool_input_bytes_max,
            input_depth_max: self.depth_max,
            answer_bytes_max: usize::MAX,
        }
    }
}
