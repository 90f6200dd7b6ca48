//! How endings become exit statuses, and errors become words. The one mapping.
//!
//! | status | meaning |
//! |---|---|
//! | the command's own | it exited |
//! | 124 | it timed out |
//! | 125 | another limit or a trap ended it, or it could not be started |
//! | 126 | policy refused it |
//! | 127 | there is no such command |
//! | 130 | Ctrl-C |

use std::{io::Write as _, process::ExitCode};

use drydock_embed::contract::{CallError, Denial, Outcome};

/// The status of a run that ended.
pub(crate) fn of_outcome(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Exited(0) => 0,
        // Shells keep eight bits; a failure must not look like success for lack of the others.
        Outcome::Exited(status) => ((*status & 0xff) as u8).max(1),
        Outcome::TimedOut => 124,
        Outcome::Cancelled => 130,
        Outcome::Trapped(_)
        | Outcome::OutOfFuel
        | Outcome::OutOfMemory
        | Outcome::OutputLimit
        | Outcome::InputLimit => 125,
    }
}

/// The status of a run that never began.
pub(crate) fn of_error(error: &CallError) -> u8 {
    match error {
        CallError::Denied(Denial::UnknownCommand(_)) => 127,
        CallError::Denied(Denial::TooLarge { .. } | Denial::Malformed(_) | Denial::BudgetExceeded(_)) => 125,
        CallError::Denied(_) => 126,
        CallError::Failed(_) => 125,
    }
}

/// Prints an error with its causes and answers the status for it.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    // A reader that went away is not worth a word.
    let gone = |it: &(dyn std::error::Error + 'static)| {
        it.downcast_ref::<std::io::Error>().is_some_and(|it| it.kind() == std::io::ErrorKind::BrokenPipe)
    };
    if !error.chain().any(gone) {
        warn(&format!("error: {error:#}"));
    }
    ExitCode::FAILURE
}

/// The same for a command that could not be run for a reason of ours.
pub(crate) fn could_not_run(error: &anyhow::Error) -> ExitCode {
    report(error);
    ExitCode::from(125)
}

/// Says something on stderr, if anybody can hear it: a closed or full stderr is no reason to stop.
/// Lines stay lines, and nothing else of a guest's text reaches the terminal as a command. All but the first
/// are indented, so that none of them can be taken for a line of ours.
pub(crate) fn warn(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", told(text));
}

fn told(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(crate::show::plain).collect();
    format!("drydock: {}", lines.join("\n  "))
}

#[test]
fn no_line_of_foreign_text_can_imitate_one_of_ours() {
    for foreign in
        ["x\ndrydock: denied: rm", "x\r\ndrydock: y", "\ndrydock: z", "x\u{2028}drydock: y", "x\rdrydock: y"]
    {
        let told = told(foreign);
        let ours = told
            .split(['\n', '\r', '\u{2028}', '\u{85}', '\u{b}', '\u{c}'])
            .filter(|it| it.starts_with("drydock:"));
        assert_eq!(ours.count(), 1, "{told:?}");
    }
}
