//! What happens in a run, in order: what is kept of it, shown of it, and gone on from.
//!
//! An event is written before anybody acts on it. Its JSON is kept for good, so members are only ever added, with a default.

use drydock_abi::llm::{StopReason, ToolCall, Usage};
use drydock_contract::{AgentId, ReviewAnswer, ReviewKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::RunOptions;

/// One event of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The first one: what is to be done, by whom and within which bounds.
    Started {
        /// When, in milliseconds since the epoch, as in every event.
        at_ms: u64,
        /// What the model is told before everything else, toolkits and all.
        system: String,
        /// What it is asked.
        task: String,
        /// What the agent is called, if it has a name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// Its options, whole.
        options: RunOptions,
        /// What whoever opened it needs to open its session again: their own affair, and nothing here reads it.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        opened_by: Map<String, Value>,
    },
    /// The model answered.
    Turn {
        /// When.
        at_ms: u64,
        /// Which turn, from 1 on.
        step: u64,
        /// What it said.
        content: String,
        /// What it asks for.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
        /// Why it stopped.
        stop_reason: StopReason,
        /// What it cost.
        usage: Usage,
        /// How long it took.
        ms: u64,
    },
    /// A tool is about to be called. Without its [`Event::Result`] it was in flight when the run was interrupted.
    Calling {
        /// When.
        at_ms: u64,
        /// Which turn asked.
        step: u64,
        /// Which call of the transcript.
        id: String,
        /// Which tool.
        tool: String,
    },
    /// A call is over, and what the model is told of it.
    Result {
        /// When.
        at_ms: u64,
        /// Which turn asked.
        step: u64,
        /// Which call of the transcript.
        id: String,
        /// Which tool.
        tool: String,
        /// What the model sees, cut to what it may be.
        output: String,
        /// How it ended.
        outcome: CallOutcome,
        /// Whether it said that files of the workspace are others now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        files_changed: Option<bool>,
        /// Where the whole output lies in the workspace, if it was cut.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        whole: Option<String>,
        /// What was spent in the run's name since the event before that says so, and is in no turn: what programs asked models.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spent: Option<Spent>,
        /// How long it took.
        ms: u64,
    },
    /// The model said nothing and called nothing, and was asked once more.
    Nudged {
        /// When.
        at_ms: u64,
    },
    /// What somebody put into the run: the answer of a person, or a message.
    Said {
        /// When.
        at_ms: u64,
        /// What the model reads.
        text: String,
    },
    /// The transcript up to here was replaced by a summary, but for the newest messages.
    Compacted {
        /// When.
        at_ms: u64,
        /// Messages that were replaced, from the first one after the task on.
        messages: u64,
        /// What stands for them.
        summary: String,
        /// What asking for the summary cost, if a model wrote it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// A person is asked.
    Asked {
        /// When.
        at_ms: u64,
        /// Which review.
        review: AgentId,
        /// Which call it is about, if it is about one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<String>,
        /// What about.
        kind: ReviewKind,
        /// The sentence.
        title: String,
        /// The authority that is asked for, as a file of grants holds it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<Value>,
        /// Of what there is too little, where more is asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        purse: Option<Purse>,
        /// When it counts as refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_ms: Option<u64>,
    },
    /// A person answered, or did not in time.
    Answered {
        /// When.
        at_ms: u64,
        /// Which review.
        review: AgentId,
        /// What; nothing if its time was over.
        answer: Option<ReviewAnswer>,
    },
    /// Somebody goes on with a run that was interrupted or over.
    Resumed {
        /// When.
        at_ms: u64,
        /// Its options from here on, if they are others.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        options: Option<RunOptions>,
    },
    /// The last one, unless somebody resumes the run.
    Ended {
        /// When.
        at_ms: u64,
        /// How.
        end: RunEnd,
        /// What was spent that is in no event before: for a turn that broke off, or was none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spent: Option<Spent>,
    },
}

/// How a call of a tool ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum CallOutcome {
    /// It answered; what it ran may have failed.
    Done {
        /// The exit status of what it ran, if it ran something.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
    },
    /// It has no answer: a stable code.
    Failed {
        /// Such as `denied`, `timeout`, `bad_arguments`, `unknown_tool`.
        code: String,
    },
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum RunEnd {
    /// With a result.
    Done {
        /// What it came to.
        result: String,
    },
    /// By somebody's will.
    Cancelled,
    /// Without one.
    Failed {
        /// A stable code: `max_steps`, `budget_exceeded`, `model_failed`, …
        code: String,
        /// A sentence.
        message: String,
    },
}

/// What was taken from a budget, whoever asked which model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    /// Tokens, read and written.
    pub tokens: u64,
    /// Millionths of money.
    pub cost_micros: u64,
}

impl Spent {
    /// What it is more than another one; nothing if it is not.
    pub fn beyond(self, other: Self) -> Option<Self> {
        let tokens = self.tokens.saturating_sub(other.tokens);
        let more = Self { tokens, cost_micros: self.cost_micros.saturating_sub(other.cost_micros) };
        (more != Self::default()).then_some(more)
    }
}

/// What a run spends on its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purse {
    /// Tokens, read and written.
    Tokens,
    /// Millionths of money.
    CostMicros,
}

impl Purse {
    /// As budgets and messages call it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::CostMicros => "cost_micros",
        }
    }

    /// As a sentence for people calls it.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::CostMicros => "money",
        }
    }
}

/// The bytes are no event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no event of a run: {0}")]
pub struct BadEvent(String);

impl Event {
    /// Reads one. Members that nobody knows are left alone: they are of a later version.
    pub fn parse(json: &[u8]) -> Result<Self, BadEvent> {
        serde_json::from_slice(json).map_err(|error| BadEvent(error.to_string()))
    }

    /// As it is kept.
    pub fn to_json(&self) -> Vec<u8> {
        // Texts, numbers and objects of them: there is nothing in one that JSON cannot say.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// What it is called in its JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Started { .. } => "started",
            Self::Turn { .. } => "turn",
            Self::Calling { .. } => "calling",
            Self::Result { .. } => "result",
            Self::Nudged { .. } => "nudged",
            Self::Said { .. } => "said",
            Self::Compacted { .. } => "compacted",
            Self::Asked { .. } => "asked",
            Self::Answered { .. } => "answered",
            Self::Resumed { .. } => "resumed",
            Self::Ended { .. } => "ended",
        }
    }
}
