//! What one execution may ask of its host, beyond the limits that travel with it.

use std::time::Duration;

use crate::rules::CallLimits;

/// Limits of a host session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostLimits {
    /// Tool calls that run at once; more wait for their turn.
    pub calls_running_max: usize,
    /// Tool calls that run or wait; more are refused.
    pub calls_pending_max: usize,
    /// Tool calls in all; more are refused.
    pub calls_max: usize,
    /// Bytes of the inputs of tool calls that run or wait; more are refused.
    pub pending_bytes_max: usize,
    /// Bytes of one tool's input.
    pub tool_input_bytes_max: usize,
    /// Bytes of one tool's result.
    pub tool_result_bytes_max: usize,
    /// Bytes of the program's result.
    pub result_bytes_max: usize,
    /// Bytes of a program.
    pub code_bytes_max: usize,
    /// How long after the program's own time the host stops waiting. Covers the runner's start.
    pub backstop: Duration,
    /// How long a cancelled runner has to say `done`.
    pub cancel_grace: Duration,
}

impl Default for HostLimits {
    fn default() -> Self {
        Self {
            calls_running_max: 64,
            calls_pending_max: 10_000,
            calls_max: 100_000,
            pending_bytes_max: 64 << 20,
            tool_input_bytes_max: 8 << 20,
            tool_result_bytes_max: 16 << 20,
            result_bytes_max: 32 << 20,
            code_bytes_max: 8 << 20,
            backstop: Duration::from_millis(100),
            cancel_grace: Duration::from_millis(25),
        }
    }
}

impl HostLimits {
    /// What of it the rules of tool calls look at. How deep an input is matters to a tool that looks into it, and that
    /// one says so.
    pub(crate) fn of_calls(&self) -> CallLimits {
        CallLimits {
            running_max: self.calls_running_max,
            pending_max: self.calls_pending_max,
            calls_max: self.calls_max,
            pending_bytes_max: self.pending_bytes_max,
            input_bytes_max: self.tool_input_bytes_max,
            input_depth_max: usize::MAX,
            answer_bytes_max: self.tool_result_bytes_max,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::RuntimeOptions;

    #[test]
    fn the_defaults_are_the_documents() {
        let options = RuntimeOptions::default();
        assert_eq!(
            [options.timeout_ms, options.memory_limit_bytes, options.max_log_lines, options.max_log_chars],
            [5_000.0, 67_108_864.0, 100.0, 64_000.0]
        );
        assert_eq!(HostLimits::default().cancel_grace, Duration::from_millis(25));
    }
}
