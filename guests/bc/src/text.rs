//! Numbers from text in any input base, and to text in any output base.

use crate::number::{Number, SCALE_MAX, ten_to};
use num_bigint::BigInt;
use num_integer::Integer as _;
use num_traits::{ToPrimitive as _, Zero as _};

/// How many characters GNU puts on a line before the backslash.
const LINE_LENGTH: usize = 68;

/// What a digit is worth that is too large for the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digits {
    /// As much as the largest, but on its own what it says: bc's rule.
    Bounded,
    /// What it says: dc's.
    Any,
}

/// Reads a constant.
pub fn parse(text: &str, base: u32, digits: Digits) -> Number {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let as_said = digits == Digits::Any || whole.len() + part.len() == 1;
    let part = &part[..part.len().min(SCALE_MAX)];
    if base == 10 && text.bytes().all(|it| !it.is_ascii_uppercase()) {
        let digits = format!("{whole}{part}").parse().unwrap_or_default();
        return Number::new(digits, part.len());
    }
    let value = |sign: u8| {
        let value =
            u32::from(if sign.is_ascii_digit() { sign - b'0' } else { sign.saturating_sub(b'A') + 10 });
        BigInt::from(if as_said { value } else { value.min(base - 1) })
    };
    let read = |text: &str| text.bytes().fold(BigInt::zero(), |sum, sign| sum * base + value(sign));
    let whole = Number::new(read(whole), 0);
    if part.is_empty() {
        return whole;
    }
    let places = u32::try_from(part.len()).unwrap_or(u32::MAX);
    let fraction =
        Number::new(read(part), 0).div(&Number::new(BigInt::from(base).pow(places), 0), part.len());
    whole.add(&fraction.unwrap_or_default())
}

/// As bc prints it: no zero before the point, long lines broken.
pub fn print(number: &Number, base: u32) -> String {
    wrap(&plain(number, base))
}

/// The same on one line.
pub fn plain(number: &Number, base: u32) -> String {
    if number.is_zero() {
        return "0".to_owned();
    }
    let (whole, rest) = number.split();
    let sign = if number.is_negative() { "-" } else { "" };
    if base == 10 {
        let whole = if whole.is_zero() { String::new() } else { whole.to_string() };
        return match number.scale {
            0 => format!("{sign}{whole}"),
            scale => {
                let rest = rest.to_string();
                // `format!` panics where it is asked for more than 65,535 places.
                format!("{sign}{whole}.{}{rest}", "0".repeat(scale.saturating_sub(rest.len())))
            }
        };
    }
    let mut out = sign.to_owned();
    out.push_str(&whole_part(&whole, base));
    if number.scale > 0 {
        out.push('.');
        fraction(&mut out, rest, number.scale, base);
    }
    out
}

fn whole_part(whole: &BigInt, base: u32) -> String {
    if base <= 16 {
        let text = if whole.is_zero() { String::new() } else { whole.to_str_radix(base) };
        return text.to_uppercase();
    }
    let mut digits = Vec::new();
    let mut rest = whole.clone();
    while !rest.is_zero() {
        let (next, digit) = rest.div_rem(&BigInt::from(base));
        digits.push(digit);
        rest = next;
    }
    digits.iter().rev().map(|digit| wide(digit, base)).collect()
}

/// A digit of a large base: a blank, and as many places as the largest needs.
fn wide(digit: &BigInt, base: u32) -> String {
    let places = (base - 1).to_string().len();
    format!(" {:0>places$}", digit.to_string())
}

/// As many places as the scale is worth in the other base.
fn fraction(out: &mut String, mut rest: BigInt, scale: usize, base: u32) {
    let unit = ten_to(scale);
    let mut reached = BigInt::from(1);
    while reached < unit {
        reached *= base;
        let (digit, next) = (rest * base).div_rem(&unit);
        rest = next;
        if base <= 16 {
            let digit = digit.to_u32().and_then(|it| char::from_digit(it, 16)).unwrap_or('0');
            out.push(digit.to_ascii_uppercase());
        } else {
            let digit = wide(&digit, base);
            // The point stands for the blank of the first one.
            out.push_str(if out.ends_with('.') { digit.trim_start() } else { &digit });
        }
    }
}

fn wrap(text: &str) -> String {
    if text.len() <= LINE_LENGTH {
        return text.to_owned();
    }
    let lines: Vec<String> =
        text.as_bytes().chunks(LINE_LENGTH).map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    lines.join("\\\n")
}
