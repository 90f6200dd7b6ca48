//! The Async Source, which is what a REGISTER_FUTURE carries: `H1 src_kind, H4 body_len, body`.
//!
//! Kind 2 names a capability and one of its selectors; kind 1 is private to a host and not looked into.

use super::hopper::{Hopper, Malformed, TooLong, put_hbytes, put_hstr, put_length, text};

/// Private to a host.
pub const SOURCE_OPAQUE: u8 = 1;
/// A selector of a capability.
pub const SOURCE_CAP_SELECTOR: u8 = 2;

/// What a future waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source<'a> {
    /// Private to a host. What follows the kind is not looked into, not even its length: whoever does not
    /// offer the kind refuses it before (decision D-14 of the specification).
    Opaque(&'a [u8]),
    /// A selector of a capability.
    Selector(CapSelector<'a>),
}

/// A selector of a capability, and what it is given. Dispatch is on the exact three strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapSelector<'a> {
    /// As `exec`.
    pub kind: &'a str,
    /// As `default`.
    pub name: &'a str,
    /// As `exec.start.v1`.
    pub selector: &'a str,
    /// In the selector's own layout.
    pub params: &'a [u8],
}

/// The bytes are not an Async Source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSource {
    /// A kind that nobody defined.
    #[error("{0} is not a kind of source")]
    Kind(u8),
    /// A kind that is defined, and a body that is not one of it.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

impl BadSource {
    /// The stable code that logs and tests match on.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Kind(_) => "source_kind",
            Self::Malformed(why) => why.code(),
        }
    }
}

/// Reads an Async Source that fills `bytes`.
pub fn decode_source(bytes: &[u8]) -> Result<Source<'_>, BadSource> {
    let mut hopper = Hopper::new(bytes);
    match hopper.h1("source kind")? {
        SOURCE_OPAQUE => Ok(Source::Opaque(hopper.raw("body", hopper.left() as u64)?)),
        SOURCE_CAP_SELECTOR => {
            let body = hopper.hbytes("source body")?;
            hopper.end()?;
            Ok(Source::Selector(decode_selector(body)?))
        }
        other => Err(BadSource::Kind(other)),
    }
}

fn decode_selector(body: &[u8]) -> Result<CapSelector<'_>, Malformed> {
    let mut hopper = Hopper::new(body);
    // Layout first: a wrong length is told as such, and not as the bad text that it happens to cut out.
    let (kind, name) = (hopper.hbytes("capability kind")?, hopper.hbytes("capability name")?);
    let selector = hopper.hbytes("selector")?;
    let params = hopper.hbytes("params")?;
    hopper.end()?;
    let (kind, name) = (text("capability kind", kind)?, text("capability name", name)?);
    let selector = text("selector", selector)?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    if selector.is_empty() || !selector.bytes().all(plain) {
        return Err(Malformed::Spelling("selector"));
    }
    Ok(CapSelector { kind, name, selector, params })
}

/// Writes an Async Source.
pub fn encode_source(source: &Source<'_>) -> Result<Vec<u8>, TooLong> {
    match source {
        Source::Opaque(rest) => Ok([&[SOURCE_OPAQUE], *rest].concat()),
        Source::Selector(call) => {
            let mut body = Vec::with_capacity(64 + call.params.len());
            put_hstr(&mut body, call.kind)?;
            put_hstr(&mut body, call.name)?;
            put_hstr(&mut body, call.selector)?;
            put_hbytes(&mut body, call.params)?;
            let mut out = Vec::with_capacity(5 + body.len());
            out.push(SOURCE_CAP_SELECTOR);
            put_length(&mut out, body.len())?;
            out.extend_from_slice(&body);
            Ok(out)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_source_round_trips_and_no_cut_of_it_reads(
            kind in "[ -~]{0,9}", name in "[ -~]{0,9}", selector in "[A-Za-z0-9._-]{1,20}",
            params in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let call = CapSelector { kind: &kind, name: &name, selector: &selector, params: &params };
            let mut wire = encode_source(&Source::Selector(call)).unwrap();
            prop_assert_eq!(decode_source(&wire), Ok(Source::Selector(call)));
            for cut in 0..wire.len() {
                prop_assert!(decode_source(&wire[..cut]).is_err());
            }
            wire.push(0);
            prop_assert!(decode_source(&wire).is_err());
        }

        #[test]
        fn no_bytes_make_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            let _ = decode_source(&bytes);
        }
    }

    #[test]
    fn the_kind_is_looked_at_first() {
        assert_eq!(decode_source(b"\x03"), Err(BadSource::Kind(3)));
        assert_eq!(decode_source(b"\x00\xff\xff\xff\xff"), Err(BadSource::Kind(0)));
        assert!(matches!(decode_source(b""), Err(BadSource::Malformed(_))));
        assert_eq!(decode_source(b"\x01\x02\0\0\0hi"), Ok(Source::Opaque(b"\x02\0\0\0hi")));
    }
}
