//! QuickJS, and what of code mode needs no host: compiling a program and telling where it is wrong.
//!
//! The program `js` (main.rs) is the guest; this library is also what the fuzzer and the native tests use.

#![no_std]

extern crate alloc;

pub mod base64;
pub mod engine;
pub mod json;
pub mod module_path;
pub mod place;
pub mod prelude;
pub mod program;
pub mod value;
