//! Answers the calls of a guest from a transcript. It holds no door, no clock and no stream: there is nothing that it could
//! touch.
//!
//! Call by call, unless bytes are to be cut otherwise: then what is compared are the streams, handle by handle.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use drydock_contract::{Dispatch, LembehEnd, LembehFault, LembehHost, Meter};

use super::{
    Divergence, Transcript,
    event::{Event, Recorded},
    streams::ByStream,
};

/// What a guest that is replayed wrote to its standard outputs, at most: a transcript is bounded, and so is this.
#[derive(Debug, Default)]
struct Said {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// A replay.
pub struct Replay {
    by: By,
    said: Said,
    diverged: Option<Divergence>,
    /// Reads with room for more or less than they had: which one was the first, and how many.
    other_rooms: Option<(u64, u64)>,
}

enum By {
    /// The recorded calls in their order, and which is next.
    Calls(Vec<Event>, usize),
    Streams(Box<ByStream>),
}

impl Replay {
    /// Call by call.
    pub fn exact(transcript: Transcript) -> Self {
        Self { by: By::Calls(transcript.events, 0), said: Said::default(), diverged: None, other_rooms: None }
    }

    /// Stream by stream, for a guest whose bytes are cut otherwise than they were.
    pub fn by_stream(transcript: Transcript) -> Self {
        let (streams, diverged) = ByStream::new(transcript.events);
        Self { by: By::Streams(Box::new(streams)), said: Said::default(), diverged, other_rooms: None }
    }

    /// Where it left the transcript, if it did.
    pub const fn divergence(&self) -> Option<&Divergence> {
        self.diverged.as_ref()
    }

    /// What is no divergence and worth a word: a guest that asks for more or fewer bytes than it did gets what it got.
    pub fn warning(&self) -> Option<String> {
        let (first, count) = self.other_rooms?;
        Some(format!(
            "reads with room for another number of bytes than when this was recorded: {count}, call {first} first"
        ))
    }

    /// What the guest wrote to its stdout and its stderr.
    pub fn take_output(&mut self) -> (Vec<u8>, Vec<u8>) {
        let Said { stdout, stderr } = std::mem::take(&mut self.said);
        (stdout, stderr)
    }

    /// Remembers the first divergence, and ends the guest.
    fn diverge<T>(&mut self, divergence: Divergence) -> Result<T, LembehEnd> {
        self.diverged.get_or_insert(divergence);
        Err(LembehEnd::Diverged)
    }

    /// Answers one call, unless the replay is over.
    fn answer<T>(
        &mut self,
        work: impl FnOnce(&mut By) -> Result<Result<T, LembehEnd>, Divergence>,
    ) -> Result<T, LembehEnd> {
        if self.diverged.is_some() {
            return Err(LembehEnd::Diverged);
        }
        match work(&mut self.by) {
            Ok(result) => result,
            Err(divergence) => self.diverge(divergence),
        }
    }
}

impl By {
    /// The next recorded call, which must be one of these.
    fn next<'a, T>(
        events: &'a [Event],
        at: &mut usize,
        called: &str,
        is: impl FnOnce(&'a Recorded) -> Option<T>,
    ) -> Result<(u64, T), Divergence> {
        let Some(event) = events.get(*at) else {
            let call = events.last().map_or(0, |it| it.i + 1);
            return Err(Divergence::new(
                Divergence::EOF,
                call,
                format!("the transcript ends, and the guest calls {called}"),
            ));
        };
        *at += 1;
        if event.call == Recorded::Gap {
            return Err(Divergence::new(Divergence::GAP, event.i, "its line is gone"));
        }
        let found = is(&event.call).ok_or_else(|| {
            let what = format!("recorded: {}; now: {called}", event.call.name());
            Divergence::new(Divergence::CALL, event.i, what)
        })?;
        if !event.is_intact {
            return Err(Divergence::new(
                Divergence::EDITED,
                event.i,
                "its line was changed after it was written",
            ));
        }
        Ok((event.i, found))
    }
}

impl LembehHost for Replay {
    /// The door is dropped: nothing of a replay reaches the world.
    fn begin(&mut self, _: Arc<dyn Dispatch>, _: Arc<Meter>) {}

    fn ctl(&mut self, _: &mut Context<'_>, request: &[u8], room: usize) -> Result<Vec<u8>, LembehEnd> {
        self.answer(|by| {
            let (i, recorded, response) = match by {
                By::Streams(streams) => streams.ctl()?,
                By::Calls(events, at) => {
                    let (i, found) = By::next(events, at, "_ctl", |call| match call {
                        Recorded::Ctl { request, response } => Some((request.clone(), response.clone())),
                        _ => None,
                    })?;
                    (i, found.0, found.1)
                }
            };
            if recorded.as_deref() != Some(request) {
                return Err(Divergence::bytes(Divergence::CTL, i, &recorded.unwrap_or_default(), request));
            }
            match response {
                None => Ok(Err(LembehEnd::Refused)),
                Some(response) if response.len() <= room => Ok(Ok(response)),
                Some(_) => Err(Divergence::new(Divergence::CTL, i, "the response has no room any more")),
            }
        })
    }

    fn poll_read(
        &mut self,
        _: &mut Context<'_>,
        handle: i32,
        buffer: &mut [u8],
    ) -> Poll<Result<usize, LembehEnd>> {
        let mut other_room = None;
        let read = self.answer(|by| {
            let (events, at) = match by {
                By::Streams(streams) => return streams.read(handle, buffer),
                By::Calls(events, at) => (events, at),
            };
            let called = format!("req_read of handle {handle}");
            let (i, (cap, result)) = By::next(events, at, &called, |call| match call {
                Recorded::Read { h, cap, result } if *h == handle => Some((*cap, result)),
                _ => None,
            })?;
            if cap != buffer.len() as i64 {
                other_room = Some(i);
            }
            match result {
                Err(end) => Ok(Err(*end)),
                Ok(bytes) => match buffer.get_mut(..bytes.len()) {
                    Some(place) => {
                        place.copy_from_slice(bytes);
                        Ok(Ok(bytes.len()))
                    }
                    None => {
                        let what =
                            format!("the guest has room for {} bytes, and had for {cap}", buffer.len());
                        Err(Divergence::new(Divergence::CALL, i, what))
                    }
                },
            }
        });
        if let Some(i) = other_room {
            self.other_rooms.get_or_insert((i, 0)).1 += 1;
        }
        Poll::Ready(read)
    }

    fn poll_write(
        &mut self,
        _: &mut Context<'_>,
        handle: i32,
        bytes: &[u8],
    ) -> Poll<Result<usize, LembehEnd>> {
        let result = self.answer(|by| {
            let (events, at) = match by {
                By::Streams(streams) => return streams.write(handle, bytes),
                By::Calls(events, at) => (events, at),
            };
            let called = format!("res_write to handle {handle}");
            let (i, (recorded, result)) = By::next(events, at, &called, |call| match call {
                Recorded::Write { h, bytes, result } if *h == handle => Some((bytes.as_deref(), *result)),
                _ => None,
            })?;
            if recorded != Some(bytes) {
                return Err(Divergence::bytes(Divergence::WRITE, i, recorded.unwrap_or_default(), bytes));
            }
            Ok(result)
        });
        if let Ok(count) = result {
            let to = match handle {
                1 => Some(&mut self.said.stdout),
                2 => Some(&mut self.said.stderr),
                _ => None,
            };
            if let Some(said) = to {
                said.extend_from_slice(&bytes[..count.min(bytes.len())]);
            }
        }
        Poll::Ready(result)
    }

    fn end(&mut self, _: &mut Context<'_>, handle: i32) -> Result<(), LembehEnd> {
        self.answer(|by| match by {
            By::Streams(streams) => streams.end(handle),
            By::Calls(events, at) => {
                let called = format!("res_end of handle {handle}");
                let is = |call: &Recorded| (*call == Recorded::End { h: handle }).then_some(());
                By::next(events, at, &called, is).map(|_| Ok(()))
            }
        })
    }

    fn log(&mut self, topic: &[u8], message: &[u8]) -> Result<(), LembehEnd> {
        self.answer(|by| {
            let (i, was_topic, was_message) = match by {
                By::Streams(streams) => streams.log()?,
                By::Calls(events, at) => {
                    let (i, (topic, message)) = By::next(events, at, "log", |call| match call {
                        Recorded::Log { topic, message } => Some((topic.clone(), message.clone())),
                        _ => None,
                    })?;
                    (i, topic, message)
                }
            };
            for (was, now) in [(&was_topic[..], topic), (&was_message[..], message)] {
                if was != now {
                    return Err(Divergence::bytes(Divergence::LOG, i, was, now));
                }
            }
            Ok(Ok(()))
        })
    }

    fn fault(&mut self, fault: LembehFault) -> Result<(), LembehEnd> {
        self.answer(|by| {
            let (events, at) = match by {
                By::Streams(streams) => return streams.fault(fault),
                By::Calls(events, at) => (events, at),
            };
            let is = |call: &Recorded| is_fault(call, fault).then_some(());
            By::next(events, at, "what points nowhere", is).map(|_| Ok(()))
        })
    }

    fn finish(&mut self) {
        if self.diverged.is_some() {
            return;
        }
        let rest = match &self.by {
            By::Calls(events, at) => events.get(*at).map(|it| (it.i, it.call.name())),
            By::Streams(streams) => streams.rest(),
        };
        if let Some((i, name)) = rest {
            let what = format!("the guest has ended, and the transcript goes on with {name}");
            self.diverged = Some(Divergence::new(Divergence::SURPLUS, i, what));
        }
    }
}

/// Whether the recorded call is one that pointed nowhere in the same way.
pub(super) fn is_fault(call: &Recorded, fault: LembehFault) -> bool {
    match (call, fault) {
        (Recorded::Ctl { request, .. }, LembehFault::Ctl) => request.is_none(),
        (Recorded::Read { h, cap, result }, LembehFault::Read(handle, now)) => {
            *h == handle && *cap == i64::from(now) && result.is_err()
        }
        (Recorded::Write { h, bytes, .. }, LembehFault::Write(handle, _)) => *h == handle && bytes.is_none(),
        _ => false,
    }
}
