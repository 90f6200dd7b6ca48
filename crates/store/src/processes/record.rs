//! What is kept of a process beside its output: no argument, no variable and nothing of its input.

use std::{fmt, io, str::FromStr};

use drydock_contract::Timestamp;
use serde::{Deserialize, Serialize};

/// The id of a process: 128 random bits, so that nobody guesses one and none is used twice.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProcessId(String);

/// The text is no id of a process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no process id")]
pub struct BadProcessId(String);

/// Hexadecimal digits of an id.
const DIGITS: usize = 32;

impl ProcessId {
    pub(super) fn new() -> io::Result<Self> {
        let mut bytes = [0; DIGITS / 2];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(format!("{:032x}", u128::from_le_bytes(bytes))))
    }

    /// As it is written: the name of a folder, and nothing else.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ProcessId {
    type Err = BadProcessId;

    fn from_str(text: &str) -> Result<Self, BadProcessId> {
        let is_digit = |it: u8| it.is_ascii_digit() || matches!(it, b'a'..=b'f');
        match text.len() == DIGITS && text.bytes().all(is_digit) {
            true => Ok(Self(text.to_owned())),
            false => Err(BadProcessId(text.chars().take(64).collect::<String>().escape_debug().to_string())),
        }
    }
}

impl TryFrom<String> for ProcessId {
    type Error = BadProcessId;

    fn try_from(text: String) -> Result<Self, BadProcessId> {
        text.parse()
    }
}

impl From<ProcessId> for String {
    fn from(id: ProcessId) -> Self {
        id.0
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How far a process is. It only ever moves down this list, and never from one end to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessStage {
    /// It was asked for.
    Starting,
    /// It was let through.
    Running,
    /// It ended by itself, or by one of its limits.
    Exited,
    /// Somebody ended it.
    Killed,
    /// It was refused, or whoever ran it failed.
    Failed,
}

impl ProcessStage {
    /// Whether it is an end.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Exited | Self::Killed | Self::Failed)
    }

    /// The stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Exited => "exited",
            Self::Killed => "killed",
            Self::Failed => "failed",
        }
    }
}

/// One process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessRecord {
    /// By which its tenant names it.
    pub id: ProcessId,
    /// The command.
    pub command: String,
    /// Who started it.
    pub principal: String,
    /// How far it is.
    #[serde(rename = "state")]
    pub stage: ProcessStage,
    /// The exit status, as a shell's user knows it, if it ended by itself or by a limit.
    pub exit_code: Option<i32>,
    /// How it ended, by a stable code.
    pub code: Option<String>,
    /// The same for people, where there is more to say.
    pub message: Option<String>,
    /// When it was started.
    pub started_ms: u64,
    /// When it had ended; of one whose server died nobody knows.
    pub ended_ms: Option<u64>,
    /// Bytes of its stdout that can be read.
    pub stdout_bytes: u64,
    /// Bytes of its stderr that can be read.
    pub stderr_bytes: u64,
}

impl ProcessRecord {
    pub(super) fn starting(id: ProcessId, command: &str, principal: &str, now: Timestamp) -> Self {
        Self {
            id,
            command: command.to_owned(),
            principal: principal.to_owned(),
            stage: ProcessStage::Starting,
            exit_code: None,
            code: None,
            message: None,
            started_ms: now.as_millis(),
            ended_ms: None,
            stdout_bytes: 0,
            stderr_bytes: 0,
        }
    }

    /// It failed so.
    pub fn fail(&mut self, code: &str, message: &str) {
        self.stage = ProcessStage::Failed;
        (self.code, self.message) = (Some(code.to_owned()), Some(message.to_owned()));
    }

    /// Bytes of both outputs.
    pub fn output_bytes(&self) -> u64 {
        self.stdout_bytes.saturating_add(self.stderr_bytes)
    }
}
