//! What `agg` and `groupby` are asked for: `sum(price) as total, count()`.

use crate::call::Failure;
use crate::number::{Moments, Number};
use crate::table::Table;
use csv::ByteRecord;
use std::collections::HashSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Count,
    Sum,
    Mean,
    Min,
    Max,
    First,
    Last,
    Median,
    Deviation,
    Cardinality,
}

/// One value asked for.
pub(crate) struct Asked {
    function: Function,
    column: Option<usize>,
    pub name: String,
}

/// Reads a list of what is asked for.
pub(crate) fn read(text: &str, table: &Table) -> Result<Vec<Asked>, Failure> {
    pieces(text).into_iter().map(|it| one(it.trim(), table)).collect()
}

/// Splits at the commas outside of parentheses and quotes.
fn pieces(text: &str) -> Vec<&str> {
    let (mut pieces, mut start) = (Vec::new(), 0);
    let (mut within, mut quoted) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'(' => within = true,
            b')' => within = false,
            b',' if !within => {
                pieces.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(&text[start..]);
    pieces
}

fn one(text: &str, table: &Table) -> Result<Asked, Failure> {
    let wrong = || Failure::Usage(format!("'{text}' is not FUNCTION(COLUMN), or FUNCTION(COLUMN) as NAME"));
    let (word, rest) = text.split_once('(').ok_or_else(wrong)?;
    let (column, after) = rest.rsplit_once(')').ok_or_else(wrong)?;
    let name = match after.trim().strip_prefix("as") {
        None if after.trim().is_empty() => text,
        Some(name) if name.starts_with([' ', '\t', '"']) => name.trim(),
        _ => return Err(wrong()),
    };
    let name = name.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(name);
    let function = match word.trim() {
        "count" => Function::Count,
        "sum" => Function::Sum,
        "mean" | "avg" => Function::Mean,
        "min" => Function::Min,
        "max" => Function::Max,
        "first" => Function::First,
        "last" => Function::Last,
        "median" => Function::Median,
        "stddev" => Function::Deviation,
        "cardinality" => Function::Cardinality,
        other => return Err(Failure::Usage(format!("there is no function '{other}'"))),
    };
    let column = match column.trim() {
        "" | "*" if function == Function::Count => None,
        selection => match table.select(selection)?.as_slice() {
            [column] => Some(*column),
            _ => return Err(Failure::Usage(format!("'{selection}' is not one column"))),
        },
    };
    Ok(Asked { function, column, name: name.to_owned() })
}

/// What is known so far of one value asked for.
#[derive(Default)]
pub(crate) struct Answer {
    count: u64,
    numbers: Moments,
    reals: Vec<f64>,
    first: Option<Vec<u8>>,
    last: Vec<u8>,
    values: HashSet<Vec<u8>>,
}

impl Answer {
    /// Takes a row in. Empty cells are no values.
    pub(crate) fn add(&mut self, asked: &Asked, row: &ByteRecord) -> Result<(), String> {
        let Some(column) = asked.column else {
            self.count += 1;
            return Ok(());
        };
        let cell = row.get(column).unwrap_or_default();
        if cell.is_empty() {
            return Ok(());
        }
        match asked.function {
            Function::Count => self.count += 1,
            Function::First if self.first.is_none() => self.first = Some(cell.to_vec()),
            Function::First => {}
            Function::Last => self.last = cell.to_vec(),
            Function::Cardinality if self.values.contains(cell) => {}
            Function::Cardinality => drop(self.values.insert(cell.to_vec())),
            _ => {
                let shown = || format!("{}: '{}' is no number", asked.name, String::from_utf8_lossy(cell));
                let number = Number::read(cell).ok_or_else(shown)?;
                if asked.function == Function::Median {
                    self.reals.push(number.real());
                }
                self.numbers.add(number, cell);
            }
        }
        Ok(())
    }

    /// The value as a cell; empty where there is none.
    pub(crate) fn cell(&mut self, asked: &Asked) -> Vec<u8> {
        let extreme =
            |it: &Option<crate::number::Extreme>| it.as_ref().map(|it| it.text.clone()).unwrap_or_default();
        match asked.function {
            Function::Count => self.count.to_string().into_bytes(),
            Function::Cardinality => self.values.len().to_string().into_bytes(),
            Function::First => self.first.clone().unwrap_or_default(),
            Function::Last => self.last.clone(),
            Function::Sum => self.numbers.sum().into_bytes(),
            Function::Mean => self.numbers.mean().into_bytes(),
            Function::Deviation => self.numbers.deviation().into_bytes(),
            Function::Min => extreme(&self.numbers.least),
            Function::Max => extreme(&self.numbers.most),
            Function::Median => self.median().map(|it| it.to_string().into_bytes()).unwrap_or_default(),
        }
    }

    fn median(&mut self) -> Option<f64> {
        self.reals.sort_by(f64::total_cmp);
        let half = self.reals.len() / 2;
        let upper = *self.reals.get(half)?;
        match self.reals.len() % 2 {
            1 => Some(upper),
            _ => Some(self.reals.get(half.checked_sub(1)?)? / 2.0 + upper / 2.0),
        }
    }
}
