//! The shell that is not one.
//!
//! A text is parsed once into a tree, and the tree is evaluated. No string is handed to an
//! interpreter, and what expansion gives is never parsed again: `x='a; rm -rf /'; echo $x` prints
//! it. Each command is one call at the door, with a list of arguments; files are the workspace's.
//!
//! The shell has no clock, no runtime and no operating system: it is given a door, files and the
//! time, and is one future that the caller polls. Dropping it ends the line.

mod arith;
mod builtin;
mod date;
mod dynamic;
mod exec;
mod expand;
mod explain;
mod fd;
mod glob;
mod inbox;
mod inside;
mod limits;
mod line_files;
mod options;
mod origin;
mod pattern;
mod regex;
mod report;
mod session;
mod show;
mod speak;
mod state;
mod syntax;
mod tasks;
mod text;
mod vars;

pub use explain::{Plan, PlannedCommand, Touch, explain};
pub use limits::ShellLimits;
pub use line_files::LineFiles;
pub use report::{LineReport, StageRecord};
pub use session::{Mode, Remedy, Shell, ShellSpec};
pub use syntax::SyntaxError;

/// Every name that is the shell's own: builtins, words of its syntax, and commands it answers itself. None
/// can be registered: a line would never reach it, and a program that asks for `commands.sh` would.
pub fn own_names() -> impl Iterator<Item = &'static str> {
    let answered = builtin::nested::NAMES.into_iter().chain(["which"]);
    builtin::NAMES.into_iter().chain(builtin::lookup::KEYWORDS).chain(answered)
}

/// Any bytes as a text for [`Shell::run`]: what is not UTF-8 reaches commands as the same bytes.
pub fn text_of(bytes: &[u8]) -> String {
    text::from_bytes(bytes)
}

/// The parser of foreign text, for the fuzzers and nobody else. True if it is a script.
#[doc(hidden)]
pub fn parses(text: &str) -> bool {
    syntax::parse(text, ShellLimits::default().parse()).is_ok()
}
