//! jq's order of values, and equality.
//!
//! Below a depth that the stack of a guest can bear, values are compared by their text.

use super::{Object, Value, number};
use std::cmp::Ordering;

const DEPTH_MAX: u32 = 1000;

/// Whether both are the same value.
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => a == b,
        (Value::Num(a), Value::Num(b)) => a == b,
        (Value::Null, Value::Null) => true,
        _ => a.rank() == b.rank() && compare(a, b) == Ordering::Equal,
    }
}

/// The order jq sorts by: null, false, true, numbers, strings, arrays, objects.
pub fn compare(a: &Value, b: &Value) -> Ordering {
    ordered(a, b, 0)
}

fn ordered(a: &Value, b: &Value, depth: u32) -> Ordering {
    match (a, b) {
        (Value::Num(a), Value::Num(b)) => numbers(*a, *b),
        (Value::Str(a), Value::Str(b)) => a.cmp(b),
        (Value::Lit(a), Value::Lit(b)) => number::compare(a, b),
        (Value::Arr(a), Value::Arr(b)) if !a.same(b) || has_nan(a.iter()) => {
            if depth > DEPTH_MAX {
                return texts(&Value::Arr(a.clone()), &Value::Arr(b.clone()));
            }
            for (a, b) in a.iter().zip(b.iter()) {
                match ordered(a, b, depth + 1) {
                    Ordering::Equal => {}
                    other => return other,
                }
            }
            a.len().cmp(&b.len())
        }
        (Value::Obj(a), Value::Obj(b)) => objects(a, b, depth),
        _ => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => numbers(a, b),
            _ => a.rank().cmp(&b.rank()),
        },
    }
}

fn has_nan<'a>(mut values: impl Iterator<Item = &'a Value>) -> bool {
    values.any(|value| value.is_container() || value.as_f64().is_some_and(f64::is_nan))
}

/// `nan` is below every number, itself included.
fn numbers(a: f64, b: f64) -> Ordering {
    if a < b || a.is_nan() {
        Ordering::Less
    } else if a == b {
        Ordering::Equal
    } else {
        Ordering::Greater
    }
}

/// First the sorted keys as arrays, then the values in the order of the keys.
fn objects(a: &Object, b: &Object, depth: u32) -> Ordering {
    let (x, y) = (a.sorted(), b.sorted());
    let keys = x.iter().map(|(key, _)| key).cmp(y.iter().map(|(key, _)| key));
    if keys != Ordering::Equal {
        return keys;
    }
    for ((_, a), (_, b)) in x.into_iter().zip(y) {
        let order = if depth > DEPTH_MAX { texts(a, b) } else { ordered(a, b, depth + 1) };
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}

fn texts(a: &Value, b: &Value) -> Ordering {
    crate::write::compact(a).cmp(&crate::write::compact(b))
}
