//! Commands that keep rows by what is in them: search and filter.

use crate::call::{Call, Done, Failure, failed};
use crate::condition::Condition;
use crate::table::{Table, pick};
use csv::ByteRecord;
use regex_lite::{Regex, RegexBuilder};

enum Pattern {
    /// The cell is this.
    Exact(Vec<u8>),
    /// The same, whatever the case.
    Same(Vec<u8>),
    Regex(Regex),
}

impl Pattern {
    fn new(call: &Call) -> Result<Self, Failure> {
        let text = call.operand(0);
        match (call.has("e"), call.has("i")) {
            (true, false) => Ok(Self::Exact(text.as_bytes().to_vec())),
            (true, true) => Ok(Self::Same(text.as_bytes().to_vec())),
            (false, fold) => match RegexBuilder::new(text).case_insensitive(fold).build() {
                Ok(regex) => Ok(Self::Regex(regex)),
                Err(error) => failed(format!("'{text}' is no regular expression: {error}")),
            },
        }
    }

    fn fits(&self, cell: &[u8]) -> bool {
        match self {
            Self::Exact(text) => text == cell,
            Self::Same(text) => text.eq_ignore_ascii_case(cell),
            Self::Regex(regex) => regex.is_match(&String::from_utf8_lossy(cell)),
        }
    }
}

pub(super) fn search(call: &mut Call) -> Done {
    let pattern = Pattern::new(call)?;
    let mut left = call.number("l")?.unwrap_or(usize::MAX);
    let invert = call.has("v");
    let mut table = Table::operand(call, 1)?;
    let columns = table.selected(call)?;
    let mut out = call.output()?;
    out.names(&table)?;
    let mut row = ByteRecord::new();
    while left > 0 && table.next(&mut row)? {
        if pick(&row, &columns).any(|it| pattern.fits(it)) != invert {
            out.row(&row)?;
            left -= 1;
        }
    }
    out.finish()
}

pub(super) fn filter(call: &mut Call) -> Done {
    let text = call.operand(0).to_owned();
    let invert = call.has("v");
    let mut table = Table::operand(call, 1)?;
    let condition = Condition::read(&text, &table)?;
    let mut out = call.output()?;
    out.names(&table)?;
    let mut row = ByteRecord::new();
    while table.next(&mut row)? {
        if condition.holds(&row) != invert {
            out.row(&row)?;
        }
    }
    out.finish()
}
