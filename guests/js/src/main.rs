//! The guest `js`: runs one program of code mode and answers with what it returned.
//!
//! Stdin is the request, stdout the answer, stderr the console; the only way out is `env.tool_*`. The engine
//! and the harness are made ready when the module is built, so a run begins with reading its request.

#![cfg_attr(target_family = "wasm", no_std, no_main)]

#[cfg(target_family = "wasm")]
extern crate alloc;

#[cfg(target_family = "wasm")]
mod bare;
#[cfg(target_family = "wasm")]
mod harness;

/// Called once, when the module is built; what it leaves in memory is part of the module.
#[cfg(target_family = "wasm")]
#[unsafe(export_name = "wizer-initialize")]
extern "C" fn initialize() {
    harness::prepare();
}

/// The program's start, in the place of libc's, which would ask for arguments that there are not.
#[cfg(target_family = "wasm")]
#[unsafe(no_mangle)]
extern "C" fn __main_void() -> i32 {
    harness::run();
    0
}

/// The start in memory that an earlier run left: libc's own refuses to start twice.
#[cfg(target_family = "wasm")]
#[unsafe(export_name = "again")]
extern "C" fn again() {
    harness::run_again();
}

#[cfg(not(target_family = "wasm"))]
fn main() {
    eprintln!("js: this program is a guest; it runs as WebAssembly only");
}
