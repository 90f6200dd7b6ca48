//! What a run has while it is driven: its session, its files, its budget, and what stands behind its tools.

use std::{collections::BTreeSet, sync::Arc};

use drydock_abi::shell::Mode;
use drydock_agent::{
    Event, Purse, Run,
    toolkit::ToolkitSet,
    tools::{AGENT, CATALOGUE},
};
use drydock_contract::{AgentId, AgentUsage, Budget, GrantSpec, Unit, port::Clock};
use drydock_gate::{Grant, HeldGrants};

use super::{
    AgentError, AgentPowers, DockAgents,
    child::{Family, Parent, child_id},
    heard::Heard,
    host::unit,
    open::Taping,
    place::Place,
    powers,
    spent::SpendBook,
    tools::{AgentTools, ToolParts, exec::Exec},
    trace::Trace,
};
use crate::{DockSession, Mount, ShellSetup};

/// What a sub-agent has from its parent.
pub(super) struct Inherited {
    pub(super) held: HeldGrants,
    pub(super) budget: Option<Arc<Budget>>,
    pub(super) place: Place,
    pub(super) family: Family,
}

/// What is there while a run is driven.
pub(super) struct Room {
    pub(super) session: DockSession,
    pub(super) place: Place,
    pub(super) budget: Option<Arc<Budget>>,
    /// What is spent of that; none where others spend it too.
    pub(super) book: Option<Arc<SpendBook>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) taping: Taping,
}

impl DockAgents {
    /// The session of a run, over its files, with what stands behind its tools.
    pub(super) async fn furnish(
        &self,
        id: &AgentId,
        powers: &AgentPowers,
        (run, events): (&Run, &[Event]),
        inherited: Option<Inherited>,
        taping: Taping,
        heard: &Arc<Heard>,
    ) -> Result<(Room, Vec<&'static str>), AgentError> {
        let options = run.options();
        let offered = offered(powers, options.tools.as_deref());
        let (dock, powers_of, of) = (self.dock.clone(), powers.clone(), id.clone());
        let deck = taping.clone();
        let children = self.children_called(id, events).await?;
        let (place, within, given, family) = match inherited {
            Some(Inherited { held, budget, place, family }) => (place, budget, Some(held), family),
            None => {
                // A workspace is a file, and a directory somebody's disk.
                let open = move || Place::open(&dock, &powers_of, &of, deck.deck());
                (crate::instance::off_thread(open).await?, None, None, Family::of(children.len()))
            }
        };
        let mut setup = powers.setup(&self.dock, &self.settings.setup, &options, &offered)?;
        if let Some(deck) = taping.deck() {
            deck.prepare(&mut setup);
        }
        let toolkits = self.toolkits(powers).await?;
        let place = match powers.child {
            // A sub-agent has its parent's files, toolkits and all.
            Some(_) => place,
            None => {
                Place { files: self.dock.enable_toolkits(&toolkits).await?.beside(place.files)?, ..place }
            }
        };
        setup.files = Some(Arc::clone(&place.files));
        let (budget, book) = self.left(id, (run, events), &children, within.or(setup.budget.take()));
        setup.budget.clone_from(&budget);
        setup.held = given;
        let held = setup.hold();
        let clock = setup.one_clock();
        let parent = Parent {
            agents: self.clone(),
            run: id.clone(),
            powers: powers.clone(),
            system: run.system().to_owned(),
            options,
            held,
            budget: budget.clone(),
            place: place.clone(),
            heard: Arc::clone(heard),
            family,
        };
        let parts = ToolParts {
            dock: Arc::new(self.dock.clone()),
            principal: powers.principal.clone(),
            setup,
            shell: ShellSetup {
                roots: place.roots.clone(),
                cwd: place.cwd.clone(),
                mode: lines(),
                ..ShellSetup::default()
            },
            run: id.clone(),
            issues: Arc::clone(self.store()),
            toolkits,
            children: Some(Arc::new(parent)),
            exec: self.exec(powers, events)?,
        };
        let session = Arc::new(AgentTools::new(parts)?).session()?;
        if taping.is_live() && powers.child.is_none() {
            heard.write_into(Trace::new(Arc::clone(&place.files), Arc::clone(&clock), TRACES));
        }
        let tools = offered.into_iter().collect();
        Ok((Room { session, place, budget, book, clock, taping }, tools))
    }

    /// What a person allowed the run, as a grant of its session. Its uses are counted under the review's id, so that whoever
    /// goes on with the run has those that are left.
    pub(super) fn grant_of(
        &self,
        grant: &serde_json::Value,
        review: &AgentId,
        uses: Option<u64>,
    ) -> Result<Option<Arc<Grant>>, AgentError> {
        let spec = GrantSpec::parse(grant.to_string().as_bytes())?;
        // What hangs from another grant would be wider without it.
        if spec.parent.is_some() {
            return Ok(None);
        }
        let spec = GrantSpec { id: format!("review-{review}").parse().ok(), uses, review: false, ..spec };
        let live = powers::live(&[spec], |it| {
            it.counted_in(Arc::clone(&self.dock.ledger) as _, self.dock.tenant().clone())
        })?;
        Ok(live.into_iter().next())
    }

    /// What the run may still spend: what its turns took so far, and those of its sub-agents, is spent.
    fn left(
        &self,
        id: &AgentId,
        (run, events): (&Run, &[Event]),
        children: &[AgentUsage],
        within: Option<Arc<Budget>>,
    ) -> (Option<Arc<Budget>>, Option<Arc<SpendBook>>) {
        let purses = [Purse::Tokens, Purse::CostMicros].into_iter();
        // One without an end is counted all the same: whoever looks at the run sees what it costs.
        let left: Vec<_> = match within {
            Some(_) => purses.filter_map(|it| Some((unit(it), run.left(it)?))).collect(),
            None => purses.map(|it| (unit(it), run.left(it).unwrap_or(u64::MAX))).collect(),
        };
        if left.is_empty() {
            return (within, None);
        }
        let budget = Budget::of(left);
        for AgentUsage { input_tokens, output_tokens, cost_micros, .. } in children {
            budget.charge(Unit::Tokens, input_tokens.saturating_add(*output_tokens));
            budget.charge(Unit::CostMicros, *cost_micros);
        }
        let is_own = within.is_none();
        let budget = Arc::new(budget.within(within));
        let book = is_own.then(|| SpendBook::open(Arc::clone(&budget), (run, events), children, id));
        (Some(budget), book.map(Arc::new))
    }

    /// What the sub-agents of a run took, with theirs.
    pub(super) async fn children_called(
        &self,
        run: &AgentId,
        events: &[Event],
    ) -> Result<Vec<AgentUsage>, AgentError> {
        let (mut all, mut above) = (Vec::new(), children_in(run, events));
        while let Some(child) = above.pop() {
            if let Some(head) = self.store().head(self.dock.tenant(), &child).await? {
                all.push(head.usage);
                above.extend(children_in(&child, &self.all_events(&child).await?));
            }
        }
        Ok(all)
    }

    /// The trusted tools, if a person gave the run a directory for them.
    fn exec(&self, powers: &AgentPowers, events: &[Event]) -> Result<Option<Exec>, AgentError> {
        let (true, Some(workdir)) = (powers.exec, &powers.workdir) else { return Ok(None) };
        let home = self.dock.home.root();
        // What lies in a directory that it writes is the agent's, and trusted code must start none of that.
        let dirs = powers.dirs.iter().map(|it| it.parse()).collect::<Result<Vec<Mount>, _>>()?;
        let written: Vec<_> =
            dirs.iter().filter(|it| it.is_written()).map(|it| it.host().to_owned()).collect();
        self.settings.exec.keep_out(&written)?;
        let exec = Exec::new(workdir, &self.settings.exec, self.settings.secrets.clone(), home)?;
        let is_image = |it: &&Event| matches!(it, Event::Calling { tool, .. } if tool == "image");
        let asked_for = events.iter().filter(is_image).count();
        exec.images_were_asked_for(u32::try_from(asked_for).unwrap_or(u32::MAX));
        Ok(Some(exec))
    }

    /// The toolkits of a run.
    pub(super) async fn toolkits(&self, powers: &AgentPowers) -> Result<Arc<ToolkitSet>, AgentError> {
        if powers.toolkits.is_empty() {
            return Ok(Arc::default());
        }
        let (dock, wanted) = (self.dock.clone(), powers.toolkits.clone());
        let mut places = self.settings.toolkits.clone();
        places.folders.extend(powers.toolkit_folders.iter().cloned());
        let loaded = crate::instance::off_thread(move || dock.load_toolkits(&wanted, &places)).await;
        Ok(Arc::new(loaded?))
    }
}

/// The sub-agents that a run called for.
pub(super) fn children_in(run: &AgentId, events: &[Event]) -> Vec<AgentId> {
    let called = events.iter().filter_map(|it| match it {
        Event::Calling { tool, step, id, .. } if tool == AGENT => Some(child_id(run, *step, id)),
        _ => None,
    });
    // One that was called for again is the same.
    called.collect::<BTreeSet<_>>().into_iter().collect()
}

/// As `drydock sh` reads a line.
fn lines() -> Mode {
    Mode { literal_unknown: true, ..Mode::default() }
}

/// Where a run's own files are.
const TRACES: &str = "/workspace";

/// The tools that a run of this kind has.
fn offered(powers: &AgentPowers, only: Option<&[String]>) -> BTreeSet<&'static str> {
    let is_wanted = |name: &str| only.is_none_or(|all| all.iter().any(|it| it == name));
    let all = CATALOGUE.iter().filter(|it| powers.exec || !it.needs_exec);
    all.map(|it| it.name).filter(|it| is_wanted(it)).collect()
}
