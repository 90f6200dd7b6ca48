//! What a run of an agent is opened with, as data: it is kept with the run, so that another process can open it again.

use std::path::PathBuf;

use drydock_agent::{RunOptions, SESSION_STEPS_MAX};
use drydock_contract::{AgentId, GrantSpec};
use serde::{Deserialize, Serialize};

/// A run that is to be opened.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentSpec {
    /// What the model is told before everything else, toolkits and all.
    pub system: String,
    /// What it is asked.
    pub task: String,
    /// What the agent is called, if it has a name.
    pub agent: Option<String>,
    /// How it goes.
    pub options: RunOptions,
    /// What it may do, and where.
    pub powers: AgentPowers,
}

/// What a run may do, and where. The defaults are the seed's: files in memory, no network, no `exec`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentPowers {
    /// Who acts.
    pub principal: String,
    /// The named set of powers; what it grants by itself holds only where `grants` is not said.
    pub profile: String,
    /// What it is granted, besides its own files, its model and the tools that it has by being an agent; none for every
    /// command and what the profile grants. A list that names a tool or a model says that of all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grants: Option<Vec<GrantSpec>>,
    /// Whether the grants that are kept for the principal are added.
    pub stored_grants: bool,
    /// Where its files are.
    pub files: AgentFiles,
    /// Directories of the host that it sees: `HOST[:GUEST][:ro|:rw|:cow]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dirs: Vec<String>,
    /// The trust grant for `git`, `publish` and `image`.
    pub exec: bool,
    /// The directory of the host that those three work in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workdir: Option<PathBuf>,
    /// Its toolkits, by their ids: what it is told of them, what `wb` shows, and files and commands that its grants decide
    /// about like about any other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub toolkits: Vec<String>,
    /// Folders of single toolkits, besides those that everybody's are looked for in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub toolkit_folders: Vec<PathBuf>,
    /// The run that started it as a sub-agent, and how deep it is below the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child: Option<ChildOf>,
}

/// A sub-agent's place below its parents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildOf {
    /// The run that called for it.
    pub run: AgentId,
    /// The call of that run's transcript.
    pub call: String,
    /// How many runs are above it.
    pub depth: u32,
}

/// Where the files of a run are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentFiles {
    /// In memory, and gone with the process.
    #[default]
    Memory,
    /// In a workspace of the run's own, which is named after it.
    Own,
    /// In the workspace of that name.
    Workspace(String),
}

impl Default for AgentPowers {
    fn default() -> Self {
        Self {
            principal: PRINCIPAL.to_owned(),
            profile: "minimal".to_owned(),
            grants: None,
            stored_grants: false,
            files: AgentFiles::default(),
            dirs: Vec::new(),
            exec: false,
            workdir: None,
            toolkits: Vec::new(),
            toolkit_folders: Vec::new(),
            child: None,
        }
    }
}

/// Who an agent is if nobody says it.
const PRINCIPAL: &str = "agent";

impl AgentSpec {
    /// A run of the library: at most 12 turns, files in memory.
    pub fn run(system: impl Into<String>, task: impl Into<String>, options: RunOptions) -> Self {
        let (system, task) = (system.into(), task.into());
        Self { system, task, agent: None, options, powers: AgentPowers::default() }
    }

    /// A session: at most 40 turns unless the options say another number, files in a workspace of its own, so that it can
    /// be resumed.
    pub fn session(system: impl Into<String>, task: impl Into<String>, mut options: RunOptions) -> Self {
        if options.max_steps == RunOptions::default().max_steps {
            options.max_steps = SESSION_STEPS_MAX;
        }
        let powers = AgentPowers { files: AgentFiles::Own, ..AgentPowers::default() };
        Self { powers, ..Self::run(system, task, options) }
    }
}

/// What is to be different in a run that is resumed or forked. What is not said stays.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentChanges {
    /// Another model.
    pub model: Option<String>,
    /// Other options, whole; a model that is named beside them comes after them.
    pub options: Option<RunOptions>,
    /// More turns than it has had so far, in the place of the bound that its options say.
    pub more_steps: Option<u64>,
    /// Another prompt; of a fork only.
    pub system: Option<String>,
    /// Another task; of a fork only.
    pub task: Option<String>,
    /// Other grants, in the place of those it was opened with; of a fork only.
    pub grants: Option<Vec<GrantSpec>>,
    /// What somebody says to it before it goes on.
    pub say: Option<String>,
}

impl AgentChanges {
    /// The options from here on, or none if they stay.
    pub(super) fn options(&self, before: &RunOptions, steps: u64) -> Option<RunOptions> {
        let mut options = self.options.clone().unwrap_or_else(|| before.clone());
        if let Some(model) = &self.model {
            options.model.clone_from(model);
        }
        if let Some(more) = self.more_steps {
            options.max_steps = steps.saturating_add(more);
        }
        (options != *before).then_some(options)
    }

    /// Whether it changes what only a fork can change.
    pub(super) fn of_a_fork(&self) -> bool {
        self.system.is_some() || self.task.is_some() || self.grants.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_twelve_turns_and_files_in_memory_and_a_session_forty_and_a_workspace() {
        let run = AgentSpec::run("s", "t", RunOptions::default());
        assert_eq!((run.options.max_steps, run.powers.files), (12, AgentFiles::Memory));
        assert!(!run.powers.exec && run.powers.grants.is_none() && run.powers.workdir.is_none());
        let session = AgentSpec::session("s", "t", RunOptions::default());
        assert_eq!((session.options.max_steps, session.powers.files), (40, AgentFiles::Own));
        let few = AgentSpec::session("s", "t", RunOptions { max_steps: 3, ..RunOptions::default() });
        assert_eq!(few.options.max_steps, 3);
    }

    #[test]
    fn powers_read_as_they_were_kept_and_what_nobody_knows_is_an_error() {
        let powers = AgentPowers {
            grants: Some(vec![GrantSpec::parse(br#"{"cap":"exec","subjects":["jq"]}"#).unwrap()]),
            files: AgentFiles::Workspace("w".into()),
            dirs: vec!["/tmp:/data:ro".into()],
            exec: true,
            ..AgentPowers::default()
        };
        let text = serde_json::to_string(&powers).unwrap();
        assert_eq!(serde_json::from_str::<AgentPowers>(&text).unwrap(), powers, "{text}");
        assert!(serde_json::from_str::<AgentPowers>(r#"{"root":true}"#).is_err());
    }

    #[test]
    fn changes_say_which_options_hold_from_here_on() {
        let before = RunOptions { model: "a".into(), max_steps: 3, ..RunOptions::default() };
        assert_eq!(AgentChanges::default().options(&before, 3), None);
        let changes =
            AgentChanges { model: Some("b".into()), more_steps: Some(5), ..AgentChanges::default() };
        let after = changes.options(&before, 3).unwrap();
        assert_eq!((after.model.as_str(), after.max_steps), ("b", 8));
    }
}
