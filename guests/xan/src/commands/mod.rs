//! The commands there are: name, help, options, and what runs them.

mod cat;
mod columns;
mod convert;
mod find;
mod group;
mod join;
mod list;
mod order;
mod rows;
mod shape;
mod show;
mod summary;

pub(crate) use list::COMMANDS;

use crate::call::{Call, Done};

pub(crate) struct Command {
    pub name: &'static str,
    /// Other names for it.
    pub also: &'static [&'static str],
    /// How it is called, on the second line what it does, then its options.
    pub help: &'static str,
    pub options: &'static [&'static str],
    /// How many operands it takes, at least and at most.
    pub operands: (usize, usize),
    pub run: fn(&mut Call) -> Done,
}
