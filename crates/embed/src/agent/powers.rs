//! What a run may do, made of what is kept of it: grants, the bounds of its session, and what it has left of its budget.

use std::{collections::BTreeSet, sync::Arc};

use drydock_agent::{RunOptions, tools::PROVIDER};
use drydock_contract::{BadGrants, Cap, GrantFile, GrantSpec, Pattern, Principal, Terms};
use drydock_gate::{Grant, Profile};

use super::{
    AgentError, AgentPowers,
    tools::exec::{EXEC_TOOLS, exec_grant},
};
use crate::{BadSetup, Dock, Setup, ordinary_variables};

/// Where ids of grants begin that were given none.
const OWN: &str = "agent";

/// Tools of programs that a run writes: its commands and files, which are granted by themselves.
pub(super) const PROGRAM_TOOLS: [&str; 2] = ["commands.*", "files.*"];

impl AgentPowers {
    /// The setup of the run's session, without files. `tools` are those that an agent of this kind has.
    pub(super) fn setup(
        &self,
        dock: &Dock,
        base: &Setup,
        options: &RunOptions,
        tools: &BTreeSet<&'static str>,
    ) -> Result<Setup, AgentError> {
        let mut setup = Setup { profile: Profile::named(&self.profile), ..base.clone() };
        let said = self.grants.as_deref().unwrap_or_default();
        setup.only_grants |= self.grants.is_some();
        setup.grants.extend(live(said, |it| it)?);
        let names = |cap| said.iter().any(|it| it.cap == cap);
        if self.grants.is_none() && setup.allow.is_none() {
            setup.grants.push(Arc::new(Grant::of(Cap::Exec)));
        }
        if !names(Cap::Tool) {
            let is_trusted = |it: &&&str| EXEC_TOOLS.contains(&format!("{PROVIDER}.{it}").as_str());
            let own = tools.iter().filter(|it| !is_trusted(it)).map(|it| format!("{PROVIDER}.{it}"));
            let all: Vec<Pattern> =
                own.chain(PROGRAM_TOOLS.map(str::to_owned)).filter_map(|it| it.parse().ok()).collect();
            setup.grants.push(Arc::new(Grant::of(Cap::Tool).within(Terms::of(all))));
        }
        if self.exec {
            setup.grants.push(Arc::new(exec_grant()));
        }
        if !names(Cap::Llm) {
            // Without a name there is no model, and nothing to grant.
            let model = Pattern::exact(&options.model);
            setup.grants.extend(model.map(|it| Arc::new(Grant::of(Cap::Llm).within(Terms::of([it])))));
        }
        if !names(Cap::Code) {
            setup.grants.push(Arc::new(Grant::of(Cap::Code)));
        }
        if self.stored_grants {
            let principal: Principal = self.principal.parse().map_err(BadSetup::from)?;
            setup.stored.extend(dock.stored_grants(dock.tenant().clone()).of(&principal)?);
        }
        for (name, value) in ordinary_variables("/workspace") {
            if !setup.env.iter().any(|(given, _)| given == name) {
                setup.env.push((name.into(), value));
            }
        }
        Ok(setup)
    }
}

/// Grants of a list, made live, each finished by `finish`.
pub(super) fn live(
    grants: &[GrantSpec],
    finish: impl Fn(Grant) -> Grant,
) -> Result<Vec<Arc<Grant>>, BadGrants> {
    if grants.is_empty() {
        return Ok(Vec::new());
    }
    let file = GrantFile::of(grants.to_vec(), OWN)?.check(drydock_caps::judge_terms)?;
    Ok(Grant::all_of(&file, finish))
}
