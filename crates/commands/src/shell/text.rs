//! Bytes as text, without loss.
//!
//! Shell values are Rust strings, so that lengths and patterns count characters as bash does in a
//! UTF-8 locale. A byte that is not UTF-8 becomes one of 128 characters at the end of the last
//! private plane, and becomes that byte again on the way out. Those characters, arriving as
//! themselves, are taken byte by byte, so that the mapping has an inverse.

use std::borrow::Cow;

const FIRST: u32 = 0x10_FF80;

fn is_mapped(next: char) -> bool {
    next as u32 >= FIRST
}

fn mapped(byte: u8) -> char {
    char::from_u32(FIRST + u32::from(byte & 0x7f)).unwrap_or('\u{fffd}')
}

/// Any bytes as text.
pub(crate) fn from_bytes(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(is_mapped) => text.to_owned(),
        _ => {
            let mut all = String::with_capacity(bytes.len());
            for chunk in bytes.utf8_chunks() {
                for next in chunk.valid().chars() {
                    if is_mapped(next) {
                        all.extend(next.encode_utf8(&mut [0; 4]).bytes().map(mapped));
                    } else {
                        all.push(next);
                    }
                }
                all.extend(chunk.invalid().iter().copied().map(mapped));
            }
            all
        }
    }
}

/// The bytes a text stands for.
pub(crate) fn to_bytes(text: &str) -> Cow<'_, [u8]> {
    if text.is_ascii() || !text.chars().any(is_mapped) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut all = Vec::with_capacity(text.len());
    for next in text.chars() {
        if is_mapped(next) {
            all.push((next as u32 - FIRST) as u8 | 0x80);
        } else {
            all.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
    Cow::Owned(all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_byte_comes_back(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let text = from_bytes(&bytes);
            prop_assert_eq!(to_bytes(&text).into_owned(), bytes);
        }
    }

    #[test]
    fn the_private_characters_themselves_survive() {
        let bytes = "a\u{10ff80}\u{10ffff}z".as_bytes();
        assert_eq!(to_bytes(&from_bytes(bytes)).as_ref(), bytes);
    }
}
