//! How a guest ended. A value and never an error: a loop that was stopped is an answer, not a bug.

use std::fmt;

/// The named endings of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The guest returned, or called `proc_exit`.
    Exited(i32),
    /// The guest did what wasm forbids.
    Trapped(String),
    /// The guest executed as many instructions as it may.
    OutOfFuel,
    /// The wall clock ran out, computing or waiting.
    TimedOut,
    /// Guest memory and what the host holds for the guest reached the limit.
    OutOfMemory,
    /// Stdout or stderr reached its limit. What was produced until then is kept.
    OutputLimit,
    /// Stdin went past its limit while the guest was reading it.
    InputLimit,
    /// The caller, or a revocation, ended it.
    Cancelled,
}

impl Outcome {
    /// The stable name.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Exited(_) => "exited",
            Self::Trapped(_) => "trapped",
            Self::OutOfFuel => "out_of_fuel",
            Self::TimedOut => "timed_out",
            Self::OutOfMemory => "out_of_memory",
            Self::OutputLimit => "output_limit",
            Self::InputLimit => "input_limit",
            Self::Cancelled => "cancelled",
        }
    }

    /// The exit status, if the guest got to choose one.
    pub const fn status(&self) -> Option<i32> {
        match self {
            Self::Exited(status) => Some(*status),
            _ => None,
        }
    }

    /// One of each, for docs and snapshots.
    pub fn samples() -> Vec<Outcome> {
        vec![
            Self::Exited(0),
            Self::Trapped("unreachable".into()),
            Self::OutOfFuel,
            Self::TimedOut,
            Self::OutOfMemory,
            Self::OutputLimit,
            Self::InputLimit,
            Self::Cancelled,
        ]
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(status) => write!(f, "exited({status})"),
            Self::Trapped(reason) => write!(f, "trapped: {reason}"),
            other => f.write_str(other.code()),
        }
    }
}
