//! Output for people and for machines. The only file that writes to stdout.

use std::io::{self, Write as _};

use serde::Serialize;

/// Writes bytes as they are.
pub(crate) fn bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Writes a line.
pub(crate) fn line(text: &str) -> io::Result<()> {
    bytes(format!("{text}\n").as_bytes())
}

/// Writes one JSON value on a line, or indented for a person at a terminal.
pub(crate) fn json(value: &impl Serialize) -> io::Result<()> {
    let terminal = io::IsTerminal::is_terminal(&io::stdout());
    let text = if terminal { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
    let text = text?;
    line(&if terminal { harmless(&text) } else { text })
}

/// The same JSON with nothing in it that a terminal would obey or that hides text: JSON itself escapes only what is below
/// U+0020. Outside its texts there is none of these.
fn harmless(json: &str) -> String {
    let is_harmful = |c: char| {
        matches!(c, '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}')
            || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
            || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    let mut all = String::with_capacity(json.len());
    for c in json.chars() {
        if is_harmful(c) {
            all.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            all.push(c);
        }
    }
    all
}

/// Text of unknown origin, with nothing in it that a terminal would obey.
pub(crate) use drydock_embed::contract::text::printable as plain;

/// Writes rows under a heading, columns aligned, the last one as long as it likes.
pub(crate) fn table<const N: usize>(
    heading: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> io::Result<()> {
    let rows = rows.into_iter().map(|row| row.map(|cell| plain(&cell)));
    let rows: Vec<[String; N]> = std::iter::once(heading.map(str::to_owned)).chain(rows).collect();
    let mut widths = [0; N];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in &rows {
        let mut padded = String::new();
        for (cell, width) in row.iter().zip(widths) {
            // Not by a width of `format!`, which ends at 65,535.
            padded.push_str(cell);
            padded.extend(std::iter::repeat_n(' ', width - cell.chars().count() + 2));
        }
        text.push_str(padded.trim_end());
        text.push('\n');
    }
    bytes(text.as_bytes())
}

/// A size as people write it.
pub(crate) use drydock_embed::contract::size_text as size;

#[test]
fn json_for_a_terminal_is_the_same_json_without_what_a_terminal_obeys() {
    let said = "a\u{9b}31m\u{202e}b\u{e0041}\u{7f}\u{200b}é😀\x1b";
    let json = serde_json::to_string_pretty(&[said]).unwrap_or_default();
    let shown = harmless(&json);
    assert!(shown.contains("\\u009b31m\\u202eb\\udb40\\udc41\\u007f\\u200bé😀"), "{shown}");
    assert_eq!(serde_json::from_str::<Vec<String>>(&shown).ok(), Some(vec![said.to_owned()]));
}
