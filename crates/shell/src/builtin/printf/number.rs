//! Numbers as `printf` reads and writes them.

use std::fmt::Write as _;

use super::Spec;

pub(super) fn float_digits(value: f64, spec: &Spec, letter: char) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "nan".into() } else { "inf".into() };
    }
    let precision = spec.precision.unwrap_or(6).min(1_000);
    match letter {
        'f' => format!("{value:.precision$}"),
        'e' => exponent(value, precision),
        'g' => {
            let precision = precision.max(1);
            let shown = exponent(value, precision - 1);
            let power: i32 = shown.split_once('e').and_then(|it| it.1.parse().ok()).unwrap_or(0);
            let fits = power >= -4 && power < i32::try_from(precision).unwrap_or(i32::MAX);
            let shown = if fits {
                let places = usize::try_from(i32::try_from(precision).unwrap_or(0) - 1 - power).unwrap_or(0);
                format!("{value:.places$}")
            } else {
                shown
            };
            if spec.alternate { shown } else { trim_zeros(&shown) }
        }
        _ => format!("{value:e}"),
    }
}

/// With zeros in front, to a width that `format!` would not take: its own end at 65,535.
pub(super) fn zero_filled(digits: &str, width: usize) -> String {
    let missing = width.saturating_sub(digits.chars().count());
    let mut all = "0".repeat(missing);
    all.push_str(digits);
    all
}

pub(super) fn trim_zeros(shown: &str) -> String {
    let (digits, power) = match shown.split_once('e') {
        Some((digits, power)) => (digits, format!("e{power}")),
        None => (shown, String::new()),
    };
    if !digits.contains('.') {
        return shown.to_owned();
    }
    format!("{}{power}", digits.trim_end_matches('0').trim_end_matches('.'))
}

pub(super) fn exponent(value: f64, precision: usize) -> String {
    let shown = format!("{value:.precision$e}");
    let (digits, power) = shown.split_once('e').unwrap_or((&shown, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let sign = if power < 0 { '-' } else { '+' };
    let mut all = String::new();
    let _ = write!(all, "{digits}e{sign}{:02}", power.abs());
    all
}

/// A number as C reads one; on error, what could be read.
pub(super) fn integer(text: &str) -> Result<i128, i128> {
    let text = text.trim_start();
    if let Some(quoted) = text.strip_prefix(['\'', '"']) {
        return Ok(quoted.chars().next().map_or(0, |it| it as i128));
    }
    let (negative, digits) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    let (base, digits) = if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        (16, hex)
    } else if digits.len() > 1 && digits.starts_with('0') {
        (8, &digits[1..])
    } else {
        (10, digits)
    };
    let length = digits.find(|it: char| !it.is_digit(base)).unwrap_or(digits.len());
    let value =
        i128::from_str_radix(&digits[..length], base).unwrap_or(if length == 0 { 0 } else { i128::MAX });
    // One bit more than a word has: as unsigned that is all ones, as signed the least there is.
    let overflows = value > i128::from(u64::MAX);
    // Beyond what a machine word can say the largest one is meant.
    let value = if value > i128::from(u64::MAX) { i128::from(u64::MAX) } else { value };
    let value = if negative && overflows {
        -(1 << 64) - 1
    } else if negative {
        -value
    } else {
        value
    };
    if length < digits.len() || (digits.is_empty() && base != 8 && !text.is_empty()) {
        return Err(value);
    }
    Ok(value)
}
