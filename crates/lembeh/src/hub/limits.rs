//! The bounds of one hub. All that it ever holds follows from them.

use drydock_abi::lembeh::{
    ctl::HubMeta,
    zax::{HEADER_BYTES, PAYLOAD_BYTES_MAX},
};

/// Room for the answer to any command: an ACK, or a FAIL with the longest trace and message.
pub(super) const ANSWER_BYTES: usize = 128;
/// Room that is kept for the end of any future: the longest failure, without a cause.
pub(super) const TERMINAL_BYTES: usize = 128;
/// Pending futures are found in a sorted list; more than this would make it slow.
const FUTURES_MAX: u32 = 4096;

/// What a hub may hold. The default is what the specification recommends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HubLimits {
    /// The longest payload of a command.
    pub payload_bytes_max: u32,
    /// How many futures may be pending: at most 4,096.
    pub futures_max: u32,
    /// How many joins may wait.
    pub joins_max: u32,
    /// How many bytes of events may wait to be read, with what is kept for the ends of pending futures.
    pub event_queue_bytes_max: u32,
    /// Ids that were used are kept as ranges; how many of them. A guest that counts needs one.
    pub id_ranges_max: u32,
    /// How many tasks have an owner.
    pub tasks_max: u32,
    /// How long an owner's name may be.
    pub owner_bytes_max: u32,
}

impl Default for HubLimits {
    fn default() -> Self {
        Self {
            payload_bytes_max: PAYLOAD_BYTES_MAX,
            futures_max: 32,
            joins_max: 8,
            event_queue_bytes_max: 64 << 10,
            id_ranges_max: 4096,
            tasks_max: 64,
            owner_bytes_max: 256,
        }
    }
}

impl HubLimits {
    /// The limits as a hub can keep them: no payload above that of ZAX1, and a queue in which every pending
    /// future and join can end and one more command be answered, however small it was asked for.
    pub(crate) fn bounded(self) -> Self {
        let futures_max = self.futures_max.min(FUTURES_MAX);
        let joins_max = self.joins_max.min(FUTURES_MAX);
        // At most 2 MiB: no overflow.
        let least = (futures_max + joins_max) * TERMINAL_BYTES as u32 + 2 * ANSWER_BYTES as u32;
        Self {
            payload_bytes_max: self.payload_bytes_max.min(PAYLOAD_BYTES_MAX),
            futures_max,
            joins_max,
            event_queue_bytes_max: self.event_queue_bytes_max.max(least),
            ..self
        }
    }

    /// What a guest is told beside the hub's handle.
    pub fn meta(&self) -> HubMeta {
        let limits = self.bounded();
        HubMeta {
            payload_bytes_max: limits.payload_bytes_max,
            futures_max: limits.futures_max,
            event_queue_bytes_max: limits.event_queue_bytes_max,
        }
    }

    /// The most bytes of a guest's making that a hub holds: one frame, the queue, and the owners of tasks.
    pub fn held_bytes_max(&self) -> u64 {
        let limits = self.bounded();
        HEADER_BYTES as u64
            + u64::from(limits.payload_bytes_max)
            + u64::from(limits.event_queue_bytes_max)
            + u64::from(limits.tasks_max) * u64::from(limits.owner_bytes_max)
    }
}

#[cfg(test)]
mod tests {
    use drydock_abi::lembeh::{Envelope, Trace, zax::Event};

    use super::*;

    #[test]
    fn every_trace_fits_into_the_room_that_is_kept() {
        for trace in Trace::ALL {
            let (code, msg) = (trace.code(), trace.message());
            let mut answer = Vec::new();
            Event::Fail { req_id: 1, code, msg }.put(&mut answer).unwrap();
            assert!(answer.len() <= ANSWER_BYTES, "{code}: {}", answer.len());
            let mut terminal = Vec::new();
            let failure = Envelope { trace: code, msg, cause: b"" };
            Event::FutureFail { future_id: 1, failure }.put(&mut terminal).unwrap();
            assert!(terminal.len() <= TERMINAL_BYTES, "{code}: {}", terminal.len());
        }
    }

    #[test]
    fn limits_that_cannot_be_kept_are_moved_to_where_they_can() {
        let wild = HubLimits { futures_max: u32::MAX, event_queue_bytes_max: 0, ..HubLimits::default() };
        let meta = wild.meta();
        assert_eq!(meta.futures_max, 4096);
        assert!(meta.event_queue_bytes_max >= 4096 * 128);
        assert_eq!(HubLimits::default().meta().event_queue_bytes_max, 65536);
    }
}
