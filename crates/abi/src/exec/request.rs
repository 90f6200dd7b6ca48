//! The request of `exec.start`.

use crate::{Reader, Truncated};

/// A decoded request, borrowing from the bytes it came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecRequest<'a> {
    /// Which command. Not yet known to be a legal name.
    pub name: &'a str,
    /// Its arguments, without its own name.
    pub args: Args<'a>,
    /// What it reads first on stdin.
    pub stdin: &'a [u8],
}

/// The arguments of a request, still in the bytes they came in: a guest can promise millions of
/// empty ones, and nothing is allocated for them before somebody has judged their number.
#[derive(Debug, Clone, Copy)]
pub struct Args<'a> {
    bytes: Reader<'a>,
    count: u32,
}

impl<'a> Args<'a> {
    /// `count` counted pieces at the front of the reader, which the caller has walked through.
    pub(super) const fn new(bytes: Reader<'a>, count: u32) -> Self {
        Self { bytes, count }
    }

    /// How many there are.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Their bytes, each counting one more for its terminator.
    pub fn total_bytes(&self) -> u64 {
        self.iter().map(|arg| arg.len() as u64 + 1).sum()
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut reader = self.bytes;
        (0..self.count).map_while(move |_| reader.counted("an argument").ok())
    }
}

impl PartialEq for Args<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Args<'_> {}

/// The bytes are not a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRequest {
    /// A length points past the end.
    #[error(transparent)]
    Truncated(#[from] Truncated),
    /// The name is not text.
    #[error("the command name is not UTF-8")]
    Name,
    /// More arguments are promised than bytes to hold their lengths.
    #[error("{argc} arguments were promised, {left} bytes are there")]
    Argc {
        /// Promised arguments.
        argc: u32,
        /// Remaining bytes.
        left: u64,
    },
}

/// Reads a request. Allocates nothing.
pub fn decode_request(bytes: &[u8]) -> Result<ExecRequest<'_>, BadRequest> {
    let mut reader = Reader::new(bytes);
    let name = std::str::from_utf8(reader.counted("name")?).map_err(|_| BadRequest::Name)?;
    let argc = reader.u32("argument count")?;
    // Each argument costs at least its own length field, so a larger count is a lie.
    let left = reader.left() as u64;
    if u64::from(argc) * 4 > left {
        return Err(BadRequest::Argc { argc, left });
    }
    let args = Args::new(reader, argc);
    for _ in 0..argc {
        reader.counted("an argument")?;
    }
    let stdin = reader.counted("stdin")?;
    Ok(ExecRequest { name, args, stdin })
}

/// Writes a request. Fails where a part is longer than a `u32` can say.
pub fn encode_request<A: AsRef<[u8]>>(name: &str, args: &[A], stdin: &[u8]) -> Result<Vec<u8>, TooLong> {
    let size = 12 + name.len() + stdin.len() + args.iter().map(|it| 4 + it.as_ref().len()).sum::<usize>();
    let mut bytes = Vec::with_capacity(size);
    put_counted(&mut bytes, name.as_bytes())?;
    bytes.extend_from_slice(&count(args.len())?.to_le_bytes());
    for arg in args {
        put_counted(&mut bytes, arg.as_ref())?;
    }
    put_counted(&mut bytes, stdin)?;
    Ok(bytes)
}

/// A part has more bytes than the wire can count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} bytes are more than the exec wire can carry")]
pub struct TooLong(pub usize);

pub(super) fn put_counted(bytes: &mut Vec<u8>, part: &[u8]) -> Result<(), TooLong> {
    bytes.extend_from_slice(&count(part.len())?.to_le_bytes());
    bytes.extend_from_slice(part);
    Ok(())
}

pub(super) fn count(length: usize) -> Result<u32, TooLong> {
    u32::try_from(length).map_err(|_| TooLong(length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_seeds_example_has_the_seeds_bytes() {
        let wire = encode_request("grep", &["ada; rm -rf /"], b"x").unwrap();
        assert_eq!(wire[..8], *b"\x04\0\0\0grep");
        assert_eq!(wire[8..16], [1, 0, 0, 0, 13, 0, 0, 0]);
        assert_eq!(wire[16..29], *b"ada; rm -rf /");
        let request = decode_request(&wire).unwrap();
        assert_eq!(request.args.iter().collect::<Vec<_>>(), [b"ada; rm -rf /"]);
        assert_eq!((request.args.count(), request.args.total_bytes()), (1, 14));
    }

    #[test]
    fn empty_short_and_lying_requests_are_refused() {
        let lies: &[&[u8]] = &[
            b"",
            b"\x01",
            b"\x05\0\0\0grep",
            b"\xff\xff\xff\xff",
            b"\x02\0\0\0\xff\xfe\0\0\0\0\0\0\0\0",
            b"\x01\0\0\0x\xff\xff\xff\xff\0\0\0\0",
            b"\x01\0\0\0x\x01\0\0\0\xff\xff\xff\xff",
            b"\x01\0\0\0x\0\0\0\0\x09\0\0\0short",
        ];
        for bytes in lies {
            assert!(decode_request(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn trailing_bytes_are_tolerated() {
        let mut wire = encode_request("jq", &["."], b"{}").unwrap();
        wire.extend_from_slice(b"from the future");
        assert_eq!(decode_request(&wire).unwrap().stdin, b"{}");
    }

    proptest! {
        #[test]
        fn every_request_round_trips(
            name in "\\PC{0,40}",
            args in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..20),
            stdin in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let wire = encode_request(&name, &args, &stdin).unwrap();
            let request = decode_request(&wire).unwrap();
            prop_assert_eq!(request.name, name);
            prop_assert_eq!(request.args.iter().map(<[u8]>::to_vec).collect::<Vec<_>>(), args);
            prop_assert_eq!(request.stdin, stdin);
        }

        #[test]
        fn no_bytes_make_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode_request(&bytes);
        }

        #[test]
        fn every_proper_prefix_is_refused(
            args in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9), 0..5),
            stdin in prop::collection::vec(any::<u8>(), 0..9),
        ) {
            let wire = encode_request("name", &args, &stdin).unwrap();
            for end in 0..wire.len() {
                prop_assert!(decode_request(&wire[..end]).is_err());
            }
        }
    }
}
