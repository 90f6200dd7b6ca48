//! The guest: reads standard input, writes it in upper case, and is gone.
//!
//! Without `std` and without an allocator, because starting those costs more than the work itself.
//! Exit status 0; 1 when standard output takes no more or standard input cannot be read.
#![cfg_attr(target_family = "wasm", no_std, no_main)]

#[cfg(target_family = "wasm")]
mod wasi;

#[cfg(not(target_family = "wasm"))]
fn main() {}
