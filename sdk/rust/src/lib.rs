//! An HTTP extension as one function.
//!
//! ```
//! use drydock_sdk::{Request, Response, extension};
//!
//! fn handle(request: Request) -> Response {
//!     drydock_sdk::log::info(&format!("{} {}", request.method, request.path));
//!     Response::text(format!("hello {}", request.query.get("name").map_or("you", String::as_str)))
//! }
//!
//! extension!(handle);
//! # fn main() {}
//! ```
//!
//! Build it as a `cdylib` for `wasm32-unknown-unknown`; `drydock ext install hello hello.wasm` installs it. Each request gets an
//! instance of its own, so nothing stays between two of them. What it may reach is for the host to say: [`Fetch::send`] is
//! told no where it was not allowed. On other targets the crate builds too, so that a handler can be tested like any function;
//! there nothing is fetched, and log lines go to stderr.

pub mod abi;
mod fetch;
pub mod log;
mod request;
mod response;

pub use fetch::{Fetch, FetchError};
pub use request::{Context, Limits, Request};
pub use response::Response;

/// The README's own example: it compiles, or `cargo test` fails.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Makes the function the extension's handler: exports what the host calls.
#[macro_export]
macro_rules! extension {
    ($handle:path) => {
        const _: () = {
            #[unsafe(no_mangle)]
            extern "C" fn alloc(size: u32) -> *mut u8 {
                $crate::abi::alloc(size)
            }

            /// # Safety
            /// The host gives back what `alloc` answered for this size.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn dealloc(at: *mut u8, size: u32) {
                // SAFETY: as above.
                unsafe { $crate::abi::dealloc(at, size) }
            }

            /// # Safety
            /// The host points at a request in memory, and at eight bytes for the answer.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn handler(request: *const u8, size: u32, out: *mut u32) -> i32 {
                // SAFETY: as above.
                unsafe { $crate::abi::handle(request, size, out, $handle) }
            }
        };
    };
}
