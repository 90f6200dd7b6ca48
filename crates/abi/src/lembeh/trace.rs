//! Traces: the stable symbols of everything that can go wrong, each with the words that go with it.
//!
//! The list is closed on the host's side. A guest reads traces as text, because a host may know more of them.

/// Why something was refused or failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Trace {
    /// A `_ctl` frame that is none.
    CtlBadFrame,
    /// A version of ZCL1 that is not 1.
    CtlBadVersion,
    /// A `_ctl` payload above the maximum, or no handle left.
    CtlOverflow,
    /// An operation that `_ctl` does not have.
    CtlUnknownOp,
    /// The payload of a `_ctl` operation is malformed.
    CtlBadParams,
    /// The host's own limit on the time of an operation.
    CtlTimeout,
    /// No such capability.
    CapMissing,
    /// The capability is there and refused.
    CapDenied,
    /// A ZAX1 frame that is none, or that only a host may send.
    AsyncBadFrame,
    /// A payload above the maximum.
    AsyncPayload,
    /// A command that the hub does not have.
    AsyncUnknownOp,
    /// A payload or parameters that are malformed.
    AsyncBadParams,
    /// A kind of Async Source that is not defined.
    AsyncUnknownSource,
    /// A kind of Async Source that this host does not offer.
    AsyncUnimplemented,
    /// Refused by the hub itself.
    AsyncDenied,
    /// The future's id was used before.
    AsyncFutureExists,
    /// No future has this id.
    AsyncMissingFuture,
    /// A join ran out of fuel or time.
    AsyncJoinLimit,
    /// A bound of the hub is reached, or a result exceeds one.
    AsyncOverflow,
    /// The capability has no such selector.
    AsyncUnknownSelector,
    /// The selector is known and disabled.
    AsyncUnsupported,
    /// The program is not on the allowlist.
    ExecNotAllowed,
    /// The program's id is not spelled as it must be.
    ExecBadProg,
    /// Arguments or environment are beyond their limits.
    ExecBadArgs,
    /// Resource policy denies the request.
    ExecLimits,
    /// The program, or the process, is not there.
    ExecNotFound,
    /// No handles are left.
    ExecTooManyHandles,
    /// Text that is not UTF-8, or has control bytes.
    ExecBadEncoding,
    /// The program needs a terminal, and policy forbids one.
    ExecTtyDenied,
    /// Too much is running.
    ExecBusy,
    /// Policy hides the status of processes.
    ExecNotListable,
    /// A scope of files that is not offered.
    FileDenied,
    /// No such file.
    FileNotFound,
    /// A file that cannot be read.
    FileNotReadable,
    /// A destination that policy does not allow.
    NetDenied,
    /// A destination that cannot be reached.
    NetUnreachable,
}

impl Trace {
    /// All of them.
    pub const ALL: [Self; 36] = [
        Self::CtlBadFrame,
        Self::CtlBadVersion,
        Self::CtlOverflow,
        Self::CtlUnknownOp,
        Self::CtlBadParams,
        Self::CtlTimeout,
        Self::CapMissing,
        Self::CapDenied,
        Self::AsyncBadFrame,
        Self::AsyncPayload,
        Self::AsyncUnknownOp,
        Self::AsyncBadParams,
        Self::AsyncUnknownSource,
        Self::AsyncUnimplemented,
        Self::AsyncDenied,
        Self::AsyncFutureExists,
        Self::AsyncMissingFuture,
        Self::AsyncJoinLimit,
        Self::AsyncOverflow,
        Self::AsyncUnknownSelector,
        Self::AsyncUnsupported,
        Self::ExecNotAllowed,
        Self::ExecBadProg,
        Self::ExecBadArgs,
        Self::ExecLimits,
        Self::ExecNotFound,
        Self::ExecTooManyHandles,
        Self::ExecBadEncoding,
        Self::ExecTtyDenied,
        Self::ExecBusy,
        Self::ExecNotListable,
        Self::FileDenied,
        Self::FileNotFound,
        Self::FileNotReadable,
        Self::NetDenied,
        Self::NetUnreachable,
    ];

    /// The symbol on the wire.
    pub const fn code(self) -> &'static str {
        self.row().0
    }

    /// What a person reads.
    pub const fn message(self) -> &'static str {
        self.row().1
    }

    /// The trace with this symbol.
    pub fn named(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|trace| trace.code() == code)
    }

    const fn row(self) -> (&'static str, &'static str) {
        match self {
            Self::CtlBadFrame => ("t_ctl_bad_frame", "malformed frame"),
            Self::CtlBadVersion => ("t_ctl_bad_version", "unknown version"),
            Self::CtlOverflow => ("t_ctl_overflow", "bounds exceeded"),
            Self::CtlUnknownOp => ("t_ctl_unknown_op", "unknown operation"),
            Self::CtlBadParams => ("t_ctl_bad_params", "malformed params"),
            Self::CtlTimeout => ("t_ctl_timeout", "operation timed out"),
            Self::CapMissing => ("t_cap_missing", "capability not available"),
            Self::CapDenied => ("t_cap_denied", "capability denied"),
            Self::AsyncBadFrame => ("t_async_bad_frame", "malformed frame"),
            Self::AsyncPayload => ("t_async_payload", "payload too large"),
            Self::AsyncUnknownOp => ("t_async_unknown_op", "unknown operation"),
            Self::AsyncBadParams => ("t_async_bad_params", "malformed params"),
            Self::AsyncUnknownSource => ("t_async_unknown_source", "unknown source kind"),
            Self::AsyncUnimplemented => ("t_async_unimplemented", "source kind not offered"),
            Self::AsyncDenied => ("t_async_denied", "denied"),
            Self::AsyncFutureExists => ("t_async_future_exists", "future id already used"),
            Self::AsyncMissingFuture => ("t_async_missing_future", "no such future"),
            Self::AsyncJoinLimit => ("t_async_join_limit", "join limit exceeded"),
            Self::AsyncOverflow => ("t_async_overflow", "bounds exceeded"),
            Self::AsyncUnknownSelector => ("t_async_unknown_selector", "unknown selector"),
            Self::AsyncUnsupported => ("t_async_unsupported", "selector disabled"),
            Self::ExecNotAllowed => ("t_exec_not_allowed", "program not allowed"),
            Self::ExecBadProg => ("t_exec_bad_prog", "malformed program id"),
            Self::ExecBadArgs => ("t_exec_bad_args", "argument limits"),
            Self::ExecLimits => ("t_exec_limits", "resource limits"),
            Self::ExecNotFound => ("t_exec_not_found", "not found"),
            Self::ExecTooManyHandles => ("t_exec_too_many_handles", "handle limit"),
            Self::ExecBadEncoding => ("t_exec_bad_encoding", "malformed text"),
            Self::ExecTtyDenied => ("t_exec_tty_denied", "tty denied"),
            Self::ExecBusy => ("t_exec_busy", "busy"),
            Self::ExecNotListable => ("t_exec_not_listable", "status restricted"),
            Self::FileDenied => ("t_file_denied", "scope not offered"),
            Self::FileNotFound => ("t_file_not_found", "no such file"),
            Self::FileNotReadable => ("t_file_not_readable", "file not readable"),
            Self::NetDenied => ("t_net_denied", "destination not allowed"),
            Self::NetUnreachable => ("t_net_unreachable", "destination unreachable"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trace_is_listed_once_and_reads_as_a_symbol() {
        let mut codes: Vec<&str> = Trace::ALL.iter().map(|it| it.code()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), Trace::ALL.len());
        for trace in Trace::ALL {
            let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
            assert!(trace.code().bytes().all(plain) && trace.code().starts_with("t_"), "{trace:?}");
            assert!(!trace.message().is_empty());
            assert_eq!(Trace::named(trace.code()), Some(trace));
        }
    }
}
