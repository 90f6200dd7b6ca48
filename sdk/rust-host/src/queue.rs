//! Messages between guests of a tenant, first in, first out. The power `queue`; a grant names the topic.

use crate::{
    Error,
    error::{done, filled},
    raw,
};

/// The longest message.
const MESSAGE_BYTES_MAX: usize = 256 << 10;

/// Puts a message at the end of a topic.
pub fn publish(topic: &str, message: &[u8]) -> Result<(), Error> {
    // SAFETY: the host reads both before it returns.
    done(unsafe {
        raw::host_publish(topic.as_ptr(), topic.len() as u32, message.as_ptr(), message.len() as u32)
    })
}

/// Takes the first message of a topic; an error where it has none. A message that finds no room stays where it is.
pub fn poll(topic: &str) -> Result<Vec<u8>, Error> {
    filled(4_096, MESSAGE_BYTES_MAX, |out, cap| {
        // SAFETY: the host reads the topic, and writes no more than `cap` bytes, before it returns.
        unsafe { raw::host_poll(topic.as_ptr(), topic.len() as u32, out, cap) }
    })
}
