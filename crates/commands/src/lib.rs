//! The commands that come with Drydock: which there are, and their modules.
//!
//! Names, argument lists and bytes; what runs them, and who may, is decided elsewhere.

mod builtin;
pub mod catalog;

pub use builtin::{MODULES, Module, ModuleKind, commands, runtime};
