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
    line(&text?)
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
