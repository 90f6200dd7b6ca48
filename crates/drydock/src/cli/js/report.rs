//! A program's end as a person would want it: logs, the result, or what went wrong and where.

use std::io::Write as _;

use drydock_embed::{
    DockCode, Position,
    codemode::ExecuteResult,
    contract::{FailureCode, Limits, Outcome},
};

use crate::show;

/// Logs go to stderr, the result to stdout, a failure to stderr with the line it points at.
pub(super) fn show(
    result: &ExecuteResult,
    code: &DockCode,
    text: &str,
    file: Option<&str>,
    was_interrupted: bool,
    limits: &Limits,
) -> anyhow::Result<()> {
    for line in &result.logs {
        let lines: Vec<String> = line.split('\n').map(show::plain).collect();
        let _ = writeln!(std::io::stderr(), "{}", lines.join("\n"));
    }
    match &result.outcome {
        Ok(None) => {}
        Ok(Some(value)) => show::line(value.as_str())?,
        // For the protocol that is a timeout; whoever pressed Ctrl-C knows better.
        Err(failure) if was_interrupted && failure.code == FailureCode::Timeout => {
            crate::exit::warn("interrupted");
        }
        Err(failure) => {
            let mut told = format!("{}: {}", failure.code, failure.message);
            let limit = match failure.code {
                FailureCode::Timeout => Outcome::TimedOut.remark(limits, None),
                FailureCode::MemoryLimit => Outcome::OutOfMemory.remark(limits, None),
                _ => None,
            };
            if let Some(limit) = limit {
                told = format!("{told}; {limit}");
            }
            if let Some(hint) = code.hint() {
                told = format!("{told}; {}", show::plain(&hint));
            }
            if let Some(place) = code.failed_at().and_then(|at| place(at, text, file.unwrap_or("-e"))) {
                told.push('\n');
                told.push_str(&place);
            }
            crate::exit::warn(&told);
        }
    }
    Ok(())
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
