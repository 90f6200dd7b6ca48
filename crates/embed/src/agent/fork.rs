//! A new run that begins as another one did: its events up to a turn, a copy of its files as they were then, and whatever
//! is to be different.

use drydock_agent::{Event, ForkChanges, prompt};
use drydock_contract::AgentId;
use drydock_store::WorkspaceName;

use super::{
    AgentChanges, AgentError, AgentFiles, AgentRun, AgentSpec, DockAgents, house,
    open::{Opening, fold},
    place::own_workspace,
    reviews::new_id,
    snapshots::Snapshots,
};

impl DockAgents {
    /// A new run that goes on from the end of a turn of another one, with the files as they were then and whatever is to be
    /// different. What people allowed the other run is not carried over.
    pub async fn fork(
        &self,
        run: &AgentId,
        step: u64,
        changes: &AgentChanges,
    ) -> Result<AgentRun, AgentError> {
        self.show(run).await?;
        let events = self.all_events(run).await?;
        let broken = || AgentError::Broken { run: run.clone(), why: "it has no beginning".into() };
        let Some(Event::Started { task, agent, opened_by, .. }) = events.first() else {
            return Err(broken());
        };
        let mut powers = house::powers_in(run, opened_by.clone())?;
        if powers.child.take().is_some() {
            return Err(AgentError::BadChange("a sub-agent is no run to fork; fork its parent".into()));
        }
        if let Some(grants) = &changes.grants {
            powers.grants = Some(grants.clone());
        }
        let before = fold(run, &events)?.options();
        let wanted = ForkChanges {
            system: None,
            options: changes.options(&before, step).or(Some(before)),
            said: changes.say.clone(),
            opened_by: None,
        };
        let forked = drydock_agent::fork(&events, step, wanted, self.now_ms());
        let mut history = forked.map_err(|error| AgentError::NoStep(error.to_string()))?.into_iter();
        let Some(Event::Started { system, options, .. }) = history.next() else { return Err(broken()) };
        let system = match &changes.system {
            // As below the prompt that it had, so below this one: what its toolkits say of themselves.
            Some(prompt) => prompt::assemble(prompt, &self.toolkits(&powers).await?.index()),
            None => system,
        };
        // Before any file is copied.
        options.check()?;
        let id = new_id()?;
        match self.snapshots(&powers, run)? {
            Some(snapshots) => {
                let was_own = powers.files == AgentFiles::Own;
                powers.files = AgentFiles::Own;
                self.fork_files(snapshots, was_own, &events, step, &own_workspace(&id)).await?;
            }
            None if changed_files(&events, 0, step) => {
                let why = format!(
                    "run {run} had its files in memory, and they are gone; fork it from a turn before any were changed"
                );
                return Err(AgentError::NoStep(why));
            }
            None => {}
        }
        let (task, agent) = (changes.task.clone().unwrap_or_else(|| task.clone()), agent.clone());
        let history: Vec<Event> = history.collect();
        let spec = AgentSpec { system, task, agent, options, powers };
        let opening = Opening { id: Some(id), parent: Some(run.clone()), history, ..Opening::default() };
        self.open_as(spec, opening).await
    }

    /// Copies the files of a run as they were at the end of a turn into a workspace of that name.
    async fn fork_files(
        &self,
        snapshots: Snapshots,
        was_own: bool,
        events: &[Event],
        step: u64,
        new: &str,
    ) -> Result<(), AgentError> {
        let new: WorkspaceName = new.parse()?;
        let why = format!(
            "no snapshot of run {} is kept of turn {step} or an earlier one; a recorded run keeps none",
            snapshots.run
        );
        let (events, no_step) = (events.to_vec(), || AgentError::NoStep(why));
        let copied = move || -> Result<bool, AgentError> {
            let (all, from) = (&snapshots.all, &snapshots.workspace);
            match snapshots.at(step)? {
                Some((kept, name)) if !changed_files(&events, kept, step) => {
                    all.fork_snapshot(from, &name, &new)?;
                    Ok(true)
                }
                None if changed_files(&events, 0, step) => Ok(false),
                // A workspace of its own began empty, and is made when the fork is opened.
                None if was_own => Ok(true),
                // As it is now it was before the run, if that changed nothing.
                None if !changed_files(&events, 0, u64::MAX) => {
                    all.fork(from, &new)?;
                    Ok(true)
                }
                _ => Ok(false),
            }
        };
        match crate::instance::off_thread(copied).await? {
            true => Ok(()),
            false => Err(no_step()),
        }
    }
}

/// Whether a call of the turns after one and up to another may have changed files.
fn changed_files(events: &[Event], after: u64, step: u64) -> bool {
    events.iter().any(|it| match it {
        Event::Result { step: at, tool, files_changed, .. } if *at > after && *at <= step => {
            let reads = drydock_agent::tools::tool(tool).is_none_or(|it| it.is_read_only);
            files_changed.unwrap_or(!reads)
        }
        _ => false,
    })
}
