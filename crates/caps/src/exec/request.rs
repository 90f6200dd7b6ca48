//! The exec wire, owned: it outlives the guest's buffer.

use bytes::Bytes;
use drydock_abi::exec::{ARGV_BYTES_MAX, decode_request};
use drydock_contract::Denial;

/// A request to start a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecStart {
    /// Which command. Not yet known to be one.
    pub name: String,
    /// Its arguments.
    pub args: Vec<Vec<u8>>,
    /// The first bytes of its stdin; the call's stream follows them.
    pub stdin: Bytes,
}

pub(super) fn decode(payload: &[u8]) -> Result<ExecStart, Denial> {
    let request = decode_request(payload).map_err(|bad| Denial::Malformed(bad.to_string()))?;
    let (bytes, max) = (request.args.total_bytes(), ARGV_BYTES_MAX);
    if bytes > max {
        return Err(Denial::TooLarge { what: "argv", bytes, max });
    }
    if let Some(index) = request.args.iter().position(|arg| arg.contains(&0)) {
        let number = index + 1;
        let text =
            format!("argument {number} contains a NUL byte, which WASI cannot carry; pass it on stdin");
        return Err(Denial::Malformed(text));
    }
    Ok(ExecStart {
        name: request.name.to_owned(),
        args: request.args.iter().map(<[u8]>::to_vec).collect(),
        stdin: Bytes::copy_from_slice(request.stdin),
    })
}
