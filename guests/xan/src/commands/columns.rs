//! Commands on columns and their names: headers, select, drop, rename, enum, behead.

use crate::call::{Call, Done, Failure, failed};
use crate::select::Base;
use crate::table::{Table, pick};
use csv::{ByteRecord, ReaderBuilder};
use std::io::Write as _;

pub(super) fn headers(call: &mut Call) -> Done {
    let files = if call.operands.is_empty() { vec!["-".to_owned()] } else { call.operands.clone() };
    let mut text = Vec::new();
    for file in &files {
        let table = Table::open(call, file, crate::table::Ragged::Allowed)?;
        let width = (table.names.len() + call.base.first()).saturating_sub(1).to_string().len();
        if files.len() > 1 {
            text.extend_from_slice(format!("{file}\n").as_bytes());
        }
        for (at, name) in table.names.iter().enumerate() {
            if !call.has("j") {
                text.extend_from_slice(format!("{:<width$}   ", at + call.base.first()).as_bytes());
            }
            text.extend_from_slice(name);
            text.push(b'\n');
        }
    }
    let mut out = call.sink()?;
    out.write_all(&text)?;
    Ok(out.flush()?)
}

pub(super) fn select(call: &mut Call) -> Done {
    let mut table = Table::operand(call, 1)?;
    let columns = table.select(call.operand(0))?;
    keep(call, &mut table, &columns)
}

pub(super) fn drop(call: &mut Call) -> Done {
    let mut table = Table::operand(call, 1)?;
    let gone = table.select(call.operand(0))?;
    let columns: Vec<usize> = (0..table.names.len()).filter(|it| !gone.contains(it)).collect();
    keep(call, &mut table, &columns)
}

fn keep(call: &mut Call, table: &mut Table, columns: &[usize]) -> Done {
    let mut out = call.output()?;
    if table.named {
        out.row(pick(&table.names, columns))?;
    }
    let mut row = ByteRecord::new();
    while table.next(&mut row)? {
        out.row(pick(&row, columns))?;
    }
    out.finish()
}

pub(super) fn rename(call: &mut Call) -> Done {
    let around = call.has("p") || call.has("x");
    if !around && call.operands.is_empty() || around && call.operands.len() > 1 {
        return Err(Failure::Usage("either NAMES, or --prefix or --suffix".to_owned()));
    }
    let mut table = Table::operand(call, usize::from(!around))?;
    let columns = table.selected(call)?;
    let mut names: Vec<Vec<u8>> = table.names.iter().map(<[u8]>::to_vec).collect();
    let new = if around { ByteRecord::new() } else { list(call.operand(0))? };
    if !around && new.len() != columns.len() {
        return failed(format!("{} names for {} columns", new.len(), columns.len()));
    }
    let prefix = call.value("p").unwrap_or_default().as_bytes();
    let suffix = call.value("x").unwrap_or_default().as_bytes();
    for (at, column) in columns.iter().enumerate() {
        names[*column] = match new.get(at) {
            Some(name) => name.to_vec(),
            None => [prefix, names[*column].as_slice(), suffix].concat(),
        };
    }
    let mut out = call.output()?;
    out.row(&names)?;
    let mut row = ByteRecord::new();
    while table.next(&mut row)? {
        out.row(&row)?;
    }
    out.finish()
}

/// A list of names, as a row of a table spells it.
fn list(text: &str) -> Result<ByteRecord, Failure> {
    let mut row = ByteRecord::new();
    ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes()).read_byte_record(&mut row)?;
    Ok(row)
}

pub(super) fn number(call: &mut Call) -> Done {
    let mut table = Table::operand(call, 0)?;
    let mut index = call.number("S")?.unwrap_or(match call.base {
        Base::Zero => 0,
        Base::One => 1,
    });
    let name = call.value("c").unwrap_or("index").to_owned();
    let mut out = call.output()?;
    if table.named {
        out.row(std::iter::once(name.as_bytes()).chain(&table.names))?;
    }
    let mut row = ByteRecord::new();
    while table.next(&mut row)? {
        out.row(std::iter::once(index.to_string().as_bytes()).chain(&row))?;
        index = index.saturating_add(1);
    }
    out.finish()
}

pub(super) fn behead(call: &mut Call) -> Done {
    let mut table = Table::operand(call, 0)?;
    let mut out = call.output()?;
    let mut row = ByteRecord::new();
    while table.next(&mut row)? {
        out.row(&row)?;
    }
    out.finish()
}
