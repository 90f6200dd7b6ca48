//! TOML: read with its order kept, written with tables after the plain values of each table.

use super::{DEPTH_MAX, key, plain};
use jq::value::{Object as Map, Value as Val};
use std::fmt::Write as _;
use toml_edit::{Item, Value};

/// The one document of a text.
pub(super) fn read(text: &str) -> Result<Val, String> {
    let document: toml_edit::DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| format!("toml: {}", error.message()))?;
    table(document.as_table().iter(), 0)
}

fn table<'a>(fields: impl Iterator<Item = (&'a str, &'a Item)>, depth: usize) -> Result<Val, String> {
    let fields = fields.map(|(name, item)| Ok((key(name), self::item(item, depth + 1)?)));
    Ok(Val::obj(fields.collect::<Result<Map, String>>()?))
}

fn item(it: &Item, depth: usize) -> Result<Val, String> {
    if depth > DEPTH_MAX {
        return Err("toml: nested too deeply".to_owned());
    }
    match it {
        Item::None => Ok(Val::Null),
        Item::Value(it) => value(it, depth),
        Item::Table(it) => table(it.iter(), depth),
        Item::ArrayOfTables(all) => all.iter().map(|it| table(it.iter(), depth)).collect(),
    }
}

fn value(it: &Value, depth: usize) -> Result<Val, String> {
    if depth > DEPTH_MAX {
        return Err("toml: nested too deeply".to_owned());
    }
    Ok(match it {
        Value::String(text) => Val::from(text.value().clone()),
        Value::Integer(number) => {
            jq::read::parse_literal(number.value().to_string().as_bytes()).unwrap_or(Val::Null)
        }
        Value::Float(number) => {
            let spelled = number.as_repr().and_then(|repr| repr.as_raw().as_str()).unwrap_or_default();
            let literal = jq::read::parse_literal(spelled.replace('_', "").as_bytes());
            literal.unwrap_or_else(|| Val::from(*number.value()))
        }
        Value::Boolean(truth) => Val::Bool(*truth.value()),
        Value::Datetime(time) => Val::from(time.value().to_string()),
        Value::Array(items) => {
            items.iter().map(|item| value(item, depth + 1)).collect::<Result<Val, String>>()?
        }
        Value::InlineTable(fields) => {
            let fields = fields.iter().map(|(name, it)| Ok((key(name), value(it, depth + 1)?)));
            Val::obj(fields.collect::<Result<Map, String>>()?)
        }
    })
}

/// Appends a document. Only an object is one.
pub(super) fn write(out: &mut Vec<u8>, value: &Val) -> Result<(), String> {
    let mut text = String::new();
    match value {
        Val::Obj(fields) => body(&mut text, fields, &mut Vec::new())?,
        Val::Arr(_) => return Err("only maps (objects) can be encoded as TOML".to_owned()),
        scalar => text.push_str(&plain(scalar)),
    }
    out.extend_from_slice(text.trim_end().as_bytes());
    Ok(())
}

fn body(out: &mut String, fields: &Map, path: &mut Vec<String>) -> Result<(), String> {
    if path.len() > DEPTH_MAX {
        return Err("nested too deeply for TOML".to_owned());
    }
    for (name, item) in fields.iter().filter(|(_, item)| !is_table(item) && !is_tables(item)) {
        // TOML has no null; what is not there is left out.
        if !matches!(item, Val::Null) {
            let _ = writeln!(out, "{} = {}", bare(name), inline(item));
        }
    }
    for (name, item) in fields.iter() {
        path.push(bare(name));
        match item {
            Val::Obj(inner) => {
                let only_tables = !inner.is_empty()
                    && inner.iter().map(|(_, it)| it).all(|it| is_table(it) || is_tables(it));
                if !only_tables {
                    let _ = writeln!(out, "{}[{}]", if out.is_empty() { "" } else { "\n" }, path.join("."));
                }
                body(out, inner, path)?;
            }
            Val::Arr(items) if is_tables(item) => {
                for item in items.iter() {
                    let _ = writeln!(out, "{}[[{}]]", if out.is_empty() { "" } else { "\n" }, path.join("."));
                    if let Val::Obj(inner) = item {
                        body(out, inner, path)?;
                    }
                }
            }
            _ => {}
        }
        path.pop();
    }
    Ok(())
}

fn is_table(value: &Val) -> bool {
    matches!(value, Val::Obj(_))
}

fn is_tables(value: &Val) -> bool {
    matches!(value, Val::Arr(items) if !items.is_empty() && items.iter().all(is_table))
}

fn bare(name: &str) -> String {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !name.is_empty() && name.bytes().all(legal) {
        name.to_owned()
    } else {
        jq::write::compact(&Val::Str(key(name)))
    }
}

fn inline(value: &Val) -> String {
    match value {
        Val::Arr(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Val::Obj(fields) => {
            let fields = fields.iter().map(|(name, item)| format!("{} = {}", bare(name), inline(item)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
        Val::Null => "\"\"".to_owned(),
        other => jq::write::compact(other),
    }
}
