//! The host's functions, each in a safe form.

use drydock_abi::shell::{AGAIN, BROKEN, ENDED, TOO_MANY};
use std::io;
use std::task::Poll;

#[link(wasm_import_module = "shell")]
unsafe extern "C" {
    #[link_name = "take"]
    fn host_take(at: *mut u8, count: u32) -> i32;
    #[link_name = "answer"]
    fn host_answer(at: *const u8, count: u32) -> i32;
    #[link_name = "start"]
    fn host_start(at: *const u8, count: u32) -> i32;
    #[link_name = "timer"]
    fn host_timer(millis: u32) -> i32;
    #[link_name = "end"]
    fn host_end(call: u32);
    #[link_name = "pipe"]
    fn host_pipe() -> i32;
    #[link_name = "named"]
    fn host_named(descriptor: u32) -> i32;
    #[link_name = "read"]
    fn host_read(handle: u32, at: *mut u8, count: u32) -> i32;
    #[link_name = "unread"]
    fn host_unread(handle: u32, at: *const u8, count: u32) -> i32;
    #[link_name = "write"]
    fn host_write(handle: u32, at: *const u8, count: u32) -> i32;
    #[link_name = "wanted"]
    fn host_wanted(handle: u32) -> i32;
    #[link_name = "flush"]
    fn host_flush(handle: u32) -> i32;
    #[link_name = "close"]
    fn host_close(handle: u32, end: u32);
    #[link_name = "wait"]
    fn host_wait(how: u32, at: *mut u8, count: u32) -> i32;
    #[link_name = "ask"]
    fn host_ask(what: u32, at: *const u8, count: u32, out: *mut u8, cap: u32) -> i32;
    #[link_name = "left"]
    fn host_left(level: u32) -> i64;
    #[link_name = "is_over"]
    fn host_is_over() -> i32;
    #[link_name = "ended"]
    fn host_ended(level: u32, kind: u32, status: i32);
}

/// The request, if there are so many bytes of one.
pub(crate) fn take(count: u32) -> Option<Vec<u8>> {
    let mut bytes = vec![0; count as usize];
    // SAFETY: the buffer is as long as the host is told.
    (unsafe { host_take(bytes.as_mut_ptr(), count) } == 0).then_some(bytes)
}

/// Whether the host took it: it has no room for one that is too long.
pub(crate) fn answer(bytes: &[u8]) -> bool {
    // SAFETY: the bytes live until after the call.
    unsafe { host_answer(bytes.as_ptr(), bytes.len() as u32) == 0 }
}

/// The number of a command that was started, and whether it has ended already; none if the host takes none.
pub(crate) fn start(request: &[u8]) -> Result<(u32, bool), i32> {
    // SAFETY: the bytes live until after the call.
    let number = unsafe { host_start(request.as_ptr(), request.len() as u32) };
    let number = u32::try_from(number).map_err(|_| number)?;
    Ok((number & !ENDED, number & ENDED != 0))
}

/// The number of a timer; none if there are too many.
pub(crate) fn timer(millis: u32) -> Option<u32> {
    // SAFETY: it takes a number.
    u32::try_from(unsafe { host_timer(millis) }).ok()
}

pub(crate) fn end(call: u32) {
    // SAFETY: it takes a number.
    unsafe { host_end(call) };
}

/// The number of a new pipe; none if there are too many.
pub(crate) fn pipe() -> Option<u32> {
    // SAFETY: it takes nothing.
    u32::try_from(unsafe { host_pipe() }).ok()
}

/// A handle for a pipe with a name that WASI opened; none if there are too many, or it is no such pipe.
pub(crate) fn named(descriptor: u32) -> Option<u32> {
    // SAFETY: it takes a number.
    u32::try_from(unsafe { host_named(descriptor) }).ok()
}

pub(crate) fn close(handle: u32, end: u32) {
    // SAFETY: it takes numbers.
    unsafe { host_close(handle, end) };
}

pub(crate) fn read(handle: u32, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
    // SAFETY: the buffer is as long as the host is told.
    answered(unsafe { host_read(handle, buffer.as_mut_ptr(), buffer.len() as u32) })
}

pub(crate) fn unread(handle: u32, bytes: &[u8]) {
    // SAFETY: the bytes live until after the call.
    unsafe { host_unread(handle, bytes.as_ptr(), bytes.len() as u32) };
}

pub(crate) fn write(handle: u32, bytes: &[u8]) -> Poll<io::Result<usize>> {
    // SAFETY: the bytes live until after the call.
    answered(unsafe { host_write(handle, bytes.as_ptr(), bytes.len() as u32) })
}

/// Bytes that somebody waits for at the other end.
pub(crate) fn wanted(handle: u32) -> Poll<io::Result<usize>> {
    // SAFETY: it takes a number.
    answered(unsafe { host_wanted(handle) })
}

pub(crate) fn flush(handle: u32) -> Poll<io::Result<usize>> {
    // SAFETY: it takes a number.
    answered(unsafe { host_flush(handle) })
}

/// Events, into the buffer; how long it would have to be if it is too short.
pub(crate) fn wait(how: u32, buffer: &mut [u8]) -> Result<usize, usize> {
    // SAFETY: the buffer is as long as the host is told.
    let got = unsafe { host_wait(how, buffer.as_mut_ptr(), buffer.len() as u32) };
    usize::try_from(got).map_err(|_| got.unsigned_abs() as usize)
}

/// Asks about something; the number that is the answer.
pub(crate) fn ask(what: u32, about: &[u8], out: &mut [u8]) -> i32 {
    // SAFETY: both live until after the call, and are as long as the host is told.
    unsafe { host_ask(what, about.as_ptr(), about.len() as u32, out.as_mut_ptr(), out.len() as u32) }
}

/// Milliseconds that a shell inside the line has left; below zero if it has all of the line's.
pub(crate) fn left(level: u32) -> i64 {
    // SAFETY: it takes a number.
    unsafe { host_left(level) }
}

pub(crate) fn is_over() -> bool {
    // SAFETY: it takes nothing.
    unsafe { host_is_over() != 0 }
}

pub(crate) fn ended(level: u32, kind: u32, status: i32) {
    // SAFETY: it takes numbers.
    unsafe { host_ended(level, kind, status) };
}

fn answered(answer: i32) -> Poll<io::Result<usize>> {
    match answer {
        AGAIN => Poll::Pending,
        BROKEN => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        TOO_MANY => Poll::Ready(Err(io::ErrorKind::QuotaExceeded.into())),
        count => Poll::Ready(usize::try_from(count).map_err(|_| io::ErrorKind::Other.into())),
    }
}
