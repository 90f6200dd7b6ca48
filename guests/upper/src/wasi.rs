//! The three calls to the host, and the loop between them.
//!
//! `_start` is ours: the build links neither `crt1` nor libc (`-Clink-self-contained=no`), so nothing
//! runs before it. The buffers are static: pages that a short input does not reach are never
//! touched.

use core::ptr::{addr_of_mut, slice_from_raw_parts_mut};
use upper::{Sink, Step, upper};

const READ_BYTES_MAX: usize = 128 * 1024;
/// A character cut by the end of a read leaves at most three bytes.
const KEPT_BYTES_MAX: usize = 3;

static mut CHUNK: [u8; KEPT_BYTES_MAX + READ_BYTES_MAX] = [0; KEPT_BYTES_MAX + READ_BYTES_MAX];
static mut ROOM: [u8; READ_BYTES_MAX] = [0; READ_BYTES_MAX];

#[repr(C)]
struct Slice {
    start: *mut u8,
    len: usize,
}

#[link(wasm_import_module = "wasi_snapshot_preview1")]
unsafe extern "C" {
    fn fd_read(fd: u32, slices: *const Slice, count: usize, done: *mut usize) -> u32;
    fn fd_write(fd: u32, slices: *const Slice, count: usize, done: *mut usize) -> u32;
    fn proc_exit(status: u32) -> !;
}

struct Stdout;

impl Sink for Stdout {
    fn write(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            let slice = Slice { start: bytes.as_ptr().cast_mut(), len: bytes.len() };
            let mut done = 0;
            // SAFETY: the host only reads `slice` and what it points to, and fills in `done`.
            let error = unsafe { fd_write(1, &slice, 1, &mut done) };
            if error != 0 || done == 0 {
                return false;
            }
            bytes = bytes.get(done..).unwrap_or(&[]);
        }
        true
    }
}

#[unsafe(no_mangle)]
extern "C" fn _start() {
    let status = run();
    // Returning is status 0 and spares the call.
    if status != 0 {
        // SAFETY: nothing is left to be done or undone.
        unsafe { proc_exit(status) }
    }
}

fn run() -> u32 {
    // SAFETY: this is the only thread and the only borrow, taken once.
    let (chunk, room) = unsafe {
        let chunk =
            slice_from_raw_parts_mut(addr_of_mut!(CHUNK).cast::<u8>(), KEPT_BYTES_MAX + READ_BYTES_MAX);
        let room = slice_from_raw_parts_mut(addr_of_mut!(ROOM).cast::<u8>(), READ_BYTES_MAX);
        (&mut *chunk, &mut *room)
    };
    let mut kept = 0;
    loop {
        let Some(free) = chunk.get_mut(kept..) else {
            return 1;
        };
        let slice = Slice { start: free.as_mut_ptr(), len: free.len() };
        let mut done = 0;
        // SAFETY: the host writes at most `len` bytes behind `start`, which are ours.
        if unsafe { fd_read(0, &slice, 1, &mut done) } != 0 {
            return 1;
        }
        if done == 0 {
            let rest = chunk.get(..kept).unwrap_or(&[]);
            return u32::from(!Stdout.write(rest));
        }
        let Some(filled) = chunk.get_mut(..kept + done) else {
            return 1;
        };
        match upper(filled, room, &mut Stdout) {
            Step::Closed => return 1,
            Step::Kept(count) => {
                let end = kept + done;
                chunk.copy_within(end.saturating_sub(count)..end, 0);
                kept = count;
            }
        }
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
