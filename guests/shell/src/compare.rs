//! Comparing bytes, eight at a time. The C library's way takes one after the other, and a line compares names some sixty
//! times.

/// What C promises of `memcmp`: below zero, zero or above, by the first byte that differs.
///
/// # Safety
/// Both places have that many bytes to read.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(left: *const u8, right: *const u8, count: usize) -> i32 {
    let mut at = 0;
    while at + 8 <= count {
        // SAFETY: these eight bytes are within what the caller promises.
        let (one, other) = unsafe {
            (left.add(at).cast::<u64>().read_unaligned(), right.add(at).cast::<u64>().read_unaligned())
        };
        if one != other {
            return if one.swap_bytes() < other.swap_bytes() { -1 } else { 1 };
        }
        at += 8;
    }
    while at < count {
        // SAFETY: this byte is within what the caller promises.
        let (one, other) = unsafe { (*left.add(at), *right.add(at)) };
        if one != other {
            return i32::from(one) - i32::from(other);
        }
        at += 1;
    }
    0
}
