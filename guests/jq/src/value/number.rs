//! Numbers: doubles, and literals that keep the digits they were written with.
//!
//! jq 1.7 prints a number it only passed on as it was spelled, in a canonical form; once computed
//! with, it is a double.

use super::Value;
use std::cmp::Ordering;
use std::io::Write as _;
use std::rc::Rc;

/// A number as it was written.
pub struct Literal {
    /// The canonical spelling.
    pub spelled: Box<str>,
    /// The nearest double.
    pub nearest: f64,
}

/// Integers of so many digits are exact as doubles, and print as they were written.
const EXACT_DIGITS_MAX: usize = 15;
/// Exponents beyond this are no numbers any more; jq's library for decimals draws the same line.
const EXPONENT_MAX: i64 = 999_999_999;

const TENS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// The number a text spells, or `None`.
pub fn parse(text: &[u8]) -> Option<Value> {
    let text = match text {
        [b'+', rest @ ..] if !rest.starts_with(b"-") => rest,
        text => text,
    };
    plain(text).or_else(|| spelled(text))
}

/// What most numbers are: few digits, perhaps with a point, and no zeros that a double would lose.
fn plain(text: &[u8]) -> Option<Value> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let first = *digits.first()?;
    if digits.len() > EXACT_DIGITS_MAX
        || !first.is_ascii_digit()
        || (first == b'0' && digits.len() > 1 && digits[1] != b'.')
    {
        return None;
    }
    let (mut whole, mut places) = (0u64, None);
    for (at, byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => whole = whole * 10 + u64::from(byte - b'0'),
            b'.' if places.is_none() => places = Some(digits.len() - at - 1),
            _ => return None,
        }
    }
    let mut number = whole as f64;
    if let Some(places) = places {
        // `1.50` and `1.` keep their spelling, and small ones may need an exponent.
        if places == 0 || digits.last() == Some(&b'0') || number < TENS[places.saturating_sub(4)] {
            return None;
        }
        number /= TENS[places];
    }
    Some(Value::Num(if negative { -number } else { number }))
}

fn spelled(text: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(text).ok()?;
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let begins = |sign: char| sign.is_ascii_digit() || sign == '.';
    if !unsigned.starts_with(begins) {
        return None;
    }
    let nearest: f64 = text.parse().ok()?;
    let Some(spelled) = canonical(text) else { return Some(Value::Num(nearest)) };
    Some(Value::Lit(Rc::new(Literal { spelled: spelled.into(), nearest })))
}

/// A literal as jq keeps it: its own digits, and an exponent only where there is no short form.
fn canonical(text: &str) -> Option<String> {
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
    if adjusted.abs() > EXPONENT_MAX {
        return None;
    }
    if exponent > 0 || adjusted < -6 {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        return Some(format!("{sign}{first}{point}{rest}E{adjusted:+}"));
    }
    let places = usize::try_from(-exponent).ok()?;
    if places == 0 {
        return Some(format!("{sign}{digits}"));
    }
    // `format!` panics where it is asked for more than 65,535 places.
    let padded = "0".repeat((places + 1).saturating_sub(digits.len())) + &digits;
    let (whole, part) = padded.split_at(padded.len() - places);
    Some(format!("{sign}{whole}.{part}"))
}

/// The order of two literals, told by all their digits.
pub fn compare(a: &Literal, b: &Literal) -> Ordering {
    match a.nearest.partial_cmp(&b.nearest) {
        None => Ordering::Less,
        Some(Ordering::Equal) => decimals(&a.spelled, &b.spelled),
        Some(order) => order,
    }
}

fn decimals(a: &str, b: &str) -> Ordering {
    let ((negative, power, digits), (_, other_power, other_digits)) = (parts(a), parts(b));
    let order = power.cmp(&other_power).then_with(|| digits.cmp(&other_digits));
    if negative { order.reverse() } else { order }
}

/// The sign, the power of ten of the first significant digit, and the digits without outer zeros.
fn parts(text: &str) -> (bool, i64, String) {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = text.split_once('E').unwrap_or((text, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{part}");
    let digits = all.trim_start_matches('0');
    if digits.is_empty() {
        return (negative, i64::MIN, String::new());
    }
    let lost = (all.len() - digits.len()) as i64;
    let power = exponent.parse::<i64>().unwrap_or(0) + whole.len() as i64 - lost;
    (negative, power, digits.trim_end_matches('0').to_owned())
}

/// Appends a double as jq prints it: `null` for `nan`, the largest double for an infinite one.
pub fn write(out: &mut Vec<u8>, number: f64) {
    if number.fract() == 0.0 && number.abs() < 1e16 && !(number == 0.0 && number.is_sign_negative()) {
        return write_integer(out, number as i64);
    }
    if number.is_nan() {
        return out.extend_from_slice(b"null");
    }
    write_shortest(out, number.clamp(f64::MIN, f64::MAX));
}

fn write_integer(out: &mut Vec<u8>, number: i64) {
    let mut places = [0u8; 20];
    let (mut rest, mut at) = (number.unsigned_abs(), places.len());
    // Division of a short integer is much cheaper on a 32-bit machine.
    while rest > u64::from(u32::MAX) {
        at -= 1;
        places[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let mut rest = rest as u32;
    loop {
        at -= 1;
        places[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&places[at..]);
}

/// The shortest digits that read back as the same double, laid out as jq does it.
fn write_shortest(out: &mut Vec<u8>, number: f64) {
    let mut text = Vec::with_capacity(32);
    // Writing to a vector cannot fail.
    let _ = write!(text, "{:e}", number.abs());
    let split = text.iter().position(|byte| *byte == b'e').unwrap_or(text.len());
    let exponent: i32 = std::str::from_utf8(text.get(split + 1..).unwrap_or(b"0"))
        .ok()
        .and_then(|it| it.parse().ok())
        .unwrap_or(0);
    let digits: Vec<u8> = text[..split].iter().copied().filter(u8::is_ascii_digit).collect();
    if number.is_sign_negative() {
        out.push(b'-');
    }
    let point = exponent + 1;
    let count = digits.len() as i32;
    if point <= -4 || point > count + 15 {
        out.push(digits[0]);
        if count > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(out, "e{sign}{:02}", exponent.abs());
    } else if point <= 0 {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + point.unsigned_abs() as usize, b'0');
        out.extend_from_slice(&digits);
    } else {
        let whole = (point as usize).min(digits.len());
        out.extend_from_slice(&digits[..whole]);
        if whole < digits.len() {
            out.push(b'.');
            out.extend_from_slice(&digits[whole..]);
        }
        out.resize(out.len() + (point as usize - whole), b'0');
    }
}
