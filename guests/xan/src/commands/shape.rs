//! Commands that give a table another shape: transpose, explode, implode, fill.

use crate::call::{Call, Done, failed};
use crate::table::{Table, key, pick};
use csv::ByteRecord;

pub(super) fn transpose(call: &mut Call) -> Done {
    let mut table = Table::operand(call, 0)?;
    let rows = table.rest()?;
    let mut out = call.output()?;
    for column in 0..table.names.len() {
        let name = table.named.then_some(&table.names);
        let cells = name.into_iter().chain(&rows).map(|row| row.get(column).unwrap_or_default());
        out.row(cells)?;
    }
    out.finish()
}

/// Writes the names, with the selected columns called otherwise if that was asked for.
fn names(call: &Call, table: &Table, columns: &[usize]) -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = table.names.iter().map(<[u8]>::to_vec).collect();
    if let Some(list) = call.value("r") {
        for (column, name) in columns.iter().zip(list.split(',')) {
            names[*column] = name.as_bytes().to_vec();
        }
    }
    names
}

pub(super) fn explode(call: &mut Call) -> Done {
    let separator = call.value("sep").unwrap_or("|").as_bytes().to_vec();
    let mut table = Table::operand(call, 1)?;
    let columns = table.select(call.operand(0))?;
    let heading = names(call, &table, &columns);
    let mut out = call.output()?;
    if table.named {
        out.row(heading)?;
    }
    let mut row = ByteRecord::new();
    while table.next(&mut row)? {
        let parts: Vec<Vec<&[u8]>> = pick(&row, &columns).map(|cell| split(cell, &separator)).collect();
        let many = parts.iter().map(Vec::len).max().unwrap_or(1);
        if parts.iter().any(|it| it.len() != many) {
            return failed("the cells of one row do not have as many parts as each other");
        }
        for nth in 0..many {
            let mut cells: Vec<&[u8]> = row.iter().collect();
            for (column, parts) in columns.iter().zip(&parts) {
                cells[*column] = parts[nth];
            }
            out.row(cells)?;
        }
    }
    out.finish()
}

/// The parts of a cell. Nothing separates where the separator is empty.
fn split<'a>(cell: &'a [u8], separator: &[u8]) -> Vec<&'a [u8]> {
    if separator.is_empty() {
        return vec![cell];
    }
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    while at < cell.len() {
        if cell[at..].starts_with(separator) {
            parts.push(&cell[start..at]);
            at += separator.len();
            start = at;
        } else {
            at += 1;
        }
    }
    parts.push(&cell[start..]);
    parts
}

pub(super) fn implode(call: &mut Call) -> Done {
    let separator = call.value("sep").unwrap_or("|").as_bytes().to_vec();
    let mut table = Table::operand(call, 1)?;
    let columns = table.select(call.operand(0))?;
    let others: Vec<usize> = (0..table.names.len()).filter(|it| !columns.contains(it)).collect();
    let heading = names(call, &table, &columns);
    let mut out = call.output()?;
    if table.named {
        out.row(heading)?;
    }
    let (mut row, mut open) = (ByteRecord::new(), None::<(Vec<u8>, Vec<Vec<u8>>)>);
    while table.next(&mut row)? {
        let key = key(&row, &others);
        match &mut open {
            Some((same, cells)) if *same == key => {
                for column in &columns {
                    cells[*column].extend_from_slice(&separator);
                    cells[*column].extend_from_slice(row.get(*column).unwrap_or_default());
                }
            }
            _ => {
                let cells = row.iter().map(<[u8]>::to_vec).collect();
                if let Some((_, done)) = open.replace((key, cells)) {
                    out.row(done)?;
                }
            }
        }
    }
    if let Some((_, done)) = open {
        out.row(done)?;
    }
    out.finish()
}

pub(super) fn fill(call: &mut Call) -> Done {
    let mut table = Table::operand(call, 0)?;
    let columns = table.selected(call)?;
    let value = call.value("v").map(|it| it.as_bytes().to_vec());
    let mut above: Vec<Vec<u8>> = vec![value.clone().unwrap_or_default(); table.names.len()];
    let mut out = call.output()?;
    out.names(&table)?;
    let mut row = ByteRecord::new();
    while table.next(&mut row)? {
        let mut cells: Vec<&[u8]> = row.iter().collect();
        for column in &columns {
            if !cells[*column].is_empty() && value.is_none() {
                above[*column] = cells[*column].to_vec();
            }
        }
        for column in &columns {
            if cells[*column].is_empty() {
                cells[*column] = &above[*column];
            }
        }
        out.row(cells)?;
    }
    out.finish()
}
