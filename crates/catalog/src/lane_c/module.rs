//! Whether a module needs exceptions: it has tags of its own, or imports some. Only section heads are read.

const MAGIC_BYTES: usize = 8;
/// The section of tags, in wasm's numbering.
const TAGS: u8 = 13;

/// Whether the module declares tags. What is no module does not.
pub fn needs_exceptions(module: &[u8]) -> bool {
    let mut rest = module.get(MAGIC_BYTES..).unwrap_or_default();
    while let Some((&id, after)) = rest.split_first() {
        if id == TAGS {
            return true;
        }
        let Some((size, after)) = leb(after) else { return false };
        let Some(next) = after.get(size..) else { return false };
        rest = next;
    }
    false
}

/// A number of at most 32 bits, and what follows it.
fn leb(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0_u64;
    for (index, byte) in bytes.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((usize::try_from(value).ok()?, bytes.get(index + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_behind_other_sections_and_nothing_makes_it_panic() {
        let head = b"\0asm\x01\0\0\0";
        let cases: [(&[u8], bool); 7] = [
            (b"", false),
            (b"\x01\x02ab\x0d\x03\x01\0\0", true),
            (b"\x01\x02ab\x03\x01a", false),
            (b"\x01\xff\xff\xff\xff\x0f\x0d", false),
            (b"\x01\xff\xff\xff\xff\xff\xff", false),
            (b"\x00\x05\x0d\x0d\x0d\x0d\x0d", false),
            (b"\x01", false),
        ];
        for (body, want) in cases {
            assert_eq!(needs_exceptions(&[head, body].concat()), want, "{body:?}");
        }
        assert!(!needs_exceptions(b"\0as"));
    }
}
