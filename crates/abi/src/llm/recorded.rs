//! A model that says again what it said in a run of an agent: for whoever wants to see that run once more, or to try
//! something else around it, and asks no server.
//!
//! Which turn comes follows from the transcript alone, as with a [`super::Script`]: the one that the run's model answered with
//! when it had heard the same turns and the same results of tools. What people said in between is not compared, so that a run
//! may be begun with other words. Of the events of a run only those are read that a model hears of; the format is that of
//! `drydock agent show --json`, and members that nobody knows are left alone.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{Asked, Completion, Message, StopReason, ToolCall, Usage};
use crate::broker::{Answer, Failure};

/// Events of one run.
const EVENTS_MAX: usize = 65_536;
/// As much of an id as a message shows.
const SHOWN_CHARS: usize = 80;

/// The text is no run.
#[derive(Debug, thiserror::Error)]
#[error("no events of a run: {0}")]
pub struct BadRecorded(String);

/// What the model of a recorded run said.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    turns: Vec<Turn>,
    /// What stood for the messages that were left out, and how many turns there were by then.
    summaries: Vec<Summary>,
}

#[derive(Debug, Clone)]
struct Turn {
    content: String,
    tool_calls: Vec<ToolCall>,
    stop_reason: StopReason,
    usage: Usage,
    /// What came of its calls, by their ids.
    results: BTreeMap<String, String>,
}

#[derive(Debug, Clone)]
struct Summary {
    text: String,
    turns_before: usize,
    /// What writing it took, if a model wrote it.
    usage: Option<Usage>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event {
    Turn {
        content: String,
        #[serde(default)]
        tool_calls: Vec<ToolCall>,
        stop_reason: StopReason,
        #[serde(default)]
        usage: Usage,
    },
    Result {
        id: String,
        output: String,
    },
    Compacted {
        summary: String,
        usage: Option<Usage>,
    },
    #[serde(other)]
    Other,
}

/// A run as it is shown: its events, and whatever stands beside them.
#[derive(Deserialize)]
struct Shown {
    events: Vec<Value>,
}

impl Recorded {
    /// Reads a run: an object with `events`, a JSON list of them, or one a line.
    pub fn parse(text: &str) -> Result<Self, BadRecorded> {
        let values = values(text)?;
        if values.len() > EVENTS_MAX {
            return Err(BadRecorded(format!("there are more than {EVENTS_MAX}")));
        }
        let mut run = Self::default();
        for (at, value) in values.into_iter().enumerate() {
            let bad = |why: String| BadRecorded(format!("event {}: {why}", at + 1));
            match serde_json::from_value(value).map_err(|error| bad(error.to_string()))? {
                Event::Turn { content, tool_calls, stop_reason, usage } => {
                    let results = BTreeMap::new();
                    run.turns.push(Turn { content, tool_calls, stop_reason, usage, results });
                }
                Event::Result { id, output } => {
                    let turn = run.turns.last_mut().filter(|it| it.tool_calls.iter().any(|it| it.id == id));
                    let turn = turn.ok_or_else(|| bad(format!("no turn made the call `{}`", shown(&id))))?;
                    turn.results.insert(id, output);
                }
                Event::Compacted { summary: text, usage } => {
                    run.summaries.push(Summary { text, turns_before: run.turns.len(), usage });
                }
                Event::Other => {}
            }
        }
        match run.turns.is_empty() {
            true => Err(BadRecorded("its model said nothing: it has no event `turn`".into())),
            false => Ok(run),
        }
    }

    /// The turn that followed this transcript.
    pub fn answer(&self, asked: &Asked) -> Answer<Completion> {
        let request = asked.request();
        let heard = self.summaries_in(&request.messages);
        let spoken = request.messages.iter().filter(|it| matches!(it, Message::Assistant { .. })).count();
        // A summary is asked for in words of its own, with no tools to call.
        if spoken == 0
            && request.tools.is_empty()
            && let Some(Summary { text, usage: Some(usage), .. }) = self.summaries.get(heard)
        {
            return Ok(completion(
                request.model.clone(),
                text.clone(),
                Vec::new(),
                StopReason::EndTurn,
                *usage,
            ));
        }
        // Before the first summary nothing was left out; behind one the turns are those since then, and a few before.
        let from = heard.checked_sub(1).and_then(|it| self.summaries.get(it)).map_or(0, |it| it.turns_before);
        let until = self.summaries.get(heard).map_or(self.turns.len(), |it| it.turns_before);
        let mut places = match heard {
            0 => spoken..spoken + 1,
            _ => from.max(spoken)..until.max(from) + 1,
        };
        let why = |at: usize| self.differs(at.checked_sub(spoken)?..at, &request.messages);
        let first = places.start;
        let Some(at) = places.find(|at| *at <= self.turns.len() && why(*at).is_none()) else {
            let why = why(first.min(self.turns.len())).unwrap_or_else(|| "it has fewer turns".into());
            return Err(diverged(format!("the recorded run was asked something else: {why}")));
        };
        let Some(turn) = self.turns.get(at) else {
            return Err(diverged(format!("the recorded run has no further turn after {at}")));
        };
        let Turn { content, tool_calls, stop_reason, usage, .. } = turn.clone();
        Ok(completion(request.model.clone(), content, tool_calls, stop_reason, usage))
    }

    /// How many of the summaries were written by then: each has the ones before it in it, or makes them needless.
    fn summaries_in(&self, messages: &[Message]) -> usize {
        let has = |text: &str| {
            messages.iter().any(|it| matches!(it, Message::User { content } if content.contains(text)))
        };
        self.summaries.iter().rposition(|it| !it.text.is_empty() && has(&it.text)).map_or(0, |it| it + 1)
    }

    /// What of a transcript is none of these turns, if anything is.
    fn differs(&self, turns: std::ops::Range<usize>, messages: &[Message]) -> Option<String> {
        let mut number = turns.start;
        let mut turns = self.turns.get(turns)?.iter();
        let mut last: Option<&Turn> = None;
        for message in messages {
            match message {
                Message::User { .. } => {}
                Message::Assistant { content, tool_calls } => {
                    number += 1;
                    last = turns.next();
                    let same = |it: &Turn| it.content == *content && it.tool_calls == *tool_calls;
                    if !last.is_some_and(same) {
                        return Some(format!("turn {number} is another"));
                    }
                }
                Message::Tool { tool_call_id, content, .. } => {
                    let recorded = last.and_then(|it| it.results.get(tool_call_id));
                    if recorded != Some(content) {
                        return Some(format!(
                            "the result of call `{}` of turn {number} is another",
                            shown(tool_call_id)
                        ));
                    }
                }
            }
        }
        None
    }
}

fn values(text: &str) -> Result<Vec<Value>, BadRecorded> {
    let whole = |error: serde_json::Error| BadRecorded(error.to_string());
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(text).map_err(whole);
    }
    if let Ok(Shown { events }) = serde_json::from_str(text) {
        return Ok(events);
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty()).enumerate();
    let read = |(at, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| BadRecorded(format!("event {}: {error}", at + 1)))
    };
    lines.map(read).collect()
}

fn completion(
    model: String,
    content: String,
    tool_calls: Vec<ToolCall>,
    stop_reason: StopReason,
    usage: Usage,
) -> Completion {
    Completion { model, content, tool_calls, stop_reason, usage }
}

fn diverged(message: String) -> Failure {
    Failure::new("replay_diverged", message)
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).collect::<String>().escape_debug().to_string()
}

#[cfg(test)]
#[path = "recorded_tests.rs"]
mod tests;
