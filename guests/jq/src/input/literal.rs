//! The smallest parts of JSON: words, numbers and the inside of strings.

use jaq_core::ValT as _;
use jaq_json::{Num, Val};

/// Whether a word or number ends before `byte`.
pub fn ends_at(byte: u8) -> bool {
    ENDS[usize::from(byte)]
}

static ENDS: [bool; 256] = {
    let mut ends = [false; 256];
    let signs = b" \t\n\r\x1e,:[]{}\"";
    let mut at = 0;
    while at < signs.len() {
        ends[signs[at] as usize] = true;
        at += 1;
    }
    ends
};

/// Integers of so many digits fit a machine word of the guest.
const SMALL_DIGITS_MAX: usize = 9;

/// The value of a short plain integer, which most numbers are.
fn small(word: &[u8]) -> Option<Val> {
    let (digits, negative) = match word {
        [b'-', digits @ ..] => (digits, true),
        digits => (digits, false),
    };
    if digits.is_empty() || digits.len() > SMALL_DIGITS_MAX {
        return None;
    }
    let mut number = 0isize;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + isize::from(digit);
    }
    // An integer has no negative zero.
    let is_plain = !(negative && number == 0);
    is_plain.then(|| Val::from(if negative { -number } else { number }))
}

/// The value of a word or a number.
pub fn value(word: &[u8]) -> Option<Val> {
    if let Some(number) = small(word) {
        return Some(number);
    }
    match word {
        b"null" => Some(Val::Null),
        b"true" => Some(Val::Bool(true)),
        b"false" => Some(Val::Bool(false)),
        b"nan" | b"NaN" => Some(Val::from(f64::NAN)),
        b"Infinity" => Some(Val::from(f64::INFINITY)),
        b"-Infinity" => Some(Val::from(f64::NEG_INFINITY)),
        _ => number(std::str::from_utf8(word).ok()?),
    }
}

fn number(text: &str) -> Option<Val> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() {
        return None;
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let plain = digits.trim_start_matches('0');
        let sign = &text[..text.len() - digits.len()];
        return match plain {
            "" if sign == "-" => Some(Val::from(-0.0)),
            _ => Val::from_num(&format!("{sign}{plain:0>1}")).ok(),
        };
    }
    if !digits.starts_with(|sign: char| sign.is_ascii_digit() || sign == '.') {
        return None;
    }
    let _: f64 = text.parse().ok()?;
    Some(Val::Num(Num::Dec(canonical(text)?.into())))
}

/// A literal as jq keeps it: its own digits, and an exponent only where there is no short form.
pub fn canonical(text: &str) -> Option<String> {
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().ok()?;
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{part}");
    let digits = match digits.trim_start_matches('0') {
        "" => "0",
        significant => significant,
    };
    let exponent = exponent.checked_sub(i64::try_from(part.len()).ok()?)?;
    let count = i64::try_from(digits.len()).ok()?;
    // Where the point stands if it follows the first digit.
    let adjusted = exponent.checked_add(count - 1)?;
    if exponent > 0 || adjusted < -6 {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        return Some(format!("{sign}{first}{point}{rest}E{adjusted:+}"));
    }
    let places = usize::try_from(-exponent).ok()?;
    if places == 0 {
        return Some(format!("{sign}{digits}"));
    }
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, part) = padded.split_at(padded.len() - places);
    Some(format!("{sign}{whole}.{part}"))
}

/// Where the string that `rest` is inside of ends.
pub fn closing_quote(rest: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match rest.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Decodes `rest` up to the closing quote; the text and how many bytes it took, quote included.
pub fn string(rest: &[u8]) -> Result<(Vec<u8>, usize), &'static str> {
    let mut out = Vec::with_capacity(rest.len().min(64));
    let mut at = 0;
    loop {
        let plain =
            rest[at..].iter().position(|byte| matches!(byte, b'"' | b'\\')).ok_or("Unfinished string")?;
        push_lossy(&rest[at..at + plain], &mut out);
        at += plain;
        if rest[at] == b'"' {
            return Ok((out, at + 1));
        }
        let sign = *rest.get(at + 1).ok_or("Unfinished string")?;
        at += 2;
        let decoded = match sign {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'"' | b'\\' | b'/' => char::from(sign),
            b'u' => {
                let (decoded, used) = unicode(&rest[at..])?;
                at += used;
                decoded
            }
            _ => return Err("Invalid escape"),
        };
        out.extend_from_slice(decoded.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// `XXXX`, or two of them with `\u` between; a first half alone is refused.
fn unicode(rest: &[u8]) -> Result<(char, usize), &'static str> {
    let first = hex(rest).ok_or("Invalid \\uXXXX escape")?;
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

fn push_lossy(bytes: &[u8], out: &mut Vec<u8>) {
    for chunk in bytes.utf8_chunks() {
        out.extend_from_slice(chunk.valid().as_bytes());
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
}
