//! Reading, setting and deleting along a path, as jq does it: what is missing is made, arrays are
//! filled up with null, and what remains keeps its order.

use crate::output::compact;
use jaq_core::{Error, ValT as _};
use jaq_json::{Map, Val};
use jaq_std::ValT as _;
use std::ops::Range;
use std::rc::Rc;

/// Longer arrays than this are not made out of nothing by assigning to a far index.
const LENGTH_MAX: usize = 1 << 24;

type Outcome<T> = Result<T, jaq_json::Error>;

/// Changes the value at `path` by `change`, in place.
pub fn update<E: From<jaq_json::Error>>(
    value: Val,
    path: &[Val],
    change: &mut dyn FnMut(Val) -> Result<Val, E>,
) -> Result<Val, E> {
    let Some((step, rest)) = path.split_first() else {
        return change(value);
    };
    match (value, step) {
        (Val::Null, Val::TStr(_)) => update(Val::obj(Map::default()), path, change),
        (Val::Null, Val::Num(_)) => update(Val::Arr(Rc::default()), path, change),
        (Val::Null, Val::Obj(_)) => {
            let fresh = update(Val::Null, rest, change)?;
            splice(Val::Arr(Rc::default()), step, fresh).map_err(E::from)
        }
        (Val::Obj(mut fields), Val::TStr(_)) => {
            let place = Rc::make_mut(&mut fields).entry(step.clone()).or_default();
            *place = update(std::mem::take(place), rest, change)?;
            Ok(Val::Obj(fields))
        }
        (Val::Arr(mut items), Val::Num(_)) => {
            let at = index_to_set(step, items.len())?;
            let items_mut = Rc::make_mut(&mut items);
            if at >= items_mut.len() {
                items_mut.resize(at + 1, Val::Null);
            }
            let place = &mut items_mut[at];
            *place = update(std::mem::take(place), rest, change)?;
            Ok(Val::Arr(items))
        }
        (Val::Arr(items), Val::Obj(_)) => {
            let range = range(step, items.len())?;
            let part = Val::Arr(Rc::new(items[range].to_vec()));
            let fresh = update(part, rest, change)?;
            splice(Val::Arr(items), step, fresh).map_err(E::from)
        }
        (other, step) => Err(Error::index(other, step.clone()).into()),
    }
}

/// Without the values at `paths`; a path that leads nowhere deletes nothing.
pub fn delete(mut value: Val, mut paths: Vec<Val>) -> Outcome<Val> {
    // From the last to the first, so that none moves before its turn.
    paths.sort();
    paths.dedup();
    for path in paths.iter().rev() {
        let Val::Arr(path) = path else {
            return Err(Error::str("Path must be specified as an array"));
        };
        value = delete_one(value, path)?;
    }
    Ok(value)
}

fn delete_one(value: Val, path: &[Val]) -> Outcome<Val> {
    let Some((step, rest)) = path.split_first() else {
        return Ok(Val::Null);
    };
    match (value, step) {
        (Val::Null, _) => Ok(Val::Null),
        (Val::Obj(mut fields), Val::TStr(_)) => {
            let all = Rc::make_mut(&mut fields);
            if rest.is_empty() {
                all.shift_remove(step);
            } else if let Some(place) = all.get_mut(step) {
                *place = delete_one(std::mem::take(place), rest)?;
            }
            Ok(Val::Obj(fields))
        }
        (Val::Arr(mut items), Val::Num(_)) => {
            let Some(at) = index(step, items.len()) else { return Ok(Val::Arr(items)) };
            let all = Rc::make_mut(&mut items);
            if rest.is_empty() {
                all.remove(at);
            } else {
                all[at] = delete_one(std::mem::take(&mut all[at]), rest)?;
            }
            Ok(Val::Arr(items))
        }
        (Val::Arr(mut items), Val::Obj(_)) => {
            let range = range(step, items.len())?;
            if rest.is_empty() {
                Rc::make_mut(&mut items).drain(range);
                return Ok(Val::Arr(items));
            }
            let part = delete_one(Val::Arr(Rc::new(items[range].to_vec())), rest)?;
            splice(Val::Arr(items), step, part)
        }
        (other, step) => {
            Err(Error::str(format!("Cannot delete field {} of {}", compact(step), compact(&other))))
        }
    }
}

/// Puts `fresh` in the place of a part of an array.
fn splice(array: Val, step: &Val, fresh: Val) -> Outcome<Val> {
    let (Val::Arr(mut items), Val::Arr(fresh)) = (array, fresh) else {
        return Err(Error::str("A slice of an array can only be assigned another array"));
    };
    let range = range(step, items.len())?;
    Rc::make_mut(&mut items).splice(range, fresh.iter().cloned());
    Ok(Val::Arr(items))
}

fn index(step: &Val, len: usize) -> Option<usize> {
    let at = step.as_f64()?.floor();
    let at = if at < 0.0 { at + len as f64 } else { at };
    (at >= 0.0 && at < len as f64).then_some(at as usize)
}

fn index_to_set(step: &Val, len: usize) -> Outcome<usize> {
    let at = step.as_f64().unwrap_or(f64::NAN).floor();
    let at = if at < 0.0 { at + len as f64 } else { at };
    if at < 0.0 || at.is_nan() {
        return Err(Error::str("Out of bounds negative array index"));
    }
    if at >= LENGTH_MAX as f64 {
        return Err(Error::str("Array index too large"));
    }
    Ok(at as usize)
}

/// The bounds that `{"start": …, "end": …}` mean for an array of that length.
fn range(step: &Val, len: usize) -> Outcome<Range<usize>> {
    let bound = |name: &str, default: f64| -> Outcome<f64> {
        let at = step.clone().index(&Val::from(name.to_owned()))?;
        let at = at.as_f64().unwrap_or(default);
        Ok(if at < 0.0 { at + len as f64 } else { at }.clamp(0.0, len as f64))
    };
    let start = bound("start", 0.0)?.floor() as usize;
    let end = bound("end", len as f64)?.ceil() as usize;
    Ok(start..end.max(start))
}
