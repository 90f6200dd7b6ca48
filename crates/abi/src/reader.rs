//! Reads little-endian fields off the front of a slice, never past its end.

/// A cursor over foreign bytes.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

/// A field promises more bytes than there are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{needed} bytes of {what} were promised, {left} are there")]
pub struct Truncated {
    /// Which field.
    pub what: &'static str,
    /// How many bytes it needs.
    pub needed: u64,
    /// How many remain.
    pub left: u64,
}

impl<'a> Reader<'a> {
    /// Starts at the front of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// How many bytes remain.
    pub const fn left(&self) -> usize {
        self.rest.len()
    }

    /// The next `count` bytes.
    pub fn take(&mut self, what: &'static str, count: u64) -> Result<&'a [u8], Truncated> {
        let left = self.rest.len() as u64;
        let Some((head, rest)) = usize::try_from(count).ok().and_then(|n| self.rest.split_at_checked(n))
        else {
            return Err(Truncated { what, needed: count, left });
        };
        self.rest = rest;
        Ok(head)
    }

    /// The next byte.
    pub fn u8(&mut self, what: &'static str) -> Result<u8, Truncated> {
        self.array(what).map(u8::from_le_bytes)
    }

    /// The next two bytes as a number.
    pub fn u16(&mut self, what: &'static str) -> Result<u16, Truncated> {
        self.array(what).map(u16::from_le_bytes)
    }

    /// The next four bytes as a number.
    pub fn u32(&mut self, what: &'static str) -> Result<u32, Truncated> {
        self.array(what).map(u32::from_le_bytes)
    }

    /// The next four bytes as a signed number.
    pub fn i32(&mut self, what: &'static str) -> Result<i32, Truncated> {
        self.array(what).map(i32::from_le_bytes)
    }

    /// The next eight bytes as a number.
    pub fn u64(&mut self, what: &'static str) -> Result<u64, Truncated> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// A `u32` length and that many bytes.
    pub fn counted(&mut self, what: &'static str) -> Result<&'a [u8], Truncated> {
        let count = self.u32(what)?;
        self.take(what, u64::from(count))
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Truncated> {
        let bytes = self.take(what, N as u64)?;
        // `take` gives exactly as many bytes as were asked for, so this copies all of them.
        let mut array = [0; N];
        array.copy_from_slice(bytes);
        Ok(array)
    }
}
