//! Standard output through one buffer, standard error unbuffered, standard input whole or piece by piece.
//!
//! The streams of `std` look for line ends and lock; here the buffer is written when it is full
//! and at the end, which for most runs is a single call to the host.

use std::cell::RefCell;
use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd};

const BUFFER_BYTES_MAX: usize = 64 * 1024;
/// Small, so that a short input touches few pages.
const READ_BYTES_MIN: usize = 16 * 1024;

thread_local! {
    static OUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Appends to standard output by way of `fill`.
pub fn write(fill: impl FnOnce(&mut Vec<u8>)) {
    OUT.with_borrow_mut(|out| {
        fill(out);
        if out.len() >= BUFFER_BYTES_MAX {
            drain(out);
        }
    });
}

/// Appends `bytes` to standard output.
pub fn print(bytes: &[u8]) {
    write(|out| out.extend_from_slice(bytes));
}

/// Writes what is buffered.
pub fn flush() {
    OUT.with_borrow_mut(drain);
}

/// Writes `bytes` to standard error, after what standard output was given before.
pub fn print_error(bytes: &[u8]) {
    flush();
    // There is nobody left to tell that standard error is closed.
    let _ = stream(2).write_all(bytes);
}

/// Writes one line to standard error.
pub fn complain(text: &str) {
    print_error(format!("{text}\n").as_bytes());
}

/// All of standard input.
pub fn read() -> std::io::Result<Vec<u8>> {
    flush();
    let mut bytes: Vec<u8> = Vec::with_capacity(READ_BYTES_MIN);
    loop {
        if bytes.capacity() - bytes.len() < READ_BYTES_MIN / 2 {
            bytes.reserve(bytes.capacity());
        }
        let room = bytes.capacity() - bytes.len();
        if read_some(None, &mut bytes, room)? == 0 {
            return Ok(bytes);
        }
    }
}

/// Appends at most `most` bytes of a file, or of standard input; how many, 0 at the end.
pub fn read_some(file: Option<&File>, into: &mut Vec<u8>, most: usize) -> std::io::Result<usize> {
    unsafe extern "C" {
        fn read(fd: i32, into: *mut u8, count: usize) -> isize;
    }
    into.reserve(most);
    let fd = file.map_or(0, AsRawFd::as_raw_fd);
    loop {
        // `read_to_end` would first ask the host for a size that a pipe does not have, and fill the
        // room with zeros.
        let room = into.spare_capacity_mut();
        let most = room.len().min(most);
        // SAFETY: the system writes at most as many bytes as there is room for.
        let count = unsafe { read(fd, room.as_mut_ptr().cast(), most) };
        match usize::try_from(count) {
            Err(_) => {
                let error = std::io::Error::last_os_error();
                if error.kind() != std::io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            Ok(count) => {
                // SAFETY: so many bytes have just been written there.
                unsafe { into.set_len(into.len() + count) };
                return Ok(count);
            }
        }
    }
}

fn drain(out: &mut Vec<u8>) {
    if !out.is_empty() && stream(1).write_all(out).is_err() {
        // jq, too, gives up without a word when its reader has gone.
        std::process::exit(2);
    }
    out.clear();
}

fn stream(fd: i32) -> ManuallyDrop<File> {
    // SAFETY: the three standard descriptors are open for the whole run and never closed here.
    ManuallyDrop::new(unsafe { File::from_raw_fd(fd) })
}
