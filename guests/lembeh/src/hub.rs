//! The async hub: futures that are registered, events that are read, whatever way the stream cuts them.

use crate::{
    stream::{Closed, Stream},
    wire::{Reader, Writer},
};

const HEADER_BYTES: usize = 48;
const COMMAND: u16 = 1;
const EVENT: u16 = 2;
const REGISTER: u16 = 1;
const CANCEL: u16 = 2;
const DETACH: u16 = 3;
const JOIN: u16 = 4;
const CAP_SELECTOR: u8 = 2;

/// A hub that is open.
pub struct Hub<'b> {
    stream: Stream,
    /// What is written.
    out: &'b mut [u8],
    /// What was read, of which `begin..end` was not looked at yet.
    buffer: &'b mut [u8],
    begin: usize,
    end: usize,
    next_request: u64,
    next_future: u64,
}

/// What the host says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A command was accepted.
    Ack(u64),
    /// A command was refused, by this trace.
    Fail(u64, &'a str),
    /// A future has a value.
    Ok(u64, &'a [u8]),
    /// A future failed, by this trace.
    Failed(u64, &'a str),
    /// A future was cancelled, or its time was over.
    Cancelled(u64),
    /// A join found nothing pending.
    Joined(u64),
    /// A join ran out of fuel or time.
    JoinLimit(u64),
    /// One that is reserved, and ignored.
    Other(u16),
}

/// Why there is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failed<'a> {
    /// The command or the future failed, by this trace.
    Trace(&'a str),
    /// It was cancelled.
    Cancelled,
    /// The hub is closed, or what it says is no frame.
    Hub,
}

impl<'b> Hub<'b> {
    /// Opens one, with buffers for one command and for some events.
    pub fn open(out: &'b mut [u8], buffer: &'b mut [u8]) -> Option<Self> {
        let stream = crate::ctl::open_hub()?;
        Some(Self { stream, out, buffer, begin: 0, end: 0, next_request: 0, next_future: 0 })
    }

    /// Its stream, for whoever writes frames by himself.
    pub fn stream(&self) -> Stream {
        self.stream
    }

    /// Registers a future of a selector: its id. The params are written by `params`.
    pub fn call(
        &mut self,
        (kind, name, selector): (&str, &str, &str),
        scope: u64,
        timeout_ms: u16,
        params: impl FnOnce(&mut Writer<'_>),
    ) -> Option<u64> {
        self.next_future += 1;
        let future = self.next_future;
        self.command((REGISTER, timeout_ms), scope, 0, future, |writer| {
            writer.raw(&[CAP_SELECTOR]);
            let body = writer.hole();
            writer.bytes(kind.as_bytes()).bytes(name.as_bytes()).bytes(selector.as_bytes());
            let hole = writer.hole();
            params(writer);
            writer.fill(hole);
            writer.fill(body);
        })?;
        Some(future)
    }

    /// Cancels a future: the request's id.
    pub fn cancel(&mut self, future: u64) -> Option<u64> {
        self.command((CANCEL, 0), 0, 0, future, |_| {})
    }

    /// Says whom a task belongs to: the request's id.
    pub fn detach(&mut self, task: u64, owner: &str) -> Option<u64> {
        self.command((DETACH, 0), 0, task, 0, |writer| {
            writer.bytes(owner.as_bytes());
        })
    }

    /// Asks to be told when nothing of the scope is pending: the request's id.
    pub fn join(&mut self, scope: u64, fuel: u64, timeout_ms: u16) -> Option<u64> {
        self.command((JOIN, timeout_ms), scope, 0, 0, |writer| {
            writer.h8(fuel);
        })
    }

    fn command(
        &mut self,
        (op, timeout_ms): (u16, u16),
        scope: u64,
        task: u64,
        future: u64,
        payload: impl FnOnce(&mut Writer<'_>),
    ) -> Option<u64> {
        self.next_request += 1;
        let request = self.next_request;
        let mut writer = Writer::new(self.out);
        writer.raw(b"ZAX1").h2(1).h2(COMMAND).h2(op).h2(timeout_ms);
        writer.h8(request).h8(scope).h8(task).h8(future);
        let hole = writer.hole();
        payload(&mut writer);
        writer.fill(hole);
        let used = writer.done()?;
        self.stream.write_all(self.out.get(..used)?).ok()?;
        Some(request)
    }

    /// The next event; waits for it.
    #[expect(
        clippy::should_implement_trait,
        reason = "an event borrows the hub, and an iterator's items may not"
    )]
    pub fn next(&mut self) -> Result<Event<'_>, Closed> {
        let length = loop {
            let held = self.buffer.get(self.begin..self.end).ok_or(Closed)?;
            let frame =
                held.get(44..HEADER_BYTES).and_then(|it| Some(u32::from_le_bytes(it.try_into().ok()?)));
            if let Some(payload) = frame {
                let length =
                    HEADER_BYTES.checked_add(usize::try_from(payload).map_err(|_| Closed)?).ok_or(Closed)?;
                if held.len() >= length {
                    break length;
                }
                if length > self.buffer.len() {
                    return Err(Closed);
                }
            }
            self.buffer.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
            let free = self.buffer.get_mut(self.end..).filter(|it| !it.is_empty()).ok_or(Closed)?;
            match self.stream.read(free)? {
                0 => return Err(Closed),
                count => self.end += count,
            }
        };
        let frame = self.begin..self.begin + length;
        self.begin += length;
        decode(self.buffer.get(frame).ok_or(Closed)?).ok_or(Closed)
    }

    /// Waits for the end of a future: its value. What is said of others meanwhile is passed over.
    pub fn value(&mut self, future: u64) -> Result<&[u8], Failed<'_>> {
        loop {
            let found = match self.next() {
                Ok(Event::Ok(id, _) | Event::Failed(id, _) | Event::Cancelled(id)) => id == future,
                // A command of ours that was refused has no future.
                Ok(Event::Fail(..)) | Err(Closed) => true,
                Ok(_) => false,
            };
            if found {
                break;
            }
        }
        // The borrow of the loop is over; the frame still lies where it was.
        match self.last() {
            Some(Event::Ok(_, value)) => Ok(value),
            Some(Event::Failed(_, trace) | Event::Fail(_, trace)) => Err(Failed::Trace(trace)),
            Some(Event::Cancelled(_)) => Err(Failed::Cancelled),
            _ => Err(Failed::Hub),
        }
    }

    /// The event that was read last.
    fn last(&self) -> Option<Event<'_>> {
        // Frames are found again from the front: those before `begin` are whole.
        let mut at = 0;
        let mut last = None;
        while at < self.begin {
            let held = self.buffer.get(at..self.begin)?;
            let payload = u32::from_le_bytes(held.get(44..HEADER_BYTES)?.try_into().ok()?);
            let length = HEADER_BYTES.checked_add(usize::try_from(payload).ok()?)?;
            last = Some(held.get(..length)?);
            at += length;
        }
        decode(last?)
    }

    /// Ends the hub: what is pending is cancelled.
    pub fn end(self) {
        self.stream.end();
    }
}

/// Reads a whole frame.
fn decode(frame: &[u8]) -> Option<Event<'_>> {
    let mut reader = Reader(frame);
    let is_head = reader.raw(4)? == b"ZAX1" && reader.h2()? == 1 && reader.h2()? == EVENT;
    let (op, flags, request) = (reader.h2()?, reader.h2()?, reader.h8()?);
    let (_scope, _task, future) = (reader.h8()?, reader.h8()?, reader.h8()?);
    let payload = reader.bytes()?;
    reader.end()?;
    if !is_head {
        return None;
    }
    if (200..300).contains(&op) {
        return Some(Event::Other(op));
    }
    if flags != 0 {
        return None;
    }
    let nothing = || payload.is_empty().then_some(());
    Some(match op {
        101 => {
            nothing()?;
            Event::Ack(request)
        }
        102 => Event::Fail(request, refusal(payload)?),
        110 => {
            let mut reader = Reader(payload);
            let value = reader.bytes()?;
            reader.end()?;
            Event::Ok(future, value)
        }
        111 => {
            let mut reader = Reader(payload);
            let trace = reader.text()?;
            let (_msg, _cause) = (reader.text()?, reader.bytes()?);
            reader.end()?;
            Event::Failed(future, trace)
        }
        112 => {
            nothing()?;
            Event::Cancelled(future)
        }
        120 => {
            nothing()?;
            Event::Joined(request)
        }
        121 => {
            refusal(payload)?;
            Event::JoinLimit(request)
        }
        _ => return None,
    })
}

/// The trace of a FAIL or a JOIN_LIMIT.
fn refusal(payload: &[u8]) -> Option<&str> {
    let mut reader = Reader(payload);
    let (code, msg) = (reader.h4()?, reader.h4()?);
    let code = reader.raw(usize::try_from(code).ok()?)?;
    reader.raw(usize::try_from(msg).ok()?)?;
    reader.end()?;
    core::str::from_utf8(code).ok()
}
