//! The two ways of spelling a failure.
//!
//! The envelope, `HSTR trace, HSTR msg, HBYTES cause`, is the payload of FUTURE_FAIL and of a refused `_ctl`
//! request. The refusal, `H4 code_len, H4 msg_len, code, msg`, is the payload of FAIL and JOIN_LIMIT.

use super::hopper::{Hopper, Malformed, TooLong, put_hbytes, put_hstr, put_length, text};

/// A failure as a guest reads it. The trace is text: a host may know some that we do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The stable symbol.
    pub trace: &'a str,
    /// What a person reads.
    pub msg: &'a str,
    /// Whatever the host wants to add.
    pub cause: &'a [u8],
}

/// Reads an envelope that fills `bytes`.
pub fn decode_envelope(bytes: &[u8]) -> Result<Envelope<'_>, Malformed> {
    let mut hopper = Hopper::new(bytes);
    let trace = symbol(hopper.hstr("trace")?)?;
    let msg = hopper.hstr("message")?;
    let cause = hopper.hbytes("cause")?;
    hopper.end()?;
    Ok(Envelope { trace, msg, cause })
}

/// Writes an envelope.
pub fn put_envelope(out: &mut Vec<u8>, envelope: &Envelope<'_>) -> Result<(), TooLong> {
    put_hstr(out, envelope.trace)?;
    put_hstr(out, envelope.msg)?;
    put_hbytes(out, envelope.cause)
}

/// Reads code and message of a FAIL or a JOIN_LIMIT.
pub fn decode_refusal(bytes: &[u8]) -> Result<(&str, &str), Malformed> {
    let mut hopper = Hopper::new(bytes);
    let (code_len, msg_len) = (hopper.h4("code length")?, hopper.h4("message length")?);
    let code = symbol(text("code", hopper.raw("code", code_len.into())?)?)?;
    let msg = text("message", hopper.raw("message", msg_len.into())?)?;
    hopper.end()?;
    Ok((code, msg))
}

/// Writes code and message of a FAIL or a JOIN_LIMIT.
pub fn put_refusal(out: &mut Vec<u8>, code: &str, msg: &str) -> Result<(), TooLong> {
    put_length(out, code.len())?;
    put_length(out, msg.len())?;
    out.extend_from_slice(code.as_bytes());
    out.extend_from_slice(msg.as_bytes());
    Ok(())
}

/// A trace is `[a-z0-9_]+`: something to grep for.
fn symbol(text: &str) -> Result<&str, Malformed> {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    if text.is_empty() || !text.bytes().all(plain) {
        return Err(Malformed::Spelling("a trace"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn failures_round_trip_and_every_cut_is_noticed(
            trace in "[a-z0-9_]{1,30}", msg in "[ -~]{0,30}", cause in prop::collection::vec(any::<u8>(), 0..9),
        ) {
            let mut wire = Vec::new();
            let envelope = Envelope { trace: &trace, msg: &msg, cause: &cause };
            put_envelope(&mut wire, &envelope).unwrap();
            prop_assert_eq!(decode_envelope(&wire), Ok(envelope));
            for cut in 0..wire.len() {
                prop_assert!(decode_envelope(&wire[..cut]).is_err());
            }
            let mut wire = Vec::new();
            put_refusal(&mut wire, &trace, &msg).unwrap();
            prop_assert_eq!(decode_refusal(&wire), Ok((trace.as_str(), msg.as_str())));
            for cut in 0..wire.len() {
                prop_assert!(decode_refusal(&wire[..cut]).is_err());
            }
        }
    }

    #[test]
    fn a_trace_is_something_to_grep_for() {
        for trace in ["", "T_X", "t x", "t-x"] {
            let mut wire = Vec::new();
            put_envelope(&mut wire, &Envelope { trace, msg: "m", cause: b"" }).unwrap();
            assert_eq!(decode_envelope(&wire), Err(Malformed::Spelling("a trace")), "{trace:?}");
        }
    }
}
