//! Parts of values: read, set and deleted by key, index, slice and path.

use super::Exit;
use crate::value::{Text, Value, compare, equal};
use std::cmp::Ordering;

/// Arrays do not grow beyond this by an index alone.
const INDEX_MAX: f64 = 536_870_911.0;
/// Longer names are not shown in messages.
const NAME_SHOWN_MAX: usize = 30;

/// `.name`
#[inline]
pub(super) fn field(value: &Value, name: &Text) -> Result<Value, Exit> {
    match value {
        Value::Obj(fields) => Ok(fields.get(name).cloned().unwrap_or(Value::Null)),
        Value::Null => Ok(Value::Null),
        other => Err(cannot_index(other, &Value::Str(name.clone()))),
    }
}

/// `.[key]`
pub fn index(value: &Value, key: &Value) -> Result<Value, Exit> {
    match (value, key) {
        (Value::Obj(_) | Value::Null, Value::Str(name)) => field(value, name),
        (Value::Arr(items), Value::Num(_) | Value::Lit(_)) => {
            let place = key.as_f64().and_then(|place| place_in(place, items.len()));
            Ok(place.and_then(|place| items.get(place)).cloned().unwrap_or(Value::Null))
        }
        (Value::Null, Value::Num(_) | Value::Lit(_) | Value::Obj(_)) => Ok(Value::Null),
        (Value::Arr(_) | Value::Str(_), Value::Obj(bounds)) => {
            // A bound that is not there at all is no number either.
            let bound = |name: &str| bounds.get(&name.into()).cloned().unwrap_or(Value::Bool(false));
            slice(value, &bound("start"), &bound("end"))
        }
        (Value::Arr(items), Value::Arr(part)) => Ok(positions(items, part)),
        _ => Err(cannot_index(value, key)),
    }
}

#[cold]
fn cannot_index(value: &Value, key: &Value) -> Exit {
    match key {
        Value::Str(name) if name.len() < NAME_SHOWN_MAX => {
            Exit::error(format!("Cannot index {} with string \"{}\"", value.kind(), name.as_str()))
        }
        _ => Exit::error(format!("Cannot index {} with {}", value.kind(), key.kind())),
    }
}

/// The place an index means; negative ones count from the end.
fn place_in(index: f64, len: usize) -> Option<usize> {
    if index.is_nan() {
        return None;
    }
    let index = index.clamp(f64::from(i32::MIN), f64::from(i32::MAX)).trunc();
    let place = if index < 0.0 { index + len as f64 } else { index };
    (place >= 0.0).then_some(place as usize)
}

/// Where `part` begins inside `items`.
pub(super) fn positions(items: &[Value], part: &[Value]) -> Value {
    if part.is_empty() {
        return Value::Null;
    }
    let found = items
        .windows(part.len())
        .enumerate()
        .filter(|(_, window)| window.iter().zip(part).all(|(a, b)| equal(a, b)));
    found.map(|(at, _)| Value::from(at)).collect()
}

/// The places a slice means in something of `len` items.
pub fn slice_bounds(from: &Value, to: &Value, len: usize) -> Result<(usize, usize), Exit> {
    let wrong = || Exit::error("Array/string slice indices must be integers");
    let len = len as f64;
    let from = if matches!(from, Value::Null) { 0.0 } else { from.as_f64().ok_or_else(wrong)? };
    let to = if matches!(to, Value::Null) { len } else { to.as_f64().ok_or_else(wrong)? };
    let start = if from.is_nan() { 0.0 } else { from };
    let start = (if start < 0.0 { start + len } else { start }).clamp(0.0, len).trunc();
    let end = if to.is_nan() { len } else { to };
    let end = if end < 0.0 { end + len } else { end };
    let end = if end < 0.0 { start } else { end.ceil().min(len) };
    Ok((start as usize, end.max(start) as usize))
}

/// `.[from:to]`
pub(super) fn slice(value: &Value, from: &Value, to: &Value) -> Result<Value, Exit> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Arr(items) => {
            let (start, end) = slice_bounds(from, to, items.len())?;
            Ok(Value::arr(items[start..end].to_vec()))
        }
        Value::Str(text) => {
            let ascii = text.is_ascii();
            let len = if ascii { text.len() } else { text.chars().count() };
            let (start, end) = slice_bounds(from, to, len)?;
            if ascii {
                return Ok(Value::str(&text[start..end]));
            }
            Ok(Value::from(text.chars().skip(start).take(end - start).collect::<String>()))
        }
        other => Err(Exit::error(format!("Cannot index {} with object", other.kind()))),
    }
}

/// The value at a path; `null` where there is nothing.
pub fn get_path(value: &Value, path: &[Value]) -> Result<Value, Exit> {
    let mut at = value.clone();
    for key in path {
        if matches!(at, Value::Null) {
            return Ok(Value::Null);
        }
        at = index(&at, key)?;
    }
    Ok(at)
}

/// What a path leads to is handed to `change`, and what comes back put in its place.
///
/// Nobody but `root` holds the value while it is changed, so nothing is copied that is not shared.
pub(super) fn update_path(
    root: &mut Value,
    path: &[Value],
    change: &mut dyn FnMut(Value) -> Result<Value, Exit>,
) -> Result<(), Exit> {
    let mut at = root;
    for (depth, key) in path.iter().enumerate() {
        if let Value::Obj(bounds) = key {
            let bound = |name: &str| bounds.get(&name.into()).cloned().unwrap_or(Value::Null);
            return update_slice(at, (&bound("start"), &bound("end")), &path[depth + 1..], change);
        }
        at = step(at, key)?;
    }
    let old = std::mem::replace(at, Value::Null);
    *at = change(old)?;
    Ok(())
}

fn step<'v>(at: &'v mut Value, key: &Value) -> Result<&'v mut Value, Exit> {
    match key {
        Value::Str(name) if matches!(at, Value::Null | Value::Obj(_)) => {
            if matches!(at, Value::Null) {
                *at = Value::obj(crate::value::Object::new());
            }
            let Value::Obj(fields) = at else { return Err(cannot_index(at, key)) };
            Ok(fields.make_mut().entry(name))
        }
        Value::Num(_) | Value::Lit(_) if matches!(at, Value::Null | Value::Arr(_)) => {
            let index = key.as_f64().unwrap_or(f64::NAN);
            if index.is_nan() {
                return Err(Exit::error("Cannot set array element at NaN index"));
            }
            if matches!(at, Value::Null) {
                *at = Value::arr(Vec::new());
            }
            let Value::Arr(items) = at else { return Err(cannot_index(at, key)) };
            let place = place_in(index, items.len());
            let place = place.ok_or_else(|| Exit::error("Out of bounds negative array index"))?;
            if place as f64 > INDEX_MAX {
                return Err(Exit::error("Array index too large"));
            }
            let items = items.make_mut();
            if place >= items.len() {
                let more = place + 1 - items.len();
                items.try_reserve(more).map_err(|_| Exit::error("Array index too large"))?;
                items.resize(place + 1, Value::Null);
            }
            Ok(&mut items[place])
        }
        _ => Err(cannot_index(at, key)),
    }
}

fn update_slice(
    at: &mut Value,
    (from, to): (&Value, &Value),
    rest: &[Value],
    change: &mut dyn FnMut(Value) -> Result<Value, Exit>,
) -> Result<(), Exit> {
    let old = match at {
        Value::Null => Value::Null,
        Value::Arr(_) => slice(at, from, to)?,
        Value::Str(_) => return Err(Exit::error("Cannot update string slices")),
        other => return Err(Exit::error(format!("Cannot update field at object index of {}", other.kind()))),
    };
    let mut new = old;
    update_path(&mut new, rest, change)?;
    let Value::Arr(new) = new else {
        return Err(Exit::error("A slice of an array can only be assigned another array"));
    };
    if matches!(at, Value::Null) {
        *at = Value::arr(Vec::new());
    }
    let Value::Arr(items) = at else { return Ok(()) };
    let (start, end) = slice_bounds(from, to, items.len())?;
    items.make_mut().splice(start..end, new.take());
    Ok(())
}

/// Puts `new` where a path leads.
pub fn set_path(mut root: Value, path: &[Value], new: Value) -> Result<Value, Exit> {
    let mut new = Some(new);
    update_path(&mut root, path, &mut |_| Ok(new.take().unwrap_or(Value::Null)))?;
    Ok(root)
}

/// Deletes what the paths lead to, the last in jq's order first.
pub fn delete_paths(mut root: Value, mut paths: Vec<Vec<Value>>) -> Result<Value, Exit> {
    paths.sort_by(|a, b| ordered(a, b));
    if paths.first().is_some_and(Vec::is_empty) {
        return Ok(Value::Null);
    }
    delete_below(&mut root, &paths, 0)?;
    Ok(root)
}

fn ordered(a: &[Value], b: &[Value]) -> Ordering {
    let pairs = a.iter().zip(b).map(|(a, b)| compare(a, b));
    pairs.into_iter().find(|order| *order != Ordering::Equal).unwrap_or(a.len().cmp(&b.len()))
}

/// `paths` share their first `depth` keys, which lead to `at`; none ends there.
fn delete_below(at: &mut Value, paths: &[Vec<Value>], depth: usize) -> Result<(), Exit> {
    if matches!(at, Value::Null) {
        return Ok(());
    }
    let mut gone: Vec<&Value> = Vec::new();
    // From the end, so that deleting does not move what is still to be deleted.
    let mut end = paths.len();
    while end > 0 {
        let key = &paths[end - 1][depth];
        let start = paths[..end].partition_point(|path| compare(&path[depth], key) == Ordering::Less);
        let start = start.min(end - 1);
        if paths[start].len() == depth + 1 {
            gone.push(key);
        } else if !matches!(index(at, key)?, Value::Null) {
            let mut inner = index(at, key)?;
            // The container lets go of it meanwhile, so that it need not be copied.
            if !matches!(key, Value::Obj(_)) {
                *step(at, key)? = Value::Null;
            }
            delete_below(&mut inner, &paths[start..end], depth + 1)?;
            update_path(at, std::slice::from_ref(key), &mut |_| Ok(inner.clone()))?;
        }
        end = start;
    }
    if gone.is_empty() { Ok(()) } else { delete_keys(at, &gone) }
}

fn delete_keys(at: &mut Value, keys: &[&Value]) -> Result<(), Exit> {
    match at {
        Value::Null => Ok(()),
        Value::Obj(fields) => {
            let mut names: Vec<&Text> = Vec::new();
            for key in keys {
                let Value::Str(name) = key else {
                    return Err(Exit::error(format!("Cannot delete {} field of object", key.kind())));
                };
                names.push(name);
            }
            names.sort_unstable();
            fields.make_mut().retain(|name| names.binary_search(&name).is_err());
            Ok(())
        }
        Value::Arr(items) => {
            let len = items.len();
            let mut gone = vec![false; len];
            for key in keys {
                match key {
                    Value::Num(_) | Value::Lit(_) => {
                        if let Some(place) = place_in(key.as_f64().unwrap_or(f64::NAN), len)
                            && let Some(mark) = gone.get_mut(place)
                        {
                            *mark = true;
                        }
                    }
                    Value::Obj(bounds) => {
                        let bound = |name: &str| bounds.get(&name.into()).cloned().unwrap_or(Value::Null);
                        let (start, end) = slice_bounds(&bound("start"), &bound("end"), len)?;
                        gone[start..end].fill(true);
                    }
                    other => {
                        return Err(Exit::error(format!("Cannot delete {} element of array", other.kind())));
                    }
                }
            }
            let mut gone = gone.into_iter();
            items.make_mut().retain(|_| !gone.next().unwrap_or(false));
            Ok(())
        }
        other => Err(Exit::error(format!("Cannot delete fields from {}", other.kind()))),
    }
}
