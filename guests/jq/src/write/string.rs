//! Strings: quoted and escaped.

/// As a JSON string; with `ascii`, everything beyond ASCII as `\u` escapes.
#[inline]
pub fn quoted(out: &mut Vec<u8>, text: &str, ascii: bool) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut plain = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if PLAIN[usize::from(*byte)] && !(ascii && *byte >= 0x80) {
            continue;
        }
        if at >= plain {
            out.extend_from_slice(&bytes[plain..at]);
            plain = at + escape_one(out, &text[at..]);
        }
    }
    out.extend_from_slice(&bytes[plain..]);
    out.push(b'"');
}

/// Which bytes stand for themselves.
static PLAIN: [bool; 256] = {
    let mut plain = [true; 256];
    let mut at = 0;
    while at < 0x20 {
        plain[at] = false;
        at += 1;
    }
    plain[b'"' as usize] = false;
    plain[b'\\' as usize] = false;
    plain[0x7f] = false;
    plain
};

/// Raw, but escaped beyond ASCII.
pub(super) fn ascii(out: &mut Vec<u8>, text: &str) {
    quoted(out, text, true);
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
                out.extend_from_slice(b"\\u");
                for shift in [12, 8, 4, 0] {
                    out.push(b"0123456789abcdef"[usize::from(*unit >> shift & 15)]);
                }
            }
        }
    }
    sign.len_utf8()
}
