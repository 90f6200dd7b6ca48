//! The guest `shell`: one shell that lives between its lines. What it is called with and what it asks of its host is in
//! `drydock_abi::shell`.
//!
//! One thread, and the host calls one line at a time. A line that does not come back takes the instance with it.

#[cfg(target_family = "wasm")]
mod clock;
#[cfg(target_family = "wasm")]
mod compare;
#[cfg(target_family = "wasm")]
mod door;
#[cfg(target_family = "wasm")]
mod ends;
#[cfg(target_family = "wasm")]
mod executor;
#[cfg(target_family = "wasm")]
mod file;
#[cfg(target_family = "wasm")]
mod files;
#[cfg(target_family = "wasm")]
mod host;
#[cfg(target_family = "wasm")]
mod inside;
#[cfg(target_family = "wasm")]
mod pump;
#[cfg(target_family = "wasm")]
mod serve;
#[cfg(target_family = "wasm")]
mod wasi;

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

/// Called once, when the module is built; what it leaves in memory is part of the module.
#[cfg(target_family = "wasm")]
#[unsafe(export_name = "wizer-initialize")]
extern "C" fn initialize() {
    serve::warm_up();
}

/// One call: so many bytes of a request wait to be taken.
#[cfg(target_family = "wasm")]
#[unsafe(export_name = "call")]
extern "C" fn call(bytes: u32) {
    serve::serve(bytes);
}

/// Nobody starts it as a program, and natively there is no host to ask.
fn main() {}
