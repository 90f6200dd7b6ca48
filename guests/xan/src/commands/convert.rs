//! Tables to JSON and back.

use super::show;
use crate::call::{Call, Done, Failure, failed};
use crate::json::{self, Object, Parser};
use crate::table::Table;
use csv::ByteRecord;
use std::collections::HashMap;
use std::io::{BufWriter, Read as _, Write as _};

/// How objects follow each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// In one array.
    Array,
    /// One a line.
    Lines,
}

pub(super) fn to(call: &mut Call) -> Done {
    let format = call.operands.remove(0);
    match format.as_str() {
        "json" => write(call, Layout::Array),
        "ndjson" | "jsonl" => write(call, Layout::Lines),
        "csv" => show::fmt(call),
        other => Err(Failure::Usage(format!("'{other}' is not json, ndjson or csv"))),
    }
}

pub(super) fn to_lines(call: &mut Call) -> Done {
    write(call, Layout::Lines)
}

fn write(call: &mut Call, layout: Layout) -> Done {
    let (strings, nulls, omit) = (call.has("strings"), call.has("nulls"), call.has("omit"));
    let mut table = Table::operand(call, 0)?;
    let mut out = BufWriter::new(call.sink()?);
    let mut names = Vec::new();
    for column in 0..table.names.len() {
        let mut name = Vec::new();
        json::quote(&String::from_utf8_lossy(&table.label(column)), &mut name);
        names.push(name);
    }
    let (mut row, mut line, mut between) = (ByteRecord::new(), Vec::new(), "");
    while table.next(&mut row)? {
        line.clear();
        for (name, cell) in names.iter().zip(&row).filter(|(_, cell)| !(omit && cell.is_empty())) {
            line.push(if line.is_empty() { b'{' } else { b',' });
            line.extend_from_slice(name);
            line.push(b':');
            match cell {
                b"" if nulls => line.extend_from_slice(b"null"),
                _ if !strings && json::is_number(cell) => line.extend_from_slice(cell),
                _ => json::quote(&String::from_utf8_lossy(cell), &mut line),
            }
        }
        if line.is_empty() {
            line.push(b'{');
        }
        line.push(b'}');
        if layout == Layout::Array {
            out.write_all(if between.is_empty() { b"[\n" } else { b",\n" })?;
        } else {
            out.write_all(between.as_bytes())?;
        }
        out.write_all(&line)?;
        between = "\n";
    }
    let end = match (layout, between) {
        (Layout::Array, "") => "[]\n",
        (Layout::Array, _) => "\n]\n",
        (Layout::Lines, between) => between,
    };
    out.write_all(end.as_bytes())?;
    Ok(out.flush()?)
}

pub(super) fn from(call: &mut Call) -> Done {
    let format = match call.value("f") {
        Some(format) => format.to_owned(),
        None if call.operands.is_empty() => return Err(Failure::Usage("from what format?".to_owned())),
        None => call.operands.remove(0),
    };
    match format.as_str() {
        "json" => read(call, Layout::Array),
        "ndjson" | "jsonl" => read(call, Layout::Lines),
        other => Err(Failure::Usage(format!("'{other}' is not json or ndjson"))),
    }
}

pub(super) fn from_lines(call: &mut Call) -> Done {
    read(call, Layout::Lines)
}

fn read(call: &mut Call, layout: Layout) -> Done {
    if call.operands.len() > 1 {
        return Err(Failure::Usage(format!("extra operand '{}'", call.operands[1])));
    }
    let name = call.operand(0).to_owned();
    let mut bytes = Vec::new();
    if let Err(error) = call.source(&name)?.read_to_end(&mut bytes) {
        return failed(format!("{name}: {}", place::reason(&error)));
    }
    let text = String::from_utf8_lossy(&bytes);
    let objects = objects(&text, layout).map_err(|it| Failure::Failed(format!("{name}: {it}")))?;
    // Every name that any object has is a column, in the order they turn up.
    let (mut places, mut names) = (HashMap::new(), Vec::new());
    for (name, _) in objects.iter().flatten() {
        if !places.contains_key(name.as_str()) {
            places.insert(name.as_str(), names.len());
            names.push(name.as_str());
        }
    }
    let mut out = call.output()?;
    out.row(&names)?;
    for object in &objects {
        let mut cells = vec![""; names.len()];
        for (name, cell) in object {
            if let Some(place) = places.get(name.as_str()) {
                cells[*place] = cell;
            }
        }
        out.row(cells)?;
    }
    out.finish()
}

fn objects(text: &str, layout: Layout) -> Result<Vec<Object>, String> {
    let mut parser = Parser::new(text.strip_prefix('\u{feff}').unwrap_or(text));
    let mut objects = Vec::new();
    if layout == Layout::Lines {
        while !parser.ended() {
            objects.push(parser.object()?);
        }
        return Ok(objects);
    }
    parser.expect(b'[')?;
    if !parser.take(b']') {
        loop {
            objects.push(parser.object()?);
            if !parser.take(b',') {
                break;
            }
        }
        parser.expect(b']')?;
    }
    if parser.ended() { Ok(objects) } else { Err("there is more after the array".to_owned()) }
}
