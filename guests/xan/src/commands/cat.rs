//! Several tables as one: under each other by the names of their columns, or side by side.

use crate::call::{Call, Done, Failure, failed};
use crate::table::{Table, pick};
use csv::ByteRecord;

pub(super) fn cat(call: &mut Call) -> Done {
    let mut files = call.operands.split_off(1);
    if files.is_empty() {
        files.push("-".to_owned());
    }
    match call.operand(0) {
        "rows" => rows(call, &files),
        "columns" | "cols" => columns(call, &files),
        other => Err(Failure::Usage(format!("'{other}' is neither rows nor columns"))),
    }
}

fn rows(call: &mut Call, files: &[String]) -> Done {
    let mut out = None;
    let (mut names, mut row) = (ByteRecord::new(), ByteRecord::new());
    for file in files {
        let mut table = Table::open(call, file, crate::table::Ragged::Refused)?;
        let out = match &mut out {
            Some(out) => out,
            None => {
                let started = out.insert(call.output()?);
                started.names(&table)?;
                names = table.names.clone();
                started
            }
        };
        let places = places(&names, &table, file)?;
        while table.next(&mut row)? {
            out.row(pick(&row, &places))?;
        }
    }
    out.map_or(Ok(()), |it| it.finish())
}

/// Where a table has the columns of the first one; it must have the same, in whatever order.
fn places(names: &ByteRecord, table: &Table, file: &str) -> Result<Vec<usize>, Failure> {
    let (has, wants) = (table.names.len(), names.len());
    if has != wants {
        return failed(format!("{file}: has {has} columns, and the first file {wants}"));
    }
    if table.names == *names {
        return Ok((0..wants).collect());
    }
    let mut taken = vec![false; has];
    let mut places = Vec::with_capacity(wants);
    for name in names {
        let Some(place) = (0..has).find(|it| !taken[*it] && table.names.get(*it) == Some(name)) else {
            return failed(format!("{file}: no column is called '{}'", String::from_utf8_lossy(name)));
        };
        taken[place] = true;
        places.push(place);
    }
    Ok(places)
}

fn columns(call: &mut Call, files: &[String]) -> Done {
    let pad = call.has("p");
    let mut tables = Vec::new();
    for file in files {
        tables.push(Table::open(call, file, crate::table::Ragged::Refused)?);
    }
    let mut out = call.output()?;
    if tables.iter().all(|it| it.named) {
        out.row(tables.iter().flat_map(|it| &it.names))?;
    }
    let (mut row, mut line) = (ByteRecord::new(), ByteRecord::new());
    loop {
        line.clear();
        let mut ended = 0;
        for table in &mut tables {
            if table.next(&mut row)? {
                line.extend(&row);
            } else {
                ended += 1;
                line.extend(table.names.iter().map(|_| b""));
            }
        }
        if ended == tables.len() || ended > 0 && !pad {
            return out.finish();
        }
        out.row(&line)?;
    }
}
