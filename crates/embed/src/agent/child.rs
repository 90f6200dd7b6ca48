//! The tool `agent`: a run of its own inside another one's call. It has a part of its parent's grants and of its budget,
//! works in its parent's files, and ends with it.
//!
//! Its id follows from the parent's call. So a parent that was interrupted and calls again finds the run that it had begun,
//! and goes on with it, or reads what it came to: no sub-agent does its work twice.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use drydock_agent::{
    AtLimit, OnDenial, RunEnd, RunOptions, STEPS_MAX,
    tools::{AgentArguments, PROVIDER, ToolOutput},
};
use drydock_contract::{AgentId, AgentStatus, BoxFuture, Budget, Cap, Pattern, Terms, Unit, host::PRIVATE};
use drydock_egress::Rules;
use drydock_gate::{Grant, GrantSet, HeldGrants};

use super::{
    AgentChanges, AgentError, AgentFiles, AgentPowers, AgentRun, AgentSpec, ChildOf, DockAgents, Driven,
    furnish::Inherited,
    heard::Heard,
    open::Opening,
    place::Place,
    powers::PROGRAM_TOOLS,
    tools::{SubAgents, SubCall, ToolError},
};
use crate::Network;

/// How many runs may stand above one another, the first one not counted.
pub(super) const DEPTH_MAX: u32 = 3;

/// How many sub-agents a run may start, with those that these start, however often it is gone on with.
const FAMILY_MAX: u64 = 64;

/// How many sub-agents there are below the first run; all of them count in one place.
#[derive(Clone, Default)]
pub(super) struct Family(Arc<AtomicU64>);

impl Family {
    /// One that has so many.
    pub(super) fn of(count: usize) -> Self {
        Self(Arc::new(AtomicU64::new(count as u64)))
    }

    /// One more, if there may be.
    fn grow(&self) -> Result<(), AgentError> {
        let more = |count: u64| (count < FAMILY_MAX).then_some(count + 1);
        self.0
            .fetch_update(Relaxed, Relaxed, more)
            .map(drop)
            .map_err(|_| AgentError::TooMany { max: FAMILY_MAX })
    }
}

/// What a sub-agent has from the run that calls for it.
pub(super) struct Parent {
    pub(super) agents: DockAgents,
    pub(super) run: AgentId,
    pub(super) powers: AgentPowers,
    pub(super) system: String,
    pub(super) options: RunOptions,
    pub(super) held: HeldGrants,
    pub(super) budget: Option<Arc<Budget>>,
    pub(super) place: Place,
    pub(super) heard: Arc<Heard>,
    pub(super) family: Family,
}

impl SubAgents for Parent {
    fn run(&self, call: SubCall) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let SubCall { arguments, written, .. } = call;
            let Some(call) = self.heard.take_call(drydock_agent::tools::AGENT, &written) else {
                let why = "a sub-agent is called for by a turn of the run's own model, and by nothing else";
                return Err(ToolError::new("no_sub_agents", why));
            };
            let failed = |error: AgentError| ToolError::new(error.code(), error.to_string());
            let mut child = self.child(arguments, call).await.map_err(failed)?;
            self.drive(&mut child).await.map_err(failed)?
        })
    }
}

/// The id of the sub-agent that a call of a turn of a run is for: ids of calls are a model's words, and its next turn may use
/// one again.
pub(super) fn child_id(run: &AgentId, step: u64, call: &str) -> AgentId {
    let mut hasher = blake3::Hasher::new_derive_key("drydock agent: the sub-agent of a call");
    hasher.update(run.as_str().as_bytes()).update(&step.to_le_bytes()).update(call.as_bytes());
    let mut bits = [0; 16];
    hasher.finalize_xof().fill(&mut bits);
    AgentId::of(u128::from_le_bytes(bits))
}

impl Parent {
    /// Drives a sub-agent to its end; where people are asked about a call of it, its parent's call waits for that.
    async fn drive(&self, child: &mut AgentRun) -> Result<Result<ToolOutput, ToolError>, AgentError> {
        let end = loop {
            match child.drive().await? {
                Driven::Ended(end) => break end,
                Driven::Waiting => child.until_answered().await?,
            }
        };
        let id = child.id();
        Ok(match end {
            RunEnd::Done { result } => Ok(ToolOutput::text(result)),
            RunEnd::Cancelled => Err(ToolError::new("cancelled", format!("sub-agent {id} was cancelled"))),
            RunEnd::Failed { code, message } => {
                Err(ToolError::new(code, format!("sub-agent {id} did not come to a result: {message}")))
            }
        })
    }

    /// Opens the sub-agent of a call, or goes on with it where it was begun before.
    async fn child(
        &self,
        arguments: AgentArguments,
        (step, call): (u64, String),
    ) -> Result<AgentRun, AgentError> {
        let depth = self.powers.child.as_ref().map_or(0, |it| it.depth) + 1;
        if depth > DEPTH_MAX {
            return Err(AgentError::TooDeep { depth, max: DEPTH_MAX });
        }
        let id = child_id(&self.run, step, &call);
        let arguments = self.defined(arguments)?;
        let options = self.options_for(&arguments);
        let inherited = Inherited {
            held: self.narrowed(&options, &arguments)?,
            budget: self.share(&options),
            place: self.place.of_child(),
            family: self.family.clone(),
        };
        let known = self.agents.store().head(self.agents.dock.tenant(), &id).await?;
        if let Some(head) = known {
            let opening = Opening { inherited: Some(inherited), ..Opening::default() };
            // One that is over says again what it came to; one that was interrupted goes on.
            let changes = AgentChanges::default();
            let resumes = head.status != AgentStatus::Done;
            return self.agents.reopen(&id, &changes, opening, resumes).await;
        }
        self.family.grow()?;
        let powers = AgentPowers {
            files: AgentFiles::Memory,
            dirs: Vec::new(),
            grants: None,
            stored_grants: false,
            exec: false,
            workdir: None,
            child: Some(ChildOf { run: self.run.clone(), call, depth }),
            ..self.powers.clone()
        };
        let AgentArguments { system, task, agent, .. } = arguments;
        let spec = AgentSpec { system: self.system.clone(), task, agent, options, powers };
        let spec = match system {
            // Its parent's text has the index of their toolkits already.
            None => spec,
            Some(system) => self.agents.told_of_toolkits(AgentSpec { system, ..spec }).await?,
        };
        let parent = Some(self.run.clone());
        let opening = Opening { id: Some(id), parent, inherited: Some(inherited), ..Opening::default() };
        self.agents.open_as(spec, opening).await
    }

    /// What a call says, with what the definition of the agent says that it names.
    fn defined(&self, arguments: AgentArguments) -> Result<AgentArguments, AgentError> {
        let Some(name) = &arguments.agent else { return Ok(arguments) };
        let found = self.agents.settings.definitions.as_ref().and_then(|it| it(name));
        let Some(found) = found else {
            let name = name.chars().take(80).collect::<String>();
            let why = format!(
                "no agent `{}` is defined here; leave `agent` out, and say what it is",
                name.escape_debug()
            );
            return Err(AgentError::BadChange(why));
        };
        Ok(AgentArguments {
            system: arguments.system.or(Some(found.prompt)),
            model: arguments.model.or(found.model),
            tools: arguments.tools.or(found.tools),
            max_steps: arguments.max_steps.or(found.max_steps),
            ..arguments
        })
    }

    /// The child's options: its parent's, with what the call narrows. It asks nobody for grants or money, and people are
    /// asked about each call of it that they are asked about of its parent's.
    fn options_for(&self, arguments: &AgentArguments) -> RunOptions {
        let mut options = self.options.clone();
        if let Some(model) = &arguments.model {
            options.model.clone_from(model);
        }
        if let Some(wanted) = &arguments.tools {
            let has = |it: &String| options.tools.as_ref().is_none_or(|all| all.contains(it));
            options.tools = Some(wanted.iter().filter(|it| has(it)).cloned().collect());
        }
        options.max_steps = arguments.max_steps.unwrap_or(STEPS_MAX).min(self.options.max_steps);
        options.tokens_max = match (arguments.tokens_max, options.tokens_max) {
            (Some(wanted), Some(most)) => Some(wanted.min(most)),
            (wanted, most) => wanted.or(most),
        };
        options.on_denial = OnDenial::Tell;
        options.at_limit = AtLimit::Stop;
        options
    }

    /// Each grant of the parent, hanging from that one, so that it can never be wider and ends with it. What a person would
    /// have to be asked about is not among them.
    fn narrowed(&self, options: &RunOptions, arguments: &AgentArguments) -> Result<HeldGrants, AgentError> {
        let tools = options.tools.as_ref().map(|all| all.iter().map(String::as_str).collect());
        let commands = arguments.allow.as_deref().map(|all| all.iter().filter_map(|it| Pattern::exact(it)));
        let hosts = arguments.allow_host.as_deref().map(hosts).transpose()?;
        let only = Only { tools, commands: commands.map(Iterator::collect), hosts };
        Ok(narrowed(&self.held.now(), &only))
    }

    /// A share of what the parent has left, spent there too.
    fn share(&self, options: &RunOptions) -> Option<Arc<Budget>> {
        let bounds = [(Unit::Tokens, options.tokens_max), (Unit::CostMicros, options.cost_micros_max)];
        let own: Vec<_> = bounds.into_iter().filter_map(|(unit, max)| Some((unit, max?))).collect();
        match own.is_empty() {
            true => self.budget.clone(),
            false => Some(Arc::new(Budget::of(own).within(self.budget.clone()))),
        }
    }
}

/// What a call leaves of its caller's grants; all of a kind that it says nothing of.
#[derive(Default)]
struct Only<'a> {
    tools: Option<BTreeSet<&'a str>>,
    commands: Option<Vec<Pattern>>,
    hosts: Option<Vec<Pattern>>,
}

/// Hosts as subjects of grants. An address that its parent may reach though it is not public stays that.
fn hosts(all: &[String]) -> Result<Vec<Pattern>, AgentError> {
    let bad = |why: String| AgentError::BadChange(format!("`allow_host`: {why}"));
    let rules = Rules::parse(all, &[], &[]).map_err(|error| bad(error.to_string()))?;
    let mut subjects = Vec::new();
    for spec in (Network { rules, injected: Vec::new() }).grants().iter().map(|it| it.spec()) {
        if !spec.rules.is_empty() {
            return Err(bad("name hosts without a scheme: HOST or HOST:PORT".into()));
        }
        for subject in spec.subjects.into_iter().flatten() {
            subjects.extend(format!("{PRIVATE}{}", subject.as_str()).parse::<Pattern>());
            subjects.push(subject);
        }
    }
    Ok(subjects)
}

fn narrowed(parents: &GrantSet, only: &Only<'_>) -> HeldGrants {
    let child = |grant: &Arc<Grant>| {
        let narrow = grant.narrowed();
        match grant.cap() {
            Cap::Tool => match &only.tools {
                None => narrow,
                Some(tools) => {
                    let own = tools.iter().filter_map(|it| Pattern::exact(&format!("{PROVIDER}.{it}")));
                    let programs = PROGRAM_TOOLS.iter().filter_map(|it| it.parse().ok());
                    narrow.within(Terms::of(own.chain(programs)))
                }
            },
            Cap::Exec | Cap::Process | Cap::Parallel => within(narrow, only.commands.as_deref()),
            Cap::Net | Cap::Browse | Cap::Tcp | Cap::Tls | Cap::Udp => within(narrow, only.hosts.as_deref()),
            _ => narrow,
        }
    };
    parents.iter().filter(|it| !it.spec().review).map(child).map(Arc::new).collect()
}

fn within(grant: Grant, only: Option<&[Pattern]>) -> Grant {
    match only {
        None => grant,
        Some(subjects) => grant.within(Terms::of(subjects.iter().cloned())),
    }
}

#[cfg(test)]
mod tests {
    use drydock_contract::Timestamp;

    use super::*;

    #[test]
    fn a_sub_agent_of_a_call_is_the_same_one_whenever_it_is_asked_for() {
        let (one, other) = (AgentId::of(1), AgentId::of(2));
        let id = child_id(&one, 1, "c");
        assert_eq!(id, child_id(&one, 1, "c"));
        for another in [child_id(&one, 1, "d"), child_id(&one, 2, "c"), child_id(&other, 1, "c")] {
            assert_ne!(id, another);
        }
    }

    #[test]
    fn a_sub_agent_holds_nothing_that_its_parent_does_not_hold_and_loses_what_it_loses() {
        let only = |names: &[&str]| Terms::of(names.iter().filter_map(|it| it.parse().ok()));
        let exec = Arc::new(Grant::of(Cap::Exec).within(only(&["jq", "grep"])));
        let tool = Arc::new(Grant::of(Cap::Tool).within(only(&["agent.shell", "agent.vfs_read"])));
        let parents: GrantSet = [Arc::clone(&exec), tool].into_iter().collect();
        let only = Only { tools: Some(BTreeSet::from(["vfs_read", "git"])), ..Only::default() };
        let held = narrowed(&parents, &only).now();
        let admits = |cap, name: &str| held.would_admit(cap, name, Timestamp(0));
        assert!(admits(Cap::Exec, "jq") && !admits(Cap::Exec, "rm"));
        assert!(admits(Cap::Tool, "agent.vfs_read"));
        assert!(!admits(Cap::Tool, "agent.shell"), "it was not among its tools");
        assert!(!admits(Cap::Tool, "agent.git"), "its parent has none");
        assert!(!admits(Cap::Net, "a.test:443"));
        // Commands and hosts are narrowed alike, and what the parent lacks is not given by being named.
        let host = |text: &str| Terms::of([text.parse::<Pattern>().unwrap()]);
        let net = Arc::new(Grant::of(Cap::Net).within(host("*.a.test:443")));
        let near = Arc::new(Grant::of(Cap::Browse).within(host("private:127.0.0.1:80")));
        let parents: GrantSet = [Arc::clone(&exec), net, near].into_iter().collect();
        let named = |all: &[&str]| hosts(&all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        let only = Only {
            commands: Some(vec!["jq".parse().unwrap(), "rm".parse().unwrap()]),
            hosts: Some(named(&["x.a.test", "b.test", "127.0.0.1:80"]).unwrap()),
            ..Only::default()
        };
        let held = narrowed(&parents, &only).now();
        for (cap, subject, want) in [
            (Cap::Exec, "jq", true),
            (Cap::Exec, "grep", false),
            (Cap::Exec, "rm", false),
            (Cap::Net, "x.a.test:443", true),
            (Cap::Net, "x.a.test:80", false),
            (Cap::Net, "y.a.test:443", false),
            (Cap::Net, "b.test:443", false),
            (Cap::Browse, "private:127.0.0.1:80", true),
        ] {
            assert_eq!(held.would_admit(cap, subject, Timestamp(0)), want, "{cap} {subject}");
        }
        let none = Only { commands: Some(Vec::new()), hosts: Some(Vec::new()), ..Only::default() };
        assert!(!narrowed(&parents, &none).now().would_admit(Cap::Exec, "jq", Timestamp(0)));
        assert!(named(&["https://a.test"]).is_err() && named(&["a b"]).is_err());
        let held = narrowed(&parents, &Only::default()).now();
        exec.revoke();
        assert!(!held.would_admit(Cap::Exec, "jq", Timestamp(0)), "and it ends with its parent's");
    }
}
