//! `printf`: all of C's conversions that awk has.

use crate::number;
use crate::value::Value;

/// Wider or more precise than this is not meant.
const WIDTH_MAX: usize = 1 << 20;

/// Appends one number as `format` says.
pub(crate) fn push_number(out: &mut Vec<u8>, format: &[u8], value: f64) {
    // A format without room for more arguments cannot fail.
    let _ = push(out, format, &[Value::Num(value)], b"%.6g");
}

#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
}

/// Appends `values` as `format` says; `convert` is `CONVFMT`.
pub(crate) fn push(out: &mut Vec<u8>, format: &[u8], values: &[Value], convert: &[u8]) -> Result<(), String> {
    let mut next = 0;
    let mut at = 0;
    while at < format.len() {
        if format[at] != b'%' {
            let end = memchr::memchr(b'%', &format[at..]).map_or(format.len(), |length| at + length);
            out.extend_from_slice(&format[at..end]);
            at = end;
            continue;
        }
        let start = at;
        at += 1;
        let mut take = |position: Option<usize>| {
            let index = position.unwrap_or(next);
            if position.is_none() {
                next += 1;
            }
            values.get(index)
        };
        let mut spec = Spec::default();
        let position = positional(format, &mut at);
        while let Some(flag) = format.get(at) {
            match flag {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                b'\'' => {}
                _ => break,
            }
            at += 1;
        }
        if format.get(at) == Some(&b'*') {
            at += 1;
            let width = take(None).map_or(0.0, Value::num);
            spec.left |= width < 0.0;
            spec.width = (width.abs() as usize).min(WIDTH_MAX);
        } else {
            spec.width = digits(format, &mut at);
        }
        if format.get(at) == Some(&b'.') {
            at += 1;
            spec.precision = if format.get(at) == Some(&b'-') {
                // Less than none is as if none was given.
                at += 1;
                digits(format, &mut at);
                None
            } else if format.get(at) == Some(&b'*') {
                at += 1;
                let precision = take(None).map_or(0.0, Value::num);
                (precision >= 0.0).then_some((precision as usize).min(WIDTH_MAX))
            } else {
                Some(digits(format, &mut at))
            };
        }
        while matches!(format.get(at), Some(b'h' | b'l' | b'L' | b'q' | b'j' | b'z')) {
            at += 1;
        }
        let Some(letter) = format.get(at).copied() else {
            out.extend_from_slice(&format[start..]);
            break;
        };
        at += 1;
        if letter == b'%' {
            out.push(b'%');
            continue;
        }
        if !b"cdiouxXeEfFgGaAs".contains(&letter) {
            out.extend_from_slice(&format[start..at]);
            continue;
        }
        let Some(value) = take(position) else {
            let format = String::from_utf8_lossy(format);
            return Err(format!(
                "fatal: not enough arguments to satisfy format string\n\t`{}'",
                format.trim_end()
            ));
        };
        one(out, letter, &spec, value, convert);
    }
    Ok(())
}

/// `%2$s`.
fn positional(format: &[u8], at: &mut usize) -> Option<usize> {
    let mut end = *at;
    let number = digits(format, &mut end);
    if number == 0 || format.get(end) != Some(&b'$') {
        return None;
    }
    *at = end + 1;
    Some(number - 1)
}

fn digits(format: &[u8], at: &mut usize) -> usize {
    let mut value = 0usize;
    while let Some(digit) = format.get(*at).filter(|it| it.is_ascii_digit()) {
        value = (value * 10 + usize::from(digit - b'0')).min(WIDTH_MAX);
        *at += 1;
    }
    value
}

fn one(out: &mut Vec<u8>, letter: u8, spec: &Spec, value: &Value, convert: &[u8]) {
    match letter {
        b's' => {
            let text = value.to_text(convert);
            let text = match spec.precision {
                Some(most) => &text[..prefix_length(&text, most)],
                None => text.as_slice(),
            };
            pad_text(out, text, spec);
        }
        b'c' => {
            let number = match value {
                Value::Num(number) => Some(*number),
                Value::Input(text) => number::whole(text),
                _ => None,
            };
            let text = match number {
                Some(number) => match char::from_u32(number as u32) {
                    Some(sign) => sign.to_string().into_bytes(),
                    None => vec![number as u8],
                },
                None => {
                    let text = value.to_text(convert);
                    // C ends a text with a NUL, and that is the first sign of an empty one.
                    if text.is_empty() { vec![0] } else { text[..prefix_length(&text, 1)].to_vec() }
                }
            };
            pad_text(out, &text, spec);
        }
        b'd' | b'i' => {
            let number = value.num();
            if !number.is_finite() {
                return special(out, number, spec);
            }
            let whole = number.trunc();
            let digits = format!("{:.0}", whole.abs()).into_bytes();
            integer(out, digits, b"", whole < 0.0, spec);
        }
        b'o' | b'u' | b'x' | b'X' => {
            let number = value.num();
            if !number.is_finite() {
                return special(out, number, spec);
            }
            let number = number.trunc();
            // What no unsigned number holds is shown as any other.
            if !(-9.223_372_036_854_776e18..1.844_674_407_370_955_2e19).contains(&number) {
                return floating(out, b'g', spec, number);
            }
            let whole = if number < 0.0 { number as i64 as u64 } else { number as u64 };
            let (digits, mark) = match letter {
                b'o' => (format!("{whole:o}"), ""),
                b'x' => (format!("{whole:x}"), "0x"),
                b'X' => (format!("{whole:X}"), "0X"),
                _ => (format!("{whole}"), ""),
            };
            let marked = spec.alternate && whole != 0;
            let digits = if marked && letter == b'o' { format!("0{digits}") } else { digits };
            let mark = if marked { mark } else { "" };
            let plain = Spec { plus: false, space: false, ..*spec };
            integer(out, digits.into_bytes(), mark.as_bytes(), false, &plain);
        }
        _ => floating(out, letter, spec, value.num()),
    }
}

fn floating(out: &mut Vec<u8>, letter: u8, spec: &Spec, number: f64) {
    if !number.is_finite() {
        return special(out, number, spec);
    }
    let precision = spec.precision.unwrap_or(6);
    let magnitude = number.abs();
    let mut digits = Vec::new();
    match letter.to_ascii_lowercase() {
        b'f' => {
            number::push_fixed(&mut digits, magnitude, precision);
            if spec.alternate && precision == 0 {
                digits.push(b'.');
            }
        }
        b'e' => number::push_exponent(&mut digits, magnitude, precision, spec.alternate),
        _ => number::push_general(&mut digits, magnitude, precision, spec.alternate),
    }
    if letter.is_ascii_uppercase() {
        digits.make_ascii_uppercase();
    }
    let spec = Spec { precision: None, ..*spec };
    integer(out, digits, b"", number.is_sign_negative(), &spec);
}

fn special(out: &mut Vec<u8>, number: f64, spec: &Spec) {
    let mut text = Vec::new();
    number::push_special(&mut text, number);
    pad_text(out, &text, spec);
}

/// Digits with their sign or mark, zeros and blanks.
fn integer(out: &mut Vec<u8>, mut digits: Vec<u8>, mark: &[u8], negative: bool, spec: &Spec) {
    if let Some(least) = spec.precision {
        if least == 0 && digits == b"0" {
            digits.clear();
        }
        if digits.len() < least {
            digits.splice(0..0, std::iter::repeat_n(b'0', least - digits.len()));
        }
    }
    let sign: &[u8] = match (negative, spec.plus, spec.space) {
        (true, ..) => b"-",
        (_, true, _) => b"+",
        (_, _, true) => b" ",
        _ => mark,
    };
    let fill = spec.width.saturating_sub(digits.len() + sign.len());
    if spec.left {
        out.extend_from_slice(sign);
        out.extend_from_slice(&digits);
        out.extend(std::iter::repeat_n(b' ', fill));
    } else if spec.zero && spec.precision.is_none() {
        out.extend_from_slice(sign);
        out.extend(std::iter::repeat_n(b'0', fill));
        out.extend_from_slice(&digits);
    } else {
        out.extend(std::iter::repeat_n(b' ', fill));
        out.extend_from_slice(sign);
        out.extend_from_slice(&digits);
    }
}

fn pad_text(out: &mut Vec<u8>, text: &[u8], spec: &Spec) {
    let fill = spec.width.saturating_sub(if spec.width == 0 { 0 } else { sign_count(text) });
    if spec.left {
        out.extend_from_slice(text);
        out.extend(std::iter::repeat_n(b' ', fill));
    } else {
        out.extend(std::iter::repeat_n(b' ', fill));
        out.extend_from_slice(text);
    }
}

/// How many characters there are; a byte that is none counts for one.
pub(crate) fn sign_count(text: &[u8]) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.utf8_chunks().map(|it| it.valid().chars().count() + it.invalid().len()).sum()
}

/// How many bytes the first `count` characters are.
pub(crate) fn prefix_length(text: &[u8], count: usize) -> usize {
    if count >= text.len() || text.is_ascii() {
        return count.min(text.len());
    }
    let (mut length, mut left) = (0, count);
    for chunk in text.utf8_chunks() {
        for sign in chunk.valid().chars() {
            if left == 0 {
                return length;
            }
            length += sign.len_utf8();
            left -= 1;
        }
        let taken = left.min(chunk.invalid().len());
        length += taken;
        left -= taken;
    }
    length
}
