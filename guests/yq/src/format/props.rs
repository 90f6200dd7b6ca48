//! Java's properties: `a.b.0 = value`, one leaf a line.

use super::yaml::resolve;
use super::{DEPTH_MAX, key, plain};
use jq::value::{Object as Map, Value as Val};

/// Nested objects; a part that is a number is still a name, for the text cannot tell.
pub(super) fn read(text: &str) -> Val {
    let mut root = Map::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        let end = line.find(['=', ':']).or_else(|| line.find(' ')).unwrap_or(line.len());
        let (name, value) = (line[..end].trim(), line.get(end + 1..).unwrap_or("").trim());
        let value = if value.is_empty() {
            Val::from(String::new())
        } else {
            resolve(value).unwrap_or_else(|| Val::from(value.to_owned()))
        };
        let parts: Vec<&str> = name.splitn(DEPTH_MAX, '.').collect();
        put(&mut root, &parts, value);
    }
    Val::obj(root)
}

fn put(fields: &mut Map, parts: &[&str], value: Val) {
    let Some((first, rest)) = parts.split_first() else { return };
    if rest.is_empty() {
        fields.insert(key(first), value);
        return;
    }
    let mut inner = match fields.get(&key(first)) {
        Some(Val::Obj(inner)) => Map::clone(inner),
        _ => Map::new(),
    };
    put(&mut inner, rest, value);
    fields.insert(key(first), Val::obj(inner));
}

/// Appends all leaves.
pub(super) fn write(out: &mut Vec<u8>, value: &Val) {
    let mut lines = Vec::new();
    leaves(&mut lines, value, "", 0);
    out.extend_from_slice(lines.join("\n").as_bytes());
}

fn leaves(lines: &mut Vec<String>, value: &Val, path: &str, depth: usize) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        _ if depth > DEPTH_MAX => {}
        Val::Obj(fields) => {
            fields.iter().for_each(|(name, item)| leaves(lines, item, &below(name), depth + 1))
        }
        Val::Arr(items) => items
            .iter()
            .enumerate()
            .for_each(|(at, item)| leaves(lines, item, &below(&at.to_string()), depth + 1)),
        scalar if path.is_empty() => lines.push(plain(scalar)),
        Val::Null => lines.push(format!("{path} = ")),
        scalar => lines.push(format!("{path} = {}", plain(scalar).replace('\n', "\\n"))),
    }
}
