//! The functions of `bc -l`: each is computed with more digits than are asked for, and cut off.

use crate::number::{Number, Undefined};
use std::cmp::Ordering;

/// Digits beyond those asked for.
const GUARD: usize = 12;

type Outcome = Result<Number, Undefined>;

/// The function of that name, if it is one of the library's.
pub(crate) fn call(name: &str, args: &[Number], scale: usize) -> Option<Outcome> {
    let one = args.first()?;
    Some(match (name, args.len()) {
        ("e", 1) => exp(one, scale),
        ("l", 1) => ln(one, scale),
        ("s", 1) => sine(one, scale),
        ("c", 1) => cosine(one, scale),
        ("a", 1) => atan(one, scale),
        ("j", 2) => bessel(one, &args[1], scale),
        _ => return None,
    })
}

fn half(value: &Number, work: usize) -> Outcome {
    value.div(&Number::from(2), work)
}

/// Sums terms until they vanish; `next` makes a term of the one before and its number.
fn series(first: Number, work: usize, mut next: impl FnMut(&Number, i64) -> Outcome) -> Outcome {
    let (mut sum, mut term, mut count) = (first.clone(), first.at(work), 1);
    while !term.is_zero() {
        term = next(&term, count)?.at(work);
        sum = sum.add(&term);
        count += 1;
    }
    Ok(sum)
}

fn exp(x: &Number, scale: usize) -> Outcome {
    // The result has about x/2.3 digits before the point, and all of them must be right.
    let size = x.to_i64().filter(|it| it.unsigned_abs() < 1 << 24).ok_or(Undefined::ExponentTooLarge)?;
    let whole_digits = usize::try_from(size.max(0)).unwrap_or(0) * 10 / 23 + 1;
    let mut work = scale + GUARD + whole_digits;
    let (mut small, mut halvings) = (x.at(work + 40), 0usize);
    while small.split().0 > 0.into() || small.compare(&Number::from(-1)) == Ordering::Less {
        small = half(&small, work + 40)?;
        halvings += 1;
    }
    work += halvings;
    let mut result =
        series(Number::from(1), work, |term, count| term.mul(&small, work).div(&Number::from(count), work))?;
    for _ in 0..halvings {
        result = Number::new(&result.digits * &result.digits, result.scale * 2).at(work);
    }
    Ok(result.at(scale))
}

fn ln(x: &Number, scale: usize) -> Outcome {
    if x.is_zero() || x.is_negative() {
        // What bc's own library answers instead of failing.
        let huge = Number::new(1.into(), 0).sub(&Number::new(crate::number::ten_to(scale), 0));
        return huge.div(&Number::from(1), scale);
    }
    let work = scale + GUARD + x.length() / 2;
    let (mut small, mut factor) = (x.at(work.max(x.scale)), Number::from(2));
    let (low, high) = (Number::new(5.into(), 1), Number::from(2));
    while small.compare(&high) != Ordering::Less || small.compare(&low) != Ordering::Greater {
        small = small.sqrt(work + 10)?;
        factor = factor.mul(&Number::from(2), 0);
    }
    // ln x = 2·artanh((x-1)/(x+1))
    let work = work + 10;
    let ratio = small.sub(&Number::from(1)).div(&small.add(&Number::from(1)), work)?;
    let sum = odd_series(&ratio, work, false)?;
    Ok(factor.mul(&sum, work).at(scale))
}

/// x + x³/3 + x⁵/5 …, or with alternating signs.
fn odd_series(x: &Number, work: usize, alternating: bool) -> Outcome {
    let square = x.mul(x, work);
    let square = if alternating { square.neg() } else { square };
    let (mut sum, mut power, mut count) = (x.at(work), x.at(work), 1i64);
    loop {
        power = power.mul(&square, work).at(work);
        count += 2;
        let term = power.div(&Number::from(count), work)?;
        if term.is_zero() {
            return Ok(sum);
        }
        sum = sum.add(&term);
    }
}

fn atan(x: &Number, scale: usize) -> Outcome {
    let work = scale + GUARD;
    let (mut small, mut doublings) = (x.at(work.max(x.scale)), 0);
    let limit = Number::new(2.into(), 1);
    // atan x = 2·atan(x / (1 + sqrt(1 + x²)))
    while Number::new(small.digits.magnitude().clone().into(), small.scale).compare(&limit)
        == Ordering::Greater
    {
        let root = Number::from(1).add(&small.mul(&small, work + 6)).sqrt(work + 6)?;
        small = small.div(&root.add(&Number::from(1)), work + 6)?;
        doublings += 1;
    }
    let sum = odd_series(&small, work + 6, true)?;
    let factor = Number::from(2).pow(&Number::from(doublings), 0)?;
    Ok(sum.mul(&factor, work + 6).at(scale))
}

fn pi(work: usize) -> Outcome {
    // Machin: π = 16·atan(1/5) - 4·atan(1/239)
    let part = |under: i64, times: i64| -> Outcome {
        let x = Number::from(1).div(&Number::from(under), work + 6)?;
        Ok(odd_series(&x, work + 6, true)?.mul(&Number::from(times), work + 6))
    };
    Ok(part(5, 16)?.sub(&part(239, 4)?).at(work))
}

fn sine(x: &Number, scale: usize) -> Outcome {
    let work = scale + GUARD + x.at(0).length();
    let turn = pi(work)?.mul(&Number::from(2), work);
    let turns = x.div(&turn, 0)?;
    let small = x.sub(&turns.mul(&turn, work)).at(work);
    let square = small.mul(&small, work).neg();
    let sum = series(small, work, |term, count| {
        term.mul(&square, work).div(&Number::from(2 * count * (2 * count + 1)), work)
    })?;
    Ok(sum.at(scale))
}

fn cosine(x: &Number, scale: usize) -> Outcome {
    let work = scale + GUARD + x.at(0).length();
    let quarter = half(&pi(work)?, work)?;
    sine(&x.add(&quarter).at(work.max(x.scale)), scale)
}

fn bessel(order: &Number, x: &Number, scale: usize) -> Outcome {
    let order = order.to_i64().ok_or(Undefined::ExponentTooLarge)?;
    let (size, odd) = (order.unsigned_abs() as i64, order < 0 && order % 2 != 0);
    if size > 10_000 {
        return Err(Undefined::ExponentTooLarge);
    }
    let work = scale + GUARD + x.at(0).length() * 2;
    let halved = half(x, work)?;
    let mut first = Number::from(1).at(work);
    for count in 1..=size {
        first = first.mul(&halved, work).div(&Number::from(count), work)?;
    }
    let square = halved.mul(&halved, work).neg();
    let sum = series(first, work, |term, count| {
        term.mul(&square, work).div(&Number::from(count * (count + size)), work)
    })?;
    Ok(if odd { sum.neg() } else { sum }.at(scale))
}
