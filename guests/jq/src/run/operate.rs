//! What operators do with two values.

use super::Exit;
use crate::syntax::ast::Operator;
use crate::value::{Map, Value, compare, equal};
use std::cmp::Ordering;

/// No string made by repeating another is longer.
const REPEATED_BYTES_MAX: f64 = 536_870_912.0;
/// Objects are merged down to this depth.
const MERGE_DEPTH_MAX: u32 = 1000;

/// Any operator.
#[inline]
pub(super) fn binary(operator: Operator, left: Value, right: Value) -> Result<Value, Exit> {
    Ok(Value::Bool(match operator {
        Operator::Equal => equal(&left, &right),
        Operator::NotEqual => !equal(&left, &right),
        Operator::Less => compare(&left, &right) == Ordering::Less,
        Operator::LessEqual => compare(&left, &right) != Ordering::Greater,
        Operator::Greater => compare(&left, &right) == Ordering::Greater,
        Operator::GreaterEqual => compare(&left, &right) != Ordering::Less,
        _ => return arithmetic(operator, left, right),
    }))
}

/// The operators that compute.
pub fn arithmetic(operator: Operator, left: Value, right: Value) -> Result<Value, Exit> {
    if let (Some(a), Some(b)) = (left.as_f64(), right.as_f64()) {
        return Ok(Value::Num(match operator {
            Operator::Add => a + b,
            Operator::Subtract => a - b,
            Operator::Multiply => a * b,
            Operator::Divide if b == 0.0 => {
                return Err(two(&left, &right, "cannot be divided because the divisor is zero"));
            }
            Operator::Divide => a / b,
            _ => return remainder(&left, &right, a, b),
        }));
    }
    match operator {
        Operator::Add => add(left, right),
        Operator::Subtract => match (left, right) {
            (Value::Arr(mut items), Value::Arr(gone)) => {
                items.make_mut().retain(|item| !gone.iter().any(|it| equal(item, it)));
                Ok(Value::Arr(items))
            }
            (left, right) => Err(two(&left, &right, "cannot be subtracted")),
        },
        Operator::Multiply => multiply(left, right),
        Operator::Divide => match (&left, &right) {
            (Value::Str(text), Value::Str(by)) => Ok(split(text, by)),
            _ => Err(two(&left, &right, "cannot be divided")),
        },
        _ => Err(two(&left, &right, "cannot be divided (remainder)")),
    }
}

/// `+`
pub fn add(left: Value, right: Value) -> Result<Value, Exit> {
    match (left, right) {
        (Value::Null, other) | (other, Value::Null) => Ok(other),
        (Value::Num(a), Value::Num(b)) => Ok(Value::Num(a + b)),
        (Value::Str(mut text), Value::Str(more)) => {
            text.push_str(&more);
            Ok(Value::Str(text))
        }
        (Value::Arr(mut items), Value::Arr(more)) => {
            items.make_mut().extend(more.take());
            Ok(Value::Arr(items))
        }
        (Value::Obj(mut fields), Value::Obj(more)) => {
            let own = fields.make_mut();
            more.iter().for_each(|(key, value)| own.insert(key.clone(), value.clone()));
            Ok(Value::Obj(fields))
        }
        (left, right) => match (left.as_f64(), right.as_f64()) {
            (Some(a), Some(b)) => Ok(Value::Num(a + b)),
            _ => Err(two(&left, &right, "cannot be added")),
        },
    }
}

fn multiply(left: Value, right: Value) -> Result<Value, Exit> {
    match (&left, &right) {
        (Value::Str(text), other) | (other, Value::Str(text)) if other.as_f64().is_some() => {
            let times = other.as_f64().unwrap_or(0.0);
            if times < 0.0 || times.is_nan() {
                return Ok(Value::Null);
            }
            let times = times.min(f64::from(i32::MAX)).trunc();
            if times * text.len() as f64 > REPEATED_BYTES_MAX {
                return Err(Exit::error("Repeat string result too long"));
            }
            Ok(Value::from(text.repeat(times as usize)))
        }
        (Value::Obj(_), Value::Obj(_)) => match (left, right) {
            (Value::Obj(mut fields), Value::Obj(more)) => {
                merge(&mut fields, &more, 0)?;
                Ok(Value::Obj(fields))
            }
            (left, _) => Ok(left),
        },
        _ => Err(two(&left, &right, "cannot be multiplied")),
    }
}

fn merge(into: &mut Map, from: &Map, depth: u32) -> Result<(), Exit> {
    if depth > MERGE_DEPTH_MAX {
        return Err(Exit::error("Object merge too deep"));
    }
    let own = into.make_mut();
    for (key, value) in from.iter() {
        match (own.entry(key), value) {
            (Value::Obj(inner), Value::Obj(more)) => merge(inner, more, depth + 1)?,
            (slot, value) => *slot = value.clone(),
        }
    }
    Ok(())
}

fn remainder(left: &Value, right: &Value, a: f64, b: f64) -> Result<Value, Exit> {
    if a.is_nan() || b.is_nan() {
        return Ok(Value::Num(f64::NAN));
    }
    let (a, b) = (a as i64, b as i64);
    if b == 0 {
        return Err(two(left, right, "cannot be divided (remainder) because the divisor is zero"));
    }
    Ok(Value::Num(a.checked_rem(b).unwrap_or(0) as f64))
}

/// The pieces of a text between the places where `by` stands.
pub(super) fn split(text: &str, by: &str) -> Value {
    if text.is_empty() {
        return Value::arr(Vec::new());
    }
    if by.is_empty() {
        return text.chars().map(|sign| Value::str(sign.encode_utf8(&mut [0; 4]))).collect();
    }
    text.split(by).map(Value::str).collect()
}

/// `-value`
pub(super) fn negate(value: Value) -> Result<Value, Exit> {
    match value.as_f64() {
        Some(number) => Ok(Value::Num(-number)),
        None => Err(Exit::error(format!("{} cannot be negated", value.described()))),
    }
}

/// A message about two values.
#[cold]
pub(super) fn two(left: &Value, right: &Value, what: &str) -> Exit {
    Exit::error(format!("{} and {} {what}", left.described(), right.described()))
}
