//! The command `l`: a line in characters that can be seen.

use std::io::Write as _;

/// The line, broken so that no row is longer than `width`; 0 means never.
pub(super) fn list(text: &[u8], width: usize, end: u8) -> Vec<u8> {
    let width = width.checked_sub(1).unwrap_or(usize::MAX);
    let mut out = Vec::with_capacity(text.len() + 2);
    let mut row = 0;
    let mut spelled = Vec::new();
    for byte in text {
        spelled.clear();
        match byte {
            b'\\' => spelled.extend(b"\\\\"),
            0x07 => spelled.extend(b"\\a"),
            0x08 => spelled.extend(b"\\b"),
            0x0c => spelled.extend(b"\\f"),
            b'\n' => spelled.extend(b"\\n"),
            b'\r' => spelled.extend(b"\\r"),
            b'\t' => spelled.extend(b"\\t"),
            0x0b => spelled.extend(b"\\v"),
            b' '..=b'~' => spelled.push(*byte),
            _ => {
                // Writing to memory cannot fail.
                let _ = write!(spelled, "\\{byte:03o}");
            }
        }
        if row + spelled.len() > width {
            out.extend(b"\\\n");
            row = 0;
        }
        row += spelled.len();
        out.extend_from_slice(&spelled);
    }
    out.extend([b'$', end]);
    out
}
