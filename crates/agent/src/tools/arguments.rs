//! The arguments of each tool: what the loop judges a call by, and what the tool reads. A member that nobody knows is
//! refused, so that a model learns that it is not heard.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

/// The arguments are not those of the tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadArguments(String);

/// Reads the input of a tool.
pub fn decode<T: DeserializeOwned>(input: Option<&[u8]>) -> Result<T, BadArguments> {
    serde_json::from_slice(input.unwrap_or(b"{}")).map_err(|error| BadArguments(error.to_string()))
}

/// Whether a tool whose arguments are a `T` would read these.
pub(super) fn judge<T: DeserializeOwned>(arguments: &Map<String, Value>) -> Result<(), BadArguments> {
    // By reference: a file that is to be written is not copied to be judged.
    T::deserialize(arguments).map(|_: T| ()).map_err(|error| BadArguments(error.to_string()))
}

/// Of `shell`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShellArguments {
    /// The command line.
    pub pipeline: String,
    /// What it reads as its standard input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
}

/// Of `search`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchArguments {
    /// Words.
    pub query: String,
}

/// Of `wb`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WbArguments {
    /// The verb and its words, as on a command line.
    pub args: String,
}

/// Of `fetch`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FetchArguments {
    /// Which page.
    pub url: String,
}

/// Of `web_search`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebSearchArguments {
    /// Words.
    pub query: String,
}

/// Of `file_issue`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileIssueArguments {
    /// In a few words.
    pub title: String,
    /// What is needed.
    #[serde(default)]
    pub need: String,
    /// What was tried, and what came of it.
    #[serde(default)]
    pub tried: String,
}

/// Of `vfs_write`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VfsWriteArguments {
    /// Which file.
    pub path: String,
    /// All that it is to hold.
    pub content: String,
}

/// Of `vfs_read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VfsReadArguments {
    /// Which file.
    pub path: String,
    /// From which line on, the first being 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_line: Option<u64>,
    /// How many lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
}

/// Of `done`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoneArguments {
    /// What it came to.
    pub result: String,
}

/// Of `run_code`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunCodeArguments {
    /// In which language.
    pub language: CodeLanguage,
    /// The program.
    pub code: String,
}

/// In which language a program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CodeLanguage {
    /// JavaScript.
    JavaScript,
    /// Python.
    Python,
}

/// Of `edit_file`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditFileArguments {
    /// Which file.
    pub path: String,
    /// What is there, exactly.
    pub old: String,
    /// What is to be there.
    pub new: String,
    /// Every place where it is, and not only one.
    #[serde(default)]
    pub all: bool,
}

/// Of `agent`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentArguments {
    /// What is to be done.
    pub task: String,
    /// Who does it: an agent that is defined here, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What it is told before everything else, in the place of the definition's prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Which model, if not the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The only tools that it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// The only commands that it may run, of those that its parent may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// The only hosts that it may reach, of those that its parent may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_host: Option<Vec<String>>,
    /// How many turns it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u64>,
    /// How many tokens it may use, of those that are left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_max: Option<u64>,
}

/// Of `git`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GitArguments {
    /// The message of the commit.
    pub message: String,
}

/// Of `publish`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishArguments {}

/// Of `image`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageArguments {
    /// What is to be seen.
    pub prompt: String,
    /// Into which file.
    pub path: String,
    /// Width and height.
    #[serde(default)]
    pub aspect: Aspect,
}

/// How wide an image is for its height.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Aspect {
    /// Of a screen.
    #[default]
    #[serde(rename = "16:9")]
    Wide,
    /// A square.
    #[serde(rename = "1:1")]
    Square,
    /// Of a banner.
    #[serde(rename = "3:1")]
    Banner,
}
