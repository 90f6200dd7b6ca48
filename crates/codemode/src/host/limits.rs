//! What one execution may ask of its host, beyond the limits that travel with it.

use std::time::Duration;

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
