//! What `filter` keeps: comparisons `COLUMN OP VALUE`, with `and`, `or`, `not` and parentheses.
//!
//! What is not understood is refused, with the word that is out of place: a condition that was read
//! as another one would keep the wrong rows without a word. There is no arithmetic, and `col("name")`
//! is the only function.

use crate::call::Failure;
use crate::number::Number;
use crate::table::{Table, pick};
use csv::ByteRecord;
use std::cmp::Ordering;

/// Parentheses within parentheses.
const DEPTH_MAX: usize = 100;

/// A condition on one row.
pub(crate) enum Condition {
    Any(Vec<Condition>),
    All(Vec<Condition>),
    Not(Box<Condition>),
    Compare { columns: Vec<usize>, operator: &'static Operator, value: Side },
}

/// What a column is compared with.
pub(crate) enum Side {
    Column(usize),
    Text(Vec<u8>),
}

/// How two sides are compared.
pub(crate) struct Operator {
    sign: &'static str,
    wanted: &'static [Ordering],
    numbers: bool,
}

const fn operator(sign: &'static str, wanted: &'static [Ordering], numbers: bool) -> Operator {
    Operator { sign, wanted, numbers }
}

/// Longer spellings first, so that `<=` is not read as `<`.
const OPERATORS: &[Operator] = &[
    operator("==", &[Ordering::Equal], true),
    operator("!=", &[Ordering::Less, Ordering::Greater], true),
    operator("<=", &[Ordering::Less, Ordering::Equal], true),
    operator(">=", &[Ordering::Greater, Ordering::Equal], true),
    operator("<", &[Ordering::Less], true),
    operator(">", &[Ordering::Greater], true),
    operator("eq", &[Ordering::Equal], false),
    operator("ne", &[Ordering::Less, Ordering::Greater], false),
    operator("lt", &[Ordering::Less], false),
    operator("le", &[Ordering::Less, Ordering::Equal], false),
    operator("gt", &[Ordering::Greater], false),
    operator("ge", &[Ordering::Greater, Ordering::Equal], false),
];

impl Condition {
    /// Reads `text` about the columns of `table`.
    pub(crate) fn read(text: &str, table: &Table) -> Result<Self, Failure> {
        let mut reader = Reader { text, rest: text, table, depth: 0 };
        let condition = reader.any()?;
        if !reader.rest.is_empty() {
            return Err(reader.wrong());
        }
        Ok(condition)
    }

    /// Whether `row` is kept.
    pub(crate) fn holds(&self, row: &ByteRecord) -> bool {
        match self {
            Self::Any(parts) => parts.iter().any(|it| it.holds(row)),
            Self::All(parts) => parts.iter().all(|it| it.holds(row)),
            Self::Not(part) => !part.holds(row),
            Self::Compare { columns, operator, value } => {
                let value = match value {
                    Side::Column(column) => row.get(*column).unwrap_or_default(),
                    Side::Text(text) => text,
                };
                pick(row, columns).all(|cell| operator.holds(cell, value))
            }
        }
    }
}

impl Operator {
    fn holds(&self, cell: &[u8], value: &[u8]) -> bool {
        let number = Number::read(value).filter(|_| self.numbers);
        let order = match (number, Number::read(cell)) {
            (Some(value), Some(cell)) => cell.real().total_cmp(&value.real()),
            // Nothing is neither above nor below a number.
            (Some(_), None) if cell.is_empty() => return self.sign == "!=",
            _ => cell.cmp(value),
        };
        self.wanted.contains(&order)
    }
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    table: &'a Table,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn any(&mut self) -> Result<Condition, Failure> {
        let mut parts = vec![self.all()?];
        while self.sign("||") || self.word("or") {
            parts.push(self.all()?);
        }
        Ok(Condition::Any(parts))
    }

    fn all(&mut self) -> Result<Condition, Failure> {
        let mut parts = vec![self.one()?];
        while self.sign("&&") || self.word("and") {
            parts.push(self.one()?);
        }
        Ok(Condition::All(parts))
    }

    fn one(&mut self) -> Result<Condition, Failure> {
        if self.depth >= DEPTH_MAX {
            return Err(Failure::Usage("the condition is nested too deeply".to_owned()));
        }
        self.depth += 1;
        let not_before =
            self.rest.trim_start().strip_prefix('!').is_some_and(|it| it.trim_start().starts_with('('));
        let condition = if (not_before && self.sign("!")) || self.word("not") {
            Condition::Not(Box::new(self.one()?))
        } else if self.sign("(") {
            let inner = self.any()?;
            if !self.sign(")") {
                return Err(self.wrong());
            }
            inner
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        self.rest = self.rest.trim_start();
        Ok(condition)
    }

    fn comparison(&mut self) -> Result<Condition, Failure> {
        self.rest = self.rest.trim_start();
        let columns = match self.column_call()? {
            Some(column) => vec![column],
            None => {
                let selection = self.piece();
                if selection.is_empty() {
                    return Err(self.wrong());
                }
                self.table.select(selection)?
            }
        };
        // Signs need no blanks around them; words do.
        let found =
            OPERATORS.iter().find(|it| match it.sign.starts_with(|it: char| it.is_ascii_alphabetic()) {
                true => self.word(it.sign),
                false => self.sign(it.sign),
            });
        let Some(operator) = found else { return Err(self.wrong()) };
        let value = self.value()?;
        Ok(Condition::Compare { columns, operator, value })
    }

    fn value(&mut self) -> Result<Side, Failure> {
        self.rest = self.rest.trim_start();
        if let Some(column) = self.column_call()? {
            return Ok(Side::Column(column));
        }
        if let Some(quote) = self.rest.chars().next().filter(|it| matches!(it, '"' | '\'')) {
            let (text, rest) = self.rest[1..].split_once(quote).ok_or_else(|| self.wrong())?;
            self.rest = rest;
            return Ok(Side::Text(text.as_bytes().to_vec()));
        }
        let word = self.piece();
        if word.is_empty() {
            return Err(self.wrong());
        }
        // A number is one even where a column is called by it; another word is a column if there is
        // such a one.
        let named = self.table.names.iter().position(|it| it == word.as_bytes()).filter(|_| self.table.named);
        Ok(match named {
            Some(column) if Number::read(word.as_bytes()).is_none() => Side::Column(column),
            _ => Side::Text(word.as_bytes().to_vec()),
        })
    }

    /// `col("name")` or `col(2)`.
    fn column_call(&mut self) -> Result<Option<usize>, Failure> {
        let Some(after) = self.rest.strip_prefix("col(") else { return Ok(None) };
        let (inside, rest) = after.split_once(')').ok_or_else(|| self.wrong())?;
        let inside = inside.trim();
        let quoted =
            inside.strip_prefix('\'').and_then(|it| it.strip_suffix('\'')).map(|it| format!("\"{it}\""));
        let column = match self.table.select(quoted.as_deref().unwrap_or(inside))?.as_slice() {
            [column] => *column,
            _ => return Err(Failure::Usage(format!("'{inside}' is not one column"))),
        };
        self.rest = rest;
        Ok(Some(column))
    }

    /// A word, up to a blank, an operator or a parenthesis; quotes within it hide those.
    fn piece(&mut self) -> &'a str {
        let mut quoted = false;
        let end = self.rest.find(|sign: char| {
            quoted ^= sign == '"';
            !quoted && (sign.is_whitespace() || "=<>!&|()".contains(sign))
        });
        let (piece, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        piece
    }

    fn sign(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(sign);
        if let Some(rest) = rest {
            self.rest = rest;
        }
        rest.is_some()
    }

    fn word(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(word);
        let rest = rest.filter(|it| it.starts_with(|it: char| it.is_whitespace() || "(\"'".contains(it)));
        if let Some(rest) = rest {
            self.rest = rest;
        }
        rest.is_some()
    }

    fn wrong(&self) -> Failure {
        let rest = self.rest.trim_start();
        let place = if rest.is_empty() { "its end".to_owned() } else { format!("'{rest}'") };
        Failure::Usage(format!(
            "'{}' is not understood at {place}: a condition is COLUMN OP VALUE, with and, or, not and \
             parentheses between such; a value with blanks stands in quotes",
            self.text
        ))
    }
}
