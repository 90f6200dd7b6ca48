//! What becomes of a command. Looks, and changes nothing; the order of the checks is that of the specification.

use drydock_abi::lembeh::{
    BadSource, CapSelector, Source, Trace, decode_source,
    zax::{Command, HEADER_BYTES, Header, decode_command},
};

use super::{
    Hub,
    limits::{ANSWER_BYTES, TERMINAL_BYTES},
};
use crate::powers::Powers;

/// What is to be done with a command.
#[derive(Debug)]
pub(super) enum Verdict<'a> {
    /// FAIL.
    Refuse(Trace),
    /// ACK, and nothing else.
    Acknowledge,
    /// ACK, and the future has failed.
    Fail(Trace),
    /// ACK, and the future begins.
    Start { call: CapSelector<'a>, value_bytes_max: u32 },
    /// ACK, and the future ends.
    Cancel,
    /// ACK, and the task has an owner.
    Detach(&'a str),
    /// ACK, and the scope is waited for.
    Join(u64),
}

impl Verdict<'_> {
    /// The bytes of events that follow at once, or that room must be kept for.
    pub(super) fn room(&self) -> usize {
        match self {
            // The room of a future that ends is its own already.
            Self::Refuse(_) | Self::Acknowledge | Self::Cancel | Self::Detach(_) => ANSWER_BYTES,
            Self::Fail(_) | Self::Join(_) => ANSWER_BYTES + TERMINAL_BYTES,
            Self::Start { value_bytes_max, .. } => ANSWER_BYTES + terminal_bytes(*value_bytes_max),
        }
    }
}

/// The room for the end of a future with a value of at most so many bytes.
pub(super) fn terminal_bytes(value_bytes_max: u32) -> usize {
    TERMINAL_BYTES.max(HEADER_BYTES + 4 + value_bytes_max as usize)
}

impl Hub {
    /// Judges a whole frame whose header was checked.
    pub(super) fn judge<'a>(&self, header: &Header, payload: &'a [u8], powers: &impl Powers) -> Verdict<'a> {
        let command = match decode_command(header, payload) {
            Ok(command) => command,
            Err(why) => return Verdict::Refuse(why.trace()),
        };
        match command {
            Command::Register { source } => self.judge_register(header.future_id, source, powers),
            Command::Cancel => self.judge_cancel(header.future_id),
            Command::Detach { owner } => self.judge_detach(header.task_id, owner),
            Command::Join { fuel } => {
                let crowded = self.table.joins.len() as u64 >= u64::from(self.limits.joins_max);
                if crowded || !self.can_keep(TERMINAL_BYTES) {
                    return Verdict::Refuse(Trace::AsyncOverflow);
                }
                Verdict::Join(fuel)
            }
        }
    }

    fn judge_register<'a>(&self, future_id: u64, source: &'a [u8], powers: &impl Powers) -> Verdict<'a> {
        if future_id == 0 {
            return Verdict::Refuse(Trace::AsyncBadParams);
        }
        if self.used.contains(future_id) {
            return Verdict::Refuse(Trace::AsyncFutureExists);
        }
        let crowded = self.table.count() as u64 >= u64::from(self.limits.futures_max)
            || !self.used.has_room(future_id, self.limits.id_ranges_max)
            || !self.can_keep(TERMINAL_BYTES);
        if crowded {
            return Verdict::Refuse(Trace::AsyncOverflow);
        }
        // From here on the id is used, and every error is the future's own.
        let call = match decode_source(source) {
            Ok(Source::Selector(call)) => call,
            Ok(Source::Opaque(_)) => return Verdict::Fail(Trace::AsyncUnimplemented),
            Err(BadSource::Kind(_)) => return Verdict::Refuse(Trace::AsyncUnknownSource),
            Err(BadSource::Malformed(_)) => return Verdict::Fail(Trace::AsyncBadParams),
        };
        let offer = match powers.offer(call.kind, call.name, call.selector) {
            Ok(offer) => offer,
            Err(trace) => return Verdict::Fail(trace),
        };
        let value_bytes_max = offer.value_bytes_max.min(self.limits.payload_bytes_max.saturating_sub(4));
        if !self.can_keep(terminal_bytes(value_bytes_max)) {
            return Verdict::Fail(Trace::AsyncOverflow);
        }
        Verdict::Start { call, value_bytes_max }
    }

    fn judge_cancel(&self, future_id: u64) -> Verdict<'static> {
        if future_id == 0 {
            return Verdict::Refuse(Trace::AsyncBadParams);
        }
        if self.table.contains(future_id) {
            return Verdict::Cancel;
        }
        match self.used.contains(future_id) {
            true => Verdict::Acknowledge,
            false => Verdict::Refuse(Trace::AsyncMissingFuture),
        }
    }

    fn judge_detach<'a>(&self, task_id: u64, owner: &'a str) -> Verdict<'a> {
        let crowded = self.owners.len() as u64 >= u64::from(self.limits.tasks_max);
        let long = owner.len() as u64 > u64::from(self.limits.owner_bytes_max);
        if long || (crowded && !self.owners.contains_key(&task_id)) {
            return Verdict::Refuse(Trace::AsyncOverflow);
        }
        Verdict::Detach(owner)
    }

    /// Whether so much can be kept and, once all events are read, any command still be answered. Without this a
    /// guest that reads could come to a command that never has room.
    fn can_keep(&self, bytes: usize) -> bool {
        self.queue.could_have_room(bytes + ANSWER_BYTES + TERMINAL_BYTES)
    }
}
