//! Shells that commands of the line start: `xargs sh -c`, `find -exec bash`, `awk`'s `system()`. They run in the line's
//! own guest, and start commands a level deeper.

use std::{sync::Arc, time::Instant};

use drydock_abi::shell::{Event, InsideStart, NumberedStream, READS, WRITES};
use drydock_contract::{
    Dispatch, InsideShell, InsideTime, Numbered, Outcome, SharedSink, SharedSource, SteppedClock, Streams,
};

use super::{
    handle::{Handles, Own, Stream},
    line::{Untold, World},
};
use crate::guest::Held;

/// Most of them at once.
const INSIDE_MAX: usize = 256;

/// What one costs until the guest has been told of it, besides its texts; and what each of these costs.
const INSIDE_BYTES: u64 = 4_096;
const TEXT_BYTES: u64 = 32;

/// One of them.
pub(super) struct Inside {
    pub(super) door: Arc<dyn Dispatch>,
    time: InsideTime,
    streams: [Option<Own>; 3],
    numbered: Vec<Own>,
    end: Box<dyn FnOnce(Outcome, Streams) + Send>,
}

/// No time of its own.
const UNLIMITED: i64 = -1;

impl Inside {
    /// Tells whoever started it that it has ended.
    pub(super) fn end(self, handles: &mut Handles, outcome: Outcome) {
        for own in self.numbered {
            drop(handles.take_own(own));
        }
        let [stdin, stdout, stderr] = self.streams.map(|it| handles.take_own(it?));
        let sink = |stream| match stream {
            Some(Stream::Out(sink)) => sink.take(),
            _ => drydock_contract::Sink::Discard,
        };
        let stdin = match stdin {
            Some(Stream::In(source)) => source.take(),
            _ => drydock_contract::Source::Empty,
        };
        (self.end)(
            outcome,
            Streams { stdin, stdout: sink(stdout), stderr: sink(stderr), ..Streams::default() },
        );
    }

    /// Milliseconds that are left of its time.
    pub(super) fn left_ms(&self, clock: Option<&SteppedClock>) -> i64 {
        let millis = match (&self.time, clock) {
            (InsideTime::Lines, _) | (InsideTime::Stepped(_), None) => return UNLIMITED,
            (InsideTime::Until(deadline), _) => {
                let micros = deadline.at().saturating_duration_since(Instant::now()).as_micros();
                u64::try_from(micros.div_ceil(1_000)).unwrap_or(u64::MAX)
            }
            (InsideTime::Stepped(until), Some(clock)) => {
                until.0.saturating_sub(clock.stands_at().0).div_ceil(1_000_000)
            }
        };
        i64::try_from(millis).unwrap_or(i64::MAX)
    }
}

impl World {
    /// One more; the guest is told of it.
    pub(super) fn begin_inside(&mut self, shell: InsideShell) {
        let InsideShell { name, args, env, file_rules, recipe_of, seed, time, streams, door, end } = shell;
        if self.inside.len() >= INSIDE_MAX {
            return end(Outcome::Trapped("too many shells inside one another".into()), streams);
        }
        // The host keeps all of it until the guest asks, which is up to the guest.
        let texts = args.iter().chain(env.iter()).map(|it| it.len() as u64 + TEXT_BYTES).sum::<u64>();
        let claims = recipe_of.iter().flatten().map(|it| it.len() as u64 + TEXT_BYTES).sum::<u64>();
        let Some(held) = Held::take(&self.meter, INSIDE_BYTES.saturating_add(texts).saturating_add(claims))
        else {
            return end(Outcome::OutOfMemory, streams);
        };
        let added = [
            self.handles.add_own(Stream::In(SharedSource::new(streams.stdin))),
            self.handles.add_own(Stream::Out(SharedSink::new(streams.stdout))),
            self.handles.add_own(Stream::Out(SharedSink::new(streams.stderr))),
        ];
        let (mut numbered, mut told) = (Vec::new(), Vec::new());
        for (number, stream) in streams.numbered {
            let (stream, end) = match stream {
                Numbered::Nothing => {
                    told.push(NumberedStream { number, handle: drydock_abi::shell::NONE, end: READS });
                    continue;
                }
                Numbered::PipeIn(reader) => (Stream::Pipe { reader: Some(reader), writer: None }, READS),
                Numbered::PipeOut(writer) => (Stream::Pipe { reader: None, writer: Some(writer) }, WRITES),
                Numbered::PipeBoth(reader, _) => (Stream::Pipe { reader: Some(reader), writer: None }, READS),
                Numbered::In(source) => (Stream::In(source), READS),
                Numbered::Out(sink) => (Stream::Out(sink), WRITES),
            };
            // One that there is no room for cannot be opened; the line has other troubles then.
            let Ok(own) = self.handles.add_own(stream) else { break };
            told.push(NumberedStream { number, handle: own.number, end });
            numbered.push(own);
        }
        self.inside_begun += 1;
        let (is_full, owned) = (added.iter().any(Result::is_err), added.map(Result::ok));
        let handles = owned.map(|it| it.map_or(drydock_abi::shell::NONE, |own| own.number));
        let id = self.inside_begun;
        let is_timed = !matches!(time, InsideTime::Lines);
        self.inside.insert(id, Inside { door, time, streams: owned, numbered, end });
        if is_full {
            let failed = Outcome::Trapped("the line has too many streams".into());
            return self.end_inside(id, failed);
        }
        let (env, umask) = (env.to_vec(), file_rules.umask.bits());
        let start = Event::Inside(Box::new(InsideStart {
            id,
            name,
            args,
            env,
            umask,
            file_bytes_max: file_rules.bytes_max,
            recipe_of,
            seed,
            is_timed,
            streams: handles,
            numbered: told,
        }));
        self.events.push_back(Untold::new(&start, Some(held)));
    }

    /// One of them has ended.
    pub(super) fn end_inside(&mut self, id: u32, outcome: Outcome) {
        if let Some(inside) = self.inside.remove(&id) {
            inside.end(&mut self.handles, outcome);
        }
    }
}
