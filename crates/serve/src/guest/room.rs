//! Room for responses: those of all connections of a listener have a bound together.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use drydock_embed::RESPONSE_BYTES_MAX;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::GuestBounds;

/// Room for the responses of all connections of a listener.
pub(super) struct Room {
    bytes: Arc<Semaphore>,
    /// What the longest response takes.
    longest: u32,
    wait_max: Duration,
}

impl Room {
    pub(super) fn new(bounds: &GuestBounds) -> Self {
        let bytes = bounds.responses_bytes_max.max(1);
        let longest = u32::try_from(bytes).unwrap_or(u32::MAX).min(RESPONSE_BYTES_MAX as u32);
        Self { bytes: Arc::new(Semaphore::new(bytes)), longest, wait_max: bounds.write_max }
    }

    /// Waits for room for a response that nobody knows yet: the guest is asked once there is some. `None` where there was none
    /// for as long as others may take to write.
    pub(super) async fn wait(&self) -> Option<Reserved> {
        let taking = Arc::clone(&self.bytes).acquire_many_owned(self.longest);
        Some(Reserved(tokio::time::timeout(self.wait_max, taking).await.ok()?.ok()?))
    }
}

/// Room for a response.
pub(super) struct Reserved(OwnedSemaphorePermit);

impl Reserved {
    /// The response, which keeps its room until the last of it is written or given up.
    pub(super) fn hold(mut self, response: Bytes) -> Bytes {
        let room = self.0.num_permits().min(response.len());
        match self.0.split(room) {
            Some(room) => Bytes::from_owner(Held { response, _room: room }),
            None => response,
        }
    }
}

struct Held {
    response: Bytes,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_response_has_its_room_until_it_is_gone_and_who_waits_too_long_is_told() {
        let bounds =
            GuestBounds { responses_bytes_max: 100, write_max: Duration::ZERO, ..GuestBounds::default() };
        let room = Room::new(&bounds);
        let reserved = room.wait().await.unwrap();
        assert!(room.wait().await.is_none(), "the longest response takes all");
        let held = reserved.hold(Bytes::from(vec![7; 60]));
        assert_eq!(room.bytes.available_permits(), 40, "what is not needed is given back");
        let piece = held.slice(50..);
        drop(held);
        assert_eq!(room.bytes.available_permits(), 40);
        drop(piece);
        assert_eq!(room.bytes.available_permits(), 100);
        drop(room.wait().await.unwrap().hold(Bytes::from(vec![7; 500])));
        assert_eq!(room.bytes.available_permits(), 100);
    }
}
