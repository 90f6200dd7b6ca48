//! What the loop asks of whoever holds a run's session and its files.

use drydock_abi::llm::{Deltas, ToolCall};
use drydock_contract::{AgentHead, AgentId, BoxFuture};
use serde_json::Value;

use crate::{Event, Given, Purse, Spent};

/// Stands behind a run: its workspace, its session, whoever watches it. Nothing of it is asked for what a model wants done:
/// that goes through the gate.
pub trait Host: Send + Sync {
    /// An id that nobody guesses and that was never used: of a review.
    fn fresh_id(&self) -> AgentId;

    /// Keeps the whole of an output that a model sees cut, and says under which path of the workspace. None where it cannot
    /// be kept. `place` is which call of the turn it was: ids of calls are a model's words, and no names for files.
    fn keep_output<'a>(&'a self, step: u64, place: usize, output: &'a str) -> BoxFuture<'a, Option<String>>;

    /// The calls of a turn are over, and may have changed files: keeps the workspace as `RUN.STEP`. Said again of a turn
    /// where a run is gone on with; one that is kept already is kept as it is.
    fn snapshot(&self, step: u64) -> BoxFuture<'_, ()>;

    /// Gives a grant that a person gave to the session. Said again of each one where a run is gone on with: uses are counted
    /// under its review, so that no more come of it. What cannot be given is why not.
    fn give<'a>(&'a self, given: &'a Given) -> BoxFuture<'a, Result<(), String>>;

    /// A person gave so much more to spend. Only said when they did: a session that is opened again has what
    /// [`Run::left`](crate::Run::left) says.
    fn more(&self, purse: Purse, amount: u64);

    /// What was spent in the run's name until now, whoever asked which model: what its events ought to say together. None
    /// where that is not known, and then they say what its turns took.
    fn spent(&self) -> BoxFuture<'_, Option<Spent>> {
        Box::pin(async { None })
    }

    /// What would happen if this call were made, for a person to see: a diff, a command, a host.
    fn preview<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Option<Value>> {
        let _ = call;
        Box::pin(async { None })
    }

    /// These events are kept, the first under number `at`, and the run is so far. Must not block.
    fn on_events(&self, at: u64, events: &[Event], head: &AgentHead) {
        let _ = (at, events, head);
    }

    /// Who hears the words of a turn while they come.
    fn deltas(&self) -> Option<Deltas> {
        None
    }
}
