//! The guests' allocator.
//!
//! A guest makes many small values and lives for milliseconds, and libc's allocator spends more on
//! each of them than the guest does with it. Blocks up to [`SMALL_BYTES_MAX`] come from one free
//! list a size, filled from chunks; larger ones go to libc. A freed small block serves its size
//! again and never returns to libc, so memory is bounded by the peak of each size.
//!
//! For one thread: WASI guests have no other. It must not be used where there are more.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr::null_mut;

/// Larger blocks go to libc.
pub const SMALL_BYTES_MAX: usize = 512;
/// Sizes are multiples of this, which is also the strictest alignment a small block has.
const STEP_BYTES: usize = 16;
const CHUNK_BYTES: usize = 16 * 1024;
const SIZES: usize = SMALL_BYTES_MAX / STEP_BYTES;

/// To be made the global allocator of a guest.
pub struct SmallBlocks(UnsafeCell<State>);

struct State {
    /// The first free block of each size; each holds the address of the next.
    free: [*mut u8; SIZES],
    /// What is left of the current chunk.
    chunk: *mut u8,
    left: usize,
}

// SAFETY: there is only one thread; see above.
unsafe impl Sync for SmallBlocks {}

impl SmallBlocks {
    /// With nothing in it yet.
    #[allow(clippy::new_without_default, reason = "it is only ever a static")]
    pub const fn new() -> Self {
        Self(UnsafeCell::new(State { free: [null_mut(); SIZES], chunk: null_mut(), left: 0 }))
    }
}

/// Which list serves the layout; `None` if it is not small.
#[inline(always)]
fn list_of(layout: &Layout) -> Option<usize> {
    let small = layout.size() <= SMALL_BYTES_MAX && layout.align() <= STEP_BYTES && layout.size() != 0;
    small.then(|| (layout.size() - 1) / STEP_BYTES)
}

// SAFETY: a small block is `STEP_BYTES` aligned, at least as large as asked for, and in nobody else's
// hands until it is given back; everything else is libc's business.
unsafe impl GlobalAlloc for SmallBlocks {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(list) = list_of(&layout) else {
            // SAFETY: the caller's promise is passed on.
            return unsafe { System.alloc(layout) };
        };
        // SAFETY: one thread, and no reference to the state outlives this call.
        let state = unsafe { &mut *self.0.get() };
        let block = state.free[list];
        if block.is_null() {
            return carve(state, (list + 1) * STEP_BYTES);
        }
        // SAFETY: a free block holds the address of the next one.
        state.free[list] = unsafe { block.cast::<*mut u8>().read() };
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(list) = list_of(&layout) else {
            // SAFETY: the caller's promise is passed on.
            return unsafe { System.dealloc(block, layout) };
        };
        // SAFETY: one thread; the block is ours again, and large enough for an address.
        unsafe {
            let state = &mut *self.0.get();
            block.cast::<*mut u8>().write(state.free[list]);
            state.free[list] = block;
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises a size that fits its alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (list_of(&layout), list_of(&wanted)) {
            // SAFETY: the caller's promise is passed on.
            (None, None) => unsafe { System.realloc(block, layout, size) },
            (old, new) if old == new => block,
            _ => {
                // SAFETY: both blocks hold at least the bytes that are copied, and are different.
                unsafe {
                    let moved = self.alloc(wanted);
                    if !moved.is_null() {
                        std::ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
                        self.dealloc(block, layout);
                    }
                    moved
                }
            }
        }
    }
}

/// A fresh block; null when there is no memory.
#[cold]
fn refill(state: &mut State) -> bool {
    // SAFETY: the layout is neither empty nor misaligned.
    let chunk = unsafe { System.alloc(Layout::from_size_align_unchecked(CHUNK_BYTES, STEP_BYTES)) };
    if chunk.is_null() {
        return false;
    }
    (state.chunk, state.left) = (chunk, CHUNK_BYTES);
    true
}

#[inline(never)]
fn carve(state: &mut State, size: usize) -> *mut u8 {
    if state.left < size && !refill(state) {
        return null_mut();
    }
    let block = state.chunk;
    // SAFETY: `left` says that the chunk goes on for that long.
    state.chunk = unsafe { block.add(size) };
    state.left -= size;
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_apart_aligned_and_used_again() {
        let heap = SmallBlocks::new();
        let layout = |size| Layout::from_size_align(size, 8).unwrap_or(Layout::new::<u8>());
        let sizes = [1usize, 15, 16, 17, 100, 511, 512, 513, 5000];
        let mut blocks: Vec<(*mut u8, usize)> = Vec::new();
        for round in 0..200 {
            for size in sizes {
                // SAFETY: sizes are positive, and each block is filled within its size only.
                let block = unsafe { heap.alloc(layout(size)) };
                assert!(!block.is_null() && (block as usize).is_multiple_of(8), "{size}");
                // SAFETY: the block is that large.
                unsafe { block.write_bytes(round as u8, size) };
                blocks.push((block, size));
            }
        }
        for (at, (block, size)) in blocks.iter().enumerate() {
            // SAFETY: the block is that large, and was filled above.
            let bytes = unsafe { std::slice::from_raw_parts(*block, *size) };
            assert!(bytes.iter().all(|byte| *byte == (at / sizes.len()) as u8), "{size} was overwritten");
        }
        // SAFETY: every block is given back once, with the layout it was asked for with.
        unsafe {
            let first = blocks[0].0;
            heap.dealloc(first, layout(1));
            assert_eq!(heap.alloc(layout(16)), first);
            blocks.iter().for_each(|(block, size)| heap.dealloc(*block, layout(*size)));
        }
    }

    #[test]
    fn a_block_keeps_its_bytes_when_it_grows_and_shrinks() {
        let heap = SmallBlocks::new();
        let layout = |size| Layout::from_size_align(size, 4).unwrap_or(Layout::new::<u8>());
        // SAFETY: each call passes the layout the block has at that moment.
        unsafe {
            let mut block = heap.alloc(layout(10));
            block.write_bytes(7, 10);
            let mut size = 10;
            for next in [16, 40, 600, 2000, 30] {
                block = heap.realloc(block, layout(size), next);
                size = next;
                assert!(std::slice::from_raw_parts(block, 10).iter().all(|byte| *byte == 7), "{next}");
            }
            heap.dealloc(block, layout(size));
        }
    }
}
