//! A program as a person would want to see it: its console as it speaks, its result, or what went wrong and where.

use std::io::Write as _;

use drydock_embed::{
    CodeResult, Position,
    codemode::{executor::ExecuteOptions, protocol::RuntimeOptions},
    contract::{FailureCode, Limits, Outcome},
};

use crate::{show, taped::Taped};

/// The program whose end is shown.
pub(super) struct Shown<'a> {
    pub(super) text: &'a str,
    pub(super) file: Option<&'a str>,
    pub(super) limits: &'a Limits,
}

/// A console line, on stderr at once.
pub(super) fn console_line(line: &str) {
    let lines: Vec<String> = line.split('\n').map(show::plain).collect();
    let _ = writeln!(std::io::stderr(), "{}", lines.join("\n"));
}

/// Says that there was more on the console than was kept, under these limits.
pub(super) fn console_cut(options: &ExecuteOptions) {
    let limits = options.over(RuntimeOptions::default());
    crate::exit::warn(&format!(
        "output_limit: the console was cut off after {} lines or {} characters; --output-max allows more",
        limits.log_lines_max(),
        limits.log_units_max()
    ));
}

/// The result goes to stdout, a failure to stderr with the line it points at.
pub(super) fn show(result: &CodeResult, of: &Shown<'_>, was_interrupted: bool) -> anyhow::Result<()> {
    let Shown { text, file, limits } = of;
    match &result.execute.outcome {
        Ok(None) => {}
        Ok(Some(value)) => show::line(value.as_str())?,
        // For the protocol that is a timeout; whoever pressed Ctrl-C knows better.
        Err(failure) if was_interrupted && failure.code == FailureCode::Timeout => {
            crate::exit::warn("interrupted");
        }
        Err(_) if result.refused.is_some() => {
            let refused = result.refused.as_ref().map(|it| format!("{}: {it}", it.code()));
            crate::exit::warn(&refused.unwrap_or_default());
        }
        Err(failure) => {
            let mut told = format!("{}: {}", failure.code, failure.message);
            if let Some(hint) = &result.hint {
                told = format!("{told}; {}", show::plain(hint));
            } else if let Some(more) = what_allows_more(failure.code, limits) {
                told = format!("{told}; {more}");
            }
            if let Some(place) = result.position.and_then(|at| place(at, text, file.unwrap_or("-e"))) {
                told.push('\n');
                told.push_str(&place);
            }
            crate::exit::warn(&told);
        }
    }
    Ok(())
}

/// The limit that ended it, and the flag that raises it.
fn what_allows_more(code: FailureCode, limits: &Limits) -> Option<String> {
    let remark = match code {
        FailureCode::Timeout => Outcome::TimedOut.remark(limits, None),
        FailureCode::MemoryLimit => Outcome::OutOfMemory.remark(limits, None),
        _ => None,
    }?;
    // The failure has a code of its own already.
    Some(remark.split_once(": ").map_or_else(|| remark.clone(), |(_, words)| words.to_owned()))
}

/// `file:line:column`, the source line, and a mark below the column.
fn place(at: Position, text: &str, file: &str) -> Option<String> {
    let line = text.lines().nth(at.line.checked_sub(1)? as usize)?;
    let column = (at.column.max(1) as usize - 1).min(line.chars().count());
    // A long line is shown around the column.
    let from = column.saturating_sub(60);
    let shown: String =
        line.chars().skip(from).take(120).map(|it| if it == '\t' { ' ' } else { it }).collect();
    let number = at.line.to_string();
    let indent = " ".repeat(number.len());
    Some(format!(
        "{indent}--> {file}:{}:{}\n{number} | {shown}\n{indent} | {}^",
        at.line,
        at.column,
        " ".repeat(column - from)
    ))
}

/// The result without what depends on the machine.
pub(in crate::cli) fn but_for_times(told: &str) -> Vec<u8> {
    let mut value: serde_json::Value = serde_json::from_str(told).unwrap_or_default();
    if let Some(object) = value.as_object_mut() {
        object.remove("durationMs");
    }
    value.to_string().into_bytes()
}

/// The result of a program that was recorded: which tape it is on comes last.
pub(in crate::cli) fn on(told: String, taped: &Taped) -> String {
    match (told.strip_suffix('}'), taped.id()) {
        (Some(open), Some(id)) => format!("{open},\"tape\":\"{id}\"}}"),
        _ => told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_and_the_column_are_shown() {
        let text = place(Position { line: 2, column: 5 }, "a\n\tthrow x\n", "f.js").unwrap();
        assert_eq!(text, " --> f.js:2:5\n2 |  throw x\n  |     ^");
        assert!(place(Position { line: 9, column: 1 }, "a", "f.js").is_none());
        let long = "x".repeat(1_000);
        assert!(place(Position { line: 1, column: 500 }, &long, "f").unwrap().len() < 400);
    }
}
