//! Streams by their numbers.

use crate::abi;

/// A stream that can be read, written, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream(
    /// Its number.
    pub i32,
);

/// The host answered -1: the stream goes the other way, is closed, or is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

impl Stream {
    /// Reads what is there, and waits if there is nothing; 0 is the end.
    pub fn read(self, buffer: &mut [u8]) -> Result<usize, Closed> {
        // SAFETY: the host writes at most `len` bytes at the pointer, which are ours.
        let count = unsafe { abi::req_read(self.0, buffer.as_mut_ptr(), abi::length(buffer.len())) };
        usize::try_from(count).ok().filter(|it| *it <= buffer.len()).ok_or(Closed)
    }

    /// Writes some of the bytes: how many.
    pub fn write(self, bytes: &[u8]) -> Result<usize, Closed> {
        // SAFETY: the host only reads the bytes.
        let count = unsafe { abi::res_write(self.0, bytes.as_ptr(), abi::length(bytes.len())) };
        usize::try_from(count).ok().filter(|it| *it <= bytes.len()).ok_or(Closed)
    }

    /// Writes all of the bytes. A stream that takes none of them is taken for closed.
    pub fn write_all(self, mut bytes: &[u8]) -> Result<(), Closed> {
        while !bytes.is_empty() {
            let count = self.write(bytes)?;
            if count == 0 {
                return Err(Closed);
            }
            bytes = bytes.get(count..).ok_or(Closed)?;
        }
        Ok(())
    }

    /// Says that nothing more is written.
    pub fn end(self) {
        // SAFETY: no memory is involved.
        unsafe { abi::res_end(self.0) }
    }
}

/// Says something to whoever runs the guest. Best effort.
pub fn say(topic: &str, message: &str) {
    // SAFETY: the host only reads the bytes.
    unsafe {
        abi::log(topic.as_ptr(), abi::length(topic.len()), message.as_ptr(), abi::length(message.len()));
    }
}
