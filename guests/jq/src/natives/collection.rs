//! Arrays and objects: keys, membership, order, shape.

use super::{Row, wrong};
use crate::compile::node::Special;
use crate::run::{self, Exit, Flow};
use crate::value::{Object, Text, Value, compare, equal};
use crate::{read, write};
use std::cmp::Ordering;

pub(super) const TABLE: &[Row] = &[
    ("not", 0, |value, _| Ok(Value::Bool(!value.is_true()))),
    ("type", 0, |value, _| Ok(Value::str(value.kind()))),
    ("length", 0, |value, _| length(&value)),
    ("keys", 0, |value, _| keys(&value, true)),
    ("keys_unsorted", 0, |value, _| keys(&value, false)),
    ("has", 1, |value, args| has(&value, &args[0])),
    ("contains", 1, |value, args| contains(&value, &args[0]).map(Value::Bool)),
    ("to_entries", 0, |value, _| to_entries(&value)),
    ("from_entries", 0, |value, _| from_entries(&value)),
    ("sort", 0, |value, _| sort(value)),
    ("unique", 0, |value, _| unique(value)),
    ("min", 0, |value, _| extreme(value, Ordering::Less)),
    ("max", 0, |value, _| extreme(value, Ordering::Greater)),
    ("reverse", 0, |value, _| reverse(value)),
    ("flatten", 0, |value, _| flatten(value, f64::INFINITY)),
    ("flatten", 1, |value, args| {
        let depth = args[0].as_f64().ok_or_else(|| wrong(&args[0], "number required"))?;
        if depth < 0.0 {
            return Err(Exit::error("flatten depth must not be negative"));
        }
        flatten(value, depth)
    }),
    ("transpose", 0, |value, _| transpose(&value)),
    ("toarray", 0, |value, _| {
        Ok(if matches!(value, Value::Arr(_)) { value } else { Value::arr(vec![value]) })
    }),
    ("indices", 1, |value, args| indices(&value, &args[0])),
    ("index", 1, |value, args| edge(&value, &args[0], false)),
    ("rindex", 1, |value, args| edge(&value, &args[0], true)),
    ("bsearch", 1, |value, args| search(&value, &args[0])),
    ("setpath", 2, |value, args| run::set_path(value, path(&args[0])?, args[1].clone())),
    ("delpaths", 1, |value, args| {
        let Value::Arr(paths) = &args[0] else {
            return Err(Exit::error("Paths must be specified as an array"));
        };
        let mut all = Vec::with_capacity(paths.len());
        for path in paths.iter() {
            let Value::Arr(keys) = path else {
                return Err(Exit::error(format!("Path must be specified as array, not {}", path.kind())));
            };
            all.push(keys.to_vec());
        }
        run::delete_paths(value, all)
    }),
    ("tojson", 0, |value, _| Ok(Value::from(write::compact(&value)))),
    ("fromjson", 0, |value, _| match &value {
        Value::Str(text) => parsed(text),
        other => Err(wrong(other, "only strings can be parsed")),
    }),
    ("tostring", 0, |value, _| {
        Ok(if matches!(value, Value::Str(_)) { value } else { Value::from(write::compact(&value)) })
    }),
    ("tonumber", 0, |value, _| match &value {
        Value::Num(_) | Value::Lit(_) => Ok(value),
        Value::Str(text) => match parsed(text)? {
            number @ (Value::Num(_) | Value::Lit(_)) => Ok(number),
            _ => Err(wrong(&value, "cannot be parsed as a number")),
        },
        other => Err(wrong(other, "cannot be parsed as a number")),
    }),
];

fn path(value: &Value) -> Result<&[Value], Exit> {
    match value {
        Value::Arr(keys) => Ok(keys),
        _ => Err(Exit::error("Path must be specified as an array")),
    }
}

/// The value of a JSON text.
fn parsed(text: &str) -> Result<Value, Exit> {
    read::parse_one(text.as_bytes().to_vec())
        .map_err(|problem| Exit::error(format!("{problem} (while parsing '{text}')")))
}

/// A string as it is, anything else as JSON.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::Str(text) => text.as_str().to_owned(),
        other => write::compact(other),
    }
}

/// Hands out the items of a container.
pub fn each_item(value: &Value, out: &mut dyn FnMut(&Value) -> Flow) -> Flow {
    match value {
        Value::Arr(items) => items.iter().try_for_each(out),
        Value::Obj(fields) => fields.iter().try_for_each(|(_, item)| out(item)),
        other => Err(Exit::error(format!("Cannot iterate over {}", other.described()))),
    }
}

fn length(value: &Value) -> Result<Value, Exit> {
    Ok(Value::from(match value {
        Value::Null => 0,
        Value::Bool(_) => return Err(wrong(value, "has no length")),
        Value::Num(_) | Value::Lit(_) => return Ok(Value::Num(value.as_f64().unwrap_or(0.0).abs())),
        Value::Str(text) => text.chars().count(),
        Value::Arr(items) => items.len(),
        Value::Obj(fields) => fields.len(),
    }))
}

fn keys(value: &Value, sorted: bool) -> Result<Value, Exit> {
    Ok(match value {
        Value::Arr(items) => (0..items.len()).map(Value::from).collect(),
        Value::Obj(fields) if sorted => {
            fields.sorted().into_iter().map(|(key, _)| Value::Str(key.clone())).collect()
        }
        Value::Obj(fields) => fields.iter().map(|(key, _)| Value::Str(key.clone())).collect(),
        other => return Err(wrong(other, "has no keys")),
    })
}

fn has(value: &Value, key: &Value) -> Result<Value, Exit> {
    match (value, key) {
        (Value::Obj(fields), Value::Str(name)) => Ok(Value::Bool(fields.contains_key(name))),
        (Value::Arr(items), Value::Num(_) | Value::Lit(_)) => {
            let place = key.as_f64().unwrap_or(f64::NAN);
            Ok(Value::Bool(place >= 0.0 && place < items.len() as f64))
        }
        _ => Err(Exit::error(format!("Cannot check whether {} has a {} key", value.kind(), key.kind()))),
    }
}

fn contains(whole: &Value, part: &Value) -> Result<bool, Exit> {
    fn inside(whole: &Value, part: &Value, depth: u32) -> bool {
        match (whole, part) {
            _ if depth > 1000 => equal(whole, part),
            (Value::Obj(whole), Value::Obj(part)) => part.iter().all(|(key, part)| {
                whole.get(key).is_some_and(|whole| same_kind(whole, part) && inside(whole, part, depth + 1))
            }),
            (Value::Arr(whole), Value::Arr(part)) => part.iter().all(|part| {
                whole.iter().any(|whole| same_kind(whole, part) && inside(whole, part, depth + 1))
            }),
            (Value::Str(whole), Value::Str(part)) => whole.contains(part.as_str()),
            _ => equal(whole, part),
        }
    }
    fn same_kind(a: &Value, b: &Value) -> bool {
        a.kind() == b.kind()
    }
    let scalar = |value: &Value| !matches!(value, Value::Obj(_) | Value::Arr(_) | Value::Str(_));
    if same_kind(whole, part) || (scalar(whole) && scalar(part) && equal(whole, part)) {
        return Ok(inside(whole, part, 0));
    }
    Err(Exit::error(format!(
        "{} and {} cannot have their containment checked",
        whole.described(),
        part.described()
    )))
}

fn to_entries(value: &Value) -> Result<Value, Exit> {
    let entry = |key: Value, item: &Value| Value::record([("key", key), ("value", item.clone())]);
    match value {
        Value::Obj(fields) => {
            Ok(fields.iter().map(|(key, item)| entry(Value::Str(key.clone()), item)).collect())
        }
        Value::Arr(items) => {
            Ok(items.iter().enumerate().map(|(at, item)| entry(Value::from(at), item)).collect())
        }
        other => Err(wrong(other, "has no keys")),
    }
}

fn from_entries(value: &Value) -> Result<Value, Exit> {
    let mut object = Object::new();
    each_item(value, &mut |entry| {
        let mut key = Value::Null;
        for name in ["key", "Key", "name", "Name", "k", "K"] {
            let found = run::index(entry, &Value::str(name))?;
            if found.is_true() {
                key = found;
                break;
            }
        }
        let Value::Str(key) = key else {
            return Err(Exit::error(format!("Cannot use {} as object key", key.described())));
        };
        let mut item = Value::Null;
        if let Value::Obj(fields) = entry {
            let names = ["value", "Value", "v", "V"];
            if let Some(found) = names.into_iter().find_map(|name| fields.get(&Text::new(name))) {
                item = found.clone();
            }
        }
        object.insert(key, item);
        Ok(())
    })?;
    Ok(Value::obj(object))
}

fn sort(value: Value) -> Result<Value, Exit> {
    match value {
        Value::Arr(mut items) => {
            items.make_mut().sort_by(compare);
            Ok(Value::Arr(items))
        }
        other => Err(wrong(&other, "cannot be sorted, as it is not an array")),
    }
}

fn unique(value: Value) -> Result<Value, Exit> {
    let Value::Arr(mut items) = sort(value)? else { return Ok(Value::Null) };
    items.make_mut().dedup_by(|b, a| compare(a, b) == Ordering::Equal);
    Ok(Value::Arr(items))
}

/// The least or the greatest; of equals, the first least and the last greatest.
fn extreme(value: Value, wanted: Ordering) -> Result<Value, Exit> {
    let Value::Arr(items) = &value else {
        return Err(Exit::error(format!(
            "{} and {} cannot be iterated over",
            value.described(),
            value.described()
        )));
    };
    let mut best: Option<&Value> = None;
    for item in items.iter() {
        let better = best.is_none_or(|best| better(item, best, wanted));
        if better {
            best = Some(item);
        }
    }
    Ok(best.cloned().unwrap_or(Value::Null))
}

fn better(item: &Value, best: &Value, wanted: Ordering) -> bool {
    let order = compare(item, best);
    if wanted == Ordering::Less { order == Ordering::Less } else { order != Ordering::Less }
}

/// The functions that order items by computed keys.
pub fn by_keys(special: Special, value: Value, keys: Vec<Value>) -> Result<Value, Exit> {
    let Value::Arr(items) = value else {
        let what = match special {
            Special::MinBy | Special::MaxBy => "cannot be iterated over",
            _ => "cannot be sorted, as they are not both arrays",
        };
        return Err(Exit::error(format!(
            "{} and {} {what}",
            value.described(),
            Value::arr(keys).described()
        )));
    };
    let mut pairs: Vec<(Value, Value)> = keys.into_iter().zip(items.take()).collect();
    if matches!(special, Special::MinBy | Special::MaxBy) {
        let wanted = if special == Special::MinBy { Ordering::Less } else { Ordering::Greater };
        let mut best: Option<(Value, Value)> = None;
        for pair in pairs {
            if best.as_ref().is_none_or(|best| better(&pair.0, &best.0, wanted)) {
                best = Some(pair);
            }
        }
        return Ok(best.map_or(Value::Null, |(_, item)| item));
    }
    pairs.sort_by(|a, b| compare(&a.0, &b.0));
    if special == Special::SortBy {
        return Ok(pairs.into_iter().map(|(_, item)| item).collect());
    }
    let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
    for (key, item) in pairs {
        match groups.last_mut() {
            Some((known, group)) if equal(known, &key) => group.push(item),
            _ => groups.push((key, vec![item])),
        }
    }
    Ok(match special {
        Special::UniqueBy => groups.into_iter().filter_map(|(_, group)| group.into_iter().next()).collect(),
        _ => groups.into_iter().map(|(_, group)| Value::arr(group)).collect(),
    })
}

fn reverse(value: Value) -> Result<Value, Exit> {
    match value {
        Value::Null => Ok(Value::arr(Vec::new())),
        Value::Str(text) => Ok(Value::from(text.chars().rev().collect::<String>())),
        Value::Arr(mut items) => {
            items.make_mut().reverse();
            Ok(Value::Arr(items))
        }
        Value::Obj(fields) if fields.is_empty() => Ok(Value::arr(Vec::new())),
        other if other.as_f64() == Some(0.0) => Ok(Value::arr(Vec::new())),
        Value::Bool(_) => Err(wrong(&value, "has no length")),
        other => Err(Exit::error(format!("Cannot index {} with number", other.kind()))),
    }
}

fn flatten(value: Value, depth: f64) -> Result<Value, Exit> {
    let mut flat = Vec::new();
    let mut waiting: Vec<(Value, f64)> = Vec::new();
    let mut top = Vec::new();
    each_item(&value, &mut |item| {
        top.push((item.clone(), depth));
        Ok(())
    })?;
    waiting.extend(top.into_iter().rev());
    while let Some((item, depth)) = waiting.pop() {
        match item {
            Value::Arr(items) if depth != 0.0 => {
                waiting.extend(items.take().into_iter().rev().map(|item| (item, depth - 1.0)));
            }
            item => flat.push(item),
        }
    }
    Ok(Value::arr(flat))
}

fn transpose(value: &Value) -> Result<Value, Exit> {
    let mut width = 0;
    each_item(value, &mut |row| {
        let len = length(row)?.as_f64().unwrap_or(0.0);
        width = width.max(len as usize);
        Ok(())
    })?;
    let mut columns = Vec::with_capacity(width.min(1024));
    for at in 0..width {
        let mut column = Vec::new();
        each_item(value, &mut |row| {
            column.push(run::index(row, &Value::from(at))?);
            Ok(())
        })?;
        columns.push(Value::arr(column));
    }
    Ok(Value::arr(columns))
}

fn indices(value: &Value, wanted: &Value) -> Result<Value, Exit> {
    match (value, wanted) {
        (Value::Str(text), Value::Str(part)) => {
            if part.is_empty() {
                return Ok(Value::arr(Vec::new()));
            }
            let (mut found, mut from, mut counted) = (Vec::new(), 0, 0);
            while let Some(at) = text[from..].find(part.as_str()).map(|at| from + at) {
                counted += text[from..at].chars().count();
                found.push(Value::from(counted));
                // Overlapping ones count, too.
                let step = text[at..].chars().next().map_or(1, char::len_utf8);
                counted += 1;
                from = at + step;
            }
            Ok(Value::arr(found))
        }
        (Value::Arr(items), Value::Arr(_)) => {
            let found = run::index(value, wanted)?;
            Ok(if matches!(found, Value::Null) && items.is_empty() { Value::arr(Vec::new()) } else { found })
        }
        (Value::Arr(_), _) => run::index(value, &Value::arr(vec![wanted.clone()])),
        _ => run::index(value, wanted),
    }
}

fn edge(value: &Value, wanted: &Value, last: bool) -> Result<Value, Exit> {
    match indices(value, wanted)? {
        Value::Arr(found) => {
            Ok((if last { found.last() } else { found.first() }).cloned().unwrap_or(Value::Null))
        }
        Value::Null => Ok(Value::Null),
        other => run::index(&other, &Value::Num(0.0)),
    }
}

fn search(value: &Value, wanted: &Value) -> Result<Value, Exit> {
    let Value::Arr(items) = value else {
        return match value {
            Value::Null => Ok(Value::Num(-1.0)),
            other => Err(Exit::error(format!("Cannot index {} with number", other.kind()))),
        };
    };
    Ok(match items.binary_search_by(|item| compare(item, wanted)) {
        Ok(at) => Value::from(at),
        Err(at) => Value::Num(-1.0 - at as f64),
    })
}
