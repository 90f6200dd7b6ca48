//! The call at the gate: which module, for whom, and the request as the caller sent it; the envelope and what the guest
//! logged come back.

use drydock_contract::{Digest, LogLevel};
use serde::{Deserialize, Serialize};

use super::{BadRequest, Envelope, ExecuteRequest};

/// The operation.
pub const INVOKE: &str = "handler.invoke";

/// One request for one handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invoke {
    /// The module.
    pub module: Digest,
    /// Whose it is, where the request does not say.
    pub tenant: String,
    /// Its id, where the request does not say.
    pub extension: String,
    /// The request.
    pub request: ExecuteRequest,
}

#[derive(Serialize, Deserialize)]
struct Head {
    module: String,
    tenant: String,
    extension: String,
}

/// The bytes of the call: a line of JSON about the module, and the caller's own bytes.
pub fn encode_invoke(module: Digest, tenant: &str, extension: &str, request: &[u8]) -> Vec<u8> {
    let head =
        Head { module: module.to_string(), tenant: tenant.to_owned(), extension: extension.to_owned() };
    // Three strings: there is nothing in it that JSON cannot say.
    let mut bytes = serde_json::to_vec(&head).unwrap_or_default();
    bytes.push(b'\n');
    bytes.extend_from_slice(request);
    bytes
}

/// Reads the call.
pub fn decode_invoke(bytes: &[u8]) -> Result<Invoke, BadRequest> {
    let bad = |text: String| BadRequest::Malformed(text);
    let end = memchr::memchr(b'\n', bytes).ok_or_else(|| bad("it names no module".into()))?;
    let head: Head = serde_json::from_slice(&bytes[..end]).map_err(|error| bad(error.to_string()))?;
    let module = head.module.parse().map_err(|error| bad(format!("{error}")))?;
    let request = ExecuteRequest::parse(&bytes[end + 1..])?;
    Ok(Invoke { module, tenant: head.tenant, extension: head.extension, request })
}

/// What comes back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invoked {
    /// The answer.
    pub envelope: Envelope,
    /// What the guest logged.
    pub log: Vec<LogLine>,
}

/// One line of a guest's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// How it was meant.
    pub level: LogLevel,
    /// Its text.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_reads_back_and_what_is_none_says_why() {
        let module = Digest::of(b"module");
        let bytes = encode_invoke(module, "dev", "echo\n\"", br#"{"http":{"path":"/x"}}"#);
        let invoke = decode_invoke(&bytes).unwrap();
        assert_eq!((invoke.module, invoke.extension.as_str()), (module, "echo\n\""));
        assert_eq!(invoke.request.http.path, "/x");
        for bad in
            [&b""[..], b"{}\n{}", b"\n{}", b"{\"module\":\"x\",\"tenant\":\"\",\"extension\":\"\"}\n{}"]
        {
            assert!(decode_invoke(bad).is_err());
        }
        for end in 0..bytes.len() {
            let _ = decode_invoke(&bytes[..end]);
        }
    }
}
