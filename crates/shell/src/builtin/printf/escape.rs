//! Backslash escapes of `printf` and `echo -e`.

use crate::text;

/// How many bytes the escape at the start of `text` takes.
pub(super) fn escape_length(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    let Some((_, letter)) = chars.next() else { return 1 };
    let max = match letter {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        '0'..='7' => 2,
        _ => 0,
    };
    let base = if letter.is_ascii_digit() { 8 } else { 16 };
    let mut end = 1 + letter.len_utf8();
    for (at, next) in chars.take(max) {
        if !next.is_digit(base) {
            break;
        }
        end = at + 1;
    }
    end
}

/// Carries escapes out; true if `\c` ended the output. `echo` wants `\0nnn` for octal.
pub(crate) fn escaped(source: &str, echo: bool) -> (Vec<u8>, bool) {
    let mut out = Vec::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find('\\') {
        out.extend_from_slice(&text::to_bytes(&rest[..at]));
        rest = &rest[at..];
        let mut length = escape_length(rest);
        let letter = rest[1..].chars().next();
        let digits =
            |from: usize, length: usize, base: u32| u32::from_str_radix(&rest[from..length], base).ok();
        match letter {
            Some('a') => out.push(7),
            Some('b') => out.push(8),
            Some('e' | 'E') => out.push(27),
            Some('f') => out.push(12),
            Some('n') => out.push(b'\n'),
            Some('r') => out.push(b'\r'),
            Some('t') => out.push(b'\t'),
            Some('v') => out.push(11),
            Some('\\') => out.push(b'\\'),
            Some('"') if !echo => out.push(b'"'),
            Some('\'') if !echo => out.push(b'\''),
            Some('c') => return (out, true),
            Some('0') if echo => {
                let run = rest[2..].bytes().take(3).take_while(|it| (b'0'..=b'7').contains(it)).count();
                length = 2 + run;
                out.push((digits(2, length, 8).unwrap_or(0) & 0xff) as u8);
            }
            Some('1'..='7') => out.push((digits(1, length, 8).unwrap_or(0) & 0xff) as u8),
            Some('0') if !echo => out.push((digits(1, length, 8).unwrap_or(0) & 0xff) as u8),
            Some('x') if length > 2 => out.push(digits(2, length, 16).unwrap_or(0) as u8),
            Some('u' | 'U') if length > 2 => {
                let next = digits(2, length, 16).and_then(char::from_u32).unwrap_or('\u{fffd}');
                out.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => out.extend_from_slice(&text::to_bytes(&rest[..length])),
        }
        rest = &rest[length..];
    }
    out.extend_from_slice(&text::to_bytes(rest));
    (out, false)
}
