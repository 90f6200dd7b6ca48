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
