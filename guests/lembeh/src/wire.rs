//! Hopper layouts: little-endian numbers, and bytes behind a four-byte length; written into a buffer, read out of a slice.

/// Writes into a buffer. Once it is full nothing more is written, and [`Writer::done`] says so.
pub struct Writer<'b> {
    buffer: &'b mut [u8],
    used: usize,
    is_full: bool,
}

impl<'b> Writer<'b> {
    /// At the front of the buffer.
    pub fn new(buffer: &'b mut [u8]) -> Self {
        Self { buffer, used: 0, is_full: false }
    }

    /// Bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        let end = self.used.saturating_add(bytes.len());
        match self.buffer.get_mut(self.used..end) {
            Some(place) if !self.is_full => {
                place.copy_from_slice(bytes);
                self.used = end;
            }
            _ => self.is_full = true,
        }
        self
    }

    /// Two bytes.
    pub fn h2(&mut self, value: u16) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    /// Four bytes.
    pub fn h4(&mut self, value: u32) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    /// Eight bytes.
    pub fn h8(&mut self, value: u64) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    /// A length and the bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.h4(u32::try_from(bytes.len()).unwrap_or(u32::MAX)).raw(bytes)
    }

    /// Leaves four bytes for a length that is known later.
    pub fn hole(&mut self) -> usize {
        let at = self.used;
        self.h4(0);
        at
    }

    /// Fills a hole with how many bytes were written since.
    pub fn fill(&mut self, at: usize) {
        let length = u32::try_from(self.used.saturating_sub(at + 4)).unwrap_or(u32::MAX);
        if let Some(place) = self.buffer.get_mut(at..at + 4) {
            place.copy_from_slice(&length.to_le_bytes());
        }
    }

    /// How many bytes were written, unless there was no room for all of them.
    pub fn done(&self) -> Option<usize> {
        (!self.is_full).then_some(self.used)
    }
}

/// Reads a slice from its front. Every field is there, or there is none.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a>(
    /// What is left.
    pub &'a [u8],
);

impl<'a> Reader<'a> {
    /// The next bytes.
    pub fn raw(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    /// One byte.
    pub fn h1(&mut self) -> Option<u8> {
        self.raw(1)?.first().copied()
    }

    /// Two bytes.
    pub fn h2(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.raw(2)?.try_into().ok()?))
    }

    /// Four bytes.
    pub fn h4(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.raw(4)?.try_into().ok()?))
    }

    /// Eight bytes.
    pub fn h8(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.raw(8)?.try_into().ok()?))
    }

    /// A length and the bytes.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = self.h4()?;
        self.raw(usize::try_from(count).ok()?)
    }

    /// A length and text without control bytes.
    pub fn text(&mut self) -> Option<&'a str> {
        let bytes = self.bytes()?;
        core::str::from_utf8(bytes).ok().filter(|_| bytes.iter().all(|byte| *byte >= 0x20))
    }

    /// Nothing is left.
    pub fn end(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_does_not_fit_is_not_done() {
        let mut buffer = [0; 32];
        let mut writer = Writer::new(&mut buffer);
        let hole = writer.hole();
        writer.h2(7).h8(9).bytes(b"abc");
        writer.fill(hole);
        let used = writer.done().unwrap();
        let mut reader = Reader(&buffer[..used]);
        assert_eq!(reader.h4(), Some(17));
        assert_eq!((reader.h2(), reader.h8(), reader.text()), (Some(7), Some(9), Some("abc")));
        assert_eq!(reader.end(), Some(()));
        let mut small = [0; 3];
        assert_eq!(Writer::new(&mut small).h4(1).done(), None);
        assert_eq!(Reader(b"\x05\0\0\0abcd").bytes(), None);
        assert_eq!(Reader(b"\x01\0\0\0\x1f").text(), None);
    }
}
