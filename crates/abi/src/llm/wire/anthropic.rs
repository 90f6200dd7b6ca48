//! Anthropic's Messages.

use serde_json::{Map, Value, json};

use super::{
    BadAnswer,
    draft::{Draft, PartialCall},
    number, text,
};
use crate::llm::{Complete, Message, StopReason, ToolChoice};

/// Tokens of a turn where nobody says how many: the format wants a number.
const MAX_TOKENS: u32 = 8192;

/// The body of a request.
pub(super) fn body(request: &Complete, model: &str) -> Map<String, Value> {
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    put("model", model.into());
    put("max_tokens", request.max_tokens.unwrap_or(MAX_TOKENS).into());
    put("messages", messages(&request.messages).into());
    put("stream", true.into());
    if let Some(system) = request.system.as_ref().filter(|it| !it.is_empty()) {
        put("system", system.as_str().into());
    }
    if !request.tools.is_empty() {
        let tool = |it: &crate::llm::Tool| {
            let mut schema = it.parameters.clone();
            schema.entry("type").or_insert_with(|| "object".into());
            json!({ "name": it.name, "description": it.description, "input_schema": schema })
        };
        put("tools", request.tools.iter().map(tool).collect());
        let choice = match request.tool_choice {
            ToolChoice::Auto => "auto",
            ToolChoice::None => "none",
            ToolChoice::Required => "any",
        };
        put("tool_choice", json!({ "type": choice }));
    }
    if let Some(temperature) = request.temperature {
        // Its scale ends at one.
        put("temperature", temperature.min(1.0).into());
    }
    if !request.stop.is_empty() {
        put("stop_sequences", request.stop.clone().into());
    }
    body
}

/// Turns alternate, and results of tools are the next turn of the user: all of them in one message.
fn messages(all: &[Message]) -> Vec<Value> {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in all {
        let (role, blocks) = match message {
            Message::User { content } => ("user", said(content)),
            Message::Assistant { content, tool_calls } => {
                let calls = tool_calls.iter().map(
                    |it| json!({ "type": "tool_use", "id": it.id, "name": it.name, "input": it.arguments }),
                );
                ("assistant", said(content).into_iter().chain(calls).collect())
            }
            Message::Tool { tool_call_id, content, is_error } => {
                let mut block =
                    json!({ "type": "tool_result", "tool_use_id": tool_call_id, "content": content });
                if *is_error && let Some(block) = block.as_object_mut() {
                    block.insert("is_error".into(), true.into());
                }
                ("user", vec![block])
            }
        };
        match turns.last_mut() {
            Some((last, before)) if *last == role => before.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    // A turn in which nothing was said cannot be sent.
    let turns = turns.into_iter().filter(|(_, blocks)| !blocks.is_empty());
    turns.map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

/// A text that is empty, or blank, is refused by the server.
fn said(content: &str) -> Vec<Value> {
    if content.trim().is_empty() { Vec::new() } else { vec![json!({ "type": "text", "text": content })] }
}

/// Takes one event of a stream. Whether the answer is over, and what was said.
pub(super) fn event(draft: &mut Draft, data: &str) -> Result<(bool, String), BadAnswer> {
    let value: Value = serde_json::from_str(data).map_err(|error| BadAnswer::Garbage(error.to_string()))?;
    let mut words = String::new();
    match text(&value, "type") {
        "message_start" => about(draft, value.get("message").unwrap_or(&Value::Null)),
        "content_block_start" => {
            let block = value.get("content_block").unwrap_or(&Value::Null);
            words = take(draft, block, Some(number(&value, "index")))?;
        }
        "content_block_delta" => {
            let delta = value.get("delta").unwrap_or(&Value::Null);
            match text(delta, "type") {
                "text_delta" => {
                    words = text(delta, "text").to_owned();
                    draft.say(&words)?;
                }
                "input_json_delta" => {
                    if let Some(at) = draft.place_of(number(&value, "index")) {
                        draft.argue(at, text(delta, "partial_json"))?;
                    }
                }
                // What it thinks, and signs: nobody is shown that.
                _ => {}
            }
        }
        "message_delta" => {
            finished(draft, value.get("delta").unwrap_or(&Value::Null));
            used(draft, value.get("usage"));
        }
        "message_stop" => return Ok((true, words)),
        "error" => return Err(refused(&value)),
        // Pings, ends of blocks, and whatever comes later.
        _ => {}
    }
    Ok((false, words))
}

/// Takes an answer that came whole.
pub(super) fn whole(draft: &mut Draft, value: &Value) -> Result<(), BadAnswer> {
    if text(value, "type") == "error" {
        return Err(refused(value));
    }
    let Some(blocks) = value.get("content").and_then(Value::as_array) else {
        return Err(BadAnswer::Garbage("it has no content".into()));
    };
    for block in blocks {
        take(draft, block, None)?;
    }
    about(draft, value);
    finished(draft, value);
    Ok(())
}

fn refused(value: &Value) -> BadAnswer {
    let kind = text(value.get("error").unwrap_or(&Value::Null), "type");
    let again = matches!(kind, "overloaded_error" | "rate_limit_error" | "api_error" | "timeout_error");
    BadAnswer::Error { message: super::error_text(value.to_string().as_bytes()), again }
}

fn about(draft: &mut Draft, message: &Value) {
    draft.model = text(message, "model").chars().take(crate::llm::MODEL_BYTES_MAX).collect();
    used(draft, message.get("usage"));
}

/// Counts come twice, the second time sometimes in part.
fn used(draft: &mut Draft, usage: Option<&Value>) {
    let Some(usage) = usage else { return };
    let read = number(usage, "cache_read_input_tokens");
    let input = number(usage, "input_tokens") + number(usage, "cache_creation_input_tokens") + read;
    draft.usage.input_tokens = draft.usage.input_tokens.max(input);
    draft.usage.cached_input_tokens = draft.usage.cached_input_tokens.max(read);
    draft.usage.output_tokens = draft.usage.output_tokens.max(number(usage, "output_tokens"));
}

fn finished(draft: &mut Draft, told: &Value) {
    let Some(reason) = told.get("stop_reason").and_then(Value::as_str) else { return };
    draft.stop_reason = Some(match reason {
        "end_turn" => StopReason::EndTurn,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "stop_sequence" => StopReason::StopSequence,
        "tool_use" => StopReason::ToolCalls,
        "refusal" => StopReason::Refusal,
        _ => StopReason::Other,
    });
}

/// Takes a block, whole or as it begins.
fn take(draft: &mut Draft, block: &Value, key: Option<u64>) -> Result<String, BadAnswer> {
    match text(block, "type") {
        "text" => {
            let words = text(block, "text").to_owned();
            draft.say(&words)?;
            Ok(words)
        }
        "tool_use" => {
            // Where its input comes in pieces, it begins with an empty object.
            let input = block.get("input").filter(|it| it.as_object().is_none_or(|it| !it.is_empty()));
            let arguments = input.filter(|it| !it.is_null()).map(Value::to_string).unwrap_or_default();
            let (id, name) = (text(block, "id").to_owned(), text(block, "name").to_owned());
            draft.call(PartialCall { key, id, name, arguments })?;
            Ok(String::new())
        }
        _ => Ok(String::new()),
    }
}
