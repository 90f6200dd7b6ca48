//! Strings: quoted and escaped, or raw.

use std::io::Write as _;

/// As a JSON string; with `ascii`, everything beyond ASCII as `\u` escapes.
pub fn quoted(out: &mut Vec<u8>, text: &[u8], ascii: bool) {
    out.push(b'"');
    for chunk in text.utf8_chunks() {
        escape(out, chunk.valid(), ascii);
        if !chunk.invalid().is_empty() {
            escape(out, "\u{fffd}", ascii);
        }
    }
    out.push(b'"');
}

/// As it is, with replacement characters for what is not UTF-8.
pub fn lossy(out: &mut Vec<u8>, text: &[u8]) {
    out.extend_from_slice(String::from_utf8_lossy(text).as_bytes());
}

/// Raw, but escaped beyond ASCII.
pub fn ascii(out: &mut Vec<u8>, text: &[u8]) {
    quoted(out, text, true);
}

fn escape(out: &mut Vec<u8>, text: &str, ascii: bool) {
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        let special = byte < 0x20 || matches!(byte, b'"' | b'\\' | 0x7f) || (ascii && byte >= 0x80);
        if !special {
            continue;
        }
        if at >= plain {
            out.extend_from_slice(&text.as_bytes()[plain..at]);
            plain = at + escape_one(out, &text[at..]);
        }
    }
    out.extend_from_slice(&text.as_bytes()[plain..]);
}

/// Escapes the first character of `text`; how many bytes it has.
fn escape_one(out: &mut Vec<u8>, text: &str) -> usize {
    let Some(sign) = text.chars().next() else { return 0 };
    let short = match sign {
        '"' => Some(b'"'),
        '\\' => Some(b'\\'),
        '\n' => Some(b'n'),
        '\t' => Some(b't'),
        '\r' => Some(b'r'),
        '\u{8}' => Some(b'b'),
        '\u{c}' => Some(b'f'),
        _ => None,
    };
    match short {
        Some(letter) => out.extend_from_slice(&[b'\\', letter]),
        None => {
            for unit in sign.encode_utf16(&mut [0; 2]) {
                // Writing to a vector cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    sign.len_utf8()
}
