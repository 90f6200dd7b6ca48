//! The limits of one execution, as messages carry them: finite numbers, whatever they are.

use std::time::Duration;

/// What `execute` says about limits. The numbers are the sender's; the methods make sense of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RuntimeOptions {
    /// Milliseconds until the execution ends as `timeout`.
    pub timeout_ms: f64,
    /// Bytes of guest memory.
    pub memory_limit_bytes: f64,
    /// Lines of log that are kept.
    pub max_log_lines: f64,
    /// Characters of log that are kept, in UTF-16 units.
    pub max_log_chars: f64,
}

impl Default for RuntimeOptions {
    fn default() -> Self {
        Self {
            timeout_ms: 5_000.0,
            memory_limit_bytes: 67_108_864.0,
            max_log_lines: 100.0,
            max_log_chars: 64_000.0,
        }
    }
}

/// No execution is waited for any longer: a number from elsewhere must not overflow a clock.
const TIMEOUT_MAX: Duration = Duration::from_secs(24 * 60 * 60);

impl RuntimeOptions {
    /// The time an execution has: nothing for a negative number, a day for an absurd one.
    pub fn timeout(&self) -> Duration {
        let ms = self.timeout_ms.clamp(0.0, TIMEOUT_MAX.as_millis() as f64);
        Duration::try_from_secs_f64(ms / 1000.0).unwrap_or(TIMEOUT_MAX)
    }

    /// The memory an execution has.
    pub fn memory_bytes_max(&self) -> u64 {
        self.memory_limit_bytes.max(0.0) as u64
    }

    /// The lines of log it may leave.
    pub fn log_lines_max(&self) -> usize {
        self.max_log_lines.max(0.0) as usize
    }

    /// The UTF-16 units of log it may leave.
    pub fn log_units_max(&self) -> usize {
        self.max_log_chars.max(0.0) as usize
    }
}
