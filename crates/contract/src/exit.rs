//! How endings become exit statuses. The one mapping: `run`, `sh`, `js`, their tools and a stage of a
//! line all ask here.
//!
//! | status | meaning |
//! |---|---|
//! | the command's own | it exited |
//! | 124 | it timed out |
//! | 125 | another limit or a trap ended it, or it could not be started |
//! | 126 | policy refused it, or it is no program |
//! | 127 | there is no such command |
//! | 130 | it was cancelled: Ctrl-C |
//! | 136, 139 | it divided by zero, or left its memory or its stack: what a shell shows for the signals of these |

use crate::{CallError, Denial, FailureCode, Fault, Outcome};

/// Its time was up.
pub const TIMED_OUT: u8 = 124;
/// A limit other than time, or a trap.
pub const LIMITED: u8 = 125;
/// Refused.
pub const DENIED: u8 = 126;
/// No such command.
pub const UNKNOWN: u8 = 127;
/// Ended from outside.
pub const CANCELLED: u8 = 130;
/// A wrong division, as SIGFPE shows in a shell.
pub const ARITHMETIC: u8 = 136;
/// Memory or stack that is not there, as SIGSEGV shows in a shell.
pub const MEMORY: u8 = 139;

/// Traps that a processor has a signal for, by the engine's words. The others end with [`LIMITED`].
const SIGNALS: [(&str, u8); 4] = [
    ("out of bounds memory access", MEMORY),
    ("call stack exhausted", MEMORY),
    ("integer divide by zero", ARITHMETIC),
    ("integer overflow", ARITHMETIC),
];

fn trapped(reason: &str) -> u8 {
    SIGNALS.iter().find(|it| reason.contains(it.0)).map_or(LIMITED, |it| it.1)
}

impl Outcome {
    /// The status a shell's user expects.
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Exited(0) => 0,
            // Shells keep eight bits; a failure must not look like success for lack of the others.
            Self::Exited(status) => match (*status & 0xff) as u8 {
                0 => 1,
                low => low,
            },
            Self::TimedOut => TIMED_OUT,
            Self::Cancelled => CANCELLED,
            Self::Trapped(reason) => trapped(reason),
            Self::OutOfFuel | Self::OutOfMemory | Self::OutputLimit | Self::InputLimit => LIMITED,
        }
    }
}

impl CallError {
    /// The status of a run that never began.
    pub const fn exit_status(&self) -> u8 {
        match self {
            Self::Denied(Denial::UnknownCommand(_)) => UNKNOWN,
            Self::Denied(Denial::TooLarge { .. } | Denial::Malformed(_) | Denial::BudgetExceeded { .. }) => {
                LIMITED
            }
            Self::Denied(Denial::Cancelled) => CANCELLED,
            Self::Denied(_) => DENIED,
            Self::Failed(Fault::Overdue) => TIMED_OUT,
            Self::Failed(_) => LIMITED,
        }
    }
}

impl FailureCode {
    /// The status of a program that failed this way.
    pub const fn exit_status(self) -> u8 {
        match self {
            Self::Timeout => TIMED_OUT,
            Self::MemoryLimit => LIMITED,
            _ => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_has_one_exit_status() {
        let mut rows: Vec<String> =
            Outcome::samples().iter().map(|it| format!("{:<20} {}", it.code(), it.exit_status())).collect();
        for denial in Denial::samples() {
            let error = CallError::from(denial);
            rows.push(format!("{:<20} {}", error.code(), error.exit_status()));
        }
        for fault in [Fault::Overdue, Fault::Internal("x".into())] {
            let fault = CallError::from(fault);
            rows.push(format!("{:<20} {}", fault.code(), fault.exit_status()));
        }
        for code in FailureCode::ALL {
            rows.push(format!("{:<20} {}", code.as_str(), code.exit_status()));
        }
        rows.dedup();
        insta::assert_snapshot!(rows.join("\n"), @r"
        exited               0
        trapped              125
        out_of_fuel          125
        timed_out            124
        out_of_memory        125
        output_limit         125
        input_limit          125
        cancelled            130
        revoked              126
        cancelled            130
        rate_limited         126
        denied               126
        max_depth            126
        too_large            125
        malformed            125
        unknown_operation    126
        command_not_granted  126
        unknown_command      127
        not_executable       126
        tool_not_granted     126
        host_not_granted     126
        too_many_processes   126
        budget_exceeded      125
        review_needed        126
        value_too_large      126
        timed_out            124
        internal_error       125
        timeout              124
        memory_limit         125
        validation_error     1
        tool_error           1
        serialization_error  1
        runtime_error        1
        internal_error       1
        ");
    }

    #[test]
    fn a_trap_that_a_processor_has_a_signal_for_ends_as_the_signal_does() {
        for (reason, want) in [
            ("out of bounds memory access", 139),
            ("call stack exhausted", 139),
            ("integer divide by zero", 136),
            ("integer overflow", 136),
            ("wasm `unreachable` instruction executed", 125),
        ] {
            assert_eq!(Outcome::Trapped(reason.into()).exit_status(), want, "{reason}");
        }
    }

    #[test]
    fn a_failure_keeps_eight_bits_and_is_never_success() {
        let cases = [(0, 0), (1, 1), (255, 255), (256, 1), (257, 1), (-1, 255), (i32::MIN, 1)];
        for (status, want) in cases {
            assert_eq!(Outcome::Exited(status).exit_status(), want, "{status}");
        }
    }
}
