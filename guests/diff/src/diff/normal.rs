//! The plain format: `2,3c2`, `<` and `>`; and the ed script.

use super::edit::Change;
use super::input::Document;
use std::ops::Range;

type Both<'a, 'b> = (&'b Document<'a>, &'b Document<'a>);

pub(super) fn write(both: Both<'_, '_>, changes: &[Change], out: &mut Vec<u8>) {
    for change in changes {
        let command = format!("{}{}{}\n", lines(change.gone()), letter(change), lines(change.come()));
        out.extend_from_slice(command.as_bytes());
        change.gone().for_each(|at| both.0.put(at, "< ", out));
        if change.old_count > 0 && change.new_count > 0 {
            out.extend_from_slice(b"---\n");
        }
        change.come().for_each(|at| both.1.put(at, "> ", out));
    }
}

/// From the end, so that the numbers of earlier lines stay right.
pub(super) fn write_ed(both: Both<'_, '_>, changes: &[Change], out: &mut Vec<u8>) {
    for change in changes.iter().rev() {
        out.extend_from_slice(format!("{}{}\n", lines(change.gone()), letter(change)).as_bytes());
        if change.new_count > 0 {
            for at in change.come() {
                out.extend_from_slice(both.1.lines[at]);
                out.push(b'\n');
            }
            out.extend_from_slice(b".\n");
        }
    }
}

fn letter(change: &Change) -> char {
    match (change.old_count, change.new_count) {
        (0, _) => 'a',
        (_, 0) => 'd',
        _ => 'c',
    }
}

/// `5`, `5,7`, or the line before where there is none.
fn lines(range: Range<usize>) -> String {
    match range.len() {
        0 => range.start.to_string(),
        1 => (range.start + 1).to_string(),
        _ => format!("{},{}", range.start + 1, range.end),
    }
}
