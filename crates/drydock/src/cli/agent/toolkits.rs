//! Toolkits and skills of a run, from the folders that a person named: which they are, what they ask for, and what of that the
//! run does not hold. Telling it gives nothing: `--grants`, `drydock grants add` or a review does.

use std::path::Path;

use anyhow::Context as _;
use clap::Args;
use drydock_embed::{
    Dock,
    agent::{
        AgentPowers, RunOptions, ToolkitPlaces,
        catalogue::{CATALOGUE, PROVIDER},
        toolkit::{Ask, Did, Origin, ToolkitSet, Trust, grants_file},
    },
    contract::{Cap, CommandName, GrantSpec, Pattern, Principal},
};

use crate::{
    cli::{powers::agent_grants, toolkit},
    exit,
};

/// What is asked of the folders of toolkits before anything of them is built.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct TrustFlags {
    /// The toolkits are somebody else's: only those that are signed
    #[arg(long)]
    third_party: bool,
    /// Only toolkits that this one signed: did:key:z…; may be repeated
    #[arg(long, value_name = "DID")]
    author: Vec<Did>,
}

impl TrustFlags {
    /// Whoever names a folder answers for it, unless it is said that somebody else does.
    pub(super) fn trust(&self) -> Trust {
        let is_foreign = self.third_party || !self.author.is_empty();
        let origin = if is_foreign { Origin::Foreign } else { Origin::Own };
        Trust { origin, authors: (!self.author.is_empty()).then(|| self.author.clone()) }
    }
}

/// Gives a run its toolkits: those of its folders and those that its definition names. Where nobody said what it holds
/// (`usual` has the grants of its hosts then), it holds every command but theirs.
pub(super) fn equip(
    dock: &Dock,
    powers: &mut AgentPowers,
    options: &RunOptions,
    named: Vec<String>,
    trust: Trust,
    usual: Option<Vec<GrantSpec>>,
) -> anyhow::Result<()> {
    powers.toolkits = named;
    for folder in &powers.toolkit_folders {
        let id = id(folder)?;
        if !powers.toolkits.contains(&id) {
            powers.toolkits.push(id);
        }
    }
    let places =
        ToolkitPlaces { roots: vec![toolkit::kept(dock)], folders: powers.toolkit_folders.clone(), trust };
    let set = dock.load_toolkits(&powers.toolkits, &places)?;
    for missing in set.missing() {
        exit::warn(&format!(
            "the definition names the toolkit `{missing}`; no --toolkit has it, and `drydock toolkit add` kept none of that id"
        ));
    }
    if let Some(network) = usual
        && set.toolkits().iter().any(|it| !it.commands.is_empty())
    {
        let all = commands_besides(dock, &set);
        powers.grants = agent_grants(&powers.profile, None, Some(&all), network);
    }
    tell(&set, &held(dock, powers, options)?);
    Ok(())
}

/// The commands that there are, without those of the toolkits: these a person grants.
fn commands_besides(dock: &Dock, set: &ToolkitSet) -> Vec<CommandName> {
    let is_theirs =
        |name: &CommandName| set.toolkits().iter().flat_map(|it| &it.commands).any(|it| it.name == *name);
    let all = dock.registry().list().into_iter().map(|it| it.entry.name.clone());
    all.filter(|it| !is_theirs(it)).collect()
}

/// What a run of these powers holds, as far as a toolkit could ask for it.
fn held(dock: &Dock, powers: &AgentPowers, options: &RunOptions) -> anyhow::Result<Vec<GrantSpec>> {
    let usual = || agent_grants(&powers.profile, None, None, vec![GrantSpec::of(Cap::Exec)]);
    let mut held = powers.grants.clone().or_else(usual).unwrap_or_default();
    if !held.iter().any(|it| it.cap == Cap::Tool) {
        let is_offered =
            |name: &str| options.tools.as_ref().is_none_or(|all| all.iter().any(|it| it == name));
        let own = CATALOGUE.iter().filter(|it| is_offered(it.name) && (powers.exec || !it.needs_exec));
        let own: Vec<String> = own.map(|it| format!("{PROVIDER}.{}", it.name)).collect();
        held.extend(GrantSpec::exactly(Cap::Tool, own.iter().map(String::as_str)));
    }
    if powers.stored_grants {
        let principal: Principal = powers.principal.parse()?;
        let stored = dock.stored_grants(dock.tenant().clone()).of(&principal)?;
        held.extend(stored.iter().map(|it| it.spec()));
    }
    Ok(held)
}

/// Says what is asked for and not held, and how to give it.
fn tell(set: &ToolkitSet, held: &[GrantSpec]) {
    if set.asks().next().is_none() {
        return;
    }
    let missing: Vec<Ask> = set
        .asks()
        .map(|ask| {
            let grants = ask.grants.iter().filter(|it| !holds(held, it)).cloned().collect();
            Ask { grants, ..ask.clone() }
        })
        .filter(|it| !it.grants.is_empty())
        .collect();
    if missing.is_empty() {
        exit::warn("its toolkits ask for nothing that the run does not hold already");
        return;
    }
    let file = grants_file(&missing);
    exit::warn(&format!(
        "its toolkits ask for this, which the run does not hold:\n{file}\ngive it with `drydock grants add FILE --principal agent`, \
         or be asked for it as it is needed with --on-denial ask"
    ));
}

/// Whether a grant that is asked for is among these, or within one of them.
fn holds(held: &[GrantSpec], asked: &GrantSpec) -> bool {
    let admits = |of: &GrantSpec, subject: &Pattern| match &of.subjects {
        None => true,
        Some(all) => {
            let literal = subject.literal();
            all.iter().any(|it| it == subject || literal.as_ref().is_some_and(|text| it.admits(text)))
        }
    };
    let within = |of: &GrantSpec| match &asked.subjects {
        None => of.subjects.is_none(),
        Some(subjects) => subjects.iter().all(|it| admits(of, it)),
    };
    let is_whole = |it: &&GrantSpec| {
        it.cap == asked.cap
            && it.parent.is_none()
            && !it.review
            && (it.rules.is_empty() || it.rules == asked.rules)
    };
    held.iter().filter(is_whole).any(within)
}

fn id(folder: &Path) -> anyhow::Result<String> {
    let name = folder.file_name().and_then(|it| it.to_str());
    Ok(name
        .with_context(|| format!("`{}` has no name that a toolkit could have", folder.display()))?
        .to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_held_where_a_grant_is_as_wide() {
        let read = |text: &str| GrantSpec::parse(text.as_bytes()).unwrap();
        let held = [
            read(r#"{"cap":"exec","subjects":["wc","sh"]}"#),
            read(r#"{"cap":"net","subjects":["*.a.test:443"]}"#),
            read(r#"{"cap":"kv"}"#),
            read(r#"{"cap":"browse","review":true}"#),
        ];
        for (asked, want) in [
            (r#"{"cap":"exec","subjects":["wc"]}"#, true),
            (r#"{"cap":"exec","subjects":["wc"],"rules":[{"argument":"/1","equal":"-l"}]}"#, true),
            (r#"{"cap":"exec","subjects":["wc","rm"]}"#, false),
            (r#"{"cap":"exec"}"#, false),
            (r#"{"cap":"net","subjects":["x.a.test:443"]}"#, true),
            (r#"{"cap":"net","subjects":["*.a.test:443"]}"#, true),
            (r#"{"cap":"net","subjects":["*:443"]}"#, false),
            (r#"{"cap":"kv","subjects":["papers/*"]}"#, true),
            (r#"{"cap":"browse","subjects":["a.test:443"]}"#, false),
            (r#"{"cap":"queue"}"#, false),
        ] {
            assert_eq!(holds(&held, &read(asked)), want, "{asked}");
        }
    }
}
