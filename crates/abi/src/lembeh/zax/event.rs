//! Events, from the host to the guest.
//!
//! A guest that reads a frame which is none stops using the stream; what it may ignore is an
//! [`Event::Extension`]. It ignores the future of an ACK and the request of a terminal event, as hosts differ there.

use super::{
    PAYLOAD_BYTES_MAX,
    header::{HEADER_BYTES, HeadFault, Header, KIND_EVENT},
    op,
};
use crate::lembeh::{
    envelope::{Envelope, decode_envelope, decode_refusal, put_envelope, put_refusal},
    hopper::{Hopper, Malformed, TooLong, put_hbytes},
};

/// What the host says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A command was accepted.
    Ack {
        /// Which one.
        req_id: u64,
    },
    /// A command was refused.
    Fail {
        /// Which one.
        req_id: u64,
        /// The trace.
        code: &'a str,
        /// What a person reads.
        msg: &'a str,
    },
    /// A future has a value.
    FutureOk {
        /// Which one.
        future_id: u64,
        /// In the layout of its selector.
        value: &'a [u8],
    },
    /// A future failed.
    FutureFail {
        /// Which one.
        future_id: u64,
        /// Why.
        failure: Envelope<'a>,
    },
    /// A future was cancelled, or its time was over.
    FutureCancelled {
        /// Which one.
        future_id: u64,
    },
    /// A join found nothing pending.
    JoinResult {
        /// Which join.
        req_id: u64,
    },
    /// A join ran out of fuel or time.
    JoinLimit {
        /// Which join.
        req_id: u64,
        /// The trace.
        code: &'a str,
        /// What a person reads.
        msg: &'a str,
    },
    /// Reserved: a guest ignores what it does not know.
    Extension {
        /// Its whole header.
        header: Header,
        /// Its payload.
        payload: &'a [u8],
    },
}

/// A frame that is no event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEvent {
    /// The header begins no frame.
    #[error(transparent)]
    Head(#[from] HeadFault),
    /// No event has this kind or number.
    #[error("a host does not send operation {op} of kind {kind}")]
    Op {
        /// Its kind.
        kind: u16,
        /// Its number.
        op: u16,
    },
    /// The ids or the payload are not the event's.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

impl BadEvent {
    /// The stable code that logs and tests match on.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Head(fault) => fault.code(),
            Self::Op { .. } => "zax_unknown_event",
            Self::Malformed(why) => why.code(),
        }
    }
}

/// The event at the front of a stream and the length of its frame, or nothing if more bytes are needed.
pub fn next_event(bytes: &[u8]) -> Result<Option<(Event<'_>, usize)>, BadEvent> {
    let Some(header) = Header::decode(bytes) else { return Ok(None) };
    header.check(PAYLOAD_BYTES_MAX)?;
    // At most the maximum, which fits everywhere.
    let end = HEADER_BYTES + header.payload_len as usize;
    let Some(payload) = bytes.get(HEADER_BYTES..end) else { return Ok(None) };
    Ok(Some((decode_event(&header, payload)?, end)))
}

/// Reads an event whose header was checked.
pub fn decode_event<'a>(header: &Header, payload: &'a [u8]) -> Result<Event<'a>, BadEvent> {
    let unknown = BadEvent::Op { kind: header.kind, op: header.op };
    if header.kind != KIND_EVENT {
        return Err(unknown);
    }
    if op::EXTENSIONS.contains(&header.op) {
        return Ok(Event::Extension { header: *header, payload });
    }
    if header.flags != 0 {
        return Err(Malformed::Value { what: "flags", value: header.flags.into() }.into());
    }
    let hopper = Hopper::new(payload);
    let req_id = header.req_id;
    Ok(match header.op {
        op::ACK => {
            hopper.end()?;
            Event::Ack { req_id: named("request", req_id)? }
        }
        op::FAIL => {
            let (code, msg) = decode_refusal(payload)?;
            Event::Fail { req_id: named("request", req_id)?, code, msg }
        }
        op::FUTURE_OK => {
            let value = decode_value(hopper)?;
            Event::FutureOk { future_id: named("future", header.future_id)?, value }
        }
        op::FUTURE_FAIL => {
            let failure = decode_envelope(payload)?;
            Event::FutureFail { future_id: named("future", header.future_id)?, failure }
        }
        op::FUTURE_CANCELLED => {
            hopper.end()?;
            Event::FutureCancelled { future_id: named("future", header.future_id)? }
        }
        op::JOIN_RESULT => {
            hopper.end()?;
            Event::JoinResult { req_id }
        }
        op::JOIN_LIMIT => {
            let (code, msg) = decode_refusal(payload)?;
            Event::JoinLimit { req_id, code, msg }
        }
        _ => return Err(unknown),
    })
}

fn decode_value(mut hopper: Hopper<'_>) -> Result<&[u8], Malformed> {
    let value = hopper.hbytes("value")?;
    hopper.end()?;
    Ok(value)
}

/// An id that may not be 0.
const fn named(what: &'static str, id: u64) -> Result<u64, Malformed> {
    match id {
        0 => Err(Malformed::Value { what, value: 0 }),
        id => Ok(id),
    }
}

impl Event<'_> {
    /// Whether it is the last that is said about its future.
    pub const fn is_terminal(&self) -> bool {
        matches!(self, Self::FutureOk { .. } | Self::FutureFail { .. } | Self::FutureCancelled { .. })
    }

    /// Writes the event. Leaves `out` as it was if the payload would be too long.
    pub fn put(&self, out: &mut Vec<u8>) -> Result<(), TooLong> {
        let start = out.len();
        let header = self.header();
        header.put(out);
        let written = self.put_payload(out);
        let length = out.len() - start - HEADER_BYTES;
        let known = u32::try_from(length).ok().filter(|it| *it <= PAYLOAD_BYTES_MAX);
        match (written, known) {
            (Ok(()), Some(length)) => {
                out[start + HEADER_BYTES - 4..start + HEADER_BYTES].copy_from_slice(&length.to_le_bytes());
                Ok(())
            }
            (written, _) => {
                out.truncate(start);
                written.and(Err(TooLong(length)))
            }
        }
    }

    fn header(&self) -> Header {
        let of_request = |op, req_id| Header { req_id, ..Header::new(KIND_EVENT, op) };
        let of_future = |op, future_id| Header { future_id, ..Header::new(KIND_EVENT, op) };
        match *self {
            Self::Ack { req_id } => of_request(op::ACK, req_id),
            Self::Fail { req_id, .. } => of_request(op::FAIL, req_id),
            Self::FutureOk { future_id, .. } => of_future(op::FUTURE_OK, future_id),
            Self::FutureFail { future_id, .. } => of_future(op::FUTURE_FAIL, future_id),
            Self::FutureCancelled { future_id } => of_future(op::FUTURE_CANCELLED, future_id),
            Self::JoinResult { req_id } => of_request(op::JOIN_RESULT, req_id),
            Self::JoinLimit { req_id, .. } => of_request(op::JOIN_LIMIT, req_id),
            Self::Extension { header, .. } => header,
        }
    }

    fn put_payload(&self, out: &mut Vec<u8>) -> Result<(), TooLong> {
        match self {
            Self::Ack { .. } | Self::FutureCancelled { .. } | Self::JoinResult { .. } => Ok(()),
            Self::Fail { code, msg, .. } | Self::JoinLimit { code, msg, .. } => put_refusal(out, code, msg),
            Self::FutureOk { value, .. } => put_hbytes(out, value),
            Self::FutureFail { failure, .. } => put_envelope(out, failure),
            Self::Extension { payload, .. } => {
                out.extend_from_slice(payload);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_event_round_trips_and_waits_for_its_last_byte(
            which in 0u8..8, id in 1u64.., code in "[a-z0-9_]{1,20}", msg in "[ -~]{0,20}",
            bytes in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let failure = Envelope { trace: &code, msg: &msg, cause: &bytes };
            let event = match which {
                0 => Event::Ack { req_id: id },
                1 => Event::Fail { req_id: id, code: &code, msg: &msg },
                2 => Event::FutureOk { future_id: id, value: &bytes },
                3 => Event::FutureFail { future_id: id, failure },
                4 => Event::FutureCancelled { future_id: id },
                5 => Event::JoinResult { req_id: id },
                6 => Event::JoinLimit { req_id: id, code: &code, msg: &msg },
                _ => Event::Extension {
                    header: Header { payload_len: bytes.len() as u32, ..Header::new(KIND_EVENT, 250) },
                    payload: &bytes,
                },
            };
            let mut wire = Vec::new();
            event.put(&mut wire).unwrap();
            prop_assert_eq!(next_event(&wire), Ok(Some((event, wire.len()))));
            for cut in 0..wire.len() {
                prop_assert_eq!(next_event(&wire[..cut]), Ok(None));
            }
        }

        #[test]
        fn no_bytes_make_the_decoder_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..120), op in prop_oneof![100u16..130, any::<u16>()],
        ) {
            let _ = next_event(&bytes);
            let header = Header { payload_len: bytes.len() as u32, ..Header::new(KIND_EVENT, op) };
            let _ = decode_event(&header, &bytes);
        }
    }

    #[test]
    fn what_is_too_long_leaves_nothing_behind() {
        let mut out = b"before".to_vec();
        let value = vec![0; PAYLOAD_BYTES_MAX as usize - 3];
        assert!(Event::FutureOk { future_id: 1, value: &value }.put(&mut out).is_err());
        assert_eq!(out, b"before");
        assert!(Event::FutureOk { future_id: 1, value: &value[1..] }.put(&mut out).is_ok());
    }
}
