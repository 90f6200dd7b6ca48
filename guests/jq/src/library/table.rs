//! `@csv` and `@tsv`: rows of plain values as text.

use super::wording::described;
use crate::output;
use jaq_core::Error;
use jaq_json::{Val, ValR};

/// A row as comma separated values: strings quoted, quotes doubled.
pub fn csv(row: &Val) -> ValR {
    let cell = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    join(row, ",", "csv", cell)
}

/// A row as tab separated values: tabs, line ends and backslashes escaped.
pub fn tsv(row: &Val) -> ValR {
    let cell = |text: &str| {
        text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
    };
    join(row, "\t", "tsv", cell)
}

fn join(row: &Val, between: &str, format: &str, cell: impl Fn(&str) -> String) -> ValR {
    let Val::Arr(items) = row else {
        return Err(Error::str(format!("{} cannot be {format}-formatted, only array", described(row))));
    };
    let cells = items.iter().map(|item| match item {
        Val::Null => Ok(String::new()),
        Val::Bool(_) | Val::Num(_) => Ok(output::compact(item)),
        Val::TStr(text) | Val::BStr(text) => Ok(cell(&String::from_utf8_lossy(text))),
        Val::Arr(_) | Val::Obj(_) => {
            Err(Error::str(format!("{} is not valid in a csv row", described(item))))
        }
    });
    Ok(Val::from(cells.collect::<Result<Vec<_>, jaq_json::Error>>()?.join(between)))
}
