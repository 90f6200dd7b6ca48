//! The request of `exec.command`: an environment, the request of `exec.start`, and maybe a limit on
//! the time it takes.

use super::{
    Args, BadRequest, ExecRequest, TooLong, decode_request, encode_request,
    request::{count, put_counted},
};
use crate::{Reader, Truncated};

/// The only version there is.
pub const COMMAND_VERSION: u32 = 1;

/// A decoded command, borrowing from the bytes it came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecCommand<'a> {
    /// `NAME=value` entries. Not yet known to be legal.
    pub env: Args<'a>,
    /// The command itself.
    pub request: ExecRequest<'a>,
    /// The milliseconds it may take, where less than the session allows is wanted.
    pub wall_ms_max: Option<u32>,
}

/// The bytes are not a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadCommand {
    /// A length points past the end.
    #[error(transparent)]
    Truncated(#[from] Truncated),
    /// From the future, or no command at all.
    #[error("version {0} is not known")]
    Version(u32),
    /// More entries are promised than bytes to hold their lengths.
    #[error("{envc} environment entries were promised, {left} bytes are there")]
    Envc {
        /// Promised entries.
        envc: u32,
        /// Remaining bytes.
        left: u64,
    },
    /// What follows the environment is not a request.
    #[error(transparent)]
    Request(#[from] BadRequest),
}

/// Reads a command. Allocates nothing.
pub fn decode_command(bytes: &[u8]) -> Result<ExecCommand<'_>, BadCommand> {
    let mut reader = Reader::new(bytes);
    let version = reader.u32("version")?;
    if version != COMMAND_VERSION {
        return Err(BadCommand::Version(version));
    }
    let envc = reader.u32("environment count")?;
    let left = reader.left() as u64;
    if u64::from(envc) * 4 > left {
        return Err(BadCommand::Envc { envc, left });
    }
    let env = Args::new(reader, envc);
    for _ in 0..envc {
        reader.counted("an environment entry")?;
    }
    let rest = &bytes[bytes.len() - reader.left()..];
    let request = decode_request(rest)?;
    // The request borrows from `rest` and ends with its stdin; what follows is the limit.
    let end = request.stdin.as_ptr() as usize + request.stdin.len() - rest.as_ptr() as usize;
    let mut after = Reader::new(&rest[end..]);
    let wall_ms_max = after.u32("wall limit").ok().filter(|limit| *limit > 0);
    Ok(ExecCommand { env, request, wall_ms_max })
}

/// Writes a command. Fails where a part is longer than a `u32` can say.
pub fn encode_command<E: AsRef<[u8]>, A: AsRef<[u8]>>(
    env: &[E],
    name: &str,
    args: &[A],
    stdin: &[u8],
) -> Result<Vec<u8>, TooLong> {
    let size = 8 + env.iter().map(|it| 4 + it.as_ref().len()).sum::<usize>();
    let mut bytes = Vec::with_capacity(size);
    bytes.extend_from_slice(&COMMAND_VERSION.to_le_bytes());
    bytes.extend_from_slice(&count(env.len())?.to_le_bytes());
    for entry in env {
        put_counted(&mut bytes, entry.as_ref())?;
    }
    bytes.extend_from_slice(&encode_request(name, args, stdin)?);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn other_versions_and_lies_are_refused() {
        let lies: &[&[u8]] = &[
            b"",
            b"\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
            b"\x01\0\0\0\xff\xff\xff\xff",
            b"\x01\0\0\0\x01\0\0\0\x09\0\0\0A=1",
            b"\x01\0\0\0\0\0\0\0",
        ];
        for bytes in lies {
            assert!(decode_command(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn a_limit_may_follow() {
        let mut wire = encode_command(&["A=1"], "sleep", &["9"], b"in").unwrap();
        assert_eq!(decode_command(&wire).unwrap().wall_ms_max, None);
        wire.extend_from_slice(&0u32.to_le_bytes());
        assert_eq!(decode_command(&wire).unwrap().wall_ms_max, None);
        let at = wire.len() - 4;
        wire[at..].copy_from_slice(&1500u32.to_le_bytes());
        assert_eq!(decode_command(&wire).unwrap().wall_ms_max, Some(1500));
    }

    proptest! {
        #[test]
        fn every_command_round_trips(
            env in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..10),
            name in "\\PC{0,40}",
            args in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..20),
            stdin in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let wire = encode_command(&env, &name, &args, &stdin).unwrap();
            let command = decode_command(&wire).unwrap();
            prop_assert_eq!(command.env.iter().map(<[u8]>::to_vec).collect::<Vec<_>>(), env);
            prop_assert_eq!(command.request.name, name);
            prop_assert_eq!(command.request.args.iter().map(<[u8]>::to_vec).collect::<Vec<_>>(), args);
            prop_assert_eq!(command.request.stdin, stdin);
        }

        #[test]
        fn no_bytes_make_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode_command(&bytes);
        }
    }
}
