//! Records a session: its time and randomness are fixed when it begins, and whatever else enters is written down.
//!
//! The session goes by a clock of its own from the real moment on, and its parts take turns (decision 0072): so their order
//! and what they compute need no frame. Where the world is asked, the clock is brought up to the world's.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use drydock_contract::{
    BoxFuture, CallError, CallId, Denial, Digest, Entropy, Fault, GuestTime, Source, SteppedClock, Timestamp,
    port::{Clock as _, Files},
};
use drydock_gate::{Cut, Tape, TapedCall};
use drydock_store::{
    Frame, Seam, TAPE_BYTES_MAX, TapeBody, TapeError, TapeFacts, TapeLabel, TapeWriter, Tapes, asked,
};
use parking_lot::Mutex;

use super::{
    Deck,
    answer::{Writer, verdict},
    files::{RecordedFiles, TreeTape},
    stream::RecordedSource,
    turn::{held, turn},
};
use crate::{OpenTreeError, Setup, SystemClock};

/// How something is recorded.
#[derive(Debug, Clone)]
pub struct RecordSettings {
    /// The longest tape, compressed.
    pub bytes_max: u64,
    /// What whoever replays needs to begin the same thing again; theirs to read.
    pub inputs: Vec<u8>,
    /// The seed, if somebody chose one.
    pub seed: Option<u64>,
    /// The moment it begins, if somebody chose one.
    pub start: Option<Timestamp>,
}

impl Default for RecordSettings {
    fn default() -> Self {
        Self { bytes_max: TAPE_BYTES_MAX, inputs: Vec::new(), seed: None, start: None }
    }
}

/// A recording. Cheap to clone; clones are the same one.
#[derive(Clone)]
pub struct Recorder(Arc<Shared>);

/// What all seams of a recording write to.
pub(super) struct Shared {
    writer: Mutex<Option<TapeWriter>>,
    /// Verdicts so far. Nobody asks for them in a replay, so the end of the tape says how many there are.
    verdicts: AtomicU64,
    bytes_max: u64,
    seed: u64,
    start: Timestamp,
    began: Instant,
    clock: Arc<SteppedClock>,
}

impl Shared {
    pub(super) fn put(&self, frame: &Frame) {
        if frame.seam == Seam::Verdict {
            self.verdicts.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(writer) = &mut *self.writer.lock() {
            // Past its bound there is no tape, and the run goes on.
            let _ = writer.put(frame);
        }
    }

    /// The real time, on the session's scale.
    fn real(&self) -> Timestamp {
        self.start.plus(self.began.elapsed())
    }
}

impl Recorder {
    /// Begins a recording.
    pub fn begin(settings: RecordSettings) -> Self {
        let RecordSettings { bytes_max, inputs, seed, start } = settings;
        // A fresh hasher is keyed by the operating system; the seed of a run is no secret.
        let seed = seed.unwrap_or_else(|| Entropy::System.seed());
        let start = start.unwrap_or_else(|| SystemClock.now());
        let clock = Arc::new(SteppedClock::starting(start));
        let (writer, began) = (Mutex::new(Some(TapeWriter::new(bytes_max))), Instant::now());
        let verdicts = AtomicU64::new(0);
        let shared = Shared { writer, verdicts, bytes_max, seed, start, began, clock };
        let answer = Writer::default().number(seed).number(start.0).bytes(&inputs).0;
        let name = format!("drydock {}", env!("CARGO_PKG_VERSION"));
        shared.put(&Frame { seam: Seam::Begin, call: 0, name, asked: [0; 16], answer });
        Self(Arc::new(shared))
    }

    /// It is over: `outcome` says how in a word, and the pieces are what came of it, of which a digest is kept.
    pub fn finish(&self, outcome: &str, pieces: &[&[u8]]) -> Result<TapeBody, TapeError> {
        let asked = asked(pieces);
        let answer = Writer::default().number(self.0.verdicts.load(Ordering::Relaxed)).0;
        self.0.put(&Frame { seam: Seam::End, call: 0, name: outcome.to_owned(), asked, answer });
        let writer = self.0.writer.lock().take();
        writer.and_then(TapeWriter::finish).ok_or(TapeError::TooLong { bytes_max: self.0.bytes_max })
    }

    /// The same, kept under this label.
    pub fn keep(
        &self,
        tapes: &Tapes,
        label: TapeLabel,
        outcome: &str,
        pieces: &[&[u8]],
    ) -> Result<TapeFacts, TapeError> {
        let body = self.finish(outcome, pieces)?;
        tapes.keep(TapeLabel { created: self.0.start, ..label }, &body)
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.0
    }
}

impl Deck for Recorder {
    fn prepare(&self, setup: &mut Setup) {
        setup.time = GuestTime::Fixed(self.0.start);
        setup.clock = Some(Arc::clone(&self.0.clock));
        setup.entropy = Entropy::Seeded(self.0.seed);
        setup.tape = self.tape();
        setup.host_commands = setup.host_commands.recorded(&self.0);
    }

    fn files(
        &self,
        name: &str,
        open: &mut dyn FnMut() -> Result<Arc<dyn Files>, OpenTreeError>,
    ) -> Result<Arc<dyn Files>, OpenTreeError> {
        let tree = TreeTape::new(name);
        Ok(Arc::new(RecordedFiles::new(open()?, tree, Arc::clone(&self.0))))
    }

    fn stream(&self, name: &str, open: &mut dyn FnMut() -> io::Result<Source>) -> io::Result<Source> {
        let source = RecordedSource::new(open()?, name, Arc::clone(&self.0));
        Ok(Source::Stream(Box::new(source)))
    }

    fn tape(&self) -> Option<Arc<dyn Tape>> {
        Some(Arc::clone(&self.0) as _)
    }
}

/// What is asked at the gate, for a person.
pub(super) fn name_of(call: &TapedCall<'_>) -> String {
    match call.subjects.first() {
        "" => call.operation.to_owned(),
        subject => format!("{} {subject}", call.operation),
    }
}

impl Tape for Shared {
    fn judged(&self, call: &TapedCall<'_>, own: Option<Denial>) -> Result<(), CallError> {
        let answer = verdict(own.as_ref());
        let (name, asked) = (name_of(call), call.request.unwrap_or_default());
        self.put(&Frame { seam: Seam::Call, call: call.call.0, name, asked, answer });
        own.map_or(Ok(()), |denial| Err(denial.into()))
    }

    fn code(&self, call: CallId, name: &str, digest: &Digest) -> Result<(), Fault> {
        let (name, asked) = (name.to_owned(), asked(&[digest.to_string().as_bytes()]));
        self.put(&Frame { seam: Seam::Code, call: call.0, name, asked, answer: Vec::new() });
        Ok(())
    }

    fn catch_up(&self) -> BoxFuture<'_, ()> {
        let ahead = self.clock.stands_at().0.saturating_sub(self.real().0);
        Box::pin(async move {
            turn().await;
            if ahead > 0 {
                held(tokio::time::sleep(Duration::from_nanos(ahead))).await;
            }
        })
    }

    fn late(&self) -> Option<Timestamp> {
        Some(self.real())
    }

    fn answered(&self, call: CallId, answer: &[u8]) {
        let name = "answer".to_owned();
        self.put(&Frame { seam: Seam::Net, call: call.0, name, asked: [0; 16], answer: answer.to_vec() });
    }

    fn cut(&self, call: CallId, cut: Cut) {
        let name = if cut.timed_out { "timed_out" } else { "cancelled" }.to_owned();
        let answer = Writer::default().byte(u8::from(cut.timed_out)).number(cut.fuel).0;
        self.put(&Frame { seam: Seam::Verdict, call: call.0, name, asked: [0; 16], answer });
    }

    fn was_cut(&self, _: CallId) -> Option<Cut> {
        None
    }

    fn time(&self, wall_max: Duration) -> Duration {
        wall_max
    }

    fn charges_time(&self) -> bool {
        true
    }
}
