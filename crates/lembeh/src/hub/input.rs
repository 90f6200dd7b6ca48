//! What the guest has written of a frame that is not whole yet, or whose answer has no room yet.
//!
//! One frame at most is held. A payload that is too long is counted, and not kept.

use drydock_abi::lembeh::zax::Header;

/// Bytes between two frames.
#[derive(Debug, Default)]
pub(super) struct Input {
    frame: Vec<u8>,
    /// Bytes of a refused payload that are still to come.
    skip: u64,
}

impl Input {
    /// Bytes that are held.
    pub(super) const fn held(&self) -> usize {
        self.frame.len()
    }

    /// The header, if it is there.
    pub(super) fn header(&self) -> Option<Header> {
        Header::decode(&self.frame)
    }

    /// Whether the frame with this header is whole.
    pub(super) const fn is_whole(&self, header: &Header) -> bool {
        self.frame.len() as u64 >= header.frame_bytes()
    }

    /// Passes over what is to be skipped: how many bytes.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> usize {
        let count = bytes.len().min(usize::try_from(self.skip).unwrap_or(usize::MAX));
        self.skip -= count as u64;
        count
    }

    /// Takes bytes up to `length` of the frame: how many.
    pub(super) fn take(&mut self, bytes: &[u8], length: usize) -> usize {
        let count = bytes.len().min(length.saturating_sub(self.frame.len()));
        self.frame.extend_from_slice(&bytes[..count]);
        count
    }

    /// Lends the frame out; it comes back by [`Input::hold`] or [`Input::clear`].
    pub(super) fn lend(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.frame)
    }

    /// Puts the frame back: it waits.
    pub(super) fn hold(&mut self, lent: Vec<u8>) {
        self.frame = lent;
    }

    /// Forgets the frame that was lent, keeps its memory, and passes over `skip` bytes next.
    pub(super) fn clear(&mut self, mut lent: Vec<u8>, skip: u64) {
        lent.clear();
        self.frame = lent;
        self.skip = skip;
    }

    /// Lets go of everything.
    pub(super) fn release(&mut self) {
        *self = Self::default();
    }
}
