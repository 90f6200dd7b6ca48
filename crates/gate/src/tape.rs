//! What a session's tape is told, or answers: the seams of docs/specs/tape.md that lie at the gate and behind it.
//!
//! Whoever records hears each verdict and each answer of the world. Whoever replays compares what is asked with what was
//! asked then, and answers for a world that is not there. Both are the same trait, so that the gate knows neither.

use std::time::Duration;

use drydock_contract::{
    BoxFuture, CallError, CallId, Cap, Denial, Digest, Fault, Timestamp,
    port::{CallFacts, Subjects},
};

/// A call as its tape knows it.
#[derive(Debug, Clone)]
pub struct TapedCall<'a> {
    /// Which one.
    pub call: CallId,
    /// What it asks for.
    pub operation: &'static str,
    /// The power that is asked.
    pub cap: Cap,
    /// What it is about.
    pub subjects: &'a Subjects,
    /// All of its request, where that is recorded.
    pub request: Option<[u8; 16]>,
}

impl<'a> TapedCall<'a> {
    pub(crate) fn of(facts: &'a CallFacts, cap: Cap) -> Self {
        let request = facts.request.as_ref().map(|it| it.digest);
        Self { call: facts.call, operation: facts.operation, cap, subjects: &facts.subjects, request }
    }
}

/// How a run was ended that did not end by itself, and what it had burnt by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Whether its time was up; else it was cancelled.
    pub timed_out: bool,
    /// Fuel; none where none is counted.
    pub fuel: u64,
}

/// A session's tape.
pub trait Tape: Send + Sync {
    /// A call was judged so by this gate. What comes back is what counts.
    fn judged(&self, call: &TapedCall<'_>, own: Option<Denial>) -> Result<(), CallError>;

    /// This code is about to run.
    fn code(&self, call: CallId, name: &str, digest: &Digest) -> Result<(), Fault>;

    /// Waits until the world is as late as the session's clock: whoever slept in between asks as late as it thinks.
    fn catch_up(&self) -> BoxFuture<'_, ()>;

    /// How late it is out there, for a session whose clock is to follow.
    fn late(&self) -> Option<Timestamp>;

    /// A piece of what a power that reaches out was answered.
    fn answered(&self, call: CallId, answer: &[u8]);

    /// A run or a line was ended by time, or by somebody.
    fn cut(&self, call: CallId, cut: Cut);

    /// How this run or line was ended when it was recorded, if it did not end by itself.
    fn was_cut(&self, call: CallId) -> Option<Cut>;

    /// The time that whoever is not ended by real time has instead of this.
    fn time(&self, wall_max: Duration) -> Duration;

    /// Whether the time that guests compute is charged to their budgets.
    fn charges_time(&self) -> bool;
}
