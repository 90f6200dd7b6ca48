//! Commands on rows by their number: count, slice, head, tail, reverse, fixlengths.

use crate::call::{Call, Done, Failure};
use crate::table::{Ragged, Table};
use csv::ByteRecord;
use std::collections::VecDeque;
use std::io::Write as _;

pub(super) fn count(call: &mut Call) -> Done {
    let mut table = Table::operand(call, 0)?;
    let (mut row, mut rows) = (ByteRecord::new(), 0_u64);
    while table.next(&mut row)? {
        rows += 1;
    }
    let mut out = call.sink()?;
    writeln!(out, "{rows}")?;
    Ok(out.flush()?)
}

pub(super) fn slice(call: &mut Call) -> Done {
    let (start, end) = (call.number("s")?, call.number("e")?);
    let (length, index) = (call.number("l")?, call.number("i")?);
    let range = match (start, end, length, index) {
        (None, None, None, Some(index)) => (index, index.saturating_add(1)),
        (_, _, _, Some(_)) => return Err(Failure::Usage("--index stands alone".to_owned())),
        (_, Some(_), Some(_), _) => return Err(Failure::Usage("either --end or --len".to_owned())),
        (start, Some(end), None, _) => (start.unwrap_or(0), end),
        (start, None, length, _) => {
            let start = start.unwrap_or(0);
            (start, length.map_or(usize::MAX, |it| start.saturating_add(it)))
        }
    };
    if range.0 > range.1 {
        return Err(Failure::Usage(format!("the end {} is before the start {}", range.1, range.0)));
    }
    between(call, range.0, range.1)
}

pub(super) fn head(call: &mut Call) -> Done {
    let limit = call.number("l")?.unwrap_or(10);
    between(call, 0, limit)
}

/// Copies rows, and reads no further than it must.
fn between(call: &mut Call, start: usize, end: usize) -> Done {
    let mut table = Table::operand(call, 0)?;
    let mut out = call.output()?;
    out.names(&table)?;
    let (mut row, mut at) = (ByteRecord::new(), 0);
    while at < end && table.next(&mut row)? {
        if at >= start {
            out.row(&row)?;
        }
        at += 1;
    }
    out.finish()
}

pub(super) fn tail(call: &mut Call) -> Done {
    let limit = call.number("l")?.unwrap_or(10);
    let mut table = Table::operand(call, 0)?;
    let (mut last, mut row) = (VecDeque::new(), ByteRecord::new());
    while table.next(&mut row)? {
        last.push_back(std::mem::take(&mut row));
        if last.len() > limit {
            row = last.pop_front().unwrap_or_default();
        }
    }
    let mut out = call.output()?;
    out.names(&table)?;
    for row in &last {
        out.row(row)?;
    }
    out.finish()
}

pub(super) fn reverse(call: &mut Call) -> Done {
    let mut table = Table::operand(call, 0)?;
    let rows = table.rest()?;
    let mut out = call.output()?;
    out.names(&table)?;
    for row in rows.iter().rev() {
        out.row(row)?;
    }
    out.finish()
}

pub(super) fn fixlengths(call: &mut Call) -> Done {
    let file = call.operand(0).to_owned();
    let mut table = Table::open(call, &file, Ragged::Allowed)?;
    let rows = table.rest()?;
    let names = table.named.then_some(&table.names);
    let all = || names.into_iter().chain(&rows);
    let length = match call.number("l")? {
        Some(0) => return Err(Failure::Usage("a row has one cell at least".to_owned())),
        Some(length) => length,
        None => all().map(ByteRecord::len).max().unwrap_or(0),
    };
    let mut out = call.output()?;
    for row in all() {
        out.row(row.iter().chain(std::iter::repeat(&b""[..])).take(length))?;
    }
    out.finish()
}
