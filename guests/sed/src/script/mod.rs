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
pub use types::{
    Action, Address, Case, Command, Copy, Dialect, End, Piece, Range, Script, Substitution, Target,
    Translation,
};
