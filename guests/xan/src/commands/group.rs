//! Commands that make one row of many: agg and groupby.

use crate::call::{Call, Done, Failure};
use crate::expression::{self, Answer, Asked};
use crate::table::{Table, key, pick};
use csv::ByteRecord;
use std::collections::HashMap;

/// A group: what its rows have in common, and what is known of them.
struct Group {
    common: Vec<Vec<u8>>,
    answers: Vec<Answer>,
}

impl Group {
    fn new(common: Vec<Vec<u8>>, asked: &[Asked]) -> Self {
        Self { common, answers: asked.iter().map(|_| Answer::default()).collect() }
    }

    fn add(&mut self, asked: &[Asked], row: &ByteRecord) -> Done {
        for (answer, asked) in self.answers.iter_mut().zip(asked) {
            answer.add(asked, row).map_err(Failure::Failed)?;
        }
        Ok(())
    }
}

pub(super) fn agg(call: &mut Call) -> Done {
    let mut table = Table::operand(call, 1)?;
    let asked = expression::read(call.operand(0), &table)?;
    let mut all = Group::new(Vec::new(), &asked);
    let mut row = ByteRecord::new();
    while table.next(&mut row)? {
        all.add(&asked, &row)?;
    }
    write(call, &table, &[], &asked, vec![all])
}

pub(super) fn groupby(call: &mut Call) -> Done {
    let mut table = Table::operand(call, 2)?;
    let columns = table.select(call.operand(0))?;
    let asked = expression::read(call.operand(1), &table)?;
    let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    let mut row = ByteRecord::new();
    while table.next(&mut row)? {
        let place = *places.entry(key(&row, &columns)).or_insert_with(|| {
            groups.push(Group::new(pick(&row, &columns).map(<[u8]>::to_vec).collect(), &asked));
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(place) {
            group.add(&asked, &row)?;
        }
    }
    write(call, &table, &columns, &asked, groups)
}

/// Groups come in the order of their first rows.
fn write(call: &mut Call, table: &Table, columns: &[usize], asked: &[Asked], groups: Vec<Group>) -> Done {
    let mut out = call.output()?;
    let labels = columns.iter().map(|it| table.label(*it));
    out.row(labels.chain(asked.iter().map(|it| it.name.clone().into_bytes())))?;
    for mut group in groups {
        let values: Vec<_> =
            group.answers.iter_mut().zip(asked).map(|(answer, asked)| answer.cell(asked)).collect();
        out.row(group.common.into_iter().chain(values))?;
    }
    out.finish()
}
