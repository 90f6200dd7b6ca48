//! The wire of `env.host_parallel_map`, as the seed's engine has it: little-endian counts before everything.
//!
//! Request: `[name_len:u32][name][argc:u32][(len:u32)(arg)]*[n:u32][(len:u32)(input)]*`.
//! Reply: `[n:i32][(len:i32, -1 = failed)(body)]*`. As in the exec wire, bytes after the last input are tolerated.

use super::{ARGS_MAX, INPUTS_MAX, MapAnswer, MapRequest, Mapped};
use crate::{Reader, Truncated, broker::Blob, exec::TooLong};

/// The bytes are no map.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadMap {
    /// A length points past the end.
    #[error(transparent)]
    Truncated(#[from] Truncated),
    /// The name is not text.
    #[error("the command name is not UTF-8")]
    Name,
    /// More parts are promised than bytes to hold their lengths.
    #[error("{count} {what} were promised, {left} bytes are there")]
    Count {
        /// Arguments or inputs.
        what: &'static str,
        /// How many were promised.
        count: u32,
        /// Remaining bytes.
        left: u64,
    },
}

/// Reads a request. Of too many parts it keeps one more than there may be, which is enough to refuse them.
pub fn decode_map(bytes: &[u8]) -> Result<MapRequest, BadMap> {
    let mut reader = Reader::new(bytes);
    let command = std::str::from_utf8(reader.counted("name")?).map_err(|_| BadMap::Name)?.to_owned();
    let args = parts(&mut reader, "arguments", ARGS_MAX)?;
    let inputs = parts(&mut reader, "inputs", INPUTS_MAX)?;
    Ok(MapRequest { command, args, inputs })
}

fn parts(reader: &mut Reader<'_>, what: &'static str, count_max: usize) -> Result<Vec<Blob>, BadMap> {
    let count = reader.u32(what)?;
    // Each costs at least its own length field, so a larger count is a lie.
    let left = reader.left() as u64;
    if u64::from(count) * 4 > left {
        return Err(BadMap::Count { what, count, left });
    }
    let mut parts = Vec::new();
    for _ in 0..count {
        let part = reader.counted(what)?;
        if parts.len() <= count_max {
            parts.push(Blob(part.to_vec()));
        }
    }
    Ok(parts)
}

/// Writes a request. Fails where a part is longer than the wire can say.
pub fn encode_map(map: &MapRequest) -> Result<Vec<u8>, TooLong> {
    let mut bytes = Vec::new();
    let mut put = |part: &[u8]| -> Result<(), TooLong> {
        bytes.extend_from_slice(&length(part.len())?.to_le_bytes());
        bytes.extend_from_slice(part);
        Ok(())
    };
    put(map.command.as_bytes())?;
    for parts in [&map.args, &map.inputs] {
        bytes.extend_from_slice(&length(parts.len())?.to_le_bytes());
        for part in parts {
            bytes.extend_from_slice(&length(part.0.len())?.to_le_bytes());
            bytes.extend_from_slice(&part.0);
        }
    }
    Ok(bytes)
}

/// Writes an answer. Fails where there is more than the wire can say.
pub fn encode_mapped(answer: &MapAnswer) -> Result<Vec<u8>, TooLong> {
    let mut bytes = length(answer.results.len())?.cast_signed().to_le_bytes().to_vec();
    for result in &answer.results {
        match result {
            Mapped::Exited { stdout: Blob(body), .. } => {
                let length = i32::try_from(body.len()).map_err(|_| TooLong(body.len()))?;
                bytes.extend_from_slice(&length.to_le_bytes());
                bytes.extend_from_slice(body);
            }
            Mapped::Failed { .. } => bytes.extend_from_slice(&(-1_i32).to_le_bytes()),
        }
    }
    Ok(bytes)
}

fn length(length: usize) -> Result<u32, TooLong> {
    u32::try_from(length).map_err(|_| TooLong(length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::broker::Failure;

    fn map(command: &str, args: &[&[u8]], inputs: &[&[u8]]) -> MapRequest {
        let blobs = |parts: &[&[u8]]| parts.iter().map(|it| Blob(it.to_vec())).collect();
        MapRequest { command: command.into(), args: blobs(args), inputs: blobs(inputs) }
    }

    #[test]
    fn the_wire_has_the_seeds_bytes() {
        let wire = encode_map(&map("jq", &[b"."], &[b"1", b""])).unwrap();
        let want = b"\x02\0\0\0jq\x01\0\0\0\x01\0\0\0.\x02\0\0\0\x01\0\0\x001\0\0\0\0";
        assert_eq!(wire, want);
        let results = vec![
            Mapped::Exited { status: 0, stdout: Blob(b"ok".to_vec()) },
            Mapped::Failed { error: Failure::new("trapped", "") },
            Mapped::Exited { status: 1, stdout: Blob(Vec::new()) },
        ];
        let reply = encode_mapped(&MapAnswer { results }).unwrap();
        assert_eq!(reply, b"\x03\0\0\0\x02\0\0\0ok\xff\xff\xff\xff\0\0\0\0");
    }

    #[test]
    fn lies_about_lengths_and_counts_are_refused_before_anything_is_held() {
        let lies: &[&[u8]] = &[
            b"",
            b"\x02\0\0\0j",
            b"\x01\0\0\0\xff\0\0\0\0\0\0\0\0",
            b"\x01\0\0\0x\xff\xff\xff\xff",
            b"\x01\0\0\0x\0\0\0\0\xff\xff\xff\x7f",
            b"\x01\0\0\0x\0\0\0\0\x01\0\0\0\xff\xff\xff\xff",
        ];
        for bytes in lies {
            assert!(decode_map(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn of_millions_of_empty_inputs_only_so_many_are_held() {
        let count = 1_000_000_u32;
        let mut wire = b"\x01\0\0\0x\0\0\0\0".to_vec();
        wire.extend_from_slice(&count.to_le_bytes());
        wire.extend_from_slice(&vec![0; count as usize * 4]);
        assert_eq!(decode_map(&wire).unwrap().inputs.len(), INPUTS_MAX + 1);
    }

    proptest! {
        #[test]
        fn every_map_round_trips_and_no_proper_prefix_is_one(
            name in "\\PC{0,20}",
            args in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..12), 0..6),
            inputs in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..12), 0..9),
        ) {
            let blobs = |parts: Vec<Vec<u8>>| parts.into_iter().map(Blob).collect();
            let map = MapRequest { command: name, args: blobs(args), inputs: blobs(inputs) };
            let wire = encode_map(&map).unwrap();
            prop_assert_eq!(decode_map(&wire), Ok(map));
            for end in 0..wire.len() {
                prop_assert!(decode_map(&wire[..end]).is_err());
            }
        }

        #[test]
        fn no_bytes_make_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode_map(&bytes);
        }
    }
}
