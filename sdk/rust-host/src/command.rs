//! Registered commands, one at a time or over many inputs. The powers `exec`, `parallel` and `commands`.

use crate::{Error, error::filled, raw};

/// What a command did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// What it exited with.
    pub status: i32,
    /// What it wrote to stdout.
    pub stdout: Vec<u8>,
}

/// What came of one input of a map.
pub type Mapped = Option<Output>;

/// Runs a command with this stdin. More than `bytes_max` of output is `reply_too_large`, and it ran all the same.
pub fn exec(name: &str, args: &[&[u8]], stdin: &[u8], bytes_max: usize) -> Result<Output, Error> {
    let mut request = head(name, args);
    put(&mut request, stdin);
    let stdout = filled(bytes_max, bytes_max, |out, cap| {
        // SAFETY: the host reads the request, and writes no more than `cap` bytes, before it returns.
        unsafe { raw::host_exec(request.as_ptr(), request.len() as u32, out, cap) }
    })?;
    // SAFETY: it takes nothing.
    Ok(Output { status: unsafe { raw::host_status() }, stdout })
}

/// The names of the commands that this session may run. The power `commands`.
pub fn commands() -> Result<Vec<String>, Error> {
    let names = filled(4_096, 1 << 20, |out, cap| {
        // SAFETY: the host writes no more than `cap` bytes.
        unsafe { raw::host_commands(out, cap) }
    })?;
    Ok(String::from_utf8_lossy(&names).lines().map(str::to_owned).collect())
}

/// Runs a command once for each input, sixteen at a time. The answers come in the order of the inputs; nothing stands for
/// one that was refused, or that something else ended.
pub fn parallel_map(
    name: &str,
    args: &[&[u8]],
    inputs: &[&[u8]],
    bytes_max: usize,
) -> Result<Vec<Mapped>, Error> {
    let mut request = head(name, args);
    request.extend_from_slice(&(inputs.len() as u32).to_le_bytes());
    for input in inputs {
        put(&mut request, input);
    }
    let reply = filled(bytes_max, bytes_max, |out, cap| {
        // SAFETY: the host reads the request, and writes no more than `cap` bytes, before it returns.
        unsafe { raw::host_parallel_map(request.as_ptr(), request.len() as u32, out, cap) }
    })?;
    Ok(read_map(&reply, |index| {
        // SAFETY: it takes a number.
        unsafe { raw::host_parallel_status(index) }
    }))
}

fn head(name: &str, args: &[&[u8]]) -> Vec<u8> {
    let mut request = Vec::new();
    put(&mut request, name.as_bytes());
    request.extend_from_slice(&(args.len() as u32).to_le_bytes());
    for arg in args {
        put(&mut request, arg);
    }
    request
}

fn put(request: &mut Vec<u8>, part: &[u8]) {
    request.extend_from_slice(&(part.len() as u32).to_le_bytes());
    request.extend_from_slice(part);
}

/// `[n:i32][(len:i32, -1 = failed)(body)]*`.
pub(crate) fn read_map(reply: &[u8], status: impl Fn(u32) -> i32) -> Vec<Mapped> {
    fn word(rest: &mut &[u8]) -> Option<i32> {
        let (head, tail) = rest.split_first_chunk()?;
        *rest = tail;
        Some(i32::from_le_bytes(*head))
    }
    let mut rest = reply;
    let count = word(&mut rest).and_then(|it| u32::try_from(it).ok()).unwrap_or(0);
    let mut results = Vec::new();
    for index in 0..count {
        let Some(length) = word(&mut rest) else { break };
        results.push(usize::try_from(length).ok().and_then(|length| {
            let (body, tail) = rest.split_at_checked(length)?;
            rest = tail;
            Some(Output { status: status(index), stdout: body.to_vec() })
        }));
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_counted_parts_and_a_map_says_which_failed() {
        let mut request = head("jq", &[b"."]);
        put(&mut request, b"x");
        assert_eq!(request, b"\x02\0\0\0jq\x01\0\0\0\x01\0\0\0.\x01\0\0\0x");
        let reply = b"\x03\0\0\0\x02\0\0\0ok\xff\xff\xff\xff\0\0\0\0";
        let results = read_map(reply, |index| index as i32);
        let output = |status, text: &[u8]| Some(Output { status, stdout: text.to_vec() });
        assert_eq!(results, [output(0, b"ok"), None, output(2, b"")]);
    }
}
