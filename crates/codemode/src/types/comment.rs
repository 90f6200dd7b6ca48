//! Descriptions as comments that nothing gets out of.

use std::fmt::Write as _;

/// The longest description that is told.
const BYTES_MAX: usize = 4_000;

/// Writes a description above what it describes.
pub(super) fn write(out: &mut String, text: &str, indent: &str) {
    let text = text[..text.floor_char_boundary(BYTES_MAX)].trim();
    if text.is_empty() {
        return;
    }
    let lines: Vec<String> = text.lines().map(safe).collect();
    match lines.as_slice() {
        [line] => {
            let _ = writeln!(out, "{indent}/** {line} */");
        }
        _ => {
            let _ = writeln!(out, "{indent}/**");
            for line in lines {
                let _ = writeln!(out, "{}", format!("{indent} * {line}").trim_end());
            }
            let _ = writeln!(out, "{indent} */");
        }
    }
}

/// One line: no end of a comment, and nothing that moves a cursor or starts a line of its own.
fn safe(line: &str) -> String {
    let unseen = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let mut safe: String = line.trim_end().chars().map(|c| if unseen(c) { ' ' } else { c }).collect();
    if safe.ends_with('*') {
        // The comment's own end follows, one blank away; keep it clear of this one.
        safe.push(' ');
    }
    safe.replace("*/", "*\\/")
}
