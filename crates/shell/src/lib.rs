//! The shell that is not one.
//!
//! A text is parsed once into a tree, and the tree is evaluated. No string is handed to an
//! interpreter, and what expansion gives is never parsed again: `x='a; rm -rf /'; echo $x` prints
//! it. Each command is one call at the door, with a list of arguments; files are the workspace's.
//!
//! The shell has no clock, no runtime and no operating system: all it has of the outside is its [`door`], and it
//! is one future that the caller polls. Dropping that ends the line.

mod arith;
mod builtin;
mod checkpoint;
mod date;
pub mod door;
mod dynamic;
mod exec;
mod expand;
mod explain;
mod fd;
mod glob;
mod inbox;
mod limits;
mod nested;
mod options;
mod origin;
mod pattern;
mod regex;
mod session;
mod show;
mod speak;
mod state;
mod stubs;
mod syntax;
mod tasks;
mod text;
mod typed;
mod vars;

pub use checkpoint::{BadCheckpoint, CHECKPOINT_VERSION, ForkError, Lost, SaveError, Saved};
pub use drydock_abi::shell::{LineReport, Mode, StageRecord};
pub use explain::{Plan, PlannedCommand, Touch, explain};
pub use inbox::Interrupter;
pub use limits::ShellLimits;
pub use nested::{NestedCommand, NestedShells};
pub use session::{AtEnd, Shell, ShellSpec};
pub use syntax::SyntaxError;
pub use typed::typed_words;

/// Every name that is the shell's own: builtins, words of its syntax, and commands it answers itself. None
/// can be registered: a line would never reach it, and a program that asks for `commands.sh` would.
pub fn own_names() -> impl Iterator<Item = &'static str> {
    builtin::names().chain(builtin::lookup::KEYWORDS).chain(builtin::answered_names())
}

/// Any bytes as a text for [`Shell::run`]: what is not UTF-8 reaches commands as the same bytes.
pub fn text_of(bytes: &[u8]) -> String {
    text::from_bytes(bytes)
}

/// The parser of foreign text, for the fuzzers and nobody else. True if it is a script.
#[doc(hidden)]
pub fn parses(text: &str) -> bool {
    syntax::parse(text, (&ShellLimits::default()).into()).is_ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_names_that_nobody_may_register_are_those_that_the_host_knows() {
        let mut own: Vec<&str> = super::own_names().collect();
        own.sort_unstable();
        own.dedup();
        assert_eq!(
            own,
            drydock_abi::shell::OWN_NAMES,
            "the list in crates/abi/src/shell/names.rs is not this"
        );
    }
}
