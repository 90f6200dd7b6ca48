//! One sentence for five dialects: a named operation, some bytes in, some bytes out, maybe no.

use crate::{BoxFuture, Denial, Fault, Sink, Source, port::Mode};

/// One request at the gate.
pub struct Call<'a> {
    /// The operation, such as `exec.start`.
    pub operation: &'a str,
    /// The request in the operation's own encoding.
    pub payload: &'a [u8],
    /// Bytes of the request that were not even read, because no operation takes so many. The
    /// ladder counts them, so that the refusal is recorded like any other.
    pub unread_bytes: u64,
    /// Streams beside the bytes.
    pub streams: Streams,
    /// The mask of whoever asks: what it starts has the same.
    pub umask: Mode,
}

impl<'a> Call<'a> {
    /// A request with its streams.
    pub const fn new(operation: &'a str, payload: &'a [u8], streams: Streams) -> Self {
        Self { operation, payload, unread_bytes: 0, streams, umask: Mode::UMASK }
    }

    /// The same under another mask.
    #[must_use]
    pub fn with_umask(self, umask: Mode) -> Self {
        Self { umask, ..self }
    }

    /// A request that is too long to be read. It can only be refused.
    pub fn oversized(operation: &'a str, bytes: u64) -> Self {
        Self { unread_bytes: bytes, ..Self::new(operation, &[], Streams::default()) }
    }
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
/// deeper. Not a port: the gate is behind it, or, for a program in code mode, its tools and nothing else.
pub trait Dispatch: Send + Sync {
    /// Answers one call of the guest.
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>>;
}
