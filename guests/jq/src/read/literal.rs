//! The smallest parts of JSON: words, numbers and the inside of strings.

use crate::value::{Value, number};

/// Whether a word or number ends before `byte`; the zeros behind a text end it, too.
#[inline(always)]
pub(super) fn ends_at(byte: u8) -> bool {
    ENDS[usize::from(byte)]
}

static ENDS: [bool; 256] = {
    let mut ends = [false; 256];
    let signs = b"\0 \t\n\r\x1e,:[]{}\"";
    let mut at = 0;
    while at < signs.len() {
        ends[signs[at] as usize] = true;
        at += 1;
    }
    ends
};

/// The value of a word or a number.
#[inline]
pub fn value(word: &[u8]) -> Option<Value> {
    match word.first()? {
        b'0'..=b'9' | b'-' | b'+' | b'.' => {}
        _ => return named(word),
    }
    match word {
        b"-Infinity" => Some(Value::Num(f64::NEG_INFINITY)),
        b"-nan" | b"-NaN" => Some(Value::Num(f64::NAN)),
        _ => number::parse(word),
    }
}

fn named(word: &[u8]) -> Option<Value> {
    Some(match word {
        b"null" => Value::Null,
        b"true" => Value::Bool(true),
        b"false" => Value::Bool(false),
        b"nan" | b"NaN" => Value::Num(f64::NAN),
        [b'n', b'a', b'n', payload @ ..] if payload.iter().all(u8::is_ascii_digit) => Value::Num(f64::NAN),
        b"Infinity" => Value::Num(f64::INFINITY),
        _ => return None,
    })
}

/// Where the string that `rest` is inside of ends.
pub(super) fn closing_quote(rest: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match rest.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Decodes what is between the quotes.
pub(super) fn string(inside: &[u8]) -> Result<String, &'static str> {
    let mut out = String::with_capacity(inside.len());
    let mut at = 0;
    loop {
        let rest = &inside[at..];
        let plain = rest.iter().position(|byte| *byte == b'\\').unwrap_or(rest.len());
        push_lossy(&rest[..plain], &mut out);
        at += plain;
        let Some(sign) = inside.get(at + 1) else { return Ok(out) };
        at += 2;
        out.push(match sign {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'"' | b'\\' | b'/' => char::from(*sign),
            b'u' => {
                let (decoded, used) = unicode(&inside[at..])?;
                at += used;
                decoded
            }
            _ => return Err("Invalid escape"),
        });
    }
}

/// `XXXX`, or two of them with `\u` between; a first half alone is refused.
fn unicode(rest: &[u8]) -> Result<(char, usize), &'static str> {
    let digits = rest.get(..4).ok_or("Invalid \\uXXXX escape")?;
    let first = hex(digits).ok_or("Invalid characters in \\uXXXX escape")?;
    let is_high = (0xd800..0xdc00).contains(&first);
    if is_high
        && rest.get(4..6) == Some(b"\\u")
        && let Some(low) = rest.get(6..).and_then(hex)
        && (0xdc00..0xe000).contains(&low)
    {
        let code = 0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00);
        return Ok((char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 10));
    }
    if is_high {
        return Err("Invalid \\uXXXX\\uXXXX surrogate pair escape");
    }
    Ok((char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 4))
}

fn hex(bytes: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(bytes.get(..4)?).ok()?;
    if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(text, 16).ok()
}

fn push_lossy(bytes: &[u8], out: &mut String) {
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            out.push('\u{fffd}');
        }
    }
}
