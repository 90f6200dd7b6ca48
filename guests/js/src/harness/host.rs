//! The host's functions, and nothing else that leaves the guest.

use core::mem::MaybeUninit;
use js::prelude::*;

#[repr(C)]
struct Slice {
    at: *const u8,
    count: usize,
}

#[link(wasm_import_module = "wasi_snapshot_preview1")]
unsafe extern "C" {
    fn fd_read(fd: u32, slices: *const Slice, count: usize, read: *mut usize) -> u16;
    fn fd_write(fd: u32, slices: *const Slice, count: usize, written: *mut usize) -> u16;
}

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    fn tool_start(request: *const u8, length: usize) -> i32;
    fn tool_next(out: *mut u8, capacity: usize) -> i64;
}

const READ_BYTES_MIN: usize = 1024;

/// All of standard input, or as much as `is_whole` wants: so there need be no look for its end.
pub fn read_all(is_whole: impl Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
    let mut bytes: Vec<u8> = Vec::with_capacity(READ_BYTES_MIN);
    loop {
        if bytes.capacity() - bytes.len() < READ_BYTES_MIN / 4 {
            bytes.reserve(bytes.capacity());
        }
        let room: &mut [MaybeUninit<u8>] = bytes.spare_capacity_mut();
        let slice = Slice { at: room.as_ptr().cast(), count: room.len() };
        let mut read = 0;
        // SAFETY: the host writes at most `count` bytes into the room, and says how many.
        unsafe {
            if fd_read(0, &slice, 1, &mut read) != 0 {
                return None;
            }
            bytes.set_len(bytes.len() + read);
        }
        if read == 0 || is_whole(&bytes) {
            return Some(bytes);
        }
    }
}

/// Writes all of `parts` to standard output or standard error. False if it was refused.
pub fn write(fd: u32, parts: [&[u8]; 2]) -> bool {
    let mut left = parts;
    while left.iter().any(|part| !part.is_empty()) {
        let slices = left.map(|part| Slice { at: part.as_ptr(), count: part.len() });
        let mut written = 0;
        // SAFETY: the host reads the parts, which are alive.
        if unsafe { fd_write(fd, slices.as_ptr(), 2, &mut written) } != 0 || written == 0 {
            return false;
        }
        for part in &mut left {
            let gone = written.min(part.len());
            *part = &part[gone..];
            written -= gone;
        }
    }
    true
}

/// Begins a call; its number, or what the host says instead.
pub fn begin_call(request: &[u8]) -> i32 {
    // SAFETY: the host reads the request, which is alive.
    unsafe { tool_start(request.as_ptr(), request.len()) }
}

/// Waits for the next call that ends, and puts the answer into `out`. False if none is open.
pub fn next_answer(out: &mut Vec<u8>) -> bool {
    out.clear();
    loop {
        let room = out.spare_capacity_mut();
        // SAFETY: the host writes at most the room's length, and says how much.
        let length = unsafe { tool_next(room.as_mut_ptr().cast(), room.len()) };
        match usize::try_from(length) {
            Ok(0) => return false,
            Ok(length) => {
                // SAFETY: so many bytes were written.
                unsafe { out.set_len(length) };
                return true;
            }
            // One more, for the zero byte that a parser wants after it.
            Err(_) => out.reserve_exact(usize::try_from(-length).unwrap_or(0) + 1),
        }
    }
}
