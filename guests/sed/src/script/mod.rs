//! The script: what it is made of, and how it is read.

mod address;
mod command;
mod escape;
mod parse;
mod reader;
mod replacement;
#[cfg(test)]
mod tests;
mod types;

pub use parse::parse;
pub use reader::Part;
pub(crate) use types::{
    Action, Address, Case, Command, Copy, End, Piece, Range, Substitution, Target, Translation,
};
pub use types::{Dialect, Script};
