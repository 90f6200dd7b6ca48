//! Responses of `_ctl`: what a host writes, and what a guest takes for one.

use super::{MAGIC, RESPONSE_HEADER_BYTES, VERSION};
use crate::lembeh::{
    envelope::{Envelope, decode_envelope, put_envelope},
    handle::{HFLAG_READABLE, HFLAG_WRITABLE, Opened},
    hopper::{Hopper, Malformed, TooLong, put_h4, put_hbytes, put_hstr, put_length},
};

/// A response as a guest reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response<'a> {
    /// The operation of the request.
    pub op: u16,
    /// The number of the request.
    pub rid: u32,
    /// The operation's answer, or why there is none.
    pub result: Result<&'a [u8], Envelope<'a>>,
}

/// A row of CAPS_LIST.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capability<'a> {
    /// As `exec`.
    pub kind: &'a str,
    /// As `default`.
    pub name: &'a str,
    /// What it can do.
    pub cap_flags: u32,
    /// Informational.
    pub meta: &'a [u8],
}

/// The answer of CAPS_DESCRIBE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Description<'a> {
    /// What it can do.
    pub cap_flags: u32,
    /// Opaque; ours is JSON.
    pub schema: &'a [u8],
}

/// The bounds of the hub, beside its handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HubMeta {
    /// The longest payload of a frame.
    pub payload_bytes_max: u32,
    /// How many futures may be pending.
    pub futures_max: u32,
    /// How many bytes of events may wait.
    pub event_queue_bytes_max: u32,
}

impl HubMeta {
    /// The sixteen bytes.
    pub fn encode(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        let words = [self.payload_bytes_max, self.futures_max, self.event_queue_bytes_max];
        for (slot, word) in bytes.chunks_exact_mut(4).zip(words) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// What a guest learns of the meta: nothing, unless it has exactly sixteen bytes.
    pub fn decode(meta: &[u8]) -> Option<Self> {
        if meta.len() != 16 {
            return None;
        }
        let mut hopper = Hopper::new(meta);
        let mut word = || hopper.h4("a bound").ok();
        Some(Self { payload_bytes_max: word()?, futures_max: word()?, event_queue_bytes_max: word()? })
    }
}

/// Reads a response that fills `bytes`.
pub fn decode_response(bytes: &[u8]) -> Result<Response<'_>, Malformed> {
    let mut hopper = Hopper::new(bytes);
    let magic = hopper.raw("magic", 4)?;
    if magic != MAGIC {
        return Err(Malformed::Spelling("magic"));
    }
    let zero = |what, value: u64| if value == 0 { Ok(()) } else { Err(Malformed::Value { what, value }) };
    let version = hopper.h2("version")?;
    zero("version", u64::from(version ^ VERSION))?;
    let (op, rid) = (hopper.h2("operation")?, hopper.h4("number")?);
    zero("flags", hopper.h4("flags")?.into())?;
    let payload = hopper.hbytes("payload")?;
    hopper.end()?;

    let mut hopper = Hopper::new(payload);
    let ok = hopper.h1("ok")?;
    zero("padding", hopper.h1("padding")?.into())?;
    zero("padding", hopper.h2("padding")?.into())?;
    let body = hopper.raw("body", hopper.left() as u64)?;
    let result = match ok {
        1 => Ok(body),
        0 => Err(decode_envelope(body)?),
        other => return Err(Malformed::Value { what: "ok", value: other.into() }),
    };
    if result.is_err_and(|envelope| envelope.msg.is_empty()) {
        return Err(Malformed::Spelling("message"));
    }
    Ok(Response { op, rid, result })
}

/// Writes the answer of an operation.
pub fn encode_success(op: u16, rid: u32, body: &[u8]) -> Result<Vec<u8>, TooLong> {
    encode(op, rid, 1, body)
}

/// Writes why there is no answer.
pub fn encode_refused(op: u16, rid: u32, envelope: &Envelope<'_>) -> Result<Vec<u8>, TooLong> {
    let mut body = Vec::new();
    put_envelope(&mut body, envelope)?;
    encode(op, rid, 0, &body)
}

fn encode(op: u16, rid: u32, ok: u8, body: &[u8]) -> Result<Vec<u8>, TooLong> {
    let mut out = Vec::with_capacity(RESPONSE_HEADER_BYTES + 4 + body.len());
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&op.to_le_bytes());
    put_h4(&mut out, rid);
    put_h4(&mut out, 0);
    put_length(&mut out, body.len().saturating_add(4))?;
    out.extend_from_slice(&[ok, 0, 0, 0]);
    out.extend_from_slice(body);
    Ok(out)
}

/// Reads the answer of CAPS_LIST: in the order of kind and name, each once.
pub fn decode_caps(body: &[u8]) -> Result<Vec<Capability<'_>>, Malformed> {
    let mut hopper = Hopper::new(body);
    // Two lengths, flags and a third length are the least a row can be.
    let count = hopper.count("capabilities", 16)?;
    let mut caps: Vec<Capability<'_>> = Vec::new();
    for _ in 0..count {
        let (kind, name) = (hopper.hstr("kind")?, hopper.hstr("name")?);
        let cap_flags = hopper.h4("capability flags")?;
        let meta = hopper.hbytes("meta")?;
        if caps.last().is_some_and(|last| (last.kind, last.name) >= (kind, name)) {
            return Err(Malformed::Order("capabilities"));
        }
        caps.push(Capability { kind, name, cap_flags, meta });
    }
    hopper.end()?;
    Ok(caps)
}

/// Writes the answer of CAPS_LIST. Sorts the rows.
pub fn encode_caps(caps: &[Capability<'_>]) -> Result<Vec<u8>, TooLong> {
    let mut rows: Vec<&Capability<'_>> = caps.iter().collect();
    rows.sort_by_key(|it| (it.kind, it.name));
    let mut body = Vec::new();
    put_length(&mut body, rows.len())?;
    for row in rows {
        put_hstr(&mut body, row.kind)?;
        put_hstr(&mut body, row.name)?;
        put_h4(&mut body, row.cap_flags);
        put_hbytes(&mut body, row.meta)?;
    }
    Ok(body)
}

/// Reads the answer of CAPS_DESCRIBE.
pub fn decode_description(body: &[u8]) -> Result<Description<'_>, Malformed> {
    let mut hopper = Hopper::new(body);
    let cap_flags = hopper.h4("capability flags")?;
    let schema = hopper.hbytes("schema")?;
    hopper.end()?;
    Ok(Description { cap_flags, schema })
}

/// Writes the answer of CAPS_DESCRIBE.
pub fn encode_description(description: &Description<'_>) -> Result<Vec<u8>, TooLong> {
    let mut body = Vec::new();
    put_h4(&mut body, description.cap_flags);
    put_hbytes(&mut body, description.schema)?;
    Ok(body)
}

/// Reads the answer of CAPS_OPEN for the hub, which one can read from and write to.
pub fn decode_hub_opened(body: &[u8]) -> Result<(Opened<'_>, Option<HubMeta>), Malformed> {
    let opened = Opened::decode(body, HFLAG_READABLE | HFLAG_WRITABLE)?;
    Ok((opened, HubMeta::decode(opened.meta)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn capabilities_are_sorted_when_written_and_must_be_when_read() {
        let cap = |kind, name| Capability { kind, name, cap_flags: 12, meta: b"" };
        let body = encode_caps(&[cap("net", "tcp"), cap("exec", "default"), cap("exec", "a")]).unwrap();
        let read: Vec<_> = decode_caps(&body).unwrap().iter().map(|it| (it.kind, it.name)).collect();
        assert_eq!(read, [("exec", "a"), ("exec", "default"), ("net", "tcp")]);
        let twice = encode_caps(&[cap("exec", "a"), cap("exec", "a")]).unwrap();
        assert_eq!(decode_caps(&twice), Err(Malformed::Order("capabilities")));
        assert!(decode_caps(b"\xff\xff\xff\xff").is_err());
    }

    proptest! {
        #[test]
        fn a_response_round_trips_and_no_cut_of_it_reads(
            op in any::<u16>(), rid in any::<u32>(), ok in any::<bool>(), body in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let envelope = Envelope { trace: "t_x", msg: "why", cause: &body };
            let wire = match ok {
                true => encode_success(op, rid, &body).unwrap(),
                false => encode_refused(op, rid, &envelope).unwrap(),
            };
            let result = if ok { Ok(&body[..]) } else { Err(envelope) };
            prop_assert_eq!(decode_response(&wire), Ok(Response { op, rid, result }));
            for cut in 0..wire.len() {
                prop_assert!(decode_response(&wire[..cut]).is_err());
            }
        }

        #[test]
        fn no_bytes_make_the_decoders_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = decode_response(&bytes);
            let _ = decode_caps(&bytes);
            let _ = decode_description(&bytes);
            let _ = decode_hub_opened(&bytes);
        }
    }
}
