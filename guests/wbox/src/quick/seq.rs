//! `seq [-w] [-s TEXT] [FIRST [STEP]] LAST` in whole numbers.

use super::stream::Out;

/// Beyond it numbers need more care than this takes.
const DIGITS_MAX: usize = 15;

pub fn seq(args: &[&[u8]]) -> Option<i32> {
    let (mut wide, mut between, mut numbers) = (false, &b"\n"[..], Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match *arg {
            b"-w" => wide = true,
            b"-s" => between = args.next()?,
            [b'-', b's', text @ ..] => between = text,
            _ => numbers.push(number(arg)?),
        }
    }
    // Escapes in the text between are another matter.
    if between.contains(&b'\\') {
        return None;
    }
    let (first, step, last) = match *numbers.as_slice() {
        [last] => (1, 1, last),
        [first, last] => (first, 1, last),
        [first, step, last] if step != 0 => (first, step, last),
        _ => return None,
    };
    let mut out = Out::new("seq");
    let width = if wide { first.to_string().len().max(last.to_string().len()) } else { 0 };
    let (mut at, mut any, mut text) = (first, false, Vec::with_capacity(24));
    while if step > 0 { at <= last } else { at >= last } {
        if any {
            out.put(between);
        }
        any = true;
        text.clear();
        digits(at, width, &mut text);
        if !out.put(&text) {
            break;
        }
        at += step;
    }
    if any {
        out.sign(b'\n');
    }
    Some(out.end(0))
}

fn number(text: &[u8]) -> Option<i64> {
    let (digits, sign) = match text {
        [b'-', digits @ ..] => (digits, -1),
        _ => (text, 1),
    };
    // A zero in front says how wide the numbers are to be.
    if digits.is_empty() || digits.len() > DIGITS_MAX || (digits.len() > 1 && digits[0] == b'0') {
        return None;
    }
    let all = digits.iter().all(u8::is_ascii_digit);
    // `-0` is shown as it is.
    let value = digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit.wrapping_sub(b'0')));
    (all && (sign > 0 || value > 0)).then_some(sign * value)
}

fn digits(value: i64, width: usize, out: &mut Vec<u8>) {
    let mut backwards = [0; 20];
    let (mut rest, mut count) = (value.unsigned_abs(), 0);
    loop {
        backwards[count] = b'0' + (rest % 10) as u8;
        count += 1;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let minus = usize::from(value < 0);
    if minus == 1 {
        out.push(b'-');
    }
    out.resize(minus + width.saturating_sub(count + minus), b'0');
    if minus == 1 {
        out[0] = b'-';
    }
    out.extend(backwards[..count].iter().rev());
}
