//! Rows of two tables put together by equal columns. One table is kept, the other streams by.

use crate::call::{Call, Done, Failure};
use crate::table::{Output, Table, key, pick};
use csv::ByteRecord;
use std::collections::HashMap;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Inner,
    Left,
    Right,
    Full,
    Semi,
    Anti,
}

/// A table, with the columns that make its key.
struct Side {
    table: Table,
    columns: Vec<usize>,
    fold: bool,
}

impl Side {
    /// What a row is found by; an empty key finds nothing.
    fn key(&self, row: &ByteRecord) -> Option<Vec<u8>> {
        if pick(row, &self.columns).all(<[u8]>::is_empty) {
            return None;
        }
        if self.fold {
            let row: ByteRecord = row.iter().map(<[u8]>::to_ascii_lowercase).collect();
            return Some(key(&row, &self.columns));
        }
        Some(key(row, &self.columns))
    }
}

/// The table that is kept.
struct Kept {
    rows: Vec<(ByteRecord, bool)>,
    by_key: HashMap<Vec<u8>, Vec<usize>>,
}

pub(super) fn join(call: &mut Call) -> Done {
    let kinds = [
        ("left", Kind::Left),
        ("right", Kind::Right),
        ("full", Kind::Full),
        ("semi", Kind::Semi),
        ("anti", Kind::Anti),
        ("inner", Kind::Inner),
    ];
    let mut given = kinds.iter().filter(|(id, _)| call.has(id));
    let kind = match (given.next(), given.next()) {
        (Some((_, kind)), None) => *kind,
        (None, _) => Kind::Inner,
        _ => return Err(Failure::Usage("one kind of join at a time".to_owned())),
    };
    let (columns1, file1) = (call.operand(0).to_owned(), 1);
    let (columns2, file2) = match call.operands.len() {
        3 => (columns1.clone(), 2),
        _ => (call.operand(2).to_owned(), 3),
    };
    let one = side(call, &columns1, file1)?;
    let two = side(call, &columns2, file2)?;
    if one.columns.len() != two.columns.len() {
        return Err(Failure::Usage("both sides need as many columns as each other".to_owned()));
    }
    let mut out = call.output()?;
    match kind {
        Kind::Semi | Kind::Anti => {
            out.names(&one.table)?;
            judge(one, two, kind, &mut out)?;
        }
        _ => {
            if one.table.named {
                out.row(one.table.names.iter().chain(&two.table.names))?;
            }
            put_together(one, two, kind, &mut out)?;
        }
    }
    out.finish()
}

fn side(call: &mut Call, columns: &str, file: usize) -> Result<Side, Failure> {
    let table = Table::operand(call, file)?;
    let columns = table.select(columns)?;
    Ok(Side { table, columns, fold: call.has("i") })
}

fn keep(side: &mut Side) -> Result<Kept, Failure> {
    let rows = side.table.rest()?;
    let mut by_key: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
    for (at, row) in rows.iter().enumerate() {
        if let Some(key) = side.key(row) {
            by_key.entry(key).or_default().push(at);
        }
    }
    Ok(Kept { rows: rows.into_iter().map(|it| (it, false)).collect(), by_key })
}

fn judge(mut one: Side, mut two: Side, kind: Kind, out: &mut Output) -> Done {
    let kept = keep(&mut two)?;
    let mut row = ByteRecord::new();
    while one.table.next(&mut row)? {
        let has = one.key(&row).is_some_and(|it| kept.by_key.contains_key(&it));
        if has == (kind == Kind::Semi) {
            out.row(&row)?;
        }
    }
    Ok(())
}

/// The rows of the streaming table set the order: of the second for a right join, else of the first.
fn put_together(one: Side, two: Side, kind: Kind, out: &mut Output) -> Done {
    let (widths, swapped) = ((one.table.names.len(), two.table.names.len()), kind == Kind::Right);
    let (mut streaming, mut other) = if swapped { (two, one) } else { (one, two) };
    let mut kept = keep(&mut other)?;
    let empty = |cells: usize| -> ByteRecord { std::iter::repeat_n(b"", cells).collect() };
    let (no_one, no_two) = (empty(widths.0), empty(widths.1));
    let mut row = ByteRecord::new();
    while streaming.table.next(&mut row)? {
        let partners = streaming.key(&row).and_then(|it| kept.by_key.get(&it));
        for at in partners.into_iter().flatten() {
            let Some((partner, met)) = kept.rows.get_mut(*at) else { continue };
            *met = true;
            let (left, right) = if swapped { (&*partner, &row) } else { (&row, &*partner) };
            out.row(left.iter().chain(right))?;
        }
        match (partners, kind) {
            (None, Kind::Left | Kind::Full) => out.row(row.iter().chain(&no_two))?,
            (None, Kind::Right) => out.row(no_one.iter().chain(&row))?,
            _ => {}
        }
    }
    let lonely = kept.rows.iter().filter(|(_, met)| !met && kind == Kind::Full);
    for (row, _) in lonely {
        out.row(no_one.iter().chain(row))?;
    }
    Ok(())
}
