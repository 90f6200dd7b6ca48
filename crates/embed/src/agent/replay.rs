//! Going through a run again: by its events alone, and, where it was recorded, by its tape.
//!
//! The events say what was decided; the check is that the same decisions follow from them today. The tape has what entered
//! from outside; the run is driven again with its tools at work in the sandbox, its model and its network from the tape, and
//! what people answered from its events. Nothing of a replay is kept, and nothing reaches the world.

use std::sync::Arc;

use drydock_agent::{Act, Event, Next, Order, Run, RunEnd, next};
use drydock_contract::{AgentId, AgentStatus};
use drydock_store::TapeId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    AgentError, AgentPowers, AgentRun, AgentSpec, DockAgents, Driven,
    open::{Opening, Taping, fold},
    replay_store::ReplayStore,
};
use crate::{
    Dock,
    tape::{Player, RecordSettings, Recorder},
};

/// What tapes of agents are called in a listing.
pub(super) const TAPE_KIND: &str = "agent";

/// What came of a replay: it is the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReplayedRun {
    /// Events that follow from those before them.
    pub events: u64,
    /// The tape that it was gone through again by, if it was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tape: Option<String>,
    /// Frames of that tape, each of which was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<u64>,
}

/// What a recorded run was opened with.
#[derive(Serialize, Deserialize)]
struct Inputs {
    id: AgentId,
    system: String,
    task: String,
    agent: Option<String>,
    options: drydock_agent::RunOptions,
    powers: AgentPowers,
}

impl DockAgents {
    /// Opens a new run whose world is written down; [`AgentRun::keep_tape`] keeps that. It is to be driven to its end in this
    /// process: of a run that goes on elsewhere there is no tape.
    pub async fn open_recorded(&self, spec: AgentSpec, bytes_max: u64) -> Result<AgentRun, AgentError> {
        let (id, spec) = (super::reviews::new_id()?, self.told_of_toolkits(spec).await?);
        let AgentSpec { system, task, agent, options, powers } = spec.clone();
        let inputs = Inputs { id: id.clone(), system, task, agent, options, powers };
        let inputs = serde_json::to_vec(&inputs).map_err(|error| AgentError::BadChange(error.to_string()))?;
        let recorder = Recorder::begin(RecordSettings { bytes_max, inputs, ..RecordSettings::default() });
        self.open_as(spec, Opening { id: Some(id), taping: Taping::Record(recorder), ..Opening::default() })
            .await
    }

    /// Goes through a run again: whether its events follow from one another, and, where there is a tape of it, whether the same
    /// comes of it with nothing of the world but that.
    pub async fn replay(&self, run: &AgentId) -> Result<ReplayedRun, AgentError> {
        self.show(run).await?;
        let events = self.all_events(run).await?;
        follows(run, &events)?;
        let Some(tape) = self.tape_of(run).await? else {
            return Ok(ReplayedRun { events: events.len() as u64, tape: None, frames: None });
        };
        let frames = self.play(run, &tape, &events).await?;
        Ok(ReplayedRun { events: events.len() as u64, tape: Some(tape.to_string()), frames: Some(frames) })
    }

    /// The tape of a run, if it was recorded.
    async fn tape_of(&self, run: &AgentId) -> Result<Option<TapeId>, AgentError> {
        let (dock, title) = (self.dock.clone(), run.to_string());
        let found = move || -> Result<_, AgentError> {
            let is_it = |facts: &drydock_store::TapeFacts| facts.kind == TAPE_KIND && facts.title == title;
            let all = dock.tapes()?.list()?.into_iter();
            Ok(all.filter(|(_, facts)| facts.as_ref().is_ok_and(is_it)).map(|(id, _)| id).last())
        };
        crate::instance::off_thread(found).await
    }

    async fn play(&self, run: &AgentId, tape: &TapeId, events: &[Event]) -> Result<u64, AgentError> {
        let diverged = |why: String| AgentError::Diverged { run: run.clone(), why };
        let tape = self.dock.tape(tape)?;
        let player =
            Player::new(tape.frames(), tape.frames()).map_err(|error| diverged(error.to_string()))?;
        let inputs = serde_json::from_slice(player.inputs());
        let Inputs { id, system, task, agent, options, powers } =
            inputs.map_err(|error| diverged(format!("the tape's beginning cannot be read: {error}")))?;
        let principal = powers.principal.clone();
        let work = self.dock.begin_replay(&principal, &tape.facts.id).await;
        let work = work.map_err(|error| diverged(error.to_string()))?;
        let (machine, _) = self.dock.replaying(&player);
        let store = Arc::new(ReplayStore::of(events));
        let machine = Dock { agents: Arc::clone(&store) as _, ..machine };
        let agents = Self { dock: machine, ..self.clone() };
        let spec = AgentSpec { system, task, agent, options, powers };
        let taping = Taping::Play(player.clone());
        let mut again = agents.open_as(spec, Opening { id: Some(id), taping, ..Opening::default() }).await?;
        again.ids = store.ids();
        let session = again.session().clone();
        player.on_end(move || session.cancel());
        let outcome = match again.drive().await? {
            Driven::Ended(_) => again.head().status,
            Driven::Waiting => AgentStatus::Waiting,
        };
        let came = essence(&store.events());
        let done = player.finish(outcome.as_str(), &[&came]).map_err(|error| diverged(error.to_string()));
        work.end(drydock_contract::Outcome::Exited(i32::from(done.is_err())));
        let frames = done?.frames;
        match came == essence(events) {
            true => Ok(frames),
            false => Err(diverged("the events of the replay are others".into())),
        }
    }
}

/// What happened, without when and how long it took, and without what follows from it: what that cost is in its turns.
pub(super) fn essence(events: &[Event]) -> Vec<u8> {
    let mut all = Vec::new();
    for event in events {
        let mut value = serde_json::to_value(event).unwrap_or_default();
        if let Value::Object(members) = &mut value {
            for time in ["at_ms", "ms", "expires_ms", "spent"] {
                members.remove(time);
            }
        }
        all.extend_from_slice(value.to_string().as_bytes());
        all.push(b'\n');
    }
    all
}

/// Whether each event is one that the loop would have written after those before it.
fn follows(id: &AgentId, events: &[Event]) -> Result<(), AgentError> {
    // Both orders write events that the other one could have written too, so the wider one is asked.
    let mut run = Run::default();
    for (at, event) in events.iter().enumerate() {
        if !may_follow(&run, event) {
            let why = format!("event {at}, `{}`, does not follow from those before it", event.name());
            return Err(AgentError::Diverged { run: id.clone(), why });
        }
        run.on(event).map_err(|error| AgentError::Broken { run: id.clone(), why: error.to_string() })?;
    }
    fold(id, events).map(drop)
}

fn may_follow(run: &Run, event: &Event) -> bool {
    let what = next(run, Order::SideBySide);
    match event {
        Event::Turn { .. } => what == Next::Complete,
        Event::Nudged { .. } => what == Next::Nudge,
        Event::Compacted { messages, .. } => {
            matches!(what, Next::Compact(count) if u64::try_from(count).is_ok_and(|it| it == *messages))
        }
        Event::Calling { .. } => match what {
            Next::Act(acts) => acts.iter().any(|it| matches!(it, Act::Call { .. } | Act::Repeat { .. })),
            _ => false,
        },
        Event::Ended { end, .. } => match (end, what) {
            // A person's will, and what a model or the gate said, is in no event before.
            (RunEnd::Cancelled, _) | (RunEnd::Failed { .. }, Next::Complete) => true,
            (end, Next::End(follows)) => *end == follows,
            _ => false,
        },
        // What people do, and what tools answer, comes from outside; whether it fits is judged where it is folded.
        Event::Started { .. }
        | Event::Result { .. }
        | Event::Said { .. }
        | Event::Asked { .. }
        | Event::Answered { .. }
        | Event::Resumed { .. } => true,
    }
}
