//! The context format: both sides one after the other.

use super::edit::{Change, Hunk, hunks};
use super::input::{Document, Side};
use super::settings::Settings;
use super::unified::{function, heads};
use std::ops::Range;

pub(super) fn write(
    both: (&Document<'_>, &Document<'_>),
    changes: &[Change],
    lines: usize,
    sides: (&Side, &Side),
    settings: &Settings,
    out: &mut Vec<u8>,
) {
    heads(sides, settings, ["***", "---"], out);
    for Hunk { changes, old, new } in hunks(changes, lines, both.0.lines.len()) {
        let function = function(both.0, old.start, settings);
        out.extend_from_slice(format!("***************{function}\n*** {} ****\n", span(&old)).as_bytes());
        half(both.0, &old, changes.iter().map(|it| (it.gone(), it.new_count > 0)), "- ", out);
        out.extend_from_slice(format!("--- {} ----\n", span(&new)).as_bytes());
        half(both.1, &new, changes.iter().map(|it| (it.come(), it.old_count > 0)), "+ ", out);
    }
}

/// One side; nothing but its head where it has no changed line.
fn half(
    document: &Document<'_>,
    range: &Range<usize>,
    changes: impl Iterator<Item = (Range<usize>, bool)>,
    mark: &str,
    out: &mut Vec<u8>,
) {
    let changes: Vec<(Range<usize>, bool)> = changes.collect();
    if changes.iter().all(|(lines, _)| lines.is_empty()) {
        return;
    }
    let mut at = range.start;
    for (lines, both) in changes {
        (at..lines.start).for_each(|line| document.put(line, "  ", out));
        let mark = if both { "! " } else { mark };
        lines.clone().for_each(|line| document.put(line, mark, out));
        at = lines.end;
    }
    (at..range.end).for_each(|line| document.put(line, "  ", out));
}

fn span(range: &Range<usize>) -> String {
    match range.len() {
        0 | 1 => range.end.to_string(),
        _ => format!("{},{}", range.start + 1, range.end),
    }
}
