//! The commands that come with Drydock: which there are, and their modules. And the shell that
//! isn't one, which joins them.
//!
//! Names, argument lists and bytes; what runs them, and who may, is decided elsewhere.

mod builtin;
pub mod catalog;
pub mod shell;

pub use builtin::{MODULES, Module, ModuleKind, commands, runtime};
