//! A transcript as streams: what was read from each handle, what was written to each, and the calls of the control plane.
//! How the bytes were cut does not matter any more; what they are does.

use std::collections::{BTreeMap, VecDeque};

use drydock_contract::{LembehEnd, LembehFault};

use super::{
    Divergence,
    event::{Event, Recorded},
    replay::is_fault,
};

/// Reads and writes of one handle, in their order, each with the number of its call.
#[derive(Default)]
struct Streamed {
    reads: VecDeque<(u64, Result<Vec<u8>, LembehEnd>)>,
    writes: VecDeque<(u64, Result<Vec<u8>, LembehEnd>)>,
    ends: VecDeque<u64>,
}

/// A call of the control plane: its number, what was asked and what was answered.
type Ctl = (u64, Option<Vec<u8>>, Option<Vec<u8>>);

/// All of them.
#[derive(Default)]
pub(super) struct ByStream {
    handles: BTreeMap<i32, Streamed>,
    ctl: VecDeque<Ctl>,
    logs: VecDeque<(u64, Vec<u8>, Vec<u8>)>,
    faults: VecDeque<(u64, Recorded)>,
    /// The number after that of the last call.
    end: u64,
}

type Answer<T> = Result<Result<T, LembehEnd>, Divergence>;

impl ByStream {
    /// A line that is gone or was changed is told at once: where streams are joined, nobody knows when it would be met.
    pub(super) fn new(events: Vec<Event>) -> (Self, Option<Divergence>) {
        let broken =
            events.iter().find(|it| !it.is_intact || it.call == Recorded::Gap).map(|it| match it.call {
                Recorded::Gap => Divergence::new(Divergence::GAP, it.i, "its line is gone"),
                _ => Divergence::new(Divergence::EDITED, it.i, "its line was changed after it was written"),
            });
        let mut streams = Self::default();
        for Event { i, call, .. } in events {
            streams.end = i + 1;
            streams.add(i, call);
        }
        (streams, broken)
    }

    fn add(&mut self, i: u64, call: Recorded) {
        let nowhere = [LembehFault::Ctl].into_iter().any(|it| is_fault(&call, it));
        match call {
            Recorded::Ctl { .. } if nowhere => self.faults.push_back((i, call)),
            Recorded::Ctl { request, response } => self.ctl.push_back((i, request, response)),
            // A read of nothing says nothing of the stream.
            Recorded::Read { cap: 0, result: Ok(_), .. } => {}
            Recorded::Read { h, result, .. } => self.handle(h).reads.push_back((i, result)),
            Recorded::Write { bytes: None, .. } => self.faults.push_back((i, call)),
            Recorded::Write { h, bytes: Some(mut bytes), result } => {
                let taken = result.map(|count| {
                    bytes.truncate(count);
                    bytes
                });
                if !matches!(&taken, Ok(it) if it.is_empty()) {
                    self.handle(h).writes.push_back((i, taken));
                }
            }
            Recorded::End { h } => self.handle(h).ends.push_back(i),
            Recorded::Log { topic, message } => self.logs.push_back((i, topic, message)),
            Recorded::Gap => {}
        }
    }

    fn handle(&mut self, h: i32) -> &mut Streamed {
        self.handles.entry(h).or_default()
    }

    pub(super) fn ctl(&mut self) -> Result<Ctl, Divergence> {
        let end = self.end;
        self.ctl.pop_front().ok_or_else(|| over(end, "_ctl"))
    }

    pub(super) fn log(&mut self) -> Result<(u64, Vec<u8>, Vec<u8>), Divergence> {
        let end = self.end;
        self.logs.pop_front().ok_or_else(|| over(end, "log"))
    }

    pub(super) fn read(&mut self, handle: i32, buffer: &mut [u8]) -> Answer<usize> {
        if buffer.is_empty() {
            return Ok(Ok(0));
        }
        let end = self.end;
        let reads = &mut self.handle(handle).reads;
        let Some((_, front)) = reads.front_mut() else {
            return Err(over(end, &format!("req_read of handle {handle}")));
        };
        let bytes = match front {
            Ok(bytes) => bytes,
            Err(end) => {
                let end = *end;
                reads.pop_front();
                return Ok(Err(end));
            }
        };
        let count = bytes.len().min(buffer.len());
        buffer[..count].copy_from_slice(&bytes[..count]);
        bytes.drain(..count);
        // An end that was seen is seen again as often as anybody looks.
        if bytes.is_empty() && (count > 0 || reads.len() > 1) {
            reads.pop_front();
        }
        Ok(Ok(count))
    }

    pub(super) fn write(&mut self, handle: i32, bytes: &[u8]) -> Answer<usize> {
        if bytes.is_empty() {
            return Ok(Ok(0));
        }
        let end = self.end;
        let writes = &mut self.handle(handle).writes;
        let Some((i, front)) = writes.front_mut() else {
            return Err(over(end, &format!("res_write to handle {handle}")));
        };
        let recorded = match front {
            Ok(recorded) => recorded,
            Err(end) => {
                let end = *end;
                writes.pop_front();
                return Ok(Err(end));
            }
        };
        let count = recorded.len().min(bytes.len());
        if recorded[..count] != bytes[..count] {
            return Err(Divergence::bytes(Divergence::WRITE, *i, recorded, bytes));
        }
        recorded.drain(..count);
        if recorded.is_empty() {
            writes.pop_front();
        }
        Ok(Ok(count))
    }

    pub(super) fn end(&mut self, handle: i32) -> Answer<()> {
        match self.handle(handle).ends.pop_front() {
            Some(_) => Ok(Ok(())),
            None => Err(over(self.end, &format!("res_end of handle {handle}"))),
        }
    }

    pub(super) fn fault(&mut self, fault: LembehFault) -> Answer<()> {
        if let LembehFault::Read(handle, _) = fault {
            // It is among the reads of its handle, as one that failed.
            return match self.handle(handle).reads.pop_front() {
                Some((_, Err(_))) => Ok(Ok(())),
                _ => Err(over(self.end, "what points nowhere")),
            };
        }
        match self.faults.pop_front() {
            Some((_, call)) if is_fault(&call, fault) => Ok(Ok(())),
            Some((i, call)) => {
                let what = format!("recorded: {}; now: what points nowhere", call.name());
                Err(Divergence::new(Divergence::CALL, i, what))
            }
            None => Err(over(self.end, "what points nowhere")),
        }
    }

    /// What the guest did not do: everything but reads, because who gets its bytes in other pieces may need fewer of them.
    pub(super) fn rest(&self) -> Option<(u64, String)> {
        let ctl = self.ctl.front().map(|it| (it.0, "_ctl".to_owned()));
        let log = self.logs.front().map(|it| (it.0, "log".to_owned()));
        let fault = self.faults.front().map(|it| (it.0, it.1.name()));
        let written = self.handles.iter().flat_map(|(h, it)| {
            let write = it.writes.front().map(|it| (it.0, format!("res_write to handle {h}")));
            let end = it.ends.front().map(|i| (*i, format!("res_end of handle {h}")));
            [write, end]
        });
        [ctl, log, fault].into_iter().chain(written).flatten().min()
    }
}

/// Told at the number that the next call would have: nobody knows where between the others it belongs.
fn over(end: u64, called: &str) -> Divergence {
    Divergence::new(
        Divergence::EOF,
        end,
        format!("the transcript has no more of what the guest calls: {called}"),
    )
}
