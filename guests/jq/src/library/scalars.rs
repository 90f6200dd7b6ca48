//! Functions over single values whose results or messages must be jq's own.

use super::{regex, wording};
use crate::data::Kind;
use crate::input;
use jaq_core::native::{Filter, Fun, bome, run, v};
use jaq_core::{Error, Exn, RunPtr};
use jaq_json::{Val, ValR};
use jaq_std::ValT as _;
use jaq_std::input::HasInputs as _;

/// Ours, to be put before jaq's.
pub fn funs() -> impl Iterator<Item = Fun<Kind>> {
    let funs: [Filter<RunPtr<Kind>>; 9] = [
        ("message_in_jq_words", v(0), |cv| {
            bome(Ok(match &cv.1 {
                Val::TStr(text) => Val::from(wording::of(&String::from_utf8_lossy(text))),
                other => other.clone(),
            }))
        }),
        ("divide", v(2), |mut cv| {
            let (right, left) = (cv.0.pop_var(), cv.0.pop_var());
            bome(divide(left, right))
        }),
        ("remainder_of", v(2), |mut cv| {
            let (right, left) = (cv.0.pop_var(), cv.0.pop_var());
            bome(remainder(&left, &right))
        }),
        ("next_input", v(0), |cv| {
            let mut inputs = cv.0.data().inputs();
            let next = inputs.next();
            Box::new(next.map(|next| next.map_err(|problem| Exn::from(Error::str(problem)))).into_iter())
        }),
        ("match_native", v(2), |mut cv| {
            let (flags, pattern) = (cv.0.pop_var(), cv.0.pop_var());
            bome(regex::matches(&cv.1, &pattern, &flags))
        }),
        ("described", v(0), |cv| bome(Ok(Val::from(wording::described(&cv.1))))),
        ("kind", v(0), |cv| bome(Ok(Val::from(wording::kind(&cv.1).to_owned())))),
        ("json_of_text", v(0), |cv| {
            bome(text(&cv.1).and_then(|text| {
                let parsed = input::parse_one(text.clone().into_bytes().into());
                parsed.map_err(|problem| Error::str(format!("{problem} (while parsing '{text}')")))
            }))
        }),
        ("number_of_text", v(0), |cv| {
            bome(text(&cv.1).and_then(|text| {
                let literal = input::parse_literal(text.trim().as_bytes());
                literal.filter(|value| matches!(value, Val::Num(_))).ok_or_else(|| {
                    let column = text.len();
                    Error::str(format!(
                        "Invalid numeric literal at EOF at line 1, column {column} (while parsing '{text}')"
                    ))
                })
            }))
        }),
    ];
    funs.into_iter().map(run::<Kind>)
}

fn text(value: &Val) -> Result<String, jaq_json::Error> {
    match value {
        Val::TStr(text) => Ok(String::from_utf8_lossy(text).into_owned()),
        other => Err(Error::str(format!("{} cannot be parsed as a number", wording::described(other)))),
    }
}

fn by_zero(left: &Val, right: &Val, act: &str) -> jaq_json::Error {
    let (left, right) = (wording::described(left), wording::described(right));
    Error::str(format!("{left} and {right} cannot be {act} because the divisor is zero"))
}

fn divide(left: Val, right: Val) -> ValR {
    let zero = matches!((&left, right.as_f64()), (Val::Num(_), Some(0.0)));
    if zero { Err(by_zero(&left, &right, "divided")) } else { left / right }
}

/// Of whole numbers: jq cuts both off first.
fn remainder(left: &Val, right: &Val) -> ValR {
    let (Some(dividend), Some(divisor)) = (left.as_f64(), right.as_f64()) else {
        let (left, right) = (wording::described(left), wording::described(right));
        return Err(Error::str(format!("{left} and {right} cannot be divided")));
    };
    if dividend.is_nan() || divisor.is_nan() {
        return Ok(Val::from(f64::NAN));
    }
    // Saturates, as jq does.
    let (dividend, divisor) = (dividend as i64, divisor as i64);
    if divisor == 0 {
        return Err(by_zero(left, right, "divided (remainder)"));
    }
    let rest = dividend.unsigned_abs() % divisor.unsigned_abs();
    let rest = if dividend < 0 { -(rest as f64) } else { rest as f64 };
    Ok(match rest as isize {
        whole if whole as f64 == rest => Val::from(whole),
        _ => Val::from(rest),
    })
}
