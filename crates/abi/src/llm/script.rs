//! A model that is a file of turns: for tests, for demonstrations, and for whoever has no model.
//!
//! Which turn comes follows from the transcript alone, so a run that was interrupted goes on where it was: the first turn
//! whose `when` is in the last message, else the plain turn after as many as the model has spoken already.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Asked, Completion, Message, StopReason, TOOL_CALLS_MAX, ToolCall, Usage};
use crate::broker::{Answer, Failure};

/// Turns of one script.
const TURNS_MAX: usize = 4096;

/// The text is no script.
#[derive(Debug, thiserror::Error)]
#[error("no script of a model: {0}")]
pub struct BadScript(String);

/// What a scripted model says.
#[derive(Debug, Clone, Default)]
pub struct Script {
    turns: Vec<Turn>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    /// The turn is for a last message that has this in it.
    when: Option<String>,
    #[serde(default)]
    content: String,
    #[serde(default)]
    tool_calls: Vec<Called>,
    stop_reason: Option<StopReason>,
    #[serde(default)]
    usage: Usage,
    /// In the place of a turn.
    error: Option<Failed>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Called {
    id: Option<String>,
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    malformed: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failed {
    code: String,
    #[serde(default)]
    message: String,
}

impl Script {
    /// Reads a script: a JSON list of turns, or one turn a line.
    pub fn parse(text: &str) -> Result<Self, BadScript> {
        let bad = |at: usize, error: serde_json::Error| BadScript(format!("turn {}: {error}", at + 1));
        let values: Vec<Value> = match text.trim_start().starts_with('[') {
            true => serde_json::from_str(text).map_err(|error| BadScript(error.to_string()))?,
            false => {
                let lines = text.lines().filter(|line| !line.trim().is_empty()).enumerate();
                lines
                    .map(|(at, line)| serde_json::from_str(line).map_err(|error| bad(at, error)))
                    .collect::<Result<_, _>>()?
            }
        };
        if values.len() > TURNS_MAX {
            return Err(BadScript(format!("it has more than {TURNS_MAX} turns")));
        }
        let turns = values.into_iter().enumerate();
        let turns = turns.map(|(at, value)| serde_json::from_value(value).map_err(|error| bad(at, error)));
        Ok(Self { turns: turns.collect::<Result<_, _>>()? })
    }

    /// The turn that follows this transcript.
    pub fn answer(&self, asked: &Asked) -> Answer<Completion> {
        let request = asked.request();
        let last = match request.messages.last() {
            Some(
                Message::User { content }
                | Message::Tool { content, .. }
                | Message::Assistant { content, .. },
            ) => content,
            None => "",
        };
        let spoken = request.messages.iter().filter(|it| matches!(it, Message::Assistant { .. })).count();
        let fits = |turn: &&Turn| turn.when.as_ref().is_some_and(|when| last.contains(when.as_str()));
        let plain = || self.turns.iter().filter(|it| it.when.is_none()).nth(spoken);
        let Some(turn) = self.turns.iter().find(fits).or_else(plain) else {
            let message = format!("the script has no turn after {spoken} turns of the model");
            return Err(Failure::new("script_ended", message));
        };
        if let Some(Failed { code, message }) = &turn.error {
            return Err(Failure { code: Cow::Owned(code.clone()), message: message.clone() });
        }
        let call = |(at, call): (usize, &Called)| ToolCall {
            id: call.id.clone().unwrap_or_else(|| format!("call_{spoken}_{at}")),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
            malformed: call.malformed.clone(),
        };
        let tool_calls: Vec<ToolCall> = turn.tool_calls.iter().enumerate().map(call).collect();
        if tool_calls.len() > TOOL_CALLS_MAX {
            let message = format!("the model called more than {TOOL_CALLS_MAX} tools in one turn");
            return Err(Failure::new("too_many_tool_calls", message));
        }
        let usual = if tool_calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolCalls };
        Ok(Completion {
            model: request.model.clone(),
            content: turn.content.clone(),
            tool_calls,
            stop_reason: turn.stop_reason.unwrap_or(usual),
            usage: Usage { attempts: 1, ..turn.usage },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::Complete;

    fn after(messages: Vec<Message>) -> Asked {
        Asked::of(Complete { model: "m".into(), messages, ..Complete::default() }).unwrap()
    }

    fn user(content: &str) -> Message {
        Message::User { content: content.into() }
    }

    #[test]
    fn the_turn_follows_from_the_transcript() {
        let script = Script::parse(
            r#"{"content":"first","tool_calls":[{"name":"a","arguments":{"x":1}},{"name":"b"}],"usage":{"input_tokens":3}}
               {"when":"boom","error":{"code":"model_failed","message":"as ordered"}}

               {"content":"second"}"#,
        )
        .unwrap();
        let first = script.answer(&after(vec![user("go")])).unwrap();
        assert_eq!((first.content.as_str(), first.tool_calls.len()), ("first", 2));
        assert_eq!((first.tool_calls[1].id.as_str(), first.stop_reason), ("call_0_1", StopReason::ToolCalls));
        assert_eq!((first.usage.input_tokens, first.usage.attempts), (3, 1));
        let results = first.tool_calls.iter().map(|it| Message::Tool {
            tool_call_id: it.id.clone(),
            content: "fine".into(),
            is_error: false,
        });
        let transcript: Vec<_> =
            [user("go"), first.clone().into_message()].into_iter().chain(results).collect();
        let second = script.answer(&after(transcript.clone())).unwrap();
        assert_eq!((second.content.as_str(), second.stop_reason), ("second", StopReason::EndTurn));
        let failed = script.answer(&after(vec![user("boom!")])).unwrap_err();
        assert_eq!(failed.code, "model_failed");
        let over: Vec<_> = transcript.into_iter().chain([second.into_message(), user("more")]).collect();
        assert_eq!(script.answer(&after(over)).unwrap_err().code, "script_ended");
    }

    #[test]
    fn a_script_is_a_list_or_lines_and_what_is_none_is_named() {
        assert!(Script::parse(r#"[{"content":"a"},{"content":"b"}]"#).is_ok());
        assert!(Script::parse("").is_ok(), "a model that says nothing");
        for (text, want) in [
            ("{\"content\":\"a\"}\n{", "turn 2"),
            (r#"[{"text":"a"}]"#, "unknown field `text`"),
            ("[1", "EOF"),
        ] {
            let told = Script::parse(text).unwrap_err().to_string();
            assert!(told.contains(want), "{want}: {told}");
        }
    }
}
