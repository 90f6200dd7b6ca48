//! What std would bring: libc's heap, and an end for what must not happen.

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;

#[link(name = "c")]
unsafe extern "C" {
    fn malloc(bytes: usize) -> *mut c_void;
    fn calloc(count: usize, bytes: usize) -> *mut c_void;
    fn realloc(block: *mut c_void, bytes: usize) -> *mut c_void;
    fn aligned_alloc(alignment: usize, bytes: usize) -> *mut c_void;
    fn free(block: *mut c_void);
}

/// What every block of libc's is aligned to.
const ALIGNMENT: usize = 8;

struct Libc;

// SAFETY: libc's heap is one, and its blocks are what the layouts ask for: stricter alignments are asked of it.
unsafe impl GlobalAlloc for Libc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size will do; `aligned_alloc` wants a multiple of the alignment.
        unsafe {
            match layout.align() {
                ..=ALIGNMENT => malloc(layout.size()).cast(),
                strict => aligned_alloc(strict, layout.size().next_multiple_of(strict)).cast(),
            }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= ALIGNMENT {
            // SAFETY: any size will do.
            return unsafe { calloc(1, layout.size()).cast() };
        }
        // SAFETY: the caller's promise; the block is as long as the layout says.
        unsafe {
            let block = self.alloc(layout);
            if !block.is_null() {
                block.write_bytes(0, layout.size());
            }
            block
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the block is libc's, and the caller says how long it is.
        unsafe {
            if layout.align() <= ALIGNMENT {
                return realloc(block.cast(), bytes).cast();
            }
            let moved = self.alloc(Layout::from_size_align_unchecked(bytes, layout.align()));
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(block, layout.size().min(bytes));
                free(block.cast());
            }
            moved
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the block is libc's.
        unsafe { free(block.cast()) }
    }
}

#[global_allocator]
static HEAP: Libc = Libc;

/// A trap: there is nobody to tell, and nothing to go on with.
#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
