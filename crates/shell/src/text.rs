//! Bytes as text, without loss.
//!
//! Shell values are Rust strings, so that lengths and patterns count characters as bash does in a
//! UTF-8 locale. Bytes that are not UTF-8 are in them as in the names of files, so that a word and a
//! name are the same text.

pub(crate) use drydock_contract::text::to_bytes;

/// Any bytes as text.
pub(crate) fn from_bytes(bytes: &[u8]) -> String {
    drydock_contract::text::from_bytes(bytes).into_owned()
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
