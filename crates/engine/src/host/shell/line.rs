//! What the host holds for the line that a shell's guest runs.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use drydock_abi::shell::{Ended, Event, encode};
use drydock_contract::{Dispatch, LineDesk, LineWorld, Meter, NamedPipes, SharedSink, SharedSource, Streams};
use futures_util::future::AbortHandle;

use super::{
    handle::{Handles, Stream},
    inside::Inside,
};
use crate::{guest::Held, host::open::Open};

/// A command that ended, by its number, and what pays for it until the guest has been told.
pub(super) type Happened = (u32, Option<(Ended, Held)>);

/// Something that the guest has not been told yet.
pub(super) struct Untold {
    /// The event, written once: a guest may ask for it as often as it likes, with room for it or without.
    pub(super) bytes: Vec<u8>,
    /// A guest that starts and starts and never asks what came of it pays for all the answers.
    _held: Option<Held>,
}

impl Untold {
    pub(super) fn new(event: &Event, held: Option<Held>) -> Self {
        Self { bytes: encode(event), _held: held }
    }
}

/// One call of the guest: a line, or a text that is only read.
pub(crate) struct Line {
    /// What it is called with.
    pub(super) input: Vec<u8>,
    /// What it answers.
    pub(super) answer: Option<(Vec<u8>, Held)>,
    /// None where a text is only read: then there is nothing to be asked of the world.
    pub(super) world: Option<World>,
}

/// What a line has of the world.
pub(super) struct World {
    pub(super) door: Arc<dyn Dispatch>,
    pub(super) desk: Arc<dyn LineDesk>,
    /// The line's, for what the host keeps for it while the guest does not run.
    pub(super) meter: Arc<Meter>,
    pub(super) handles: Handles,
    /// Pipes that shell and commands find by names of their files.
    pub(super) named: Arc<NamedPipes>,
    /// Commands that go on. Made with the first one.
    pub(super) open: Option<Open<Happened>>,
    /// How to end one of them.
    pub(super) running: BTreeMap<u32, AbortHandle>,
    pub(super) begun: u32,
    /// What the guest has not been told yet.
    pub(super) events: VecDeque<Untold>,
    /// Shells that commands of the line started.
    pub(super) inside: BTreeMap<u32, Inside>,
    pub(super) inside_begun: u32,
}

impl Line {
    pub(crate) fn new(input: Vec<u8>, world: Option<LineWorld>, meter: &Arc<Meter>) -> Self {
        let world = world.map(|it| World::new(it.door, it.desk, it.streams, Arc::clone(meter)));
        Self { input, answer: None, world }
    }

    /// The pipes with names that are open in it.
    pub(crate) fn named_pipes(&self) -> Option<&Arc<NamedPipes>> {
        self.world.as_ref().map(|it| &it.named)
    }

    /// What the guest answered with what pays for it, and the line's streams. Whatever it left behind ends here.
    pub(crate) fn end(self) -> (Option<(Vec<u8>, Held)>, Streams) {
        let streams = self.world.map(World::end).unwrap_or_default();
        (self.answer, streams)
    }
}

impl World {
    fn new(door: Arc<dyn Dispatch>, desk: Arc<dyn LineDesk>, streams: Streams, meter: Arc<Meter>) -> Self {
        let mut handles = Handles::default();
        // The first three, so there is room.
        let _ = handles.add(Stream::In(SharedSource::new(streams.stdin)));
        let _ = handles.add(Stream::Out(SharedSink::new(streams.stdout)));
        let _ = handles.add(Stream::Out(SharedSink::new(streams.stderr)));
        Self {
            door,
            desk,
            named: Arc::new(NamedPipes::new(Arc::clone(&meter))),
            meter,
            handles,
            open: None,
            running: BTreeMap::new(),
            begun: 0,
            events: VecDeque::new(),
            inside: BTreeMap::new(),
            inside_begun: 0,
        }
    }

    fn end(mut self) -> Streams {
        // Commands first: they hold the streams too.
        self.open = None;
        for (_, inside) in std::mem::take(&mut self.inside) {
            inside.end(&mut self.handles, drydock_contract::Outcome::Cancelled);
        }
        let [stdin, stdout, stderr] = [0, 1, 2].map(|it| self.handles.take(it));
        let sink = |stream| match stream {
            Some(Stream::Out(sink)) => sink.take(),
            _ => drydock_contract::Sink::Discard,
        };
        let stdin = match stdin {
            Some(Stream::In(source)) => source.take(),
            _ => drydock_contract::Source::Empty,
        };
        Streams { stdin, stdout: sink(stdout), stderr: sink(stderr), ..Streams::default() }
    }
}
