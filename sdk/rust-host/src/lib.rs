//! What a module may ask of [Drydock](https://github.com/drydock-engine/drydock) beyond WASI: the imports `env.host_*`, as
//! functions with results.
//!
//! ```
//! use drydock_host::{Request, Response, kv, serve};
//!
//! fn handle(request: Request) -> Response {
//!     let before = kv::get("visits").unwrap_or_default();
//!     let visits = String::from_utf8_lossy(&before).parse::<u64>().unwrap_or(0) + 1;
//!     match kv::put("visits", visits.to_string().as_bytes()) {
//!         Ok(()) => Response::text(format!("{} {visits}\n", request.path)),
//!         Err(error) => Response::text(error.to_string()).status(503),
//!     }
//! }
//!
//! serve!(handle);
//! # fn main() {}
//! ```
//!
//! A power that was not granted is an import that is not there: a module that uses one does not begin. A call that was refused
//! is an [`Error`] with the host's code. On other targets the crate builds too, and every call is refused.

pub mod broker;
mod command;
mod error;
pub mod kv;
pub mod net;
pub mod queue;
mod raw;
mod serving;
pub mod vfs;

pub use command::{Mapped, Output, commands, exec, parallel_map};
pub use error::Error;
pub use serving::{Request, Response, answer};

/// The README's own example: it compiles, or `cargo test` fails.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The time of day, in milliseconds since 1970, by the run's own clock.
pub fn now_ms() -> i64 {
    // SAFETY: it takes nothing.
    unsafe { raw::host_now() }
}

/// A line for whoever runs the module.
pub fn log(line: &str) {
    // SAFETY: the host reads the line before it returns.
    unsafe { raw::host_log(line.as_ptr(), line.len() as u32) };
}

/// Signs data with a secret that nobody here can read: 32 bytes of HMAC-SHA256, or 64 of Ed25519 where the secret is such a
/// key.
pub fn sign(secret: &str, data: &[u8]) -> Result<Vec<u8>, Error> {
    error::filled(64, 64, |out, cap| {
        // SAFETY: the host reads the parts, and writes no more than `cap` bytes, before it returns.
        unsafe {
            raw::host_sign(secret.as_ptr(), secret.len() as u32, data.as_ptr(), data.len() as u32, out, cap)
        }
    })
}
