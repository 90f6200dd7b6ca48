//! Requests on `/dev/drydock`, read from bytes that come in pieces of any length.
//!
//! A request is eight bytes of head, the length of what follows and the number of the call, both
//! little-endian, and a request of the tool wire. There are no bytes that are no frame: a length beyond
//! [`REQUEST_BYTES_MAX`] is told when its head is there, and what follows it is passed over and not kept.

use super::REQUEST_BYTES_MAX;

/// Bytes before a request.
const HEAD_BYTES: usize = 8;

/// What the bytes so far have come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameEvent {
    /// A head was read: so many bytes will be kept.
    Begun {
        /// The length of the request.
        bytes: u32,
    },
    /// A request is whole.
    Request {
        /// The number that its answer will have.
        call: u32,
        /// The request.
        payload: Vec<u8>,
    },
    /// A head was read of a request that is too long; nothing of it will be kept.
    Oversized {
        /// The number that its refusal will have.
        call: u32,
        /// What it claims.
        bytes: u32,
    },
}

/// Takes bytes apart into requests.
#[derive(Debug, Default)]
pub struct FrameReader {
    head: [u8; HEAD_BYTES],
    head_count: usize,
    state: State,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Head,
    Body {
        call: u32,
        payload: Vec<u8>,
        left: usize,
    },
    Passing {
        left: usize,
    },
}

impl FrameReader {
    /// Reads up to the next event: how many bytes that took, and the event. Without one all were taken.
    pub fn take(&mut self, bytes: &[u8]) -> (usize, Option<FrameEvent>) {
        let mut taken = 0;
        loop {
            let rest = bytes.get(taken..).unwrap_or_default();
            let (count, event) = self.step(rest);
            taken += count;
            if event.is_some() || taken == bytes.len() {
                return (taken, event);
            }
        }
    }

    fn step(&mut self, bytes: &[u8]) -> (usize, Option<FrameEvent>) {
        match &mut self.state {
            State::Head => {
                let count = bytes.len().min(HEAD_BYTES - self.head_count);
                self.head[self.head_count..self.head_count + count].copy_from_slice(&bytes[..count]);
                self.head_count += count;
                let event = (self.head_count == HEAD_BYTES).then(|| self.begin());
                (count, event)
            }
            State::Body { call, payload, left } => {
                let count = bytes.len().min(*left);
                payload.extend_from_slice(&bytes[..count]);
                *left -= count;
                if *left > 0 {
                    return (count, None);
                }
                let event = FrameEvent::Request { call: *call, payload: std::mem::take(payload) };
                self.state = State::Head;
                (count, Some(event))
            }
            State::Passing { left } => {
                let count = bytes.len().min(*left);
                *left -= count;
                if *left == 0 {
                    self.state = State::Head;
                }
                (count, None)
            }
        }
    }

    fn begin(&mut self) -> FrameEvent {
        self.head_count = 0;
        let [a, b, c, d, e, f, g, h] = self.head;
        let (bytes, call) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        let left = bytes as usize;
        if u64::from(bytes) > REQUEST_BYTES_MAX {
            self.state = State::Passing { left };
            return FrameEvent::Oversized { call, bytes };
        }
        self.state = State::Body { call, payload: Vec::new(), left };
        FrameEvent::Begun { bytes }
    }
}

/// A request as it is written.
pub fn encode_frame(call: u32, request: &[u8]) -> Vec<u8> {
    let length = u32::try_from(request.len()).unwrap_or(u32::MAX);
    [&length.to_le_bytes()[..], &call.to_le_bytes(), request].concat()
}

/// What stands before an answer of so many bytes: its length, little-endian.
pub fn answer_head(bytes: usize) -> [u8; 4] {
    u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every event of the bytes, fed in pieces that end where `cuts` says.
    fn events(bytes: &[u8], cuts: &[usize]) -> Vec<FrameEvent> {
        let mut reader = FrameReader::default();
        let mut ends: Vec<usize> = cuts.iter().map(|it| it % (bytes.len() + 1)).collect();
        ends.push(bytes.len());
        ends.sort_unstable();
        let (mut all, mut start) = (Vec::new(), 0);
        for end in ends {
            while start < end {
                let (count, event) = reader.take(&bytes[start..end]);
                start += count;
                all.extend(event);
            }
            // An empty request is whole as soon as its head is; asking again finds it.
            all.extend(reader.take(&[]).1);
        }
        all
    }

    #[test]
    fn requests_are_found_one_after_another_and_an_empty_one_too() {
        let bytes = [encode_frame(7, b"[1]"), encode_frame(u32::MAX, b""), encode_frame(0, b"x")].concat();
        let want = [
            FrameEvent::Begun { bytes: 3 },
            FrameEvent::Request { call: 7, payload: b"[1]".to_vec() },
            FrameEvent::Begun { bytes: 0 },
            FrameEvent::Request { call: u32::MAX, payload: Vec::new() },
            FrameEvent::Begun { bytes: 1 },
            FrameEvent::Request { call: 0, payload: b"x".to_vec() },
        ];
        assert_eq!(events(&bytes, &[]), want);
    }

    #[test]
    fn a_request_that_is_too_long_is_passed_over_and_the_next_one_read() {
        let long = REQUEST_BYTES_MAX as u32 + 1;
        let mut bytes = [long.to_le_bytes(), 5u32.to_le_bytes()].concat();
        bytes.resize(8 + long as usize, b'{');
        bytes.extend(encode_frame(6, b"y"));
        let want = [
            FrameEvent::Oversized { call: 5, bytes: long },
            FrameEvent::Begun { bytes: 1 },
            FrameEvent::Request { call: 6, payload: b"y".to_vec() },
        ];
        assert_eq!(events(&bytes, &[]), want);
    }

    proptest! {
        #[test]
        fn where_the_bytes_are_cut_changes_nothing(
            bytes in prop::collection::vec(prop_oneof![3 => Just(0u8), 1 => 0u8..4, 1 => any::<u8>()], 0..200),
            cuts in prop::collection::vec(any::<usize>(), 0..8),
        ) {
            prop_assert_eq!(events(&bytes, &cuts), events(&bytes, &[]));
        }

        #[test]
        fn what_is_written_is_read(requests in prop::collection::vec((any::<u32>(), prop::collection::vec(any::<u8>(), 0..50)), 0..6)) {
            let bytes: Vec<u8> = requests.iter().flat_map(|(call, it)| encode_frame(*call, it)).collect();
            let read: Vec<(u32, Vec<u8>)> = events(&bytes, &[3, 9]).into_iter().filter_map(|it| match it {
                FrameEvent::Request { call, payload } => Some((call, payload)),
                _ => None,
            }).collect();
            prop_assert_eq!(read, requests);
        }
    }
}
