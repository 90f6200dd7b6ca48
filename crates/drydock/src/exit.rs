//! Errors of our own as words, and the status of a process that ends with one. How a run's ending becomes
//! a status is said in one place, `contract::exit`.

use std::{io::Write as _, process::ExitCode};

use drydock_embed::contract::exit::LIMITED;

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
    ExitCode::from(LIMITED)
}

/// Says something on stderr, if anybody can hear it: a closed or full stderr is no reason to stop.
/// Lines stay lines, and nothing else of a guest's text reaches the terminal as a command.
pub(crate) fn warn(text: &str) {
    let lines: Vec<String> = text.lines().map(crate::show::plain).collect();
    let _ = writeln!(std::io::stderr(), "drydock: {}", lines.join("\n"));
}
