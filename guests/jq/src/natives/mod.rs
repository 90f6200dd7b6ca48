//! Functions of values, written in Rust.

pub mod collection;
mod date;
mod encode;
mod format;
pub mod matching;
mod math;
mod text;

pub use format::Format;

use crate::run::Exit;
use crate::value::Value;

/// A function of the input and the arguments.
pub type Native = fn(Value, &[Value]) -> Result<Value, Exit>;

/// Name, arity, function.
type Row = (&'static str, usize, Native);

/// Those with more than one argument where the first varies slowest, as in a definition with `$a; $b`.
const FIRST_SLOWEST: [&str; 3] = ["split", "test", "_match"];

/// The function of a name, and whether its last argument varies slowest.
pub fn find(name: &str, arity: usize) -> Option<(Native, bool)> {
    let found = tables().find(|(known, count, _)| *known == name && *count == arity);
    found.map(|(_, _, native)| (*native, !FIRST_SLOWEST.contains(&name)))
}

/// `name/arity` of each.
pub fn names() -> impl Iterator<Item = String> {
    tables().map(|(name, arity, _)| format!("{name}/{arity}")).filter(|name| !name.starts_with('_'))
}

fn tables() -> impl Iterator<Item = &'static Row> {
    let all = [collection::TABLE, text::TABLE, math::TABLE, date::TABLE, matching::TABLE];
    all.into_iter().flatten()
}

/// A message about one value.
#[cold]
fn wrong(value: &Value, what: &str) -> Exit {
    Exit::error(format!("{} {what}", value.described()))
}
