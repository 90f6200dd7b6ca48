//! Kernels at the gate: opening one, calling one that is open, and closing it, as bytes.

use drydock_contract::{Digest, Kernel};
use serde::{Deserialize, Serialize};

/// Makes an instance.
pub const OPEN: &str = "kernel.open";
/// Calls one.
pub const CALL: &str = "kernel.call";
/// Gives one up.
pub const CLOSE: &str = "kernel.close";

/// The largest input that is even looked at. How much a kernel takes is its arena's affair.
pub const INPUT_BYTES_MAX: u64 = 64 << 20;
/// The largest output.
pub const OUTPUT_BYTES_MAX: u64 = 64 << 20;
/// Bytes of a call before its input.
pub const CALL_HEAD_BYTES: u64 = 48;

/// What an instance is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// The module.
    pub module: Digest,
    /// How it is called.
    pub kernel: Kernel,
    /// Its memory, where that is less than the session allows.
    pub memory_bytes_max: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct Wire {
    module: String,
    entry: String,
    in_offset: u32,
    out_offset: u32,
    memory_bytes_max: Option<u64>,
}

/// The bytes are no request of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no request of a kernel: {0}")]
pub struct BadKernelRequest(String);

/// The bytes of a request to open.
pub fn encode_open(open: &Open) -> Vec<u8> {
    let Kernel { entry, in_offset, out_offset } = open.kernel.clone();
    let (module, memory_bytes_max) = (open.module.to_string(), open.memory_bytes_max);
    // Strings and numbers: there is nothing in it that JSON cannot say.
    serde_json::to_vec(&Wire { module, entry, in_offset, out_offset, memory_bytes_max }).unwrap_or_default()
}

/// Reads a request to open.
pub fn decode_open(bytes: &[u8]) -> Result<Open, BadKernelRequest> {
    let wire: Wire = serde_json::from_slice(bytes).map_err(|error| BadKernelRequest(error.to_string()))?;
    let Wire { module, entry, in_offset, out_offset, memory_bytes_max } = wire;
    let module = module.parse().map_err(|error| BadKernelRequest(format!("{error}")))?;
    Ok(Open { module, kernel: Kernel { entry, in_offset, out_offset }, memory_bytes_max })
}

/// The bytes of a request to close: the instance, and what it was made of.
pub fn encode_close(id: u64, module: Digest) -> Vec<u8> {
    [&id.to_le_bytes()[..], module.as_bytes()].concat()
}

/// Reads a request to close.
pub fn decode_close(bytes: &[u8]) -> Result<(u64, Digest), BadKernelRequest> {
    let whole = <[u8; 40]>::try_from(bytes).ok();
    let parts = whole.as_ref().and_then(|it| it.split_first_chunk::<8>());
    let (id, module) = parts.ok_or_else(|| BadKernelRequest("it is not a number and a hash".into()))?;
    let module = module.try_into().map_err(|_| BadKernelRequest("it is not a number and a hash".into()))?;
    Ok((u64::from_le_bytes(*id), Digest::from_bytes(module)))
}

/// A call of an instance that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallKernel<'a> {
    /// The instance.
    pub id: u64,
    /// What it was made of: a grant names modules, and the instance must be one of this.
    pub module: Digest,
    /// Its time.
    pub wall_ms: u64,
    /// Its input.
    pub input: &'a [u8],
}

/// The bytes of a call.
pub fn encode_call(call: &CallKernel<'_>) -> Vec<u8> {
    [&call.id.to_le_bytes()[..], &call.wall_ms.to_le_bytes(), call.module.as_bytes(), call.input].concat()
}

/// Reads a call.
pub fn decode_call(bytes: &[u8]) -> Result<CallKernel<'_>, BadKernelRequest> {
    let head = || {
        let (id, rest) = bytes.split_first_chunk::<8>()?;
        let (wall_ms, rest) = rest.split_first_chunk::<8>()?;
        let (module, input) = rest.split_first_chunk::<32>()?;
        let (id, wall_ms) = (u64::from_le_bytes(*id), u64::from_le_bytes(*wall_ms));
        Some(CallKernel { id, module: Digest::from_bytes(*module), wall_ms, input })
    };
    head().ok_or_else(|| BadKernelRequest("it is shorter than its head".into()))
}

/// What a call of a kernel gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Fuel it burnt.
    pub fuel: u64,
    /// The most memory it ever held.
    pub memory_bytes: u64,
    /// Microseconds.
    pub duration_us: u64,
}

/// Why a kernel could not be opened or has no output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct KernelFailure {
    /// A stable code.
    pub code: String,
    /// For people.
    pub message: String,
}

/// First byte of a reply that has what was asked for.
const GIVEN: u8 = 0;
/// First byte of one that says why not.
const FAILED: u8 = 1;

/// The bytes of a reply: the numbers, then the bytes.
fn encode<const N: usize>(reply: Result<([u64; N], &[u8]), &KernelFailure>) -> Vec<u8> {
    match reply {
        Ok((numbers, bytes)) => {
            let mut reply = Vec::with_capacity(1 + N * 8 + bytes.len());
            reply.push(GIVEN);
            numbers.iter().for_each(|it| reply.extend_from_slice(&it.to_le_bytes()));
            reply.extend_from_slice(bytes);
            reply
        }
        Err(failure) => {
            // Two strings: there is nothing in it that JSON cannot say.
            let told = serde_json::to_vec(failure).unwrap_or_default();
            [&[FAILED][..], &told].concat()
        }
    }
}

/// Numbers and what comes behind them, or how the kernel failed.
type Decoded<'a, const N: usize> = Result<([u64; N], &'a [u8]), KernelFailure>;

fn decode<const N: usize>(reply: &[u8]) -> Result<Decoded<'_, N>, BadKernelRequest> {
    let bad = |text: String| BadKernelRequest(text);
    match reply.split_first() {
        Some((&GIVEN, rest)) => {
            let mut numbers = [0; N];
            for (index, number) in numbers.iter_mut().enumerate() {
                let word = rest.get(index * 8..index * 8 + 8).and_then(|it| it.try_into().ok());
                *number = u64::from_le_bytes(word.ok_or_else(|| bad("a reply that is cut".into()))?);
            }
            Ok(Ok((numbers, &rest[N * 8..])))
        }
        Some((&FAILED, told)) => {
            Ok(Err(serde_json::from_slice(told).map_err(|error| bad(error.to_string()))?))
        }
        _ => Err(bad("a reply of no kind".into())),
    }
}

/// The reply to a request to open: the instance's number.
pub fn encode_opened(opened: Result<u64, &KernelFailure>) -> Vec<u8> {
    encode(opened.map(|id| ([id], &[][..])))
}

/// Reads the reply to a request to open.
pub fn decode_opened(reply: &[u8]) -> Result<Result<u64, KernelFailure>, BadKernelRequest> {
    decode::<1>(reply).map(|opened| opened.map(|([id], _)| id))
}

/// The reply to a call.
pub fn encode_output(output: Result<&Output, &KernelFailure>) -> Vec<u8> {
    encode(output.map(|it| ([it.fuel, it.memory_bytes, it.duration_us], &it.bytes[..])))
}

/// Reads the reply to a call.
pub fn decode_output(reply: &[u8]) -> Result<Result<Output, KernelFailure>, BadKernelRequest> {
    let output = |([fuel, memory_bytes, duration_us], bytes): ([u64; 3], &[u8])| Output {
        bytes: bytes.to_vec(),
        fuel,
        memory_bytes,
        duration_us,
    };
    decode::<3>(reply).map(|given| given.map(output))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_request_to_open_reads_back() {
        let open = Open { module: Digest::of(b"x"), kernel: Kernel::default(), memory_bytes_max: Some(7) };
        assert_eq!(decode_open(&encode_open(&open)), Ok(open));
        assert!(decode_open(b"{}").is_err() && decode_open(b"").is_err());
    }

    proptest! {
        #[test]
        fn calls_and_replies_read_back_and_no_bytes_panic(id: u64, wall: u64, bytes: Vec<u8>) {
            let call = CallKernel { id, module: Digest::of(b"m"), wall_ms: wall, input: &bytes };
            let encoded = encode_call(&call);
            prop_assert_eq!(decode_call(&encoded), Ok(call));
            let output = Output { bytes: bytes.clone(), fuel: id, memory_bytes: wall, duration_us: 3 };
            prop_assert_eq!(decode_output(&encode_output(Ok(&output))), Ok(Ok(output)));
            let failure = KernelFailure { code: "trapped".into(), message: format!("{id}") };
            prop_assert_eq!(decode_output(&encode_output(Err(&failure))), Ok(Err(failure.clone())));
            prop_assert_eq!(decode_opened(&encode_opened(Ok(id))), Ok(Ok(id)));
            prop_assert_eq!(decode_opened(&encode_opened(Err(&failure))), Ok(Err(failure)));
            let _ = (decode_call(&bytes), decode_open(&bytes), decode_opened(&bytes), decode_output(&bytes));
        }
    }
}
