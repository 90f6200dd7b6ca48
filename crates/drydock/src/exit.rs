//! Errors of our own as words, and the status of a process that ends with one. How a run's ending becomes
//! a status is said in one place, `contract::exit`.

use std::{io::Write as _, process::ExitCode};

use drydock_embed::contract::{exit::LIMITED, text::message};
use serde_json::json;

/// Prints an error with its causes and answers the status for it.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if !nobody_reads(error) {
        warn(&format!("error: {error:#}"));
    }
    ExitCode::FAILURE
}

/// The same for an error with a code, for scripts as well as for people.
pub(crate) fn report_code(code: &str, error: &anyhow::Error, json: bool) -> anyhow::Result<ExitCode> {
    match json {
        _ if nobody_reads(error) => {}
        true => {
            let told = json!({ "error": { "code": code, "message": format!("{error:#}") } });
            crate::show::json(&told)?;
        }
        false => warn(&format!("{code}: {error:#}")),
    }
    Ok(ExitCode::FAILURE)
}

/// A reader that went away, as `head` does, is not worth a word.
fn nobody_reads(error: &anyhow::Error) -> bool {
    error.chain().any(|it| {
        it.downcast_ref::<std::io::Error>().is_some_and(|it| it.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

/// The same for a command that could not be run for a reason of ours.
pub(crate) fn could_not_run(error: &anyhow::Error) -> ExitCode {
    report(error);
    ExitCode::from(LIMITED)
}

/// The same for something whose end was to be told as JSON, though it never began.
pub(crate) fn never_began(error: &anyhow::Error, json: bool) -> ExitCode {
    if json && report_code("not_begun", error, json).is_ok() {
        return ExitCode::from(LIMITED);
    }
    could_not_run(error)
}

/// Says something on stderr, if anybody can hear it: a closed or full stderr is no reason to stop.
/// Lines stay lines, and nothing else of a guest's text reaches the terminal as a command. All but the first
/// are indented, so that none of them can be taken for a line of ours.
pub(crate) fn warn(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", told(text));
}

fn told(text: &str) -> String {
    format!("drydock: {}", message(text))
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
