//! Numbers in text: reading them as `strtod` does, and writing them as `printf` does.

use std::io::Write as _;

/// The number that `text` begins with; 0 if with none.
pub(crate) fn prefix(text: &[u8]) -> f64 {
    scan(text).0
}

/// The number that `text` is, with blanks around it, if it is one.
pub(crate) fn whole(text: &[u8]) -> Option<f64> {
    let (value, end) = scan(text);
    if end == 0 {
        return None;
    }
    text[end..].iter().all(|it| is_blank(*it)).then_some(value)
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// The number, and where it ends; 0 where there is none.
fn scan(text: &[u8]) -> (f64, usize) {
    let start = text.iter().position(|it| !is_blank(*it)).unwrap_or(text.len());
    let mut at = start;
    let negative = text.get(at) == Some(&b'-');
    let signed = matches!(text.get(at), Some(b'-' | b'+'));
    at += usize::from(signed);
    let digits = at;
    // Most numbers are short and whole.
    let mut value: u64 = 0;
    while let Some(digit) = text.get(at).filter(|it| it.is_ascii_digit()) {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        at += 1;
    }
    let mut seen = at - digits;
    if !matches!(text.get(at), Some(b'.' | b'e' | b'E')) && (1..=15).contains(&seen) {
        let value = value as f64;
        return (if negative { -value } else { value }, at);
    }
    if text.get(at) == Some(&b'.') {
        let point = at;
        at += 1;
        while text.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        seen += at - point - 1;
    }
    if seen == 0 {
        return named(&text[start..], signed).map_or((0.0, 0), |value| (value, start + 4));
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let mut end = at + 1;
        end += usize::from(matches!(text.get(end), Some(b'-' | b'+')));
        if text.get(end).is_some_and(u8::is_ascii_digit) {
            while text.get(end).is_some_and(u8::is_ascii_digit) {
                end += 1;
            }
            at = end;
        }
    }
    let spelled = std::str::from_utf8(&text[start..at]).unwrap_or("0");
    (spelled.parse().unwrap_or(0.0), at)
}

/// Only with a sign are these numbers and not words.
fn named(text: &[u8], signed: bool) -> Option<f64> {
    if !signed || text.get(4).is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let negative = text[0] == b'-';
    let word = text.get(1..4)?.to_ascii_lowercase();
    let value = match word.as_slice() {
        b"inf" => f64::INFINITY,
        b"nan" => f64::NAN,
        _ => return None,
    };
    Some(if negative { -value } else { value })
}

/// Appends a whole number as such, others as `format` says.
pub(crate) fn push(out: &mut Vec<u8>, value: f64, format: &[u8]) {
    if value == value.trunc() && value.abs() < 1e16 {
        push_integer(out, value as i64);
    } else if value == value.trunc() && value.is_finite() {
        // Writing to memory cannot fail, here and below.
        let _ = write!(out, "{value:.0}");
    } else if !value.is_finite() {
        push_special(out, value);
    } else if format == b"%.6g" {
        push_general(out, value, 6, false);
    } else {
        crate::format::push_number(out, format, value);
    }
}

fn push_integer(out: &mut Vec<u8>, value: i64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut left = value.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

/// `+inf`, `-nan` and so on, as gawk writes them.
pub(crate) fn push_special(out: &mut Vec<u8>, value: f64) {
    out.push(if value.is_sign_negative() { b'-' } else { b'+' });
    out.extend(if value.is_nan() { b"nan" } else { b"inf" });
}

/// No number has more digits than that behind its point that are not zero; `format!` panics where
/// it is asked for more than 65,535.
const DECIMALS_MAX: usize = 1_100;

/// `%f`, without a sign.
pub(crate) fn push_fixed(out: &mut Vec<u8>, value: f64, precision: usize) {
    let decimals = precision.min(DECIMALS_MAX);
    // Writing to memory cannot fail.
    let _ = write!(out, "{value:.decimals$}");
    out.extend(std::iter::repeat_n(b'0', precision - decimals));
}

/// `%e`, without a sign.
pub(crate) fn push_exponent(out: &mut Vec<u8>, value: f64, precision: usize, point: bool) {
    let decimals = precision.min(DECIMALS_MAX);
    let spelled = format!("{value:.decimals$e}");
    let (digits, exponent) = spelled.split_once('e').unwrap_or((&spelled, "0"));
    out.extend(digits.as_bytes());
    out.extend(std::iter::repeat_n(b'0', precision - decimals));
    if point && precision == 0 {
        out.push(b'.');
    }
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    let _ = write!(out, "e{sign}{:02}", exponent.abs());
}

/// `%g`; `keep` keeps trailing zeros, as `#` asks for.
pub(crate) fn push_general(out: &mut Vec<u8>, value: f64, precision: usize, keep: bool) {
    let precision = precision.max(1);
    if value == 0.0 {
        if value.is_sign_negative() {
            out.push(b'-');
        }
        out.push(b'0');
        if keep {
            out.push(b'.');
            out.extend(std::iter::repeat_n(b'0', precision - 1));
        }
        return;
    }
    // What is cut off is zeros; without `#` they are not shown anyway.
    let spelled = format!("{value:.*e}", (precision - 1).min(DECIMALS_MAX));
    let zeros = if keep { (precision - 1).saturating_sub(DECIMALS_MAX) } else { 0 };
    let (digits, exponent) = spelled.split_once('e').unwrap_or((&spelled, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= precision as i32 {
        let digits = if keep { digits } else { trimmed(digits) };
        out.extend(digits.as_bytes());
        out.extend(std::iter::repeat_n(b'0', zeros));
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(out, "e{sign}{:02}", exponent.abs());
        return;
    }
    let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
    let mut fixed = Vec::new();
    push_fixed(&mut fixed, value, if keep { decimals } else { decimals.min(DECIMALS_MAX) });
    if keep {
        out.extend(fixed);
    } else {
        out.extend(trimmed(&String::from_utf8_lossy(&fixed)).as_bytes());
    }
}

fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}
