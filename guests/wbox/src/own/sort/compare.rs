//! Comparing two keys.

use super::key::{Kind, Order};
use std::cmp::Ordering;

/// In the order, `reverse` included.
pub fn by(order: &Order, left: &[u8], right: &[u8]) -> Ordering {
    let found = match order.kind {
        Kind::Text => cleaned(order, left).cmp(&cleaned(order, right)),
        Kind::Numeric => numeric(left, right),
        Kind::General => general(left).total_cmp(&general(right)),
        Kind::Human => human(left, right),
        Kind::Month => month(left).cmp(&month(right)),
        Kind::Version => version(left, right),
    };
    if order.reverse { found.reverse() } else { found }
}

fn cleaned(order: &Order, text: &[u8]) -> Vec<u8> {
    let counts = |byte: &u8| {
        let in_dictionary = byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'\t');
        let prints = (0x20..0x7f).contains(byte);
        (!order.dictionary || in_dictionary) && (!order.printing || prints)
    };
    let skipped = if order.blanks { trim(text) } else { text };
    skipped
        .iter()
        .copied()
        .filter(counts)
        .map(|byte| if order.fold { byte.to_ascii_uppercase() } else { byte })
        .collect()
}

fn trim(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(text.len());
    &text[start..]
}

/// Sign, whole part without zeros in front, and fraction without zeros behind.
fn parts(text: &[u8]) -> (bool, &[u8], &[u8], &[u8]) {
    let text = trim(text);
    let (negative, text) = text.strip_prefix(b"-").map_or((false, text), |rest| (true, rest));
    let count = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (whole, rest) = text.split_at(count(text));
    let zeros = whole.iter().take_while(|byte| **byte == b'0').count();
    let (fraction, rest) = match rest.strip_prefix(b".") {
        Some(after) => after.split_at(count(after)),
        None => (&b""[..], rest),
    };
    let kept = fraction.iter().rposition(|byte| *byte != b'0').map_or(0, |at| at + 1);
    (negative, &whole[zeros..], &fraction[..kept], rest)
}

fn numeric(left: &[u8], right: &[u8]) -> Ordering {
    let (left, right) = (parts(left), parts(right));
    let zero = |it: &(bool, &[u8], &[u8], &[u8])| it.1.is_empty() && it.2.is_empty();
    let sign = |it: &(bool, &[u8], &[u8], &[u8])| {
        if zero(it) {
            0
        } else if it.0 {
            -1
        } else {
            1
        }
    };
    let size = || {
        left.1.len().cmp(&right.1.len()).then_with(|| left.1.cmp(right.1)).then_with(|| left.2.cmp(right.2))
    };
    sign(&left).cmp(&sign(&right)).then_with(|| if left.0 { size().reverse() } else { size() })
}

/// What is no number comes before all numbers.
fn general(text: &[u8]) -> f64 {
    let text = String::from_utf8_lossy(trim(text)).into_owned();
    let longest = (0..=text.len()).rev().filter(|end| text.is_char_boundary(*end));
    longest.take(64).find_map(|end| text[..end].parse::<f64>().ok()).unwrap_or(f64::from_bits(u64::MAX))
}

fn human(left: &[u8], right: &[u8]) -> Ordering {
    let rank = |text: &[u8]| {
        let (negative, whole, fraction, rest) = parts(text);
        let unit = rest
            .first()
            .and_then(|unit| b"KMGTPEZYRQ".iter().position(|it| *it == unit.to_ascii_uppercase()));
        let rank = unit.map_or(0, |at| at as i64 + 1);
        match (whole.is_empty() && fraction.is_empty(), negative) {
            (true, _) => 0,
            (_, true) => -rank,
            (_, false) => rank,
        }
    };
    rank(left).cmp(&rank(right)).then_with(|| numeric(left, right))
}

fn month(text: &[u8]) -> usize {
    const MONTHS: [&[u8]; 12] =
        [b"JAN", b"FEB", b"MAR", b"APR", b"MAY", b"JUN", b"JUL", b"AUG", b"SEP", b"OCT", b"NOV", b"DEC"];
    let start = trim(text).get(..3).map(<[u8]>::to_ascii_uppercase).unwrap_or_default();
    MONTHS.iter().position(|month| *month == start).map_or(0, |at| at + 1)
}

/// Runs of digits by value, everything else by bytes with letters first.
fn version(mut left: &[u8], mut right: &[u8]) -> Ordering {
    loop {
        let split = |text: &[u8], digits: bool| {
            text.iter().position(|it| it.is_ascii_digit() != digits).unwrap_or(text.len())
        };
        let (a, b) = (split(left, false), split(right, false));
        let weight = |byte: &u8| match byte {
            b'~' => -1,
            letter if letter.is_ascii_alphabetic() => i32::from(*letter),
            other => i32::from(*other) + 256,
        };
        let texts = left[..a].iter().map(weight).cmp(right[..b].iter().map(weight));
        (left, right) = (&left[a..], &right[b..]);
        let (a, b) = (split(left, true), split(right, true));
        let numbers = numeric(&left[..a], &right[..b]);
        (left, right) = (&left[a..], &right[b..]);
        let found = texts.then(numbers);
        if found.is_ne() || (left.is_empty() && right.is_empty()) {
            return found;
        }
    }
}
