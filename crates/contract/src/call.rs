//! One sentence for five dialects: a named operation, some bytes in, some bytes out, maybe no.

use crate::{BoxFuture, Denial, Fault, Sink, Source};

/// One request at the gate.
pub struct Call<'a> {
    /// The operation, such as `exec.start`.
    pub operation: &'a str,
    /// The request in the operation's own encoding.
    pub payload: &'a [u8],
    /// Streams beside the bytes.
    pub streams: Streams,
}

/// The streams that may accompany a call.
#[derive(Default)]
pub struct Streams {
    /// Read by whoever carries the call out.
    pub stdin: Source,
    /// Written by whoever carries the call out.
    pub stdout: Sink,
    /// Likewise.
    pub stderr: Sink,
}

/// The answer to a call that was let through.
#[derive(Default)]
pub struct Reply {
    /// The answer in the operation's own encoding.
    pub payload: Vec<u8>,
    /// The call's streams handed back, captures filled.
    pub streams: Streams,
}

/// Why a call has no reply.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Policy said no.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// It was allowed, and could not be done.
    #[error(transparent)]
    Failed(#[from] Fault),
}

impl CallError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Denied(denial) => denial.code(),
            Self::Failed(fault) => fault.code(),
        }
    }
}

/// The waist as a run sees it: the gate, bound to the session the guest belongs to and one level
/// deeper. Not a port: the gate is its only implementation outside tests.
pub trait Dispatch: Send + Sync {
    /// Answers one call of the guest.
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>>;
}
