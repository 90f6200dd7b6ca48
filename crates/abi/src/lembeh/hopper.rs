//! Hopper layouts: little-endian scalars, and strings and bytes behind a four-byte length. Packed, no padding.
//!
//! A length is compared with what is there before it is used, a count before anything loops over it, and
//! whoever has read all fields says so with [`Hopper::end`]: bytes after them are malformed. Text is UTF-8, as
//! strict as Rust's own, without any byte below 0x20.

use crate::{Reader, Truncated};

/// The bytes are not what they should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// A length points past the end.
    #[error(transparent)]
    Truncated(#[from] Truncated),
    /// Bytes follow the last field.
    #[error("{0} bytes follow the last field")]
    Trailing(u64),
    /// More entries are promised than bytes to hold their lengths.
    #[error("{count} entries of {what} were promised, {left} bytes are there")]
    Count {
        /// Entries of what.
        what: &'static str,
        /// Promised entries.
        count: u32,
        /// Remaining bytes.
        left: u64,
    },
    /// Not UTF-8, or with a byte below 0x20.
    #[error("{0} is not UTF-8 without control bytes")]
    Text(&'static str),
    /// A number that this field may not have.
    #[error("{what} may not be {value}")]
    Value {
        /// Which field.
        what: &'static str,
        /// What it says.
        value: u64,
    },
    /// Text that this field may not hold, or none where there must be some.
    #[error("{0} is not spelled as it must be")]
    Spelling(&'static str),
    /// A list that is not in the order of its bytes, or names something twice.
    #[error("the entries of {0} are not in order")]
    Order(&'static str),
}

impl Malformed {
    /// The stable code that logs and tests match on.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Truncated(_) => "hopper_truncated",
            Self::Trailing(_) => "hopper_trailing",
            Self::Count { .. } => "hopper_count",
            Self::Text(_) => "hopper_text",
            Self::Value { .. } => "hopper_value",
            Self::Spelling(_) => "hopper_spelling",
            Self::Order(_) => "hopper_order",
        }
    }
}

/// A part is longer than four bytes of length can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} bytes are more than a length of four bytes can say")]
pub struct TooLong(pub usize);

impl TooLong {
    /// The stable code that logs and tests match on.
    pub const fn code(&self) -> &'static str {
        "hopper_too_long"
    }
}

/// A cursor over a payload.
#[derive(Debug, Clone, Copy)]
pub struct Hopper<'a> {
    reader: Reader<'a>,
}

impl<'a> Hopper<'a> {
    /// Starts at the front of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { reader: Reader::new(bytes) }
    }

    /// How many bytes remain.
    pub const fn left(&self) -> usize {
        self.reader.left()
    }

    /// One byte.
    pub fn h1(&mut self, what: &'static str) -> Result<u8, Malformed> {
        Ok(self.reader.u8(what)?)
    }

    /// Two bytes, little-endian.
    pub fn h2(&mut self, what: &'static str) -> Result<u16, Malformed> {
        Ok(self.reader.u16(what)?)
    }

    /// Four bytes, little-endian.
    pub fn h4(&mut self, what: &'static str) -> Result<u32, Malformed> {
        Ok(self.reader.u32(what)?)
    }

    /// Eight bytes, little-endian.
    pub fn h8(&mut self, what: &'static str) -> Result<u64, Malformed> {
        Ok(self.reader.u64(what)?)
    }

    /// The next `count` bytes.
    pub fn raw(&mut self, what: &'static str, count: u64) -> Result<&'a [u8], Malformed> {
        Ok(self.reader.take(what, count)?)
    }

    /// A length and that many bytes.
    pub fn hbytes(&mut self, what: &'static str) -> Result<&'a [u8], Malformed> {
        Ok(self.reader.counted(what)?)
    }

    /// A length and that many bytes of text.
    pub fn hstr(&mut self, what: &'static str) -> Result<&'a str, Malformed> {
        text(what, self.hbytes(what)?)
    }

    /// A count of entries, none of which is shorter than `entry_bytes_min`.
    pub fn count(&mut self, what: &'static str, entry_bytes_min: u64) -> Result<u32, Malformed> {
        let count = self.h4(what)?;
        let left = self.left() as u64;
        if u64::from(count) * entry_bytes_min > left {
            return Err(Malformed::Count { what, count, left });
        }
        Ok(count)
    }

    /// Fails if anything is left.
    pub const fn end(self) -> Result<(), Malformed> {
        match self.left() {
            0 => Ok(()),
            left => Err(Malformed::Trailing(left as u64)),
        }
    }
}

/// `bytes` as text: UTF-8 without a byte below 0x20.
pub(super) fn text<'a>(what: &'static str, bytes: &'a [u8]) -> Result<&'a str, Malformed> {
    let text = std::str::from_utf8(bytes).map_err(|_| Malformed::Text(what))?;
    if bytes.iter().any(|byte| *byte < 0x20) {
        return Err(Malformed::Text(what));
    }
    Ok(text)
}

/// Strings that were walked through once, still in the bytes they came in.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    hopper: Hopper<'a>,
    count: u32,
}

impl<'a> Texts<'a> {
    /// Walks over `count` strings without looking into them.
    pub(super) fn pass(hopper: &mut Hopper<'a>, what: &'static str, count: u32) -> Result<Self, Malformed> {
        let texts = Self { hopper: *hopper, count };
        for _ in 0..count {
            hopper.hbytes(what)?;
        }
        Ok(texts)
    }

    /// Fails if one of them is not text.
    pub(super) fn check(&self, what: &'static str) -> Result<(), Malformed> {
        self.raw().try_for_each(|bytes| text(what, bytes).map(drop))
    }

    /// How many there are.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Their bytes, without the lengths before them.
    pub fn total_bytes(&self) -> u64 {
        self.raw().map(|bytes| bytes.len() as u64).sum()
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        // They were checked, so none of them is ever replaced by an empty one.
        self.raw().map(|bytes| std::str::from_utf8(bytes).unwrap_or_default())
    }

    fn raw(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut hopper = self.hopper;
        (0..self.count).map_while(move |_| hopper.hbytes("a string").ok())
    }
}

impl PartialEq for Texts<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw().eq(other.raw())
    }
}

impl Eq for Texts<'_> {}

/// Writes a length and the bytes.
pub fn put_hbytes(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), TooLong> {
    put_length(out, bytes.len())?;
    out.extend_from_slice(bytes);
    Ok(())
}

/// Writes a length and the text.
pub fn put_hstr(out: &mut Vec<u8>, text: &str) -> Result<(), TooLong> {
    put_hbytes(out, text.as_bytes())
}

/// Writes four bytes of length or count.
pub(super) fn put_length(out: &mut Vec<u8>, length: usize) -> Result<(), TooLong> {
    let length = u32::try_from(length).map_err(|_| TooLong(length))?;
    out.extend_from_slice(&length.to_le_bytes());
    Ok(())
}

/// Writes four bytes.
pub(super) fn put_h4(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_strict_utf8_without_control_bytes() {
        let cases: &[(&[u8], bool)] = &[
            (b"", true),
            (b"tools/echo", true),
            ("h\u{e9} \u{7f}".as_bytes(), true),
            (b"a\tb", false),
            (b"a\0", false),
            (b"\x1f", false),
            (b"\xc0\xaf", false),     // overlong
            (b"\xed\xa0\x80", false), // surrogate
            (b"\xf4\x90\x80\x80", false),
        ];
        for (bytes, want) in cases {
            assert_eq!(text("it", bytes).is_ok(), *want, "{bytes:?}");
        }
    }

    #[test]
    fn a_count_that_cannot_be_is_refused_before_anything_loops() {
        let mut hopper = Hopper::new(b"\xff\xff\xff\xff1234");
        assert_eq!(hopper.count("arguments", 4).map_err(|it| it.code()), Err("hopper_count"));
    }

    proptest! {
        #[test]
        fn fields_round_trip_and_nothing_may_follow(
            a in any::<u8>(), b in any::<u16>(), c in any::<u32>(), d in any::<u64>(),
            text in "[ -~\u{e9}\u{1f600}]{0,20}", bytes in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let mut wire = vec![a];
            wire.extend_from_slice(&b.to_le_bytes());
            wire.extend_from_slice(&c.to_le_bytes());
            wire.extend_from_slice(&d.to_le_bytes());
            put_hstr(&mut wire, &text).unwrap();
            put_hbytes(&mut wire, &bytes).unwrap();
            let mut hopper = Hopper::new(&wire);
            prop_assert_eq!(hopper.h1("a"), Ok(a));
            prop_assert_eq!(hopper.h2("b"), Ok(b));
            prop_assert_eq!(hopper.h4("c"), Ok(c));
            prop_assert_eq!(hopper.h8("d"), Ok(d));
            prop_assert_eq!(hopper.hstr("text"), Ok(text.as_str()));
            prop_assert_eq!(hopper.end().is_err(), true);
            prop_assert_eq!(hopper.hbytes("bytes"), Ok(&bytes[..]));
            prop_assert_eq!(hopper.end(), Ok(()));
        }
    }
}
