//! What a verdict does: answers, starts, ends. Every event has its room before it comes to this.

use drydock_abi::lembeh::{
    Envelope, Trace,
    zax::{Event, HEADER_BYTES, Header},
};

use super::{
    Hub,
    judge::{Verdict, terminal_bytes},
    limits::TERMINAL_BYTES,
    pending::{Join, Pending},
};
use crate::powers::{Begun, Failure, Powers};

/// How a future ends.
pub(super) enum Ending<'a> {
    Value(&'a [u8]),
    Failure(&'a Failure),
    Cancelled,
}

/// How a join ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Joined {
    Result,
    Limit,
}

impl Hub {
    /// Performs a verdict that has its room.
    pub(super) fn perform(&mut self, header: &Header, verdict: Verdict<'_>, powers: &mut impl Powers) {
        let req_id = header.req_id;
        if let Verdict::Refuse(trace) = verdict {
            return self.refuse(req_id, trace);
        }
        if req_id != 0 {
            self.queue.push(&Event::Ack { req_id });
        }
        match verdict {
            Verdict::Refuse(_) | Verdict::Acknowledge => {}
            Verdict::Fail(trace) => {
                self.accept(header, 0);
                self.finish(header.future_id, Ending::Failure(&trace.into()));
            }
            Verdict::Start { call, value_bytes_max } => {
                self.accept(header, value_bytes_max);
                let mut value = std::mem::take(&mut self.value);
                value.clear();
                match powers.start(header.future_id, &call, &mut value) {
                    Ok(Begun::Pending) => {}
                    Ok(Begun::Done) => {
                        self.finish(header.future_id, Ending::Value(&value));
                    }
                    Err(failure) => {
                        self.finish(header.future_id, Ending::Failure(&failure));
                    }
                }
                self.value = value;
            }
            Verdict::Cancel => self.cancel(header.future_id, powers),
            Verdict::Detach(owner) => {
                self.owners.insert(header.task_id, owner.to_owned());
            }
            Verdict::Join(fuel) => self.join(header, fuel),
        }
    }

    /// Answers a command that is not accepted.
    pub(super) fn refuse(&mut self, req_id: u64, trace: Trace) {
        self.last_refusal = Some(trace);
        if req_id != 0 {
            self.queue.push(&Event::Fail { req_id, code: trace.code(), msg: trace.message() });
        }
    }

    /// Ends a pending future that nobody waits for any more.
    pub(super) fn cancel(&mut self, future_id: u64, powers: &mut impl Powers) {
        powers.cancel(future_id);
        self.finish(future_id, Ending::Cancelled);
    }

    /// Says the last about a future, and looks at the joins of its scope. False if it is not pending.
    pub(super) fn finish(&mut self, future_id: u64, ending: Ending<'_>) -> bool {
        let Some(future) = self.table.remove(future_id) else { return false };
        self.queue.give_back(future.kept);
        let overflow = Failure::from(Trace::AsyncOverflow);
        match ending {
            Ending::Cancelled => self.queue.push(&Event::FutureCancelled { future_id }),
            Ending::Value(value) if value.len() as u64 <= u64::from(future.value_bytes_max) => {
                self.queue.push(&Event::FutureOk { future_id, value });
            }
            Ending::Value(_) => self.push_failure(&future, &overflow),
            Ending::Failure(failure) => self.push_failure(&future, failure),
        }
        self.look_at_joins(future.scope_id);
        true
    }

    /// Ends a join.
    pub(super) fn end_join(&mut self, at: usize, joined: Joined) {
        let Join { req_id, .. } = self.table.remove_join(at);
        self.queue.give_back(TERMINAL_BYTES);
        self.push_joined(req_id, joined);
    }

    /// Makes a future pending, with room for its end.
    fn accept(&mut self, header: &Header, value_bytes_max: u32) {
        let kept = terminal_bytes(value_bytes_max);
        self.queue.keep(kept);
        self.used.insert(header.future_id);
        let due = self.table.due(self.now_ms, header.flags);
        let (future_id, scope_id) = (header.future_id, header.scope_id);
        self.table.insert(Pending { future_id, scope_id, kept, value_bytes_max, due });
    }

    /// Queues a failure as far as its room goes: without its cause if need be, and in our own words.
    fn push_failure(&mut self, future: &Pending, failure: &Failure) {
        let whole = failure.envelope();
        let fits = |it: &Envelope<'_>| {
            HEADER_BYTES + 12 + it.trace.len() + it.msg.len() + it.cause.len() <= future.kept
        };
        let bare = Envelope { cause: &[], ..whole };
        let plain = Envelope { msg: failure.trace.message(), ..bare };
        let failure = [whole, bare].into_iter().find(fits).unwrap_or(plain);
        self.queue.push(&Event::FutureFail { future_id: future.future_id, failure });
    }

    fn join(&mut self, header: &Header, fuel: u64) {
        let (req_id, scope_id) = (header.req_id, header.scope_id);
        if !self.table.has_scope(scope_id) {
            return self.push_joined(req_id, Joined::Result);
        }
        if fuel == 0 {
            return self.push_joined(req_id, Joined::Limit);
        }
        let due = self.table.due(self.now_ms, header.flags);
        self.queue.keep(TERMINAL_BYTES);
        self.table.insert_join(Join { req_id, scope_id, fuel, due });
    }

    /// A future of the scope has ended: its joins have a result, or one less to look for.
    fn look_at_joins(&mut self, scope_id: u64) {
        if self.table.joins.is_empty() {
            return;
        }
        let open = self.table.has_scope(scope_id);
        let mut at = 0;
        while at < self.table.joins.len() {
            let join = &mut self.table.joins[at];
            if join.scope_id != scope_id {
                at += 1;
            } else if !open {
                self.end_join(at, Joined::Result);
            } else {
                join.fuel -= 1;
                match join.fuel {
                    0 => self.end_join(at, Joined::Limit),
                    _ => at += 1,
                }
            }
        }
    }

    fn push_joined(&mut self, req_id: u64, joined: Joined) {
        let limit = Trace::AsyncJoinLimit;
        self.queue.push(&match joined {
            Joined::Result => Event::JoinResult { req_id },
            Joined::Limit => Event::JoinLimit { req_id, code: limit.code(), msg: limit.message() },
        });
    }
}
