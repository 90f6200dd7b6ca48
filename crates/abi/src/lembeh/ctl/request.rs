//! Requests of `_ctl`, and in which order what is wrong with one is found.

use super::{CAPS_DESCRIBE, CAPS_LIST, CAPS_OPEN, MAGIC, REQUEST_HEADER_BYTES, VERSION};
use crate::lembeh::{
    hopper::{Hopper, Malformed, TooLong, put_h4, put_hbytes, put_hstr, put_length},
    trace::Trace,
};

/// The shortest request that can be answered at all: its operation and number can be echoed.
const ECHO_BYTES: usize = 12;

/// A request whose frame is whole. Its operation is not looked at yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// Which operation.
    pub op: u16,
    /// The caller's number.
    pub rid: u32,
    /// How long it may block; 0 is not at all.
    pub timeout_ms: u32,
    /// In the operation's layout.
    pub payload: &'a [u8],
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation<'a> {
    /// Name every capability.
    List,
    /// Say what one is.
    Describe {
        /// Its kind.
        kind: &'a str,
        /// Its name.
        name: &'a str,
    },
    /// Open one.
    Open {
        /// Its kind.
        kind: &'a str,
        /// Its name.
        name: &'a str,
        /// How; what it means is the capability's.
        mode: u32,
        /// In the capability's layout.
        params: &'a [u8],
    },
}

/// The bytes are not a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadRequest {
    /// Too short to be answered: `_ctl` returns -1.
    #[error("a request of {0} bytes cannot be answered")]
    Unanswerable(usize),
    /// Answered with a trace.
    #[error("{}", .trace.message())]
    Refused {
        /// The operation to echo.
        op: u16,
        /// The number to echo.
        rid: u32,
        /// Why.
        trace: Trace,
    },
}

impl BadRequest {
    /// The stable code that logs and tests match on.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unanswerable(_) => "ctl_unanswerable",
            Self::Refused { trace, .. } => trace.code(),
        }
    }
}

/// Reads the frame of a request that fills `bytes`.
pub fn decode_request(bytes: &[u8], payload_bytes_max: u32) -> Result<Request<'_>, BadRequest> {
    let Some(echo) = bytes.first_chunk::<ECHO_BYTES>() else {
        return Err(BadRequest::Unanswerable(bytes.len()));
    };
    let [m0, m1, m2, m3, v0, v1, op0, op1, r0, r1, r2, r3] = *echo;
    let (op, rid) = (u16::from_le_bytes([op0, op1]), u32::from_le_bytes([r0, r1, r2, r3]));
    let refused = |trace| BadRequest::Refused { op, rid, trace };
    if [m0, m1, m2, m3] != MAGIC {
        return Err(refused(Trace::CtlBadFrame));
    }
    if u16::from_le_bytes([v0, v1]) != VERSION {
        return Err(refused(Trace::CtlBadVersion));
    }
    let (timeout_ms, payload) = decode_rest(&bytes[ECHO_BYTES..]).map_err(|_| refused(Trace::CtlBadFrame))?;
    if payload.len() as u64 > u64::from(payload_bytes_max) {
        return Err(refused(Trace::CtlOverflow));
    }
    Ok(Request { op, rid, timeout_ms, payload })
}

/// What follows operation and number: time, flags that must be 0, and the payload to the last byte.
fn decode_rest(bytes: &[u8]) -> Result<(u32, &[u8]), Malformed> {
    let mut hopper = Hopper::new(bytes);
    let timeout_ms = hopper.h4("timeout")?;
    let flags = hopper.h4("flags")?;
    let payload = hopper.hbytes("payload")?;
    hopper.end()?;
    if flags != 0 {
        return Err(Malformed::Value { what: "flags", value: flags.into() });
    }
    Ok((timeout_ms, payload))
}

/// Reads what a request asks: first whether there is such an operation, then its payload.
pub fn decode_operation<'a>(request: &Request<'a>) -> Result<Operation<'a>, Trace> {
    let payload = request.payload;
    let operation = match request.op {
        CAPS_LIST => Hopper::new(payload).end().map(|()| Operation::List),
        CAPS_DESCRIBE => decode_describe(payload),
        CAPS_OPEN => decode_open(payload),
        _ => return Err(Trace::CtlUnknownOp),
    };
    operation.map_err(|_| Trace::CtlBadParams)
}

fn decode_describe(payload: &[u8]) -> Result<Operation<'_>, Malformed> {
    let mut hopper = Hopper::new(payload);
    let (kind, name) = (hopper.hstr("kind")?, hopper.hstr("name")?);
    hopper.end()?;
    Ok(Operation::Describe { kind, name })
}

fn decode_open(payload: &[u8]) -> Result<Operation<'_>, Malformed> {
    let mut hopper = Hopper::new(payload);
    let (kind, name) = (hopper.hstr("kind")?, hopper.hstr("name")?);
    let mode = hopper.h4("mode")?;
    let params = hopper.hbytes("params")?;
    hopper.end()?;
    Ok(Operation::Open { kind, name, mode, params })
}

/// Reads the params with which the hub is opened: a session's id and flags. Empty ones are an empty id and 0,
/// because guests that are about send none.
pub fn decode_hub_params(params: &[u8]) -> Result<(&[u8], u32), Malformed> {
    if params.is_empty() {
        return Ok((&[], 0));
    }
    let mut hopper = Hopper::new(params);
    let session_id = hopper.hbytes("session id")?;
    let flags = hopper.h4("flags")?;
    hopper.end()?;
    Ok((session_id, flags))
}

/// Writes a request.
pub fn encode_request(rid: u32, timeout_ms: u32, operation: &Operation<'_>) -> Result<Vec<u8>, TooLong> {
    let mut payload = Vec::new();
    let op = match operation {
        Operation::List => CAPS_LIST,
        Operation::Describe { kind, name } => {
            put_hstr(&mut payload, kind)?;
            put_hstr(&mut payload, name)?;
            CAPS_DESCRIBE
        }
        Operation::Open { kind, name, mode, params } => {
            put_hstr(&mut payload, kind)?;
            put_hstr(&mut payload, name)?;
            put_h4(&mut payload, *mode);
            put_hbytes(&mut payload, params)?;
            CAPS_OPEN
        }
    };
    let mut out = Vec::with_capacity(REQUEST_HEADER_BYTES + payload.len());
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&op.to_le_bytes());
    for word in [rid, timeout_ms, 0] {
        put_h4(&mut out, word);
    }
    put_length(&mut out, payload.len())?;
    out.extend_from_slice(&payload);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lembeh::ctl::PAYLOAD_BYTES_MAX;

    fn code(bytes: &[u8]) -> Result<Operation<'_>, &'static str> {
        let request = decode_request(bytes, PAYLOAD_BYTES_MAX).map_err(|it| it.code())?;
        decode_operation(&request).map_err(Trace::code)
    }

    #[test]
    fn what_is_wrong_is_found_in_the_order_of_the_table() {
        let good = encode_request(7, 0, &Operation::List).unwrap();
        assert_eq!(code(&good), Ok(Operation::List));
        let with = |changes: &[(usize, u8)], length: usize| {
            let mut bytes = good.clone();
            bytes.resize(length, 0);
            changes.iter().filter(|(at, _)| *at < length).for_each(|(at, byte)| bytes[*at] = *byte);
            code(&bytes).unwrap_err()
        };
        let all = [(0, b'N'), (4, 2), (6, 99), (16, 1), (20, 1)];
        assert_eq!(with(&all, 11), "ctl_unanswerable");
        assert_eq!(with(&all, 24), "t_ctl_bad_frame");
        assert_eq!(with(&all[1..], 12), "t_ctl_bad_version");
        assert_eq!(with(&all[2..], 24), "t_ctl_bad_frame");
        assert_eq!(with(&[(16, 1)], 24), "t_ctl_bad_frame");
        assert_eq!(with(&[], 25), "t_ctl_bad_frame");
        assert_eq!(with(&[(6, 99), (20, 1)], 25), "t_ctl_unknown_op");
        assert_eq!(with(&[(20, 1)], 25), "t_ctl_bad_params");
        let long = PAYLOAD_BYTES_MAX as usize + 1;
        let length = (long as u32).to_le_bytes();
        assert_eq!(with(&[(20, length[0]), (21, length[1]), (22, length[2])], 24 + long), "t_ctl_overflow");
    }

    #[test]
    fn the_hub_is_opened_with_a_session_or_with_nothing() {
        assert_eq!(decode_hub_params(b""), Ok((&b""[..], 0)));
        assert_eq!(decode_hub_params(b"\x02\0\0\0s1\x05\0\0\0"), Ok((&b"s1"[..], 5)));
        for bad in
            [&b"\0\0\0\0"[..], b"\x02\0\0\0s1", b"\x02\0\0\0s1\x05\0\0\0x", b"\xff\xff\xff\xff\0\0\0\0"]
        {
            assert!(decode_hub_params(bad).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn a_request_round_trips_and_no_cut_of_it_reads(
            rid in any::<u32>(), timeout in any::<u32>(), which in 0u8..3, kind in "[ -~]{0,9}", name in "[ -~]{0,9}",
            mode in any::<u32>(), params in prop::collection::vec(any::<u8>(), 0..30),
        ) {
            let operation = match which {
                0 => Operation::List,
                1 => Operation::Describe { kind: &kind, name: &name },
                _ => Operation::Open { kind: &kind, name: &name, mode, params: &params },
            };
            let wire = encode_request(rid, timeout, &operation).unwrap();
            let request = decode_request(&wire, PAYLOAD_BYTES_MAX).unwrap();
            prop_assert_eq!((request.rid, request.timeout_ms), (rid, timeout));
            prop_assert_eq!(decode_operation(&request), Ok(operation));
            for cut in 0..wire.len() {
                prop_assert!(decode_request(&wire[..cut], PAYLOAD_BYTES_MAX).is_err());
            }
        }

        #[test]
        fn no_bytes_make_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = code(&bytes);
        }
    }
}
