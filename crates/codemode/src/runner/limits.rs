//! What one execution may ask of its runner, beyond the limits that travel with it.

use std::time::Duration;

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
