//! The exec wire, owned: it outlives the guest's buffer.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use drydock_abi::exec::{ARGV_BYTES_MAX, ExecRequest, decode_command, decode_request};
use drydock_contract::Denial;

/// A request to start a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecStart {
    /// Which command. Not yet known to be one.
    pub name: String,
    /// Its arguments.
    pub args: Vec<Vec<u8>>,
    /// Its environment, where it is not the session's.
    pub env: Option<Vec<Vec<u8>>>,
    /// The first bytes of its stdin; the call's stream follows them.
    pub stdin: Bytes,
    /// How long it may take, where that is less than the session allows.
    pub wall_max: Option<Duration>,
    /// The encoding that it was read from, where another power asks for it as a value: what its record's digest is made of.
    pub(crate) wire: Option<Arc<[u8]>>,
}

impl ExecStart {
    /// What another power of this room starts, read and judged as a guest's request is: with so much time.
    pub(crate) fn of_wire(wire: Vec<u8>, wall_max: Duration) -> Result<Self, Denial> {
        let start = decode(&wire)?;
        Ok(Self { wall_max: Some(wall_max), wire: Some(wire.into()), ..start })
    }
}

pub(super) fn decode(payload: &[u8]) -> Result<ExecStart, Denial> {
    let request = decode_request(payload).map_err(|bad| Denial::Malformed(bad.to_string()))?;
    owned(&request, None)
}

pub(super) fn decode_with_env(payload: &[u8]) -> Result<ExecStart, Denial> {
    let command = decode_command(payload).map_err(|bad| Denial::Malformed(bad.to_string()))?;
    fits(command.env.total_bytes())?;
    for (index, entry) in command.env.iter().enumerate() {
        let number = index + 1;
        if entry.contains(&0) {
            let text = format!("environment entry {number} contains a NUL byte, which WASI cannot carry");
            return Err(Denial::Malformed(text));
        }
        if entry.iter().position(|byte| *byte == b'=').is_none_or(|at| at == 0) {
            return Err(Denial::Malformed(format!("environment entry {number} is not `NAME=value`")));
        }
    }
    let env = command.env.iter().map(<[u8]>::to_vec).collect();
    let wall_max = command.wall_ms_max.map(|limit| Duration::from_millis(limit.into()));
    Ok(ExecStart { wall_max, ..owned(&command.request, Some(env))? })
}

fn owned(request: &ExecRequest<'_>, env: Option<Vec<Vec<u8>>>) -> Result<ExecStart, Denial> {
    fits(request.args.total_bytes())?;
    if let Some(index) = request.args.iter().position(|arg| arg.contains(&0)) {
        let number = index + 1;
        let text =
            format!("argument {number} contains a NUL byte, which WASI cannot carry; pass it on stdin");
        return Err(Denial::Malformed(text));
    }
    Ok(ExecStart {
        name: request.name.to_owned(),
        args: request.args.iter().map(<[u8]>::to_vec).collect(),
        env,
        stdin: Bytes::copy_from_slice(request.stdin),
        wall_max: None,
        wire: None,
    })
}

/// Refuses more than any session may have, before anything is held for it.
fn fits(bytes: u64) -> Result<(), Denial> {
    let max = ARGV_BYTES_MAX;
    if bytes > max {
        return Err(Denial::TooLarge { what: "argv", bytes, max });
    }
    Ok(())
}
