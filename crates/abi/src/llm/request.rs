//! One turn that is asked for: a transcript, and what the model may do next.
//!
//! Read once, and judged whole: a transcript that every server would refuse is refused here, with the place in it.

use std::{collections::BTreeSet, fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{MESSAGES_MAX, MODEL_BYTES_MAX, STOPS_MAX, TOOL_CALLS_MAX, TOOLS_MAX};

/// The longest name of a tool, and the longest id of a call.
const NAME_BYTES_MAX: usize = 128;
/// The longest text that ends a turn.
const STOP_BYTES_MAX: usize = 256;

/// What is asked of a model.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Complete {
    /// Which model, by the name it was configured under.
    pub model: String,
    /// What it is told before everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// What was said so far.
    pub messages: Vec<Message>,
    /// What it may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// Whether it must.
    #[serde(default)]
    pub tool_choice: ToolChoice,
    /// The most that it may say, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// How freely it chooses its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Texts that end the turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// Less time than the host gives, if the caller wants that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Told of the text while it comes. A caller in this process only; a replay tells nothing before the end.
    #[serde(skip)]
    pub deltas: Option<Deltas>,
}

/// One message of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "lowercase", deny_unknown_fields)]
pub enum Message {
    /// Of the person, or of whoever stands for one.
    User {
        /// What was said.
        content: String,
    },
    /// Of the model.
    Assistant {
        /// What it said.
        #[serde(default)]
        content: String,
        /// What it wanted called.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
    },
    /// What came of a call.
    Tool {
        /// Of which one.
        tool_call_id: String,
        /// What came of it.
        content: String,
        /// Whether that is an error.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// What it is called: letters, digits, `_` and `-`.
    pub name: String,
    /// What it does.
    #[serde(default)]
    pub description: String,
    /// The JSON Schema of its arguments, which is that of an object.
    #[serde(default)]
    pub parameters: Map<String, Value>,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// What its result refers to.
    pub id: String,
    /// Which tool.
    pub name: String,
    /// The arguments; empty where what the model wrote is none.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// What the model wrote in the place of arguments, if that is no JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<String>,
}

/// Whether tools are to be called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolChoice {
    /// As the model likes.
    #[default]
    Auto,
    /// None.
    None,
    /// At least one.
    Required,
}

/// Hears the text of a turn piece by piece.
#[derive(Clone)]
pub struct Deltas(pub Arc<dyn Fn(&str) + Send + Sync>);

impl fmt::Debug for Deltas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Deltas")
    }
}

/// Nobody can be asked this.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no request of `llm.complete`: {0}")]
pub struct BadComplete(String);

/// A request that was judged, and its JSON: the same for whoever sent bytes and whoever sent a value.
#[derive(Debug, Clone)]
pub struct Asked {
    request: Complete,
    json: Vec<u8>,
}

impl Asked {
    /// Judges a request.
    pub fn of(request: Complete) -> Result<Self, BadComplete> {
        check(&request).map_err(BadComplete)?;
        let json = serde_json::to_vec(&request).map_err(|error| BadComplete(error.to_string()))?;
        Ok(Self { request, json })
    }

    /// Reads one.
    pub fn parse(payload: &[u8]) -> Result<Self, BadComplete> {
        Self::of(serde_json::from_slice(payload).map_err(|error| BadComplete(error.to_string()))?)
    }

    /// What is asked.
    pub fn request(&self) -> &Complete {
        &self.request
    }

    /// The same as JSON.
    pub fn json(&self) -> &[u8] {
        &self.json
    }
}

fn check(request: &Complete) -> Result<(), String> {
    let Complete { model, messages, tools, stop, max_tokens, temperature, .. } = request;
    if model.is_empty() || model.len() > MODEL_BYTES_MAX || model.chars().any(char::is_control) {
        return Err(format!("`model` is a name of 1 to {MODEL_BYTES_MAX} bytes"));
    }
    if messages.is_empty() || messages.len() > MESSAGES_MAX {
        return Err(format!("`messages` are 1 to {MESSAGES_MAX}, not {}", messages.len()));
    }
    if tools.len() > TOOLS_MAX {
        return Err(format!("`tools` are {TOOLS_MAX} at most, not {}", tools.len()));
    }
    let mut names = BTreeSet::new();
    for tool in tools {
        let plain = tool.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        if tool.name.is_empty() || tool.name.len() > NAME_BYTES_MAX || !plain {
            let name = tool.name.chars().take(80).collect::<String>();
            return Err(format!(
                "`{}` is no name of a tool: use letters, digits, _ and -",
                name.escape_debug()
            ));
        }
        if !names.insert(&tool.name) {
            return Err(format!("there are two tools `{}`", tool.name));
        }
    }
    if stop.len() > STOPS_MAX || stop.iter().any(|it| it.is_empty() || it.len() > STOP_BYTES_MAX) {
        return Err(format!("`stop` has {STOPS_MAX} texts at most, of 1 to {STOP_BYTES_MAX} bytes"));
    }
    if *max_tokens == Some(0) {
        return Err("`max_tokens` is 1 at least".into());
    }
    if temperature.is_some_and(|it| !(0.0..=2.0).contains(&it)) {
        return Err("`temperature` is 0 to 2".into());
    }
    check_calls(messages)
}

/// Every result answers a call of the turn before it, and every call has one before anybody else speaks. Whoever shortens a
/// transcript and forgets half of a pair learns it here.
fn check_calls(messages: &[Message]) -> Result<(), String> {
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        match message {
            Message::Tool { tool_call_id, .. } => {
                if !open.remove(tool_call_id.as_str()) {
                    return Err(format!(
                        "messages[{at}] answers the call `{}`, which the turn before it did not make",
                        shown(tool_call_id)
                    ));
                }
            }
            _ if !open.is_empty() => return Err(unanswered(at, &open)),
            Message::User { .. } => {}
            Message::Assistant { tool_calls, .. } => {
                if tool_calls.len() > TOOL_CALLS_MAX {
                    return Err(format!("messages[{at}] has more than {TOOL_CALLS_MAX} calls"));
                }
                for call in tool_calls {
                    let long = call.id.len() > NAME_BYTES_MAX || call.name.len() > NAME_BYTES_MAX;
                    if call.id.is_empty() || call.name.is_empty() || long || !open.insert(&call.id) {
                        return Err(format!("messages[{at}] has a call without a name or an id of its own"));
                    }
                }
            }
        }
    }
    match open.is_empty() {
        true => Ok(()),
        false => Err(unanswered(messages.len(), &open)),
    }
}

fn unanswered(at: usize, open: &BTreeSet<&str>) -> String {
    let first = open.first().copied().unwrap_or_default();
    format!("before messages[{at}] there is no answer to the call `{}`", shown(first))
}

fn shown(text: &str) -> String {
    text.chars().take(80).collect::<String>().escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_with_parallel_calls_is_read_and_is_the_same_as_bytes_and_as_a_value() {
        let text = r#"{"model":"m","system":"s","messages":[{"role":"user","content":"hi"},
            {"role":"assistant","content":"","tool_calls":[{"id":"1","name":"a","arguments":{"x":1}},{"id":"2","name":"b","malformed":"{"}]},
            {"role":"tool","tool_call_id":"2","content":"no","is_error":true},{"role":"tool","tool_call_id":"1","content":"yes"}],
            "tools":[{"name":"a","description":"d","parameters":{"type":"object"}}],"tool_choice":"required","max_tokens":7,"stop":["."]}"#;
        let asked = Asked::parse(text.as_bytes()).unwrap();
        assert_eq!(asked.request().messages.len(), 4);
        let again = Asked::of(asked.request().clone()).unwrap();
        assert_eq!(again.json(), asked.json());
        assert_eq!(Asked::parse(again.json()).unwrap().json(), asked.json());
    }

    #[test]
    fn what_no_server_would_take_is_refused_with_its_place() {
        let user = r#"{"role":"user","content":"hi"}"#;
        let call = r#"{"role":"assistant","tool_calls":[{"id":"1","name":"a"}]}"#;
        let result = r#"{"role":"tool","tool_call_id":"1","content":""}"#;
        let of = |messages: &[&str]| format!(r#"{{"model":"m","messages":[{}]}}"#, messages.join(","));
        let with = |more: &str| format!(r#"{{"model":"m","messages":[{user}],{more}}}"#);
        for (text, want) in [
            ("", "EOF"),
            ("[]", "invalid"),
            (r#"{"messages":[]}"#, "missing field `model`"),
            (&of(&[]), "`messages` are 1 to 4096"),
            (&of(&[r#"{"role":"system","content":"x"}"#]), "unknown variant `system`"),
            (&of(&[r#"{"role":"user","content":"x","name":"y"}"#]), "unknown field `name`"),
            (&of(&[user, result]), "messages[1] answers the call `1`"),
            (&of(&[user, call]), "before messages[2] there is no answer to the call `1`"),
            (&of(&[user, call, user]), "before messages[2] there is no answer to the call `1`"),
            (&of(&[user, call, result, result]), "messages[3] answers the call `1`"),
            (&with(r#""tools":[{"name":"a b"}]"#), "`a b` is no name of a tool"),
            (&with(r#""tools":[{"name":"a"},{"name":"a"}]"#), "two tools `a`"),
            (&with(r#""stop":[""]"#), "`stop`"),
            (&with(r#""max_tokens":0"#), "`max_tokens`"),
            (&with(r#""temperature":3"#), "`temperature`"),
            (&with(r#""key":"sk""#), "unknown field `key`"),
        ] {
            let told = Asked::parse(text.as_bytes()).unwrap_err().to_string();
            assert!(told.contains(want), "{want}: {told}");
        }
        let model = format!(r#"{{"model":"{}","messages":[{user}]}}"#, "m".repeat(257));
        assert!(Asked::parse(model.as_bytes()).is_err());
        assert!(Asked::parse(of(&[user, call, result, user]).as_bytes()).is_ok());
    }
}
