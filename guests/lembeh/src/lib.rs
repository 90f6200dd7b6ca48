//! For guests of the lembeh ABI (seed 004): streams by their numbers, `_ctl`, the async hub, and cap.exec.v1 on top of it.
//!
//! Without `std` and without an allocator: whoever opens a hub hands it two buffers, one for what it writes and one for what
//! it reads, and what comes back lies in the second until the next call. Everything that the host says is checked before it
//! is believed.
//!
//! A guest is a `cdylib` or a `bin` without a main that calls [`guest!`] with a function of its own.
#![no_std]

pub mod abi;
pub mod ctl;
pub mod exec;
pub mod hub;
pub mod stream;
pub mod wire;

pub use exec::{Process, Status, WANT_STDERR, WANT_STDIN, WANT_STDOUT};
pub use hub::{Event, Failed, Hub};
pub use stream::{Closed, Stream, say};

/// Makes `lembeh_handle` of a function that takes the request's and the response's stream, and ends the response when it
/// returns.
#[macro_export]
macro_rules! guest {
    ($main:path) => {
        #[unsafe(no_mangle)]
        extern "C" fn lembeh_handle(request: i32, response: i32) {
            let response = $crate::Stream(response);
            $main($crate::Stream(request), response);
            response.end();
        }

        #[cfg(target_family = "wasm")]
        #[panic_handler]
        fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
            core::arch::wasm32::unreachable()
        }
    };
}
