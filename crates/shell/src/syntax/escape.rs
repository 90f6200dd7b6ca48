//! Backslash escapes of `$'…'`.

use crate::text;

/// The text of `$'…'` with its escapes carried out.
pub(crate) fn ansi_c(source: &str) -> String {
    let mut bytes: Vec<u8> = Vec::with_capacity(source.len());
    let mut rest = source.chars().peekable();
    while let Some(next) = rest.next() {
        if next != '\\' {
            put(&mut bytes, next);
            continue;
        }
        let Some(letter) = rest.next() else {
            bytes.push(b'\\');
            break;
        };
        let mut digits = |base: u32, max: usize, first: Option<u32>| {
            let mut value = first;
            let mut count = usize::from(first.is_some());
            while count < max
                && let Some(digit) = rest.peek().and_then(|it| it.to_digit(base))
            {
                value = Some(value.unwrap_or(0).wrapping_mul(base).wrapping_add(digit));
                rest.next();
                count += 1;
            }
            value
        };
        match letter {
            'a' => bytes.push(7),
            'b' => bytes.push(8),
            'e' | 'E' => bytes.push(27),
            'f' => bytes.push(12),
            'n' => bytes.push(b'\n'),
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            'v' => bytes.push(11),
            '\\' | '\'' | '"' | '?' => put(&mut bytes, letter),
            '0'..='7' => {
                let value = digits(8, 3, letter.to_digit(8)).unwrap_or(0);
                match value & 0xff {
                    0 => break,
                    byte => bytes.push(byte as u8),
                }
            }
            'x' => match digits(16, 2, None) {
                None => bytes.extend_from_slice(b"\\x"),
                Some(0) => break,
                Some(value) => bytes.push((value & 0xff) as u8),
            },
            'u' | 'U' => match digits(16, if letter == 'u' { 4 } else { 8 }, None) {
                None => {
                    bytes.push(b'\\');
                    put(&mut bytes, letter);
                }
                Some(0) => break,
                Some(value) => put(&mut bytes, char::from_u32(value).unwrap_or('\u{fffd}')),
            },
            'c' => match rest.next() {
                Some('?') => bytes.push(0x7f),
                Some('@') => break,
                Some(control) => bytes.push((control as u32 & 0x1f) as u8),
                None => bytes.extend_from_slice(b"\\c"),
            },
            other => {
                bytes.push(b'\\');
                put(&mut bytes, other);
            }
        }
    }
    text::from_bytes(&bytes)
}

fn put(bytes: &mut Vec<u8>, next: char) {
    bytes.extend_from_slice(&text::to_bytes(next.encode_utf8(&mut [0; 4])));
}
