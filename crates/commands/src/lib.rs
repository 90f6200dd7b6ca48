//! The commands that come with Drydock: which there are, and their modules.
//!
//! Names, argument lists and bytes; what runs them, and who may, is decided elsewhere.

mod builtin;

pub use builtin::{MODULES, Module, commands};
