//! Goes through a recorded run again: answers with what the world answered then, and has no way to the world itself.
//!
//! What is asked must be what was asked, in the same order. The first question that is not, and every frame that nobody
//! asked for, is a divergence: the replay stops there, and nothing is asked of anybody else.

use std::{
    collections::{HashMap, VecDeque},
    io,
    sync::Arc,
    time::Duration,
};

use drydock_caps::net::Answers;
use drydock_contract::{
    BoxFuture, CallError, CallId, Denial, Digest, Entropy, Fault, GuestTime, Source, SteppedClock, Timestamp,
    port::Files,
};
use drydock_gate::{Cut, Tape, TapedCall};
use drydock_store::{Frame, Frames, Seam, asked};
use parking_lot::Mutex;

use super::{
    Asked, Deck, Divergence,
    answer::{Reader, read_verdict},
    files::TreeTape,
    played_files::PlayedFiles,
    recorder::name_of,
    stream::PlayedSource,
    turn::turn,
};
use crate::{OpenTreeError, Setup};

/// Frames before the divergence that are shown with it.
const CONTEXT: usize = 3;

/// How often an answer waits for what came before it. Whoever waits longer diverges.
const TURNS_MAX: u32 = 10_000;

/// What real time a replay has for what time ended when it was recorded.
const TIME_MAX: Duration = Duration::from_secs(60 * 60);

/// What a tape is compared with at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// How it ended, in a word.
    pub outcome: String,
    /// Frames that were asked for.
    pub frames: u64,
}

/// A replay. Cheap to clone; clones are the same one.
#[derive(Clone)]
pub struct Player(Arc<Reel>);

type Strike = Box<dyn Fn() + Send + Sync>;

/// The tape, as far as it was played.
pub(super) struct Reel {
    state: Mutex<State>,
    /// How runs were ended that did not end by themselves.
    cuts: HashMap<u64, Cut>,
    /// After how many bytes readers of outgoing streams went away.
    left: HashMap<String, u64>,
    strikes: Mutex<Vec<Strike>>,
    seed: u64,
    start: Timestamp,
    inputs: Vec<u8>,
    clock: Arc<SteppedClock>,
}

struct State {
    frames: Frames,
    ahead: Option<Frame>,
    at: u64,
    before: VecDeque<Asked>,
    diverged: Option<Divergence>,
    /// Time was up when it was recorded, and is now.
    struck: bool,
}

impl Player {
    /// Over these frames; `again` has the same ones from the first.
    #[expect(clippy::result_large_err, reason = "a replay diverges once")]
    pub fn new(mut frames: Frames, mut again: Frames) -> Result<Self, Divergence> {
        let broken = |why: String| Divergence {
            frame: 0,
            recorded: None,
            replayed: None,
            before: Vec::new(),
            why: Some(why),
        };
        let unreadable = |error: drydock_store::BadFrame| broken(error.to_string());
        let (mut cuts, mut left) = (HashMap::new(), HashMap::new());
        // Nobody asks for verdicts, so they are counted: one that is missing or too many is found before anything is played.
        let (mut verdicts, mut counted) = (0_u64, None);
        let bad = |what: &str| broken(format!("a verdict {what}"));
        while let Some(frame) = again.read().map_err(unreadable)? {
            let mut reader = Reader::new(&frame.answer);
            match frame.seam {
                Seam::End => {
                    counted = Some(reader.number().ok_or_else(|| broken("its end cannot be read".into()))?);
                }
                Seam::Verdict if frame.asked != [0; 16] => return Err(bad("is no answer to anything")),
                Seam::Verdict if frame.call == 0 => {
                    verdicts += 1;
                    let bytes = reader.number().ok_or_else(|| bad("cannot be read"))?;
                    left.entry(frame.name).or_insert(bytes);
                }
                Seam::Verdict => {
                    verdicts += 1;
                    let cut = reader.byte().zip(reader.number());
                    let (timed_out, fuel) = cut.ok_or_else(|| bad("cannot be read"))?;
                    if cuts.insert(frame.call, Cut { timed_out: timed_out != 0, fuel }).is_some() {
                        return Err(bad("is there twice for one call"));
                    }
                }
                _ => {}
            }
        }
        if counted.is_some_and(|it| it != verdicts) {
            return Err(broken(format!("it has {verdicts} verdicts, and had another number of them")));
        }
        let begin = frames.read().map_err(unreadable)?.filter(|it| it.seam == Seam::Begin);
        let begin = begin.ok_or_else(|| broken("it has no beginning".into()))?;
        let mut reader = Reader::new(&begin.answer);
        let inputs = reader.number().zip(reader.number()).zip(reader.bytes().map(<[u8]>::to_vec));
        let ((seed, start), inputs) = inputs.ok_or_else(|| broken("its beginning cannot be read".into()))?;
        let start = Timestamp(start);
        let (ahead, before) = (None, VecDeque::new());
        let state = State { frames, ahead, at: 1, before, diverged: None, struck: false };
        let clock = Arc::new(SteppedClock::starting(start));
        let (state, strikes) = (Mutex::new(state), Mutex::default());
        Ok(Self(Arc::new(Reel { state, cuts, left, strikes, seed, start, inputs, clock })))
    }

    /// What whoever recorded needs to begin the same thing again.
    pub fn inputs(&self) -> &[u8] {
        &self.0.inputs
    }

    /// When it was recorded.
    pub fn start(&self) -> Timestamp {
        self.0.start
    }

    /// What ends the run from outside: called where the tape diverges, and where time ended it when it was recorded.
    pub fn on_end(&self, end: impl Fn() + Send + Sync + 'static) {
        self.0.strikes.lock().push(Box::new(end));
    }

    /// It is over, and this came of it.
    #[expect(clippy::result_large_err, reason = "a replay diverges once")]
    pub fn finish(&self, outcome: &str, pieces: &[&[u8]]) -> Result<Replayed, Divergence> {
        let _ = self.0.next(Seam::End, 0, outcome, asked(pieces));
        let mut state = self.0.state.lock();
        if let Some(diverged) = state.diverged.take() {
            return Err(diverged);
        }
        if let Ok(Some(frame)) = state.frames.read() {
            let before = state.before.iter().cloned().collect();
            let (recorded, frame) = (Some(Asked::of(&frame)), state.at);
            return Err(Divergence { frame, recorded, replayed: None, before, why: None });
        }
        Ok(Replayed { outcome: outcome.to_owned(), frames: state.at })
    }

    /// Where it diverged, if it did.
    pub fn diverged(&self) -> Option<Divergence> {
        self.0.state.lock().diverged.clone()
    }

    pub(super) fn reel(&self) -> &Arc<Reel> {
        &self.0
    }
}

/// The tape has no such answer; the replay is over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Over;

impl Reel {
    /// The answer to this question, if it is the next one on the tape.
    pub(super) fn next(&self, seam: Seam, call: u64, name: &str, asked: [u8; 16]) -> Result<Vec<u8>, Over> {
        let mut state = self.state.lock();
        if state.diverged.is_some() || (state.struck && seam != Seam::End) {
            return Err(Over);
        }
        let name = &name[..name.floor_char_boundary(drydock_store::FRAME_NAME_BYTES_MAX)];
        let found = match state.ahead.take() {
            Some(frame) => Ok(Some(frame)),
            None => loop {
                match state.frames.read() {
                    Ok(Some(frame)) if frame.seam == Seam::Verdict => state.at += 1,
                    other => break other,
                }
            },
        };
        let question = Asked::new(seam, call, name, asked);
        let (recorded, why) = match found {
            Ok(Some(frame))
                if frame.seam == seam && frame.call == call && frame.name == name && frame.asked == asked =>
            {
                state.at += 1;
                if state.before.len() == CONTEXT {
                    state.before.pop_front();
                }
                state.before.push_back(question);
                return Ok(frame.answer);
            }
            // It got no further then: its time was up.
            Ok(Some(frame)) if !self.cuts.is_empty() && seam != Seam::End && frame.seam == Seam::End => {
                state.ahead = Some(frame);
                state.struck = true;
                drop(state);
                self.strike();
                return Err(Over);
            }
            Ok(Some(frame)) => (Some(Asked::of(&frame)), None),
            Ok(None) => (None, None),
            Err(error) => (None, Some(error.to_string())),
        };
        let before = state.before.iter().cloned().collect();
        let frame = state.at;
        state.diverged = Some(Divergence { frame, recorded, replayed: Some(question), before, why });
        drop(state);
        self.strike();
        Err(Over)
    }

    /// After how many bytes the reader of this stream went away, if it did.
    pub(super) fn reader_left(&self, name: &str) -> Option<u64> {
        self.left.get(name).copied()
    }

    /// The next frame, without taking it.
    fn peek(state: &mut State) -> Option<&Frame> {
        if state.ahead.is_none() {
            // What cannot be read is met again by whoever asks.
            state.ahead = loop {
                match state.frames.read() {
                    Ok(Some(frame)) if frame.seam == Seam::Verdict => state.at += 1,
                    Ok(frame) => break frame,
                    Err(_) => break None,
                }
            };
        }
        state.ahead.as_ref()
    }

    /// Whether somebody else asked before this one did; at the end, an answer that nobody waited for then.
    fn waits_for_others(&self, seam: Seam, call: u64) -> bool {
        let mut state = self.state.lock();
        if state.diverged.is_some() || state.struck {
            return false;
        }
        Self::peek(&mut state).is_some_and(|it| (it.seam, it.call) != (seam, call))
    }

    /// A call that was refused before its request was read is known by its number alone.
    fn refused_unread(&self, call: &TapedCall<'_>) -> Option<String> {
        let mut state = self.state.lock();
        let next = Self::peek(&mut state)?;
        let is_it = next.seam == Seam::Call
            && next.call == call.call.0
            && next.asked == [0; 16]
            && !next.answer.is_empty()
            && next.name.split(' ').next() == Some(call.operation);
        is_it.then(|| next.name.clone())
    }

    /// What was answered last cannot be read, or does not fit.
    pub(super) fn broken(&self) {
        self.diverge("the answer on the tape does not fit the question");
    }

    fn diverge(&self, why: &str) {
        let mut state = self.state.lock();
        if state.diverged.is_none() {
            let replayed = state.before.pop_back();
            let (recorded, before) = (replayed.clone(), state.before.iter().cloned().collect());
            let frame = state.at.saturating_sub(1);
            state.diverged = Some(Divergence { frame, recorded, replayed, before, why: Some(why.into()) });
        }
        drop(state);
        self.strike();
    }

    fn strike(&self) {
        for end in &*self.strikes.lock() {
            end();
        }
    }

    /// What a question is told that has no answer.
    fn over() -> Fault {
        Fault::Internal("the replay is over".into())
    }
}

impl Deck for Player {
    fn prepare(&self, setup: &mut Setup) {
        setup.time = GuestTime::Fixed(self.0.start);
        setup.clock = Some(Arc::clone(&self.0.clock));
        setup.entropy = Entropy::Seeded(self.0.seed);
        setup.tape = self.tape();
        setup.network.injected.clear();
        setup.host_commands = setup.host_commands.played(&self.0);
        setup.change_limits(|limits| limits.wall_max = TIME_MAX.max(limits.wall_max));
    }

    fn files(
        &self,
        name: &str,
        _: &mut dyn FnMut() -> Result<Arc<dyn Files>, OpenTreeError>,
    ) -> Result<Arc<dyn Files>, OpenTreeError> {
        Ok(Arc::new(PlayedFiles::new(TreeTape::new(name), Arc::clone(&self.0))))
    }

    fn stream(&self, name: &str, _: &mut dyn FnMut() -> io::Result<Source>) -> io::Result<Source> {
        Ok(Source::Stream(Box::new(PlayedSource::new(name, Arc::clone(&self.0)))))
    }

    fn tape(&self) -> Option<Arc<dyn Tape>> {
        Some(Arc::clone(&self.0) as _)
    }
}

impl Tape for Reel {
    fn judged(&self, call: &TapedCall<'_>, own: Option<Denial>) -> Result<(), CallError> {
        let (name, asked) = match self.refused_unread(call) {
            Some(name) => (name, [0; 16]),
            None => (name_of(call), call.request.unwrap_or_default()),
        };
        let answer = self.next(Seam::Call, call.call.0, &name, asked).map_err(|_| Self::over())?;
        if answer.is_empty() {
            return match own {
                None => Ok(()),
                Some(denial) => {
                    self.diverge(&format!("it was allowed, and is refused here: {denial}"));
                    Err(denial.into())
                }
            };
        }
        match (read_verdict(&answer, call), own) {
            (Some((code, _)), Some(own)) if own.code() == code => Err(own.into()),
            (Some((_, Some(denial))), _) => Err(denial.into()),
            (Some((code, None)), _) => {
                self.diverge(&format!("it was refused ({code}), and is not here"));
                Err(Self::over().into())
            }
            (None, _) => {
                self.broken();
                Err(Self::over().into())
            }
        }
    }

    fn code(&self, call: CallId, name: &str, digest: &Digest) -> Result<(), Fault> {
        let asked = asked(&[digest.to_string().as_bytes()]);
        self.next(Seam::Code, call.0, name, asked).map(drop).map_err(|_| Self::over())
    }

    fn catch_up(&self) -> BoxFuture<'_, ()> {
        Box::pin(turn())
    }

    fn late(&self) -> Option<Timestamp> {
        None
    }

    fn answered(&self, _: CallId, _: &[u8]) {}

    fn cut(&self, _: CallId, _: Cut) {}

    fn was_cut(&self, call: CallId) -> Option<Cut> {
        self.cuts.get(&call.0).copied()
    }

    fn time(&self, wall_max: Duration) -> Duration {
        TIME_MAX.max(wall_max)
    }

    fn charges_time(&self) -> bool {
        false
    }
}

impl Answers for Reel {
    fn ready(&self, call: CallId) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            for _ in 0..TURNS_MAX {
                if !self.waits_for_others(Seam::Net, call.0) {
                    return;
                }
                turn().await;
            }
        })
    }

    fn next(&self, call: CallId) -> Result<Vec<u8>, Fault> {
        Self::next(self, Seam::Net, call.0, "answer", [0; 16]).map_err(|_| Self::over())
    }
}
