//! One sentence for five dialects: a named operation, some bytes in, some bytes out, maybe no.

use std::{any::Any, sync::Arc};

use bytes::Bytes;

use crate::{BoxFuture, Denial, Fault, NamedPipes, Numbered, Outcome, Sink, Source, port::FileRules};

/// One request at the gate.
pub struct Call<'a> {
    /// The operation, such as `exec.start`.
    pub operation: &'a str,
    /// The request in the operation's own encoding.
    pub payload: &'a [u8],
    /// Bytes of the request that were not even read, because no operation takes so many. The
    /// ladder counts them, so that the refusal is recorded like any other.
    pub unread_bytes: u64,
    /// The request as a value, in the place of its encoding: for callers in this process.
    pub typed: Option<Typed>,
    /// Whether the answer may come as a value too.
    pub wants_typed: bool,
    /// Streams beside the bytes.
    pub streams: Streams,
    /// What holds for the files of whoever asks: what it starts has the same.
    pub file_rules: FileRules,
    /// Which of the caller's calls this is, where the caller itself says so: one that makes calls from several
    /// places at once numbers them by place. Otherwise the gate counts.
    pub ordinal: Option<u64>,
}

/// A request that was never encoded.
pub struct Typed {
    /// What the power decodes bytes to.
    pub value: Box<dyn Any + Send>,
    /// How many bytes it would take, for the ladder.
    pub bytes: u64,
}

impl<'a> Call<'a> {
    /// A request with its streams.
    pub const fn new(operation: &'a str, payload: &'a [u8], streams: Streams) -> Self {
        let (unread_bytes, file_rules, ordinal) = (0, FileRules::USUAL, None);
        Self {
            operation,
            payload,
            unread_bytes,
            typed: None,
            wants_typed: false,
            streams,
            file_rules,
            ordinal,
        }
    }

    /// A request that travels as a value, and whose answer does.
    pub fn typed(operation: &'a str, value: impl Any + Send, bytes: u64, streams: Streams) -> Self {
        let typed = Some(Typed { value: Box::new(value), bytes });
        Self { typed, wants_typed: true, ..Self::new(operation, &[], streams) }
    }

    /// The same under other rules for files.
    #[must_use]
    pub fn with_file_rules(self, file_rules: FileRules) -> Self {
        Self { file_rules, ..self }
    }

    /// The same by a caller that takes the answer as a value.
    #[must_use]
    pub fn answered_typed(self) -> Self {
        Self { wants_typed: true, ..self }
    }

    /// The same with a number that the caller gives none of its other calls.
    #[must_use]
    pub fn numbered(self, ordinal: u64) -> Self {
        Self { ordinal: Some(ordinal), ..self }
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
    /// Where it complains.
    pub stderr: Sink,
    /// What a guest opens as `/dev/fd/N`, by rising numbers above those of the three. They are open until it ends, as what
    /// a process inherits is.
    pub numbered: Vec<(u32, Numbered)>,
    /// The pipes that it finds by names of its files, where it belongs to a line.
    pub named: Option<Arc<NamedPipes>>,
}

/// The answer to a call that was let through.
#[derive(Default)]
pub struct Reply {
    /// The answer in the operation's own encoding; empty where it comes as a value.
    pub payload: Vec<u8>,
    /// The answer as a value, for a caller that takes one.
    pub typed: Option<Box<dyn Any + Send>>,
    /// What the record's digest of such a value is made of.
    pub digested: Option<Bytes>,
    /// The call's streams handed back, captures filled.
    pub streams: Streams,
    /// How what was started ended, for the record; none where nothing was.
    pub ending: Option<Ending>,
}

/// What the record of a call's end says of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// How it ended.
    pub outcome: Outcome,
    /// Bytes that went through stdin, stdout and stderr.
    pub stream_bytes: [u64; 3],
}

impl Reply {
    /// An answer in bytes.
    pub fn of_bytes(payload: Vec<u8>, streams: Streams) -> Self {
        Self { payload, streams, ..Self::default() }
    }

    /// An answer as a value.
    pub fn of_value(value: impl Any + Send, streams: Streams) -> Self {
        Self { typed: Some(Box::new(value)), streams, ..Self::default() }
    }

    /// The same, with how it ended for the record.
    #[must_use]
    pub fn ended(self, outcome: Outcome, stream_bytes: [u64; 3]) -> Self {
        Self { ending: Some(Ending { outcome, stream_bytes }), ..self }
    }

    /// Takes the value out, if there is one of that type.
    pub fn value<T: 'static>(&mut self) -> Option<T> {
        match self.typed.take()?.downcast::<T>() {
            Ok(value) => Some(*value),
            Err(other) => {
                self.typed = Some(other);
                None
            }
        }
    }
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
