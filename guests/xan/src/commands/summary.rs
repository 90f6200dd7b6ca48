//! Commands that tell about columns: frequency and stats.

use crate::call::{Call, Done};
use crate::number::{Moments, Number};
use crate::table::{Table, pick};
use csv::ByteRecord;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

const LIMIT: usize = 10;

/// How often each value of a column occurs, and when it was first seen.
type Counts = HashMap<Vec<u8>, (u64, usize)>;

pub(super) fn frequency(call: &mut Call) -> Done {
    let mut table = Table::operand(call, 0)?;
    let columns = table.selected(call)?;
    let limit = if call.has("A") { usize::MAX } else { call.number("l")?.unwrap_or(LIMIT) };
    let extra = !call.has("N");
    let mut counts: Vec<Counts> = columns.iter().map(|_| Counts::new()).collect();
    let mut row = ByteRecord::new();
    while table.next(&mut row)? {
        for (cell, counts) in pick(&row, &columns).zip(&mut counts) {
            if let Some((count, _)) = counts.get_mut(cell) {
                *count += 1;
            } else {
                counts.insert(cell.to_vec(), (1, counts.len()));
            }
        }
    }
    let mut out = call.output()?;
    out.row(["field", "value", "count"])?;
    for (column, counts) in columns.iter().zip(counts) {
        let label = table.label(*column);
        let values = counts.into_iter().filter(|(value, _)| extra || !value.is_empty());
        let mut values: Vec<_> = values.collect();
        // Of values as frequent as each other the one seen first: the same answer in every run.
        values.sort_by_key(|(_, (count, seen))| (Reverse(*count), *seen));
        let rest: u64 = values.iter().skip(limit).map(|(_, (count, _))| *count).sum();
        for (value, (count, _)) in values.iter().take(limit) {
            let value = if value.is_empty() { b"<empty>" } else { value.as_slice() };
            out.row([label.as_slice(), value, count.to_string().as_bytes()])?;
        }
        if extra && rest > 0 {
            out.row([label.as_slice(), b"<rest>", rest.to_string().as_bytes()])?;
        }
    }
    out.finish()
}

/// What is known of one column.
#[derive(Default)]
struct Facts {
    filled: u64,
    empty: u64,
    wholes: u64,
    numbers: Moments,
    texts: Option<(Vec<u8>, Vec<u8>)>,
    values: HashSet<Vec<u8>>,
}

impl Facts {
    fn add(&mut self, cell: &[u8]) {
        if !self.values.contains(cell) {
            self.values.insert(cell.to_vec());
            self.stretch(cell);
        }
        if cell.is_empty() {
            self.empty += 1;
            return;
        }
        self.filled += 1;
        if let Some(number) = Number::read(cell) {
            self.wholes += u64::from(matches!(number, Number::Whole(_)));
            self.numbers.add(number, cell);
        }
    }

    fn stretch(&mut self, cell: &[u8]) {
        match &mut self.texts {
            _ if cell.is_empty() => {}
            None => self.texts = Some((cell.to_vec(), cell.to_vec())),
            Some((first, _)) if cell < first.as_slice() => *first = cell.to_vec(),
            Some((_, last)) if cell > last.as_slice() => *last = cell.to_vec(),
            Some(_) => {}
        }
    }

    fn kind(&self) -> &'static str {
        match self.filled {
            0 => "empty",
            filled if filled == self.wholes => "int",
            filled if filled == self.numbers.count => "float",
            _ => "string",
        }
    }

    fn cells(&self) -> [Vec<u8>; 9] {
        let kind = self.kind();
        let count = |it: u64| it.to_string().into_bytes();
        let numeric = matches!(kind, "int" | "float");
        let number = |it: String| if numeric { it.into_bytes() } else { Vec::new() };
        let (least, most) = match (&self.numbers.least, &self.numbers.most, &self.texts) {
            (Some(least), Some(most), _) if numeric => (least.text.clone(), most.text.clone()),
            (_, _, texts) => texts.clone().unwrap_or_default(),
        };
        [
            count(self.filled),
            count(self.empty),
            kind.into(),
            number(self.numbers.sum()),
            number(self.numbers.mean()),
            number(self.numbers.deviation()),
            least,
            most,
            count(self.values.len() as u64),
        ]
    }
}

pub(super) fn stats(call: &mut Call) -> Done {
    let mut table = Table::operand(call, 0)?;
    let columns = table.selected(call)?;
    let mut facts: Vec<Facts> = columns.iter().map(|_| Facts::default()).collect();
    let mut row = ByteRecord::new();
    while table.next(&mut row)? {
        for (cell, facts) in pick(&row, &columns).zip(&mut facts) {
            facts.add(cell);
        }
    }
    let mut out = call.output()?;
    out.row(["field", "count", "count_empty", "type", "sum", "mean", "stddev", "min", "max", "cardinality"])?;
    for (column, facts) in columns.iter().zip(&facts) {
        out.row(std::iter::once(table.label(*column)).chain(facts.cells()))?;
    }
    out.finish()
}
