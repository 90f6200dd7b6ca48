//! What [`extension!`](crate::extension) exports: memory for the host's bytes, and one call from bytes to bytes. Nobody else
//! needs it.

use std::alloc::Layout;

use crate::{Request, Response, log};

/// Everything that the host is given begins at a multiple of this.
const ALIGN: usize = 8;
/// The handler's own code for a request that cannot be read.
const BAD_REQUEST: i32 = 2;

fn layout(size: u32) -> Option<Layout> {
    Layout::from_size_align(size.max(1) as usize, ALIGN).ok()
}

/// Room for so many bytes, or nothing.
pub fn alloc(size: u32) -> *mut u8 {
    // SAFETY: the layout is never empty.
    layout(size).map_or(std::ptr::null_mut(), |it| unsafe { std::alloc::alloc(it) })
}

/// Gives it back.
///
/// # Safety
/// It was answered by [`alloc`] for this size, and nobody uses it any more.
pub unsafe fn dealloc(at: *mut u8, size: u32) {
    if let Some(layout) = layout(size)
        && !at.is_null()
    {
        // SAFETY: the caller says so.
        unsafe { std::alloc::dealloc(at, layout) }
    }
}

/// A copy of these bytes in room of their own, and how many they are; nothing where there is no room.
pub(crate) fn leak(bytes: &[u8]) -> Option<(*mut u8, u32)> {
    let size = u32::try_from(bytes.len()).ok()?;
    let at = alloc(size);
    if at.is_null() {
        return None;
    }
    // SAFETY: the room is as large as the bytes, and new.
    unsafe { at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    Some((at, size))
}

/// One request: reads it, has it answered, and tells the host where the answer is.
///
/// # Safety
/// `request` points at `size` bytes, and `out` at two words that may be written.
pub unsafe fn handle(request: *const u8, size: u32, out: *mut u32, handle: fn(Request) -> Response) -> i32 {
    // What a panic says would be lost with the instance.
    std::panic::set_hook(Box::new(|info| log::error(&info.to_string())));
    // SAFETY: the caller says so.
    let bytes = unsafe { std::slice::from_raw_parts(request, size as usize) };
    let request = match Request::from_json(bytes) {
        Ok(request) => request,
        Err(error) => {
            log::error(&format!("the request cannot be read: {error}"));
            return BAD_REQUEST;
        }
    };
    let answer = handle(request).to_json();
    let Some((at, size)) = leak(&answer) else { return BAD_REQUEST };
    // SAFETY: the caller says so; a pointer of this target has 32 bits.
    unsafe {
        out.write_unaligned(at as usize as u32);
        out.add(1).write_unaligned(size);
    }
    0
}
