//! What people are asked on the way of a run, and what they answered.

use drydock_contract::{AgentId, ReviewAnswer, ReviewKind};
use serde_json::Value;

use crate::{Purse, RunOptions};

/// A question that nobody answered yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// What about.
    pub kind: ReviewKind,
    /// The sentence.
    pub title: String,
    /// Which call of the transcript it is about, if it is about one.
    pub call: Option<String>,
    /// The authority that is asked for.
    pub grant: Option<Value>,
    /// Of what there is too little.
    pub purse: Option<Purse>,
    /// When it was asked, in milliseconds since the epoch.
    pub asked_ms: u64,
    /// When it counts as refused.
    pub expires_ms: Option<u64>,
}

/// A grant that a person gave to the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// By which review: what was used of it is counted under this id, so that giving it again gives no more uses.
    pub review: AgentId,
    /// The grant, as a file of grants holds it.
    pub grant: Value,
    /// How often it may be used; nothing for the rest of the run.
    pub uses: Option<u64>,
    /// The call that it is for, where it is for one.
    pub(crate) call: Option<String>,
}

/// The code of a call that a person said no to.
pub(crate) const REFUSED: &str = "refused";

/// What somebody's answer comes to.
pub(crate) enum Word {
    /// Yes, that often; nothing for the rest of the run.
    Yes(Option<u64>),
    /// No: the code, and why.
    No(&'static str, String),
}

impl Word {
    pub(crate) fn of(answer: Option<&ReviewAnswer>) -> Self {
        match answer {
            Some(ReviewAnswer::Once) => Self::Yes(Some(1)),
            Some(ReviewAnswer::Session) => Self::Yes(None),
            Some(ReviewAnswer::Limit { limit: 0 }) => Self::No(REFUSED, "allowed no times".into()),
            Some(ReviewAnswer::Limit { limit }) => Self::Yes(Some(*limit)),
            Some(ReviewAnswer::Deny { reason }) if reason.is_empty() => {
                Self::No(REFUSED, "no reason was given".into())
            }
            Some(ReviewAnswer::Deny { reason }) => Self::No(REFUSED, reason.clone()),
            None => Self::No("review_expired", "nobody answered in time".into()),
        }
    }
}

/// How much more an answer gives: what it says, or as much as the run had at first.
pub(crate) fn more_of(answer: &ReviewAnswer, purse: Purse, options: &RunOptions) -> u64 {
    let first = match purse {
        Purse::Tokens => options.tokens_max,
        Purse::CostMicros => options.cost_micros_max,
    };
    match answer {
        ReviewAnswer::Limit { limit } => *limit,
        ReviewAnswer::Once | ReviewAnswer::Session => first.unwrap_or_default(),
        ReviewAnswer::Deny { .. } => 0,
    }
}
