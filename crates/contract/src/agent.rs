//! Runs of agents, as everybody who keeps, drives, shows or answers for one knows them: an id, a head that says how far it
//! is, and what a person is asked on its way.
//!
//! What happened in a run is a list of events, and only the room `agent` reads those: here they are bytes.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The id of something that is kept: 128 random bits, so that nobody guesses one and none is used twice.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentId(String);

/// The text is no such id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no id of a run or a review: 32 digits of 0-9 and a-f")]
pub struct BadAgentId(String);

/// Hexadecimal digits of an id.
const DIGITS: usize = 32;

impl AgentId {
    /// The id of these random bits.
    pub fn of(bits: u128) -> Self {
        Self(format!("{bits:032x}"))
    }

    /// As it is written: the name of a folder or a key, and nothing else.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for AgentId {
    type Err = BadAgentId;

    fn from_str(text: &str) -> Result<Self, BadAgentId> {
        let is_digit = |it: u8| it.is_ascii_digit() || matches!(it, b'a'..=b'f');
        match text.len() == DIGITS && text.bytes().all(is_digit) {
            true => Ok(Self(text.to_owned())),
            false => Err(BadAgentId(text.chars().take(64).collect::<String>().escape_debug().to_string())),
        }
    }
}

impl TryFrom<String> for AgentId {
    type Error = BadAgentId;

    fn try_from(text: String) -> Result<Self, BadAgentId> {
        text.parse()
    }
}

impl From<AgentId> for String {
    fn from(id: AgentId) -> Self {
        id.0
    }
}

/// How far a run of an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentStatus {
    /// Somebody drives it.
    Running,
    /// It waits for a person, and nobody need hold it meanwhile.
    Waiting,
    /// It came to its end.
    Done,
    /// Somebody ended it.
    Cancelled,
    /// It cannot go on by itself: an error, a limit, or whoever drove it is gone. It can be resumed.
    Failed,
}

impl AgentStatus {
    /// Whether nothing happens in it any more unless somebody resumes it.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled | Self::Failed)
    }

    /// The word in records and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }
}

/// What a list of runs shows of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentHead {
    /// Which.
    pub id: AgentId,
    /// How far it is.
    pub status: AgentStatus,
    /// Who acts.
    pub principal: String,
    /// What the agent is called, if it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Which model was asked last.
    pub model: String,
    /// The task, or its beginning.
    pub task: String,
    /// Where its files are, if they are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The run that it was forked from, or that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<AgentId>,
    /// Turns of the model so far.
    pub steps: u64,
    /// Tokens read and written, and millionths of money.
    #[serde(default)]
    pub usage: AgentUsage,
    /// When it began, in milliseconds since the epoch.
    pub started_ms: u64,
    /// When its head was written last.
    pub updated_ms: u64,
    /// What it came to, or its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Why it failed: a stable code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What the turns of a run cost so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentUsage {
    /// Turns that were answered.
    pub turns: u64,
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Part of these that it knew from before.
    #[serde(default)]
    pub cached_input_tokens: u64,
    /// Tokens that it wrote.
    pub output_tokens: u64,
    /// Millionths of the money in which prices are configured.
    #[serde(default)]
    pub cost_micros: u64,
}

/// What a person is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewKind {
    /// One call of a tool that wants a person's word.
    Tool,
    /// A grant that would have allowed what was refused.
    Grant,
    /// More tokens or money.
    Budget,
    /// A call was in flight when its run was interrupted: nobody knows what it did.
    InFlight,
    /// Whatever else was put into the queue.
    Other,
}

/// What somebody answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case", deny_unknown_fields)]
pub enum ReviewAnswer {
    /// Yes, for this one call.
    Once,
    /// Yes, for the rest of the run.
    Session,
    /// Yes, that often (calls), or that much more (tokens or money).
    Limit {
        /// How often, or how much.
        limit: u64,
    },
    /// No.
    Deny {
        /// Why, for the model and the record.
        #[serde(default)]
        reason: String,
    },
}

/// How far a review is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ReviewState {
    /// Nobody answered yet.
    Pending,
    /// Somebody did.
    Answered {
        /// What.
        given: ReviewAnswer,
        /// Who.
        by: String,
        /// When, in milliseconds since the epoch.
        at_ms: u64,
    },
    /// Its time is over: it counts as refused.
    Expired,
}

/// A question to a person, durable until it is answered or its time is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Review {
    /// Which.
    pub id: AgentId,
    /// The run that waits for it.
    pub run: AgentId,
    /// Which of the run's calls it is about, if it is about one: the id in the transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// What about.
    pub kind: ReviewKind,
    /// A sentence for a person.
    pub title: String,
    /// What would happen, as it is known before: tool, arguments, command, host, diff.
    pub what: Value,
    /// The authority that is asked for: a grant as a file of grants holds it, or nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<Value>,
    /// When it was asked, in milliseconds since the epoch.
    pub asked_ms: u64,
    /// When it counts as refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u64>,
    /// How far it is.
    #[serde(flatten)]
    pub state: ReviewState,
}

/// What an agent filed for whoever runs the installation: something is missing, or does not work. It outlives its run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FiledIssue {
    /// Which.
    pub id: AgentId,
    /// The run that filed it first.
    pub run: AgentId,
    /// One line that says it: whoever files the same again files the same issue.
    pub title: String,
    /// What is needed, and what was tried.
    pub body: String,
    /// When it was filed first, in milliseconds since the epoch.
    pub filed_ms: u64,
    /// How often it was filed.
    #[serde(default = "once")]
    pub seen: u64,
}

const fn once() -> u64 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_thirty_two_digits_and_nothing_that_leads_anywhere() {
        let id = AgentId::of(0xfeed);
        assert_eq!(id.as_str().parse::<AgentId>().unwrap(), id);
        for text in
            ["", "..", "FEED", "0000000000000000000000000000000g", "00000000000000000000000000000000/"]
        {
            assert!(text.parse::<AgentId>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_review_reads_as_it_was_written() {
        let answered =
            ReviewState::Answered { given: ReviewAnswer::Limit { limit: 3 }, by: "ada".into(), at_ms: 9 };
        for state in [ReviewState::Pending, answered, ReviewState::Expired] {
            let review = Review {
                id: AgentId::of(1),
                run: AgentId::of(2),
                call: Some("c1".into()),
                kind: ReviewKind::Grant,
                title: "may it".into(),
                what: serde_json::json!({ "host": "example.com" }),
                grant: None,
                asked_ms: 1,
                expires_ms: Some(2),
                state,
            };
            let text = serde_json::to_string(&review).unwrap();
            assert_eq!(serde_json::from_str::<Review>(&text).unwrap(), review, "{text}");
        }
    }
}
