//! A run in somebody's hands: its session is open, and nobody else drives it until it is dropped.

use std::sync::Arc;

use drydock_abi::llm::Deltas;
use drydock_agent::{
    Driver, Event, Order, Run, RunEnd, Stop,
    tools::{CATALOGUE, ToolText},
};
use drydock_contract::{
    AgentHead, AgentId, AgentStatus,
    port::{Files, RunHold},
};
use drydock_store::{TapeFacts, TapeLabel};

use super::{
    AgentError, AgentPowers, DockAgents, RunRecord, furnish::Room, heard::Heard, heard::OnEvent,
    host::RunHost, open::Taping,
};
use crate::{DockSession, SystemClock};

/// A run that is open, and driven by whoever has this.
pub struct AgentRun {
    pub(super) agents: DockAgents,
    pub(super) id: AgentId,
    pub(super) powers: AgentPowers,
    /// Nothing while it is driven; whoever was dropped in the middle of that left it to be resumed.
    pub(super) run: Option<Run>,
    pub(super) head: AgentHead,
    pub(super) room: Room,
    pub(super) tools: Vec<&'static str>,
    pub(super) hold: Box<dyn RunHold>,
    pub(super) heard: Arc<Heard>,
    pub(super) deltas: Option<Deltas>,
    /// Ids that its reviews have, the next one last; then such as nobody had.
    pub(super) ids: Vec<AgentId>,
}

/// How far a run was driven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Driven {
    /// It came to its end.
    Ended(RunEnd),
    /// It waits for a person ([`DockAgents::reviews`]), and nobody need hold it meanwhile.
    Waiting,
}

impl AgentRun {
    /// Which one.
    pub fn id(&self) -> &AgentId {
        &self.id
    }

    /// What it was opened with.
    pub fn powers(&self) -> &AgentPowers {
        &self.powers
    }

    /// How far it is, as it was kept last.
    pub fn head(&self) -> &AgentHead {
        &self.head
    }

    /// Whether its world is written down.
    pub fn is_recorded(&self) -> bool {
        matches!(self.room.taping, Taping::Record(_))
    }

    /// Its files.
    pub fn files(&self) -> &Arc<dyn Files> {
        &self.room.place.files
    }

    /// The session that its calls belong to.
    pub fn session(&self) -> &DockSession {
        &self.room.session
    }

    /// Directories of the host that are under copy-on-write in it, for whoever shows or commits what changed.
    pub fn bases(&self) -> &[crate::Base] {
        &self.room.place.bases
    }

    /// From now on each event is told, once it is kept.
    pub fn listen(&self, listener: OnEvent) {
        self.heard.listen(listener);
    }

    /// The seed's `on_step`: told of each turn of the model, once it is kept.
    pub fn on_step(&self, listener: impl Fn(u64, &Event) + Send + Sync + 'static) {
        self.listen(Arc::new(move |_, event| {
            if let Event::Turn { step, .. } = event {
                listener(*step, event);
            }
        }));
    }

    /// The words of a turn are told while they come, where the model's server streams.
    pub fn on_words(&mut self, listener: impl Fn(&str) + Send + Sync + 'static) {
        self.deltas = Some(Deltas(Arc::new(listener)));
    }

    /// Drives it until it ends or waits for a person. Whoever drops this in the middle leaves it as one whose driver is gone:
    /// it is `failed` (`interrupted`), and can be resumed.
    pub async fn drive(&mut self) -> Result<Driven, AgentError> {
        let broken =
            || AgentError::Broken { run: self.id.clone(), why: "somebody stopped driving it".into() };
        let run = self.run.take().ok_or_else(broken)?;
        let is_taped = !self.room.taping.is_live();
        let snapshots = match (&self.powers.child, is_taped) {
            (None, false) => self.agents.snapshots(&self.powers, &self.id)?,
            // A sub-agent's files are its parent's; on a tape nothing happens beside the run.
            _ => None,
        };
        let host = RunHost {
            agents: self.agents.clone(),
            files: Arc::clone(&self.room.place.files),
            cwd: self.room.place.cwd.clone(),
            session: self.room.session.clone(),
            budget: self.room.budget.clone(),
            book: self.room.book.clone(),
            run: self.id.clone(),
            clock: Arc::clone(&self.room.clock),
            snapshots,
            heard: Arc::clone(&self.heard),
            deltas: self.deltas.clone(),
            ids: std::mem::take(&mut self.ids).into(),
            is_taped,
        };
        let door = self.agents.dock.gate.door(self.room.session.inner());
        let offered: Vec<&'static ToolText> =
            CATALOGUE.iter().filter(|it| self.tools.contains(&it.name)).collect();
        let driver = Driver {
            door: &*door,
            agents: &**self.agents.store(),
            tenant: self.agents.dock.tenant(),
            hold: &*self.hold,
            host: &host,
            clock: &*self.room.clock,
            timer: &SystemClock,
            tools: &offered,
            order: if is_taped { Order::OneByOne } else { Order::SideBySide },
        };
        let driven = driver.drive(run, self.head.clone(), Vec::new()).await;
        self.heard.write().await;
        let driven = driven.map_err(|error| AgentError::Drive { run: self.id.clone(), cause: error })?;
        (self.run, self.head, self.ids) = (Some(driven.run), driven.head, host.ids.into_inner());
        Ok(match driven.stop {
            Stop::Paused { .. } => Driven::Waiting,
            Stop::Ended(end) => {
                // Nothing that it started goes on without it.
                self.room.session.cancel();
                Driven::Ended(end)
            }
        })
    }

    /// The same through every question that people are asked, in this process.
    pub async fn drive_through(&mut self) -> Result<RunEnd, AgentError> {
        loop {
            match self.drive().await? {
                Driven::Ended(end) => return Ok(end),
                Driven::Waiting => self.until_answered().await?,
            }
        }
    }

    /// What drove it was dropped, since all that it waited for were people ([`DockAgents::waits_for_people`]): it says so.
    /// Whoever resumes it goes on with its sub-agents where they are.
    pub async fn pause(&mut self) -> Result<(), AgentError> {
        let events = self.agents.all_events(&self.id).await?;
        let head = AgentHead {
            status: AgentStatus::Waiting,
            updated_ms: self.agents.now_ms(),
            ..self.agents.show(&self.id).await?
        };
        self.hold.append(events.len() as u64, Vec::new(), head.clone()).await??;
        (self.run, self.head) = (Some(super::open::fold(&self.id, &events)?), head);
        Ok(())
    }

    /// Waits until nothing that it was asked about waits for an answer any more, or somebody asked for its end: whoever drives
    /// on then comes to either.
    pub async fn until_answered(&self) -> Result<(), AgentError> {
        tokio::select! {
            answered = self.agents.until_answered(&self.id) => answered,
            () = self.hold.cancelled() => Ok(()),
        }
    }

    /// Keeps what was recorded of it, once it ended; nothing for one that was not opened to be recorded.
    pub async fn keep_tape(&self) -> Result<Option<TapeFacts>, AgentError> {
        let Taping::Record(recorder) = &self.room.taping else { return Ok(None) };
        let tapes = self.agents.dock.tapes()?;
        let label = TapeLabel {
            principal: self.powers.principal.clone(),
            kind: super::replay::TAPE_KIND.to_owned(),
            title: self.id.to_string(),
            ..TapeLabel::default()
        };
        let outcome = self.head.status.as_str();
        let came = super::replay::essence(&self.agents.all_events(&self.id).await?);
        Ok(Some(recorder.keep(&tapes, label, outcome, &[&came])?))
    }
}

impl DockAgents {
    /// Runs an agent to its end, or to where it waits for a person: `run(system, task, options)` of the seed, with whatever
    /// else the spec says.
    pub async fn run(&self, spec: super::AgentSpec) -> Result<RunRecord, AgentError> {
        let mut run = self.open(spec).await?;
        run.drive().await?;
        self.record(&run.id).await
    }
}
