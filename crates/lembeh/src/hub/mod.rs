//! The async hub: ZAX1 of one session, as a state machine.
//!
//! The laws it keeps, whatever the guest writes and whenever futures end:
//! - a command that wants an answer gets one ACK or FAIL, in the order of commands, and one that wants none gets none;
//! - an accepted future ends once, after its ACK, and nothing is said about it afterwards;
//! - its cancel hook runs once, before the end can be read;
//! - what it holds is bounded by [`HubLimits`], and the room for every end is kept when a future is accepted.
//!
//! Backpressure is on the writer: a command whose answer has no room waits, and meanwhile no more bytes are taken.
//! A guest that reads its events always gets on. One unit of a join's fuel is one future of its scope that ends
//! while others are pending; joining does not cancel.

mod ids;
mod input;
mod judge;
mod limits;
mod pending;
mod perform;
mod queue;

use std::collections::BTreeMap;

use drydock_abi::lembeh::{
    Trace,
    zax::{HEADER_BYTES, HeadFault, Header},
};

use self::{
    ids::UsedIds,
    input::Input,
    limits::ANSWER_BYTES,
    pending::{Next, Table},
    perform::Ending,
    queue::EventQueue,
};
use crate::powers::{Failure, Powers};

pub use self::limits::HubLimits;

/// The hub of one session.
#[derive(Debug)]
pub struct Hub {
    limits: HubLimits,
    stream: Stream,
    input: Input,
    queue: EventQueue,
    table: Table,
    used: UsedIds,
    owners: BTreeMap<u64, String>,
    /// The latest moment that was handed in.
    now_ms: u64,
    last_refusal: Option<Trace>,
    /// Values of futures that are over at once, written here to allocate nothing.
    value: Vec<u8>,
}

/// Whether frames are still taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Open,
    /// What was written is no frame, and nobody can say where the next one begins.
    Broken,
    /// The guest ended it, or is gone.
    Ended,
}

/// The hub takes no more bytes: a write returns -1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the hub takes no more bytes")]
pub struct Closed;

impl Closed {
    /// The stable code that logs and tests match on.
    pub const fn code(&self) -> &'static str {
        "hub_closed"
    }
}

/// What a read came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// So many bytes; 0 only where none were asked for.
    Bytes(usize),
    /// Nothing yet: something pending will end.
    Pending,
    /// Nothing, and nothing can ever come unless the guest writes.
    Never,
    /// The end, for good.
    End,
}

/// How far the held bytes lead.
enum Step {
    /// More bytes are needed, up to this length of the frame.
    Wants(usize),
    /// A command was dealt with, and another may follow.
    Done,
    /// The next answer has no room.
    Full,
}

impl Hub {
    /// A hub without futures.
    pub fn new(limits: HubLimits) -> Self {
        let limits = limits.bounded();
        Self {
            limits,
            stream: Stream::Open,
            input: Input::default(),
            queue: EventQueue::new(limits.event_queue_bytes_max),
            table: Table::default(),
            used: UsedIds::default(),
            owners: BTreeMap::new(),
            now_ms: 0,
            last_refusal: None,
            value: Vec::new(),
        }
    }

    /// Takes bytes of the guest and deals with every command that is whole: how many bytes were taken. Fewer than
    /// there were means that events must be read first, or that the rest follows what is no frame.
    pub fn write(&mut self, bytes: &[u8], now_ms: u64, powers: &mut impl Powers) -> Result<usize, Closed> {
        self.advance(now_ms, powers);
        if self.stream != Stream::Open {
            return Err(Closed);
        }
        let mut taken = self.input.pass(bytes);
        while self.stream == Stream::Open {
            match self.step(powers) {
                Step::Full => break,
                Step::Done => taken += self.input.pass(&bytes[taken..]),
                Step::Wants(_) if taken == bytes.len() => break,
                Step::Wants(length) => taken += self.input.take(&bytes[taken..], length),
            }
        }
        Ok(taken)
    }

    /// Hands the oldest events out, and goes on with commands that waited for room.
    pub fn read(&mut self, out: &mut [u8], now_ms: u64, powers: &mut impl Powers) -> Read {
        self.advance(now_ms, powers);
        if out.is_empty() && self.stream != Stream::Ended {
            return Read::Bytes(0);
        }
        let count = self.queue.read(out);
        if count > 0 {
            while self.stream == Stream::Open && matches!(self.step(powers), Step::Done) {}
            return Read::Bytes(count);
        }
        match self.stream {
            Stream::Broken | Stream::Ended => Read::End,
            Stream::Open if self.table.is_empty() => Read::Never,
            Stream::Open => Read::Pending,
        }
    }

    /// Tells how a future ended. False if it had ended before, as by a cancel: then nothing is said about it.
    pub fn complete(&mut self, future_id: u64, result: Result<&[u8], Failure>) -> bool {
        match result {
            Ok(value) => self.finish(future_id, Ending::Value(value)),
            Err(failure) => self.finish(future_id, Ending::Failure(&failure)),
        }
    }

    /// Ends whatever is due at `now_ms`. Time never goes back: an earlier moment is the latest one.
    pub fn advance(&mut self, now_ms: u64, powers: &mut impl Powers) {
        self.now_ms = self.now_ms.max(now_ms);
        while let Some((due, next)) = self.table.next() {
            if due.at_ms > self.now_ms {
                return;
            }
            match next {
                Next::Future(future_id) => self.cancel(future_id, powers),
                Next::Join(at) => self.end_join(at, perform::Joined::Limit),
            }
        }
    }

    /// When [`Hub::advance`] has something to do.
    pub fn next_deadline_ms(&self) -> Option<u64> {
        self.table.next().map(|(due, _)| due.at_ms)
    }

    /// Ends the session: cancels what is pending and lets go of everything. May be said twice.
    pub fn end(&mut self, powers: &mut impl Powers) {
        while let Some(future_id) = self.table.first() {
            powers.cancel(future_id);
            self.table.remove(future_id);
        }
        self.stream = Stream::Ended;
        self.table.release();
        self.queue.release();
        self.input.release();
        self.owners.clear();
        self.used = UsedIds::default();
    }

    /// Bytes of a frame that is not whole yet, or that waits for room.
    pub const fn held_frame_bytes(&self) -> usize {
        self.input.held()
    }

    /// All bytes that are held; at most [`HubLimits::held_bytes_max`].
    pub fn held_bytes(&self) -> u64 {
        let owners: usize = self.owners.values().map(String::len).sum();
        (self.input.held() + self.queue.len() + owners) as u64
    }

    /// How many futures are pending.
    pub const fn pending_count(&self) -> usize {
        self.table.count()
    }

    /// How many joins wait.
    pub const fn waiting_joins(&self) -> usize {
        self.table.joins.len()
    }

    /// Who a task was detached to.
    pub fn owner(&self, task_id: u64) -> Option<&str> {
        self.owners.get(&task_id).map(String::as_str)
    }

    /// Why the last command that was refused was, also where no answer was wanted.
    pub const fn last_refusal(&self) -> Option<Trace> {
        self.last_refusal
    }

    /// Whether what was written was no frame, so that nothing more is taken.
    pub fn is_broken(&self) -> bool {
        self.stream == Stream::Broken
    }

    /// Goes on with the bytes that are held.
    fn step(&mut self, powers: &mut impl Powers) -> Step {
        let Some(header) = self.input.header() else { return Step::Wants(HEADER_BYTES) };
        let fault = header.check(self.limits.payload_bytes_max).err();
        if fault.is_none() && !self.input.is_whole(&header) {
            // The payload was found to be within its limit.
            return Step::Wants(HEADER_BYTES + header.payload_len as usize);
        }
        let frame = self.input.lend();
        let dealt_with = match fault {
            None => self.command(&header, &frame[HEADER_BYTES..], powers),
            Some(fault) => self.refuse_head(&header, fault, powers),
        };
        if !dealt_with {
            self.input.hold(frame);
            return Step::Full;
        }
        let skip = if matches!(fault, Some(HeadFault::TooLarge(_))) { header.payload_len.into() } else { 0 };
        self.input.clear(frame, skip);
        Step::Done
    }

    /// Judges and performs a command, unless its answer has no room.
    fn command(&mut self, header: &Header, payload: &[u8], powers: &mut impl Powers) -> bool {
        let verdict = self.judge(header, payload, powers);
        let room = self.queue.has_room(verdict.room());
        if room {
            self.perform(header, verdict, powers);
        }
        room
    }

    /// Answers a header that begins no frame, or one that is too long, unless the answer has no room.
    fn refuse_head(&mut self, header: &Header, fault: HeadFault, powers: &mut impl Powers) -> bool {
        if !self.queue.has_room(ANSWER_BYTES) {
            return false;
        }
        match fault {
            HeadFault::TooLarge(_) => self.refuse(header.req_id, Trace::AsyncPayload),
            HeadFault::NoFrame => {
                self.refuse(header.req_id, Trace::AsyncBadFrame);
                while let Some(future_id) = self.table.first() {
                    self.cancel(future_id, powers);
                }
                self.stream = Stream::Broken;
            }
        }
        true
    }
}
