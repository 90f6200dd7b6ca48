//! Comma and tab separated values: the first row names the fields.

use super::yaml::resolve;
use super::{key, plain};
use jq::value::{Object as Map, Value as Val};

/// An array of objects, with numbers and booleans as what they look like.
pub(super) fn read(text: &str, separator: u8) -> Val {
    let mut rows = rows(text, separator).into_iter();
    let names = rows.next().unwrap_or_default();
    let object = |row: Vec<String>| {
        let cells = names.iter().zip(row.into_iter().chain(std::iter::repeat(String::new())));
        let cells = cells.map(|(name, cell)| {
            let value = if cell.is_empty() {
                Val::from(cell)
            } else {
                resolve(&cell).unwrap_or_else(|| Val::from(cell))
            };
            (key(name), value)
        });
        Val::obj(cells.collect::<Map>())
    };
    rows.map(object).collect()
}

fn rows(text: &str, separator: u8) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), Vec::new());
    let (mut quoted, mut bytes) = (false, text.bytes().peekable());
    let take = |cell: &mut Vec<u8>| String::from_utf8_lossy(&std::mem::take(cell)).into_owned();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' if quoted && bytes.peek() == Some(&b'"') => {
                bytes.next();
                cell.push(b'"');
            }
            b'"' if quoted => quoted = false,
            b'"' if cell.is_empty() => quoted = true,
            _ if quoted => cell.push(byte),
            b'\r' if bytes.peek() == Some(&b'\n') => {}
            b'\n' => {
                if !(row.is_empty() && cell.is_empty()) {
                    row.push(take(&mut cell));
                    rows.push(std::mem::take(&mut row));
                }
            }
            _ if byte == separator => row.push(take(&mut cell)),
            _ => cell.push(byte),
        }
    }
    if !(row.is_empty() && cell.is_empty()) {
        row.push(take(&mut cell));
        rows.push(row);
    }
    rows
}

/// Appends rows: an array of objects with a heading, an array of arrays, or one row.
pub(super) fn write(out: &mut Vec<u8>, value: &Val, separator: u8) -> Result<(), String> {
    let Val::Arr(items) = value else {
        return match value {
            Val::Obj(_) => Err("csv encoding only works for arrays, got: !!map".to_owned()),
            scalar => {
                out.extend_from_slice(plain(scalar).as_bytes());
                Ok(())
            }
        };
    };
    let mut lines = Vec::new();
    match items.first() {
        Some(Val::Obj(first)) => {
            let names: Vec<Val> = first.iter().map(|(name, _)| Val::Str(name.clone())).collect();
            lines.push(line(names.iter(), separator));
            for item in items.iter() {
                let Val::Obj(fields) = item else {
                    return Err("csv encoding only works for arrays of one kind".to_owned());
                };
                let empty = Val::from(String::new());
                lines.push(line(first.iter().map(|(name, _)| fields.get(name).unwrap_or(&empty)), separator));
            }
        }
        Some(Val::Arr(_)) => {
            for item in items.iter() {
                let Val::Arr(cells) = item else {
                    return Err("csv encoding only works for arrays of one kind".to_owned());
                };
                lines.push(line(cells.iter(), separator));
            }
        }
        _ => lines.push(line(items.iter(), separator)),
    }
    out.extend_from_slice(lines.join("\n").as_bytes());
    Ok(())
}

fn line<'a>(cells: impl Iterator<Item = &'a Val>, separator: u8) -> String {
    let cells = cells.map(|cell| {
        let text = if matches!(cell, Val::Null) { String::new() } else { plain(cell) };
        let special = text.bytes().any(|byte| byte == separator || matches!(byte, b'"' | b'\n' | b'\r'))
            || text.starts_with(' ');
        if special { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
    });
    cells.collect::<Vec<_>>().join(&char::from(separator).to_string())
}
