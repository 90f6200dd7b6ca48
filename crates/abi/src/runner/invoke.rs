//! The call at the gate: which module, under which name, and the request as it was read; the guest's bytes and what it
//! logged come back. Values, and no encoding: only a host makes this call, and a body of ten megabytes is read once and
//! rendered once.

use bytes::Bytes;
use drydock_contract::{Digest, LogLevel};
use serde::{Deserialize, Serialize};

use super::{BadRequest, Envelope, ExecuteRequest, PreparedRequest, REQUEST_BYTES_MAX};

/// The operation.
pub const INVOKE: &str = "handler.invoke";

/// One request for one handler.
#[derive(Debug)]
pub struct Invoke {
    /// The module.
    pub module: Digest,
    /// Which extension it is, by the host's word: what a grant names.
    pub extension: String,
    /// Whose word the guest is shown.
    pub context_from: ContextFrom,
    /// The request.
    pub sent: SentRequest,
}

/// Who says which tenant and which extension a guest is shown, and its log lines are tagged with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ContextFrom {
    /// The session and the host. A request that says otherwise is refused.
    #[default]
    Host,
    /// The request, where it says something: for a developer who tries an extension out, and for the default tenant
    /// only.
    Request,
}

/// What a caller sent, read. Reading takes as long as the bytes are many, so it is done before the call is made, where it
/// holds nobody up.
#[derive(Debug)]
pub struct SentRequest {
    /// What it says, or why it says nothing.
    pub request: Result<PreparedRequest, BadRequest>,
    /// What the record's digest is made of.
    pub digest: Digest,
    /// How many bytes it had.
    pub bytes: u64,
}

impl SentRequest {
    /// Reads a request. One that is too large is left unread: it can only be refused.
    pub fn read(bytes: &[u8]) -> Self {
        let length = bytes.len() as u64;
        if length > REQUEST_BYTES_MAX {
            let request = Err(BadRequest::Malformed("it is too large to be read".into()));
            return Self { request, digest: Digest::from_bytes([0; 32]), bytes: length };
        }
        let request = ExecuteRequest::parse(bytes).map(ExecuteRequest::prepare);
        Self { request, digest: Digest::of(bytes), bytes: length }
    }

    /// A request that is rendered already. Its body was measured when it was read.
    pub fn of(request: PreparedRequest) -> Self {
        let (digest, bytes) = (Digest::of(request.http()), request.bytes());
        Self { request: Ok(request), digest, bytes }
    }
}

/// What comes back from the gate: the guest's own bytes, which whoever asked reads.
#[derive(Debug)]
pub struct Answered {
    /// What the guest answered, or the envelope that says why it did not.
    pub response: Result<Bytes, Envelope>,
    /// What it logged.
    pub log: Vec<LogLine>,
}

/// What a caller gets.
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
    fn what_was_sent_is_read_once_and_what_is_too_large_not_at_all() {
        let sent = SentRequest::read(b"{}");
        assert_eq!((sent.request.is_ok(), sent.digest, sent.bytes), (true, Digest::of(b"{}"), 2));
        assert!(matches!(SentRequest::read(b"[]").request, Err(BadRequest::Malformed(_))));
        let huge = vec![b' '; usize::try_from(REQUEST_BYTES_MAX).unwrap() + 1];
        let sent = SentRequest::read(&huge);
        assert_eq!((sent.bytes, sent.digest.as_bytes()), (REQUEST_BYTES_MAX + 1, &[0; 32]));
        assert!(sent.request.unwrap_err().to_string().contains("too large"));
    }
}
