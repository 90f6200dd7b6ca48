//! The shortest way over the bytes of a text: sixteen at a time where the machine can.
//!
//! A guest pays for every instruction, and most texts are strings, blanks and small numbers; these
//! are the loops that run for each of their bytes. All of them rely on zeros behind the text, which
//! stop every loop.

use super::literal::ends_at;
use crate::value::{Text, Value};

/// Zeros that must follow a text.
pub(super) const PAD_BYTES: usize = 32;

/// How many bytes from `at` on are plain characters of a string: no quote, no backslash, no control
/// character, and nothing beyond ASCII.
///
/// # Safety
/// `at` must point into a text that is followed by [`PAD_BYTES`] zeros.
#[inline(always)]
pub(super) unsafe fn plain_len(at: *const u8) -> usize {
    let mut len = 0;
    loop {
        // SAFETY: nothing before here was a zero, so the padding is still ahead.
        let (stop, width) = unsafe { first_stop(at.add(len)) };
        if stop < width {
            return len + stop;
        }
        len += width;
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[inline(always)]
unsafe fn first_stop(at: *const u8) -> (usize, usize) {
    use core::arch::wasm32::{i8x16_bitmask, i8x16_eq, i8x16_lt, i8x16_splat, v128_load, v128_or};
    // SAFETY: sixteen bytes can be read; see the caller.
    let bytes = unsafe { v128_load(at.cast()) };
    // As signed bytes, those beyond ASCII are negative, and so below the first printable one.
    let stops = v128_or(
        i8x16_lt(bytes, i8x16_splat(0x20)),
        v128_or(i8x16_eq(bytes, i8x16_splat(b'"' as i8)), i8x16_eq(bytes, i8x16_splat(b'\\' as i8))),
    );
    ((u32::from(i8x16_bitmask(stops)) | 1 << 16).trailing_zeros() as usize, 16)
}

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
#[inline(always)]
unsafe fn first_stop(at: *const u8) -> (usize, usize) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    // SAFETY: eight bytes can be read; see the caller.
    let word = u64::from_le(unsafe { at.cast::<u64>().read_unaligned() });
    let zero_of = |it: u64| it.wrapping_sub(ONES) & !it;
    let quote = zero_of(word ^ (ONES * u64::from(b'"')));
    let slash = zero_of(word ^ (ONES * u64::from(b'\\')));
    // Bytes behind the first may be marked in error; only the first counts.
    let stops = (quote | slash | word.wrapping_sub(ONES * 0x20) | word) & HIGHS;
    (stops.trailing_zeros() as usize / 8, 8)
}

/// Behind the blanks that begin at `at`.
///
/// # Safety
/// As for [`plain_len`].
#[inline(always)]
pub(super) unsafe fn skip_blank(mut at: *const u8) -> *const u8 {
    // SAFETY: a zero is no blank, so the loop ends in the padding at the latest.
    unsafe {
        while matches!(*at, b' ' | b'\n' | b'\t' | b'\r') {
            at = at.add(1);
        }
    }
    at
}

/// A string of the ASCII between `at` and `at + len`.
///
/// # Safety
/// As for [`plain_len`], and the bytes must be ASCII.
#[inline(always)]
pub(super) unsafe fn text(at: *const u8, len: usize) -> Text {
    // SAFETY: ASCII is UTF-8, and sixteen bytes can be read.
    unsafe { Text::of_ascii(at, len) }
}

/// An integer of up to nine digits without zeros in front, and what is behind it.
///
/// # Safety
/// As for [`plain_len`].
#[inline(always)]
pub(super) unsafe fn small_integer(at: *const u8) -> Option<(f64, *const u8)> {
    let (mut number, mut behind) = (0u32, at);
    // SAFETY: a zero is no digit, so the loop ends in the padding at the latest.
    unsafe {
        loop {
            let digit = (*behind).wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            number = number.wrapping_mul(10).wrapping_add(u32::from(digit));
            behind = behind.add(1);
        }
        let digits = behind.offset_from(at);
        let plain = digits <= 9 && (digits == 1 || *at != b'0') && ends_at(*behind);
        plain.then(|| (f64::from(number), behind))
    }
}

/// `true`, `false` or `null`, and what is behind it.
///
/// # Safety
/// As for [`plain_len`].
#[inline(always)]
pub(super) unsafe fn word(at: *const u8) -> Option<(Value, *const u8)> {
    // SAFETY: the padding is longer than any of the words.
    unsafe {
        let (value, behind) = match at.cast::<[u8; 4]>().read() {
            [b't', b'r', b'u', b'e'] => (Value::Bool(true), at.add(4)),
            [b'n', b'u', b'l', b'l'] => (Value::Null, at.add(4)),
            [b'f', b'a', b'l', b's'] if *at.add(4) == b'e' => (Value::Bool(false), at.add(5)),
            _ => return None,
        };
        ends_at(*behind).then_some((value, behind))
    }
}
