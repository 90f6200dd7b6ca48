//! Numbers.

use super::{Row, wrong};
use crate::run::Exit;
use crate::value::Value;

/// A function of one number.
macro_rules! one {
    ($function:expr) => {
        |value, _| Ok(Value::Num($function(number(&value)?)))
    };
}

/// A function of two numbers.
macro_rules! two {
    ($function:expr) => {
        |_, args| Ok(Value::Num($function(number(&args[0])?, number(&args[1])?)))
    };
}

pub(super) const TABLE: &[Row] = &[
    ("floor", 0, one!(f64::floor)),
    ("ceil", 0, one!(f64::ceil)),
    ("round", 0, one!(f64::round)),
    ("trunc", 0, one!(f64::trunc)),
    ("rint", 0, one!(f64::round_ties_even)),
    ("nearbyint", 0, one!(f64::round_ties_even)),
    ("fabs", 0, one!(f64::abs)),
    ("abs", 0, |value, _| match &value {
        // The order of values puts strings and containers above every number.
        Value::Str(_) | Value::Arr(_) | Value::Obj(_) => Ok(value),
        other => match other.as_f64() {
            Some(number) if number < 0.0 => Ok(Value::Num(-number)),
            Some(_) => Ok(value),
            None => Err(wrong(other, "cannot be negated")),
        },
    }),
    ("sqrt", 0, one!(f64::sqrt)),
    ("cbrt", 0, one!(libm::cbrt)),
    ("exp", 0, one!(libm::exp)),
    ("exp2", 0, one!(libm::exp2)),
    ("exp10", 0, one!(libm::exp10)),
    ("pow10", 0, one!(libm::exp10)),
    ("expm1", 0, one!(libm::expm1)),
    ("log", 0, one!(libm::log)),
    ("log2", 0, one!(libm::log2)),
    ("log10", 0, one!(libm::log10)),
    ("log1p", 0, one!(libm::log1p)),
    ("sin", 0, one!(libm::sin)),
    ("cos", 0, one!(libm::cos)),
    ("tan", 0, one!(libm::tan)),
    ("asin", 0, one!(libm::asin)),
    ("acos", 0, one!(libm::acos)),
    ("atan", 0, one!(libm::atan)),
    ("sinh", 0, one!(libm::sinh)),
    ("cosh", 0, one!(libm::cosh)),
    ("tanh", 0, one!(libm::tanh)),
    ("asinh", 0, one!(libm::asinh)),
    ("acosh", 0, one!(libm::acosh)),
    ("atanh", 0, one!(libm::atanh)),
    ("gamma", 0, one!(libm::lgamma)),
    ("lgamma", 0, one!(libm::lgamma)),
    ("tgamma", 0, one!(libm::tgamma)),
    ("lgamma_r", 0, |value, _| {
        let (result, sign) = libm::lgamma_r(number(&value)?);
        Ok(Value::arr(vec![Value::Num(result), Value::Num(f64::from(sign))]))
    }),
    ("j0", 0, one!(libm::j0)),
    ("j1", 0, one!(libm::j1)),
    ("y0", 0, one!(libm::y0)),
    ("y1", 0, one!(libm::y1)),
    ("significand", 0, one!(significand)),
    ("logb", 0, one!(logb)),
    ("frexp", 0, |value, _| {
        let number = number(&value)?;
        let (mantissa, exponent) = if number.is_finite() { libm::frexp(number) } else { (number, 0) };
        Ok(Value::arr(vec![Value::Num(mantissa), Value::Num(f64::from(exponent))]))
    }),
    ("modf", 0, |value, _| {
        let number = number(&value)?;
        let part = if number.is_infinite() { 0.0_f64.copysign(number) } else { number.fract() };
        Ok(Value::arr(vec![Value::Num(part), Value::Num(number.trunc())]))
    }),
    ("pow", 2, two!(libm::pow)),
    ("atan2", 2, two!(libm::atan2)),
    ("fmod", 2, two!(libm::fmod)),
    ("fmin", 2, two!(f64::min)),
    ("fmax", 2, two!(f64::max)),
    ("fdim", 2, two!(libm::fdim)),
    ("hypot", 2, two!(libm::hypot)),
    ("copysign", 2, two!(f64::copysign)),
    ("drem", 2, two!(libm::remainder)),
    ("nextafter", 2, two!(libm::nextafter)),
    ("nexttoward", 2, two!(libm::nextafter)),
    ("ldexp", 2, two!(scaled)),
    ("scalb", 2, two!(scaled)),
    ("scalbln", 2, two!(scaled)),
    ("fma", 3, |_, args| Ok(Value::Num(libm::fma(number(&args[0])?, number(&args[1])?, number(&args[2])?)))),
    ("infinite", 0, |_, _| Ok(Value::Num(f64::INFINITY))),
    ("nan", 0, |_, _| Ok(Value::Num(f64::NAN))),
    ("isinfinite", 0, |value, _| Ok(Value::Bool(number(&value)?.is_infinite()))),
    ("isnan", 0, |value, _| Ok(Value::Bool(number(&value)?.is_nan()))),
    ("isnormal", 0, |value, _| Ok(Value::Bool(number(&value)?.is_normal()))),
    ("isfinite", 0, |value, _| Ok(Value::Bool(value.as_f64().is_some_and(|it| !it.is_infinite())))),
];

fn number(value: &Value) -> Result<f64, Exit> {
    value.as_f64().ok_or_else(|| wrong(value, "number required"))
}

fn scaled(number: f64, exponent: f64) -> f64 {
    libm::ldexp(number, exponent.clamp(-5000.0, 5000.0) as i32)
}

fn significand(number: f64) -> f64 {
    if number == 0.0 || !number.is_finite() {
        return number;
    }
    let (mantissa, _) = libm::frexp(number);
    mantissa * 2.0
}

fn logb(number: f64) -> f64 {
    if number == 0.0 {
        return f64::NEG_INFINITY;
    }
    if !number.is_finite() {
        return number.abs();
    }
    f64::from(libm::frexp(number).1 - 1)
}
