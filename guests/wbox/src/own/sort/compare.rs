//! Comparing two keys, and the numbers that stand for them.
//!
//! [`prefix`] makes eight bytes of a key that are ordered as the keys are wherever they differ. Most
//! comparisons end there, without a look at the lines.

use super::key::{Kind, Order};
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hasher as _};

/// In the order, `reverse` included.
pub fn by(order: &Order, seed: u64, left: &[u8], right: &[u8]) -> Ordering {
    let found = match order.kind {
        Kind::Text if order.is_plain() => left.cmp(right),
        Kind::Text => cleaned(order, left).cmp(cleaned(order, right)),
        Kind::Numeric => numeric(left, right),
        Kind::General => general(left).total_cmp(&general(right)),
        Kind::Human => human_rank(left).cmp(&human_rank(right)).then_with(|| numeric(left, right)),
        Kind::Month => month(left).cmp(&month(right)),
        Kind::Random => {
            let hashes = hash(order, seed, left).cmp(&hash(order, seed, right));
            hashes.then_with(|| cleaned(order, left).cmp(cleaned(order, right)))
        }
        Kind::Version if order.dictionary || order.fold || order.printing => {
            let clean = |text| cleaned(order, text).collect::<Vec<u8>>();
            version(&clean(left), &clean(right))
        }
        Kind::Version => version(left, right),
    };
    if order.reverse { found.reverse() } else { found }
}

/// Smaller for a key that comes first, and the same where that takes a closer look.
pub fn prefix(order: &Order, seed: u64, key: &[u8]) -> u64 {
    let found = match order.kind {
        Kind::Text if order.is_plain() => match key.first_chunk::<8>() {
            Some(first) => u64::from_be_bytes(*first),
            None => padded(key.iter().copied()),
        },
        Kind::Text => padded(cleaned(order, key)),
        Kind::Numeric => signed(whole(key, 1 << 62)),
        Kind::Human => signed((i64::from(human_rank(key)) << 56).saturating_add(whole(key, 1 << 55))),
        Kind::General => {
            let bits = general(key).to_bits();
            if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
        }
        Kind::Month => month(key) as u64,
        Kind::Random => hash(order, seed, key),
        Kind::Version => 0,
    };
    if order.reverse { !found } else { found }
}

fn padded(bytes: impl Iterator<Item = u8>) -> u64 {
    let mut eight = [0; 8];
    eight.iter_mut().zip(bytes).for_each(|(room, byte)| *room = byte);
    u64::from_be_bytes(eight)
}

fn signed(value: i64) -> u64 {
    (value as u64) ^ 1 << 63
}

fn hash(order: &Order, seed: u64, text: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(seed);
    cleaned(order, text).for_each(|byte| hasher.write_u8(byte));
    hasher.finish()
}

/// The bytes that count, as they count.
fn cleaned<'t>(order: &'t Order, text: &'t [u8]) -> impl Iterator<Item = u8> + 't {
    let counts = |byte: &u8| {
        let in_dictionary = byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'\t');
        let prints = (0x20..0x7f).contains(byte);
        (!order.dictionary || in_dictionary) && (!order.printing || prints)
    };
    let fold = |byte: u8| if order.fold { byte.to_ascii_uppercase() } else { byte };
    text.iter().copied().filter(counts).map(fold)
}

fn trim(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n')).unwrap_or(text.len());
    &text[start..]
}

/// A number as it is written.
struct Number<'t> {
    negative: bool,
    /// Without zeros in front.
    whole: &'t [u8],
    /// Without zeros behind.
    fraction: &'t [u8],
    rest: &'t [u8],
}

impl<'t> Number<'t> {
    fn read(text: &'t [u8]) -> Self {
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
        Self { negative, whole: &whole[zeros..], fraction: &fraction[..kept], rest }
    }

    fn sign(&self) -> i8 {
        match (self.whole.is_empty() && self.fraction.is_empty(), self.negative) {
            (true, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        }
    }
}

/// The whole part, within `max` on both sides.
fn whole(text: &[u8], max: i64) -> i64 {
    let number = Number::read(text);
    let value = number
        .whole
        .iter()
        .fold(0i64, |sum, digit| sum.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    let value = value.min(max - 1);
    if number.negative { -value } else { value }
}

fn numeric(left: &[u8], right: &[u8]) -> Ordering {
    let (left, right) = (Number::read(left), Number::read(right));
    let size = || {
        let whole = left.whole.len().cmp(&right.whole.len()).then_with(|| left.whole.cmp(right.whole));
        whole.then_with(|| left.fraction.cmp(right.fraction))
    };
    let signs = left.sign().cmp(&right.sign());
    signs.then_with(|| if left.negative { size().reverse() } else { size() })
}

/// What is no number comes before all numbers.
fn general(text: &[u8]) -> f64 {
    const NO_NUMBER: f64 = f64::from_bits(u64::MAX);
    let text = trim(text);
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let word = |word: &[u8]| text[sign..].get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word));
    let signed = |value: f64| if text.first() == Some(&b'-') { -value } else { value };
    if word(b"inf") {
        return signed(f64::INFINITY);
    }
    if word(b"nan") {
        // After what is no number, before all that are.
        return f64::from_bits(u64::MAX - 1);
    }
    let mut end = sign + digits(&text[sign..]);
    let mut some = end > sign;
    if text.get(end) == Some(&b'.') {
        let fraction = digits(&text[end + 1..]);
        some |= fraction > 0;
        end += 1 + fraction;
    }
    if !some {
        return NO_NUMBER;
    }
    if let Some(b'e' | b'E') = text.get(end) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let power = digits(text.get(end + 1 + sign..).unwrap_or_default());
        if power > 0 {
            end += 1 + sign + power;
        }
    }
    let value: f64 =
        std::str::from_utf8(&text[..end]).ok().and_then(|it| it.parse().ok()).unwrap_or(NO_NUMBER);
    // Both zeros are the same.
    if value == 0.0 { 0.0 } else { value }
}

fn human_rank(text: &[u8]) -> i8 {
    let number = Number::read(text);
    let unit = number
        .rest
        .first()
        .and_then(|unit| b"KMGTPEZYRQ".iter().position(|it| it == unit || (*it == b'K' && *unit == b'k')));
    number.sign() * unit.map_or(0, |at| at as i8 + 1)
}

fn month(text: &[u8]) -> usize {
    const MONTHS: [&[u8]; 12] =
        [b"JAN", b"FEB", b"MAR", b"APR", b"MAY", b"JUN", b"JUL", b"AUG", b"SEP", b"OCT", b"NOV", b"DEC"];
    let Some(start) = trim(text).get(..3) else { return 0 };
    MONTHS.iter().position(|month| month.eq_ignore_ascii_case(start)).map_or(0, |at| at + 1)
}

/// Runs of digits by value, everything else by bytes with letters first.
pub fn version(mut left: &[u8], mut right: &[u8]) -> Ordering {
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
        // The end of a text comes after `~` and before everything else.
        let weights = |text: &[u8]| text.iter().map(weight).chain([0]).collect::<Vec<i32>>();
        let texts = weights(&left[..a]).cmp(&weights(&right[..b]));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_never_contradicts_the_order() {
        let words = [
            "",
            "a",
            "B",
            "ab",
            "abcdefgh",
            "abcdefghi",
            "abcdefgh\0",
            "-1",
            "-0.5",
            "0",
            "00",
            "0.25",
            "1",
            "1K",
            "2M",
            "-3G",
            "10",
            "1e3",
            "99999999999999999999",
            "-99999999999999999999",
            "999999999999999999999T",
            "jan",
            "FEB",
            "inf",
            "-inf",
            "nan",
            "  7",
            "1.5k",
            "\u{ff}",
            "v1.10",
            "v1.9",
        ];
        let kinds =
            [Kind::Text, Kind::Numeric, Kind::General, Kind::Human, Kind::Month, Kind::Random, Kind::Version];
        for kind in kinds {
            for (reverse, fold) in [(false, false), (true, false), (false, true)] {
                let order = Order { kind, reverse, fold, ..Order::default() };
                for (left, right) in
                    words.iter().flat_map(|left| words.iter().map(move |right| (left, right)))
                {
                    let (left, right) = (left.as_bytes(), right.as_bytes());
                    let short = prefix(&order, 7, left).cmp(&prefix(&order, 7, right));
                    let long = by(&order, 7, left, right);
                    assert!(
                        short.is_eq() || short == long,
                        "{order:?} {left:?} {right:?} {short:?} {long:?}"
                    );
                }
            }
        }
    }
}
