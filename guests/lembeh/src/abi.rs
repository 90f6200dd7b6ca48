//! The imports themselves. Natively, where only the pure parts are tested, they all fail.

#[cfg(target_family = "wasm")]
#[link(wasm_import_module = "lembeh")]
unsafe extern "C" {
    /// Reads.
    pub fn req_read(handle: i32, at: *mut u8, cap: i32) -> i32;
    /// Writes.
    pub fn res_write(handle: i32, at: *const u8, len: i32) -> i32;
    /// Ends a stream.
    pub fn res_end(handle: i32);
    /// Says something to whoever runs the guest.
    pub fn log(topic: *const u8, topic_len: i32, message: *const u8, message_len: i32);
    /// Asks the control plane.
    pub fn _ctl(request: *const u8, len: i32, response: *mut u8, cap: i32) -> i32;
}

#[cfg(not(target_family = "wasm"))]
mod nowhere {
    #![allow(missing_docs, clippy::missing_safety_doc)]
    pub unsafe fn req_read(_: i32, _: *mut u8, _: i32) -> i32 {
        -1
    }
    pub unsafe fn res_write(_: i32, _: *const u8, _: i32) -> i32 {
        -1
    }
    pub unsafe fn res_end(_: i32) {}
    pub unsafe fn log(_: *const u8, _: i32, _: *const u8, _: i32) {}
    pub unsafe fn _ctl(_: *const u8, _: i32, _: *mut u8, _: i32) -> i32 {
        -1
    }
}

#[cfg(not(target_family = "wasm"))]
pub use nowhere::*;

/// What the compiler calls to compare bytes, and what a guest without a C library has to bring.
///
/// # Safety
/// Both pointers lead to `count` bytes.
#[cfg(target_family = "wasm")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, count: usize) -> i32 {
    let mut at = 0;
    while at < count {
        // SAFETY: the caller's promise.
        let (x, y) = unsafe { (*a.add(at), *b.add(at)) };
        if x != y {
            return i32::from(x) - i32::from(y);
        }
        at += 1;
    }
    0
}

/// A length as the host takes one; what is longer is cut, because reads and writes may be short.
pub fn length(bytes: usize) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}
