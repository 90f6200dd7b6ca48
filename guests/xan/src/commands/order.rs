//! Commands on the order of rows and on equal rows: sort and dedup.

use crate::call::{Call, Done};
use crate::number::Number;
use crate::table::{Table, key, pick};
use csv::ByteRecord;
use std::cmp::Ordering;
use std::collections::HashSet;

pub(super) fn sort(call: &mut Call) -> Done {
    let mut table = Table::operand(call, 0)?;
    let columns = table.selected(call)?;
    let mut rows = table.rest()?;
    let numeric = call.has("N");
    let compare = |left: &ByteRecord, right: &ByteRecord| match numeric {
        true => by_number(left, right, &columns),
        false => pick(left, &columns).cmp(pick(right, &columns)),
    };
    // Turned round within the comparison: equal rows keep their order either way.
    match call.has("R") {
        true => rows.sort_by(|left, right| compare(right, left)),
        false => rows.sort_by(compare),
    }
    if call.has("u") {
        rows.dedup_by(|later, earlier| compare(later, earlier) == Ordering::Equal);
    }
    let mut out = call.output()?;
    out.names(&table)?;
    for row in &rows {
        out.row(row)?;
    }
    out.finish()
}

fn by_number(left: &ByteRecord, right: &ByteRecord, columns: &[usize]) -> Ordering {
    let pairs = pick(left, columns).zip(pick(right, columns));
    let orders = pairs.map(|(left, right)| match (Number::read(left), Number::read(right)) {
        (Some(Number::Whole(left)), Some(Number::Whole(right))) => left.cmp(&right),
        (Some(left), Some(right)) => left.real().total_cmp(&right.real()),
        (left, right) => left.is_some().cmp(&right.is_some()),
    });
    orders.fold(Ordering::Equal, Ordering::then)
}

pub(super) fn dedup(call: &mut Call) -> Done {
    let mut table = Table::operand(call, 0)?;
    let columns = table.selected(call)?;
    let mut out = call.output()?;
    out.names(&table)?;
    let (mut seen, mut row) = (HashSet::new(), ByteRecord::new());
    while table.next(&mut row)? {
        if seen.insert(key(&row, &columns)) {
            out.row(&row)?;
        }
    }
    out.finish()
}
