//! What a run is opened with, from flags and from a definition.

use std::{io::Read as _, path::PathBuf, time::Duration};

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use drydock_embed::{
    Dock, Mount,
    agent::{
        AgentFiles, AgentPowers, AgentSpec, AtLimit, OnDenial, RunOptions, SESSION_STEPS_MAX, read_definition,
    },
    contract::{CommandName, GrantFile, GrantSpec},
    store::WorkspaceName,
};

use super::{drive::DriveFlags, toolkits};
use crate::{
    cli::{
        grants,
        powers::{AGENT, agent_grants, agent_mount},
    },
    exit, models, show, units,
};

/// The longest prompt or task that is read.
const TEXT_BYTES_MAX: u64 = 1 << 20;

/// How a run goes and what it may do.
#[derive(Debug, Args)]
pub(super) struct SpecFlags {
    #[command(flatten)]
    prompt: PromptFlags,
    /// What it is asked; - reads it from stdin
    #[arg(long, value_name = "TEXT")]
    task: String,
    #[command(flatten)]
    options: OptionFlags,
    /// Powers and memory by name (see `drydock profiles`)
    #[arg(long, value_name = "NAME", default_value = "minimal")]
    profile: String,
    /// Only these commands may run
    #[arg(long, value_name = "NAME[,NAME]", value_delimiter = ',', conflicts_with = "grants")]
    allow: Option<Vec<CommandName>>,
    /// Hold exactly the grants of this file, besides its own files, model and tools
    #[arg(long, alias = "grant", value_name = "FILE", value_parser = grants::file)]
    grants: Option<GrantFile>,
    /// Keep its files in this workspace [default: one of the run's own]
    #[arg(long, value_name = "NAME")]
    workspace: Option<WorkspaceName>,
    /// Mount a host directory: copy-on-write unless :ro or :rw is said
    #[arg(long, value_name = "HOST[:GUEST][:ro|:rw|:cow]", value_parser = mount)]
    dir: Vec<String>,
    /// Let it use this toolkit; may be repeated
    #[arg(long, value_name = "DIR")]
    toolkit: Vec<PathBuf>,
    /// Let it use this skill: a folder with SKILL.md; may be repeated
    #[arg(long, value_name = "DIR")]
    skill: Vec<PathBuf>,
    /// Trust it with git, publish and image, which work in --workdir
    #[arg(long)]
    exec: bool,
    /// The directory of this machine that git, publish and image work in
    #[arg(long, value_name = "DIR", requires = "exec")]
    workdir: Option<PathBuf>,
}

/// Where its prompt is: one of them at least.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct PromptFlags {
    /// A definition of an agent: Markdown with front matter, or org
    #[arg(value_name = "DEF")]
    definition: Option<PathBuf>,
    /// What the model is told before everything else, in the place of a definition's
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
}

/// Options of a run that a resumed or forked one may have other values of.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct OptionFlags {
    /// Which model, by the name it is configured under (see `drydock models`)
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// How many turns it may take [default: 40]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(super) max_steps: Option<u64>,
    /// What it may use up: tokens=N, cost=AMOUNT of the money that prices are configured in
    #[arg(long, value_name = "tokens=N,cost=AMOUNT", value_parser = Spend::parse)]
    pub(super) budget: Option<Spend>,
    /// Only these tools are offered
    #[arg(long, value_name = "NAME[,NAME]", value_delimiter = ',')]
    pub(super) tools: Option<Vec<String>>,
    /// Ask a person before each call of this tool; * for every one; may be repeated
    #[arg(long, value_name = "TOOL")]
    pub(super) review: Vec<String>,
    /// How long a person has to answer before it counts as refused [default: for ever]
    #[arg(long, value_name = "TIME", value_parser = units::lifetime)]
    pub(super) review_wait: Option<Duration>,
    /// Where a call is refused: tell the model, or ask a person for the grant
    #[arg(long, value_name = "HOW")]
    pub(super) on_denial: Option<Denied>,
    /// Where the budget ends: stop, or ask a person for more
    #[arg(long, value_name = "HOW")]
    pub(super) at_limit: Option<Limit>,
}

/// What happens where a call is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Denied {
    Tell,
    Ask,
}

/// What happens where the budget ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Limit {
    Stop,
    Ask,
}

/// What a run may use up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Spend {
    pub(super) tokens: Option<u64>,
    pub(super) cost_micros: Option<u64>,
}

impl Spend {
    fn parse(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is no budget: use tokens=50000, cost=1.50, or both with a comma");
        let mut spend = Self::default();
        for part in text.split(',') {
            let (name, amount) = part.split_once('=').ok_or_else(bad)?;
            let place = match name {
                "tokens" => &mut spend.tokens,
                "cost" => &mut spend.cost_micros,
                _ => return Err(bad()),
            };
            let amount = if name == "cost" { micros(amount) } else { amount.parse().ok() };
            let amount = amount.filter(|it| *it > 0).ok_or_else(bad)?;
            if place.replace(amount).is_some() {
                return Err(bad());
            }
        }
        Ok(spend)
    }
}

/// Money as people write it, in millionths.
fn micros(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |it: &str| it.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 6 || (whole.is_empty() && part.is_empty()) {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    whole.checked_mul(1_000_000)?.checked_add(part)
}

fn mount(text: &str) -> Result<String, String> {
    let mount: Mount = text.parse().map_err(|bad: drydock_embed::BadMount| bad.to_string())?;
    agent_mount(&mount)
}

impl OptionFlags {
    /// The options with what was said in the place of what was there.
    pub(super) fn over(&self, mut options: RunOptions) -> RunOptions {
        let Self { model, max_steps, budget, tools, review, review_wait, on_denial, at_limit } = self;
        if let Some(model) = model {
            options.model.clone_from(model);
        }
        options.max_steps = max_steps.unwrap_or(options.max_steps);
        if let Some(Spend { tokens, cost_micros }) = budget {
            (options.tokens_max, options.cost_micros_max) =
                (tokens.or(options.tokens_max), cost_micros.or(options.cost_micros_max));
        }
        if tools.is_some() {
            options.tools.clone_from(tools);
        }
        options.review.extend(review.iter().cloned());
        if let Some(wait) = review_wait {
            options.review_wait_ms = Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        }
        match on_denial {
            Some(Denied::Ask) => options.on_denial = OnDenial::Ask,
            Some(Denied::Tell) => options.on_denial = OnDenial::Tell,
            None => {}
        }
        match at_limit {
            Some(Limit::Ask) => options.at_limit = AtLimit::Ask,
            Some(Limit::Stop) => options.at_limit = AtLimit::Stop,
            None => {}
        }
        options
    }

    /// Whether anything was said.
    pub(super) fn is_empty(&self) -> bool {
        let plain = RunOptions::default();
        self.over(plain.clone()) == plain
    }
}

impl SpecFlags {
    /// The run that these flags describe. What is wrong with it is told before anything is opened.
    pub(super) fn spec(&self, dock: &Dock, how: &DriveFlags) -> anyhow::Result<AgentSpec> {
        let definition =
            self.prompt.definition.as_deref().map(read_definition).transpose()?.unwrap_or_default();
        let mut powers = self.powers(how)?;
        let plain = RunOptions {
            model: definition.model.unwrap_or_default(),
            max_steps: definition.max_steps.unwrap_or(SESSION_STEPS_MAX),
            tools: definition.tools,
            ..RunOptions::default()
        };
        let options = self.options.over(plain);
        if options.model.is_empty() {
            bail!("no model is named; --model NAME names one (see `drydock models`), or the definition does");
        }
        let model = models::named(&options.model)?;
        if options.cost_micros_max.is_some() && model.price.is_none() {
            exit::warn(&format!(
                "model `{}` has no `price`: unless its server says what a turn cost, `--budget cost=…` ends nothing; \
                 `tokens=N` does",
                show::plain(&options.model)
            ));
        }
        let network = how.network()?.grants().iter().map(|it| it.spec()).collect();
        let is_usual = self.grants.is_none() && self.allow.is_none();
        toolkits::equip(
            dock,
            &mut powers,
            &options,
            definition.toolkits,
            how.trust.trust(),
            is_usual.then_some(network),
        )?;
        let system = self.prompt.system.clone().unwrap_or(definition.prompt);
        let task = self.task()?;
        if task.trim().is_empty() {
            bail!("the task is empty; --task TEXT says what it is asked");
        }
        Ok(AgentSpec { system, task, agent: definition.id.or(definition.name), options, powers })
    }

    /// What it is granted; none for every command and what the profile grants.
    fn grants(&self, how: &DriveFlags) -> anyhow::Result<Option<Vec<GrantSpec>>> {
        let network = how.network()?.grants().iter().map(|it| it.spec()).collect();
        Ok(agent_grants(&self.profile, self.grants.as_ref(), self.allow.as_deref(), network))
    }

    /// What it may do, and where.
    fn powers(&self, how: &DriveFlags) -> anyhow::Result<AgentPowers> {
        let whole = |path: &PathBuf| {
            path.canonicalize().with_context(|| format!("`{}` cannot be found", path.display()))
        };
        let folders = self.toolkit.iter().chain(&self.skill);
        Ok(AgentPowers {
            principal: AGENT.to_owned(),
            profile: self.profile.clone(),
            grants: self.grants(how)?,
            stored_grants: true,
            files: self
                .workspace
                .as_ref()
                .map_or(AgentFiles::Own, |it| AgentFiles::Workspace(it.to_string())),
            dirs: self.dir.clone(),
            exec: self.exec,
            workdir: self.workdir.as_ref().map(whole).transpose()?,
            toolkit_folders: folders.map(whole).collect::<anyhow::Result<_>>()?,
            ..AgentPowers::default()
        })
    }

    /// The task, read from stdin if it is there.
    fn task(&self) -> anyhow::Result<String> {
        if self.task != "-" {
            return Ok(self.task.clone());
        }
        let mut text = String::new();
        let read = std::io::stdin().lock().take(TEXT_BYTES_MAX + 1).read_to_string(&mut text);
        let bytes = read.context("the task on stdin cannot be read")?;
        if bytes as u64 > TEXT_BYTES_MAX {
            bail!("the task on stdin is longer than {TEXT_BYTES_MAX} bytes; put it into a file of --dir");
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_tokens_and_money_each_once() {
        let spend = |tokens, cost_micros| Ok(Spend { tokens, cost_micros });
        for (text, want) in [
            ("tokens=50000", spend(Some(50_000), None)),
            ("cost=1.5", spend(None, Some(1_500_000))),
            ("cost=.000001,tokens=1", spend(Some(1), Some(1))),
            ("cost=2", spend(None, Some(2_000_000))),
        ] {
            assert_eq!(Spend::parse(text), want, "{text}");
        }
        for bad in [
            "",
            "tokens",
            "tokens=",
            "tokens=0",
            "tokens=-1",
            "cost=0.0000001",
            "cost=.",
            "cost=1e3",
            "cost=-1",
            "tokens=1,tokens=2",
            "money=1",
            "cost=99999999999999999999",
        ] {
            assert!(Spend::parse(bad).unwrap_err().contains("is no budget"), "{bad}");
        }
    }

    #[test]
    fn options_that_were_not_said_stay() {
        let before = RunOptions {
            model: "m".into(),
            tokens_max: Some(5),
            review: vec!["git".into()],
            ..RunOptions::default()
        };
        assert!(OptionFlags::default().is_empty());
        assert_eq!(OptionFlags::default().over(before.clone()), before);
        let flags = OptionFlags {
            max_steps: Some(3),
            budget: Some(Spend { tokens: None, cost_micros: Some(7) }),
            review: vec!["shell".into()],
            at_limit: Some(Limit::Ask),
            ..OptionFlags::default()
        };
        let after = flags.over(before);
        assert_eq!((after.model.as_str(), after.max_steps, after.tokens_max), ("m", 3, Some(5)));
        assert_eq!((after.cost_micros_max, after.at_limit), (Some(7), AtLimit::Ask));
        assert_eq!(after.review, ["git", "shell"]);
    }
}
