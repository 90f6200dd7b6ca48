//! Opening a run: its session, its files and what stands behind its tools, for one that is new and for one that is there.

use std::sync::Arc;

use drydock_agent::{BadRun, Event, Run, RunEnd, prompt};
use drydock_contract::{
    AgentHead, AgentId, AgentStatus, Principal,
    port::{Clock as _, RunHold},
};

use super::{
    AgentChanges, AgentError, AgentFiles, AgentPowers, AgentRun, AgentSpec, DockAgents,
    furnish::{Inherited, Room},
    heard::Heard,
    house,
    reviews::new_id,
};
use crate::{
    BadSetup,
    tape::{Deck, Player, Recorder},
};

/// How a run is opened besides what it says itself.
#[derive(Default)]
pub(super) struct Opening {
    /// Its id, if that follows from something.
    pub(super) id: Option<AgentId>,
    /// The run that it comes from.
    pub(super) parent: Option<AgentId>,
    /// What it has from the run that called for it.
    pub(super) inherited: Option<Inherited>,
    /// What it begins with after its first event.
    pub(super) history: Vec<Event>,
    /// How it meets the world.
    pub(super) taping: Taping,
}

/// How a run meets the world.
#[derive(Clone, Default)]
pub(super) enum Taping {
    /// As it is.
    #[default]
    Live,
    /// With somebody who writes down what enters.
    Record(Recorder),
    /// Not at all: a tape has its place.
    Play(Player),
}

impl Taping {
    /// The deck between the run and the world, if there is one.
    pub(super) fn deck(&self) -> Option<&dyn Deck> {
        match self {
            Self::Live => None,
            Self::Record(recorder) => Some(recorder),
            Self::Play(player) => Some(player),
        }
    }

    pub(super) const fn is_live(&self) -> bool {
        matches!(self, Self::Live)
    }
}

impl DockAgents {
    /// Opens a new run, in the hands of whoever called.
    pub async fn open(&self, spec: AgentSpec) -> Result<AgentRun, AgentError> {
        let spec = self.told_of_toolkits(spec).await?;
        self.open_as(spec, Opening::default()).await
    }

    /// The same with what the model is told of its toolkits after its prompt.
    pub(super) async fn told_of_toolkits(&self, spec: AgentSpec) -> Result<AgentSpec, AgentError> {
        let set = self.toolkits(&spec.powers).await?;
        Ok(AgentSpec { system: prompt::assemble(&spec.system, &set.index()), ..spec })
    }

    /// Goes on with a run that waits, was interrupted or is over, with whatever is to be different. Its workspace is opened
    /// again, what people allowed it is given to it again, and what it spent so far counts.
    pub async fn resume(&self, run: &AgentId, changes: &AgentChanges) -> Result<AgentRun, AgentError> {
        if changes.of_a_fork() {
            let why = "a run goes on with its own prompt, task and grants; fork it to change those";
            return Err(AgentError::BadChange(why.into()));
        }
        self.show(run).await?;
        let powers = self.powers_of(run).await?;
        if let Some(child) = &powers.child {
            let why =
                format!("it is a sub-agent; resume its parent, run {}, which goes on with it", child.run);
            return Err(AgentError::BadChange(why));
        }
        if powers.files == AgentFiles::Memory {
            let why = "its files were in memory and are gone; open it anew with a workspace, or fork it from step 0";
            return Err(AgentError::BadChange(why.into()));
        }
        self.reopen(run, changes, Opening::default(), true).await
    }

    pub(super) async fn open_as(&self, spec: AgentSpec, opening: Opening) -> Result<AgentRun, AgentError> {
        let Opening { id, parent, inherited, history, taping } = opening;
        let AgentSpec { system, task, agent, options, powers } = spec;
        options.check()?;
        let principal: Principal = powers.principal.parse().map_err(BadSetup::from)?;
        let id = id.map_or_else(new_id, Ok)?;
        let opened_by = match serde_json::to_value(&powers) {
            Ok(serde_json::Value::Object(members)) => members,
            _ => serde_json::Map::new(),
        };
        let started = Event::Started { at_ms: self.now_ms(), system, task, agent, options, opened_by };
        let events: Vec<Event> = std::iter::once(started).chain(history).collect();
        let run = fold(&id, &events)?;
        let heard = Arc::<Heard>::default();
        // Whatever is wrong with it is found before there is a run.
        let (room, tools) = self.furnish(&id, &powers, (&run, &events), inherited, taping, &heard).await?;
        let head = head_of(&id, &run, &principal, &room, parent);
        let hold = self.store().create(self.dock.tenant(), head.clone()).await??;
        let bytes = events.iter().map(Event::to_json).collect();
        hold.append(0, bytes, head.clone()).await??;
        Ok(self.in_hand(id, powers, run, room, tools, hold, heard, &events, head))
    }

    /// A run that is there, opened again. It is resumed by that, unless its caller only wants to read what it came to.
    pub(super) async fn reopen(
        &self,
        id: &AgentId,
        changes: &AgentChanges,
        opening: Opening,
        resumes: bool,
    ) -> Result<AgentRun, AgentError> {
        let Opening { inherited, taping, .. } = opening;
        let hold = self.store().hold(self.dock.tenant(), id).await??;
        let before = self.show(id).await?;
        let mut events = self.all_events(id).await?;
        let mut run = fold(id, &events)?;
        let opened_by = run.opened_by().cloned().unwrap_or_default();
        let powers = house::powers_in(id, opened_by)?;
        let first = events.len();
        if resumes {
            let options = changes.options(&run.options(), run.steps());
            options.iter().try_for_each(drydock_agent::RunOptions::check)?;
            // Nobody held it when its end was wanted, so nobody wrote that down. Its questions ended with it.
            if before.status == AgentStatus::Cancelled && run.end().is_none() {
                let at_ms = before.updated_ms;
                events.push(Event::Ended { at_ms, end: RunEnd::Cancelled, spent: None });
            }
            // One that waits goes on by itself, unless something is to be different.
            if before.status != AgentStatus::Waiting || options.is_some() {
                events.push(Event::Resumed { at_ms: self.now_ms(), options });
            }
            if let Some(text) = &changes.say {
                events.push(Event::Said { at_ms: self.now_ms(), text: text.clone() });
            }
        }
        let broken = |error: BadRun| AgentError::Broken { run: id.clone(), why: error.to_string() };
        events[first..].iter().try_for_each(|event| run.on(event)).map_err(broken)?;
        let heard = Arc::<Heard>::default();
        let (room, tools) = self.furnish(id, &powers, (&run, &events), inherited, taping, &heard).await?;
        let mut head = before;
        head.model = run.options().model;
        if resumes {
            (head.status, head.reason, head.result) = (AgentStatus::Running, None, None);
            let bytes = events[first..].iter().map(Event::to_json).collect();
            hold.append(first as u64, bytes, head.clone()).await??;
        }
        Ok(self.in_hand(id.clone(), powers, run, room, tools, hold, heard, &events, head))
    }

    pub(super) fn now_ms(&self) -> u64 {
        crate::SystemClock.now().0 / 1_000_000
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a run, put together in one place")]
    fn in_hand(
        &self,
        id: AgentId,
        powers: AgentPowers,
        run: Run,
        room: Room,
        tools: Vec<&'static str>,
        hold: Box<dyn RunHold>,
        heard: Arc<Heard>,
        events: &[Event],
        head: AgentHead,
    ) -> AgentRun {
        heard.began_with(events);
        let (run, deltas, ids) = (Some(run), None, Vec::new());
        AgentRun { agents: self.clone(), id, powers, run, head, room, tools, hold, heard, deltas, ids }
    }
}

pub(super) fn fold(id: &AgentId, events: &[Event]) -> Result<Run, AgentError> {
    Run::of(events).map_err(|error| AgentError::Broken { run: id.clone(), why: error.to_string() })
}

/// The head of a run that begins.
fn head_of(
    id: &AgentId,
    run: &Run,
    principal: &Principal,
    room: &Room,
    parent: Option<AgentId>,
) -> AgentHead {
    AgentHead {
        id: id.clone(),
        status: AgentStatus::Running,
        principal: principal.to_string(),
        agent: run.agent().map(str::to_owned),
        model: run.options().model,
        task: beginning(run.task()),
        workspace: room.place.workspace.as_ref().map(ToString::to_string),
        parent,
        steps: run.steps(),
        usage: run.usage(),
        started_ms: run.started_ms(),
        updated_ms: run.started_ms(),
        result: None,
        reason: None,
    }
}

/// As much of a text as a head has.
const HEAD_TEXT_BYTES_MAX: usize = 4096;

fn beginning(text: &str) -> String {
    text[..text.floor_char_boundary(HEAD_TEXT_BYTES_MAX)].to_owned()
}
