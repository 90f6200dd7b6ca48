//! Commands, from the guest to the host.

use super::{
    header::{Header, KIND_COMMAND, put_frame},
    op,
};
use crate::lembeh::{
    hopper::{Hopper, Malformed, TooLong, put_h4, put_hstr},
    trace::Trace,
};

/// A command's payload. What it is about stands in the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command<'a> {
    /// A future begins. Its Async Source is not looked into yet: the id is judged before it.
    Register {
        /// The Async Source.
        source: &'a [u8],
    },
    /// A future is no longer wanted.
    Cancel,
    /// A task belongs to somebody else.
    Detach {
        /// Who.
        owner: &'a str,
    },
    /// Wait until nothing of the scope is pending.
    Join {
        /// How often it may look and find something pending.
        fuel: u64,
    },
}

/// What a guest chooses for the header of a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CommandIds {
    /// What the answer is known by; 0 wants none.
    pub req_id: u64,
    /// The group of the future or of the join.
    pub scope_id: u64,
    /// The task of a detach.
    pub task_id: u64,
    /// The future.
    pub future_id: u64,
    /// How many milliseconds it may take; 0 is no limit.
    pub timeout_ms: u16,
}

/// A frame that is no command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadCommand {
    /// An event, which only a host sends.
    #[error("a guest does not send frames of kind {0}")]
    Kind(u16),
    /// No command has this number.
    #[error("{0} is not a command")]
    Op(u16),
    /// The payload is not the command's.
    #[error(transparent)]
    Payload(#[from] Malformed),
}

impl BadCommand {
    /// The stable code that logs and tests match on.
    pub const fn code(&self) -> &'static str {
        self.trace().code()
    }

    /// What a FAIL says about it.
    pub const fn trace(&self) -> Trace {
        match self {
            Self::Kind(_) => Trace::AsyncBadFrame,
            Self::Op(_) => Trace::AsyncUnknownOp,
            Self::Payload(_) => Trace::AsyncBadParams,
        }
    }
}

/// Reads a command whose header was checked: kind, operation and payload, in this order.
pub fn decode_command<'a>(header: &Header, payload: &'a [u8]) -> Result<Command<'a>, BadCommand> {
    if header.kind != KIND_COMMAND {
        return Err(BadCommand::Kind(header.kind));
    }
    let mut hopper = Hopper::new(payload);
    match header.op {
        op::REGISTER_FUTURE => Ok(Command::Register { source: payload }),
        op::CANCEL_FUTURE => {
            hopper.end()?;
            Ok(Command::Cancel)
        }
        op::DETACH_TASK => {
            let owner = hopper.hstr("owner")?;
            hopper.end()?;
            Ok(Command::Detach { owner })
        }
        op::JOIN_BOUNDED => {
            let fuel = hopper.h8("fuel")?;
            hopper.end()?;
            Ok(Command::Join { fuel })
        }
        other => Err(BadCommand::Op(other)),
    }
}

/// Writes a command.
pub fn encode_command(out: &mut Vec<u8>, ids: &CommandIds, command: &Command<'_>) -> Result<(), TooLong> {
    let mut own = Vec::new();
    let (op, payload) = match command {
        Command::Register { source } => (op::REGISTER_FUTURE, *source),
        Command::Cancel => (op::CANCEL_FUTURE, &own[..]),
        Command::Detach { owner } => {
            put_hstr(&mut own, owner)?;
            (op::DETACH_TASK, &own[..])
        }
        Command::Join { fuel } => {
            put_h4(&mut own, (fuel & u64::from(u32::MAX)) as u32);
            put_h4(&mut own, (fuel >> 32) as u32);
            (op::JOIN_BOUNDED, &own[..])
        }
    };
    let header = Header {
        flags: ids.timeout_ms,
        req_id: ids.req_id,
        scope_id: ids.scope_id,
        task_id: ids.task_id,
        future_id: ids.future_id,
        ..Header::new(KIND_COMMAND, op)
    };
    put_frame(out, header, payload)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lembeh::zax::HEADER_BYTES;

    fn any_command() -> impl Strategy<Value = (u8, Vec<u8>, String, u64)> {
        (0u8..4, prop::collection::vec(any::<u8>(), 0..60), "[ -~]{0,40}", any::<u64>())
    }

    proptest! {
        #[test]
        fn every_command_round_trips(
            (which, source, owner, fuel) in any_command(),
            ids in any::<(u64, u64, u64, u64, u16)>(),
        ) {
            let command = match which {
                0 => Command::Register { source: &source },
                1 => Command::Cancel,
                2 => Command::Detach { owner: &owner },
                _ => Command::Join { fuel },
            };
            let (req_id, scope_id, task_id, future_id, timeout_ms) = ids;
            let ids = CommandIds { req_id, scope_id, task_id, future_id, timeout_ms };
            let mut wire = Vec::new();
            encode_command(&mut wire, &ids, &command).unwrap();
            let header = Header::decode(&wire).unwrap();
            prop_assert_eq!(header.frame_bytes(), wire.len() as u64);
            prop_assert_eq!(decode_command(&header, &wire[HEADER_BYTES..]), Ok(command));
            let read = CommandIds {
                req_id: header.req_id,
                scope_id: header.scope_id,
                task_id: header.task_id,
                future_id: header.future_id,
                timeout_ms: header.flags,
            };
            prop_assert_eq!(read, ids);
            let mut again = Vec::new();
            header.put(&mut again);
            prop_assert_eq!(&again[..], &wire[..HEADER_BYTES]);
            for cut in 0..HEADER_BYTES {
                prop_assert_eq!(Header::decode(&wire[..cut]), None);
            }
        }

        #[test]
        fn no_bytes_make_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 48..120), op in 0u16..6) {
            let header = Header { kind: KIND_COMMAND, op, ..Header::decode(&bytes).unwrap() };
            let _ = decode_command(&header, &bytes[HEADER_BYTES..]);
        }
    }

    #[test]
    fn a_payload_is_exactly_the_commands() {
        let cases: &[(u16, &[u8], &str)] = &[
            (op::CANCEL_FUTURE, b"x", "t_async_bad_params"),
            (op::DETACH_TASK, b"", "t_async_bad_params"),
            (op::DETACH_TASK, b"\x07\0\0\0worker", "t_async_bad_params"),
            (op::DETACH_TASK, b"\x05\0\0\0worker", "t_async_bad_params"),
            (op::DETACH_TASK, b"\x01\0\0\0\xff", "t_async_bad_params"),
            (op::JOIN_BOUNDED, b"\x02\0\0\0", "t_async_bad_params"),
            (op::JOIN_BOUNDED, b"\x02\0\0\0\0\0\0\0\0", "t_async_bad_params"),
            (9, b"", "t_async_unknown_op"),
            (op::ACK, b"", "t_async_unknown_op"),
        ];
        for (op, payload, want) in cases {
            let header = Header::new(KIND_COMMAND, *op);
            assert_eq!(
                decode_command(&header, payload).map_err(|it| it.code()),
                Err(*want),
                "{op} {payload:?}"
            );
        }
    }
}
