//! Commands that keep rows by what is in them: search and filter.

use crate::call::{Call, Done, Failure, failed};
use crate::number::Number;
use crate::table::{Table, pick};
use csv::ByteRecord;
use regex_lite::{Regex, RegexBuilder};
use std::cmp::Ordering;

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

pub fn search(call: &mut Call) -> Done {
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

/// How two sides are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum As {
    Numbers,
    Texts,
}

/// Longer spellings first, so that `<=` is not read as `<`.
const SIGNS: &[(&str, &[Ordering], As)] = &[
    ("==", &[Ordering::Equal], As::Numbers),
    ("!=", &[Ordering::Less, Ordering::Greater], As::Numbers),
    ("<=", &[Ordering::Less, Ordering::Equal], As::Numbers),
    (">=", &[Ordering::Greater, Ordering::Equal], As::Numbers),
    ("<", &[Ordering::Less], As::Numbers),
    (">", &[Ordering::Greater], As::Numbers),
    (" eq ", &[Ordering::Equal], As::Texts),
    (" ne ", &[Ordering::Less, Ordering::Greater], As::Texts),
    (" lt ", &[Ordering::Less], As::Texts),
    (" le ", &[Ordering::Less, Ordering::Equal], As::Texts),
    (" gt ", &[Ordering::Greater], As::Texts),
    (" ge ", &[Ordering::Greater, Ordering::Equal], As::Texts),
];

pub fn filter(call: &mut Call) -> Done {
    let text = call.operand(0).to_owned();
    // The first sign in the text is meant; a value may hold others.
    let signs = SIGNS.iter().enumerate();
    let found = signs
        .filter_map(|(rank, sign)| text.find(sign.0).map(|at| (at, rank, sign)))
        .min_by_key(|it| (it.0, it.1));
    let Some((at, _, (sign, wanted, kind))) = found else {
        return Err(Failure::Usage(format!("'{text}' is not COLUMN OP VALUE")));
    };
    let value = unquoted(text[at + sign.len()..].trim()).as_bytes();
    let invert = call.has("v");
    let mut table = Table::operand(call, 1)?;
    let columns = table.select(text[..at].trim())?;
    let mut out = call.output()?;
    out.names(&table)?;
    let number = Number::read(value).filter(|_| *kind == As::Numbers);
    let mut row = ByteRecord::new();
    while table.next(&mut row)? {
        let fits = |cell: &[u8]| {
            let order = match (number, Number::read(cell)) {
                (Some(value), Some(cell)) => cell.real().total_cmp(&value.real()),
                // Nothing is neither above nor below a number.
                (Some(_), None) if cell.is_empty() => {
                    return wanted.len() == 2 && !wanted.contains(&Ordering::Equal);
                }
                _ => cell.cmp(value),
            };
            wanted.contains(&order)
        };
        if pick(&row, &columns).all(fits) != invert {
            out.row(&row)?;
        }
    }
    out.finish()
}

fn unquoted(text: &str) -> &str {
    let within = |quote: char| text.strip_prefix(quote).and_then(|it| it.strip_suffix(quote));
    within('"').or_else(|| within('\'')).unwrap_or(text)
}
