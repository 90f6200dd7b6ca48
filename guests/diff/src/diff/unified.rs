//! The unified format.

use super::edit::{Change, Hunk, hunks};
use super::input::{Document, Side};
use super::settings::Settings;
use std::ops::Range;

/// How much of a function's line is shown.
const FUNCTION_CHARS_MAX: usize = 40;

pub(super) fn write(
    both: (&Document<'_>, &Document<'_>),
    changes: &[Change],
    lines: usize,
    sides: (&Side, &Side),
    settings: &Settings,
    out: &mut Vec<u8>,
) {
    heads(sides, settings, ["---", "+++"], out);
    for Hunk { changes, old, new } in hunks(changes, lines, both.0.lines.len()) {
        let function = function(both.0, old.start, settings);
        let head = format!("@@ -{} +{} @@{function}\n", span(&old), span(&new));
        out.extend_from_slice(head.as_bytes());
        let mut at = old.start;
        for change in changes {
            (at..change.old_start).for_each(|line| both.0.put(line, " ", out));
            change.gone().for_each(|line| both.0.put(line, "-", out));
            change.come().for_each(|line| both.1.put(line, "+", out));
            at = change.gone().end;
        }
        (at..old.end).for_each(|line| both.0.put(line, " ", out));
    }
}

/// The two lines with names and times.
pub(super) fn heads(sides: (&Side, &Side), settings: &Settings, marks: [&str; 2], out: &mut Vec<u8>) {
    let in_words = marks[0] == "***";
    for (at, side) in [sides.0, sides.1].into_iter().enumerate() {
        let head = match settings.labels.get(at) {
            Some(label) => format!("{} {label}\n", marks[at]),
            None => {
                let time = side.modified();
                let time = if in_words { time.piece('c').unwrap_or_default() } else { time.full() };
                format!("{} {}\t{time}\n", marks[at], super::quoted(&side.name))
            }
        };
        out.extend_from_slice(head.as_bytes());
    }
}

/// The last line above that starts as a function does, with a blank before it.
pub(super) fn function(document: &Document<'_>, above: usize, settings: &Settings) -> String {
    if !settings.functions {
        return String::new();
    }
    let starts =
        |line: &&&[u8]| line.first().is_some_and(|it| it.is_ascii_alphabetic() || *it == b'_' || *it == b'$');
    let found = document.lines[..above].iter().rev().find(starts);
    let text = found.map(|line| String::from_utf8_lossy(line).into_owned());
    match text {
        Some(text) => format!(" {}", text.chars().take(FUNCTION_CHARS_MAX).collect::<String>().trim_end()),
        None => String::new(),
    }
}

/// `5,7`: the first line and how many; one line has no count.
fn span(range: &Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => (range.start + 1).to_string(),
        count => format!("{},{count}", range.start + 1),
    }
}
