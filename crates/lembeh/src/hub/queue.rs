//! Events that wait to be read, and the room that is kept for those that must be able to come.
//!
//! Queued and kept bytes together never exceed the bound. What was kept for is always given back before its
//! event is queued, so an event that has its room cannot fail to be queued.

use drydock_abi::lembeh::zax::Event;

/// When this many bytes were read, what is left is moved to the front.
const READ_BYTES_MAX: usize = 16 << 10;

/// A bounded queue of bytes.
#[derive(Debug)]
pub(super) struct EventQueue {
    bytes: Vec<u8>,
    read: usize,
    kept: usize,
    bytes_max: usize,
}

impl EventQueue {
    pub(super) const fn new(bytes_max: u32) -> Self {
        Self { bytes: Vec::new(), read: 0, kept: 0, bytes_max: bytes_max as usize }
    }

    /// Bytes that wait.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.read
    }

    /// Whether `count` more bytes have room now.
    pub(super) fn has_room(&self, count: usize) -> bool {
        self.len() + self.kept + count <= self.bytes_max
    }

    /// Whether `count` more bytes would have room if everything was read.
    pub(super) const fn could_have_room(&self, count: usize) -> bool {
        self.kept + count <= self.bytes_max
    }

    /// Keeps room for an event to come.
    pub(super) fn keep(&mut self, count: usize) {
        self.kept += count;
        debug_assert!(self.has_room(0), "room is looked for before it is kept");
    }

    /// Gives kept room back.
    pub(super) fn give_back(&mut self, count: usize) {
        debug_assert!(self.kept >= count, "only what was kept is given back");
        self.kept = self.kept.saturating_sub(count);
    }

    /// Queues an event. The caller has seen to its room; what is too long for a frame is not queued.
    pub(super) fn push(&mut self, event: &Event<'_>) {
        let queued = event.put(&mut self.bytes);
        debug_assert!(queued.is_ok() && self.has_room(0), "an event has its room");
    }

    /// Moves the oldest bytes out: how many.
    pub(super) fn read(&mut self, out: &mut [u8]) -> usize {
        let count = out.len().min(self.len());
        out[..count].copy_from_slice(&self.bytes[self.read..self.read + count]);
        self.read += count;
        if self.read == self.bytes.len() {
            self.bytes.clear();
            self.read = 0;
        } else if self.read >= READ_BYTES_MAX {
            self.bytes.drain(..self.read);
            self.read = 0;
        }
        count
    }

    /// Lets go of everything.
    pub(super) fn release(&mut self) {
        *self = Self::new(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_as_they_went_in_whatever_the_pieces() {
        let mut queue = EventQueue::new(1 << 20);
        let (mut want, mut got) = (Vec::new(), Vec::new());
        for id in 1..2000 {
            let event = Event::Ack { req_id: id };
            event.put(&mut want).unwrap();
            queue.push(&event);
            let mut piece = [0; 37];
            let count = queue.read(&mut piece);
            got.extend_from_slice(&piece[..count]);
        }
        let mut rest = vec![0; 1 << 20];
        let count = queue.read(&mut rest);
        got.extend_from_slice(&rest[..count]);
        assert_eq!(got, want);
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn kept_room_is_not_for_others() {
        let mut queue = EventQueue::new(100);
        queue.keep(50);
        assert!(queue.has_room(50) && !queue.has_room(51));
        queue.push(&Event::Ack { req_id: 1 });
        queue.give_back(50);
        assert!(queue.has_room(52) && !queue.has_room(53) && queue.could_have_room(100));
    }
}
