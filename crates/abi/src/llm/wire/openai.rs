//! OpenAI's chat completions, as OpenAI and the many servers that copy it speak them.

use serde_json::{Map, Value, json};

use super::{
    BadAnswer,
    draft::{Draft, PartialCall},
    number, text,
};
use crate::llm::{Complete, Message, StopReason, ToolCall, ToolChoice};

/// The body of a request.
pub(super) fn body(request: &Complete, model: &str) -> Map<String, Value> {
    let system = request.system.iter().map(|it| json!({ "role": "system", "content": it }));
    let messages: Vec<Value> = system.chain(request.messages.iter().map(message)).collect();
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    put("model", model.into());
    put("messages", messages.into());
    put("stream", true.into());
    put("stream_options", json!({ "include_usage": true }));
    if !request.tools.is_empty() {
        let tool = |it: &crate::llm::Tool| {
            let function =
                json!({ "name": it.name, "description": it.description, "parameters": it.parameters });
            json!({ "type": "function", "function": function })
        };
        put("tools", request.tools.iter().map(tool).collect());
        put("tool_choice", choice(request.tool_choice).into());
    }
    if let Some(most) = request.max_tokens {
        put("max_tokens", most.into());
    }
    if let Some(temperature) = request.temperature {
        put("temperature", temperature.into());
    }
    if !request.stop.is_empty() {
        put("stop", request.stop.clone().into());
    }
    body
}

fn choice(choice: ToolChoice) -> &'static str {
    match choice {
        ToolChoice::Auto => "auto",
        ToolChoice::None => "none",
        ToolChoice::Required => "required",
    }
}

fn message(message: &Message) -> Value {
    match message {
        Message::User { content } => json!({ "role": "user", "content": content }),
        Message::Tool { tool_call_id, content, .. } => {
            json!({ "role": "tool", "tool_call_id": tool_call_id, "content": content })
        }
        Message::Assistant { content, tool_calls } if tool_calls.is_empty() => {
            json!({ "role": "assistant", "content": content })
        }
        Message::Assistant { content, tool_calls } => {
            let content = (!content.is_empty()).then_some(content);
            let calls: Vec<Value> = tool_calls.iter().map(call).collect();
            json!({ "role": "assistant", "content": content, "tool_calls": calls })
        }
    }
}

fn call(call: &ToolCall) -> Value {
    let arguments = match &call.malformed {
        Some(text) => text.clone(),
        None => Value::Object(call.arguments.clone()).to_string(),
    };
    json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": arguments } })
}

/// Takes one event of a stream. Whether the answer is over, and what was said.
pub(super) fn event(draft: &mut Draft, data: &str) -> Result<(bool, String), BadAnswer> {
    if data.trim() == "[DONE]" {
        return Ok((true, String::new()));
    }
    let value: Value = serde_json::from_str(data).map_err(|error| BadAnswer::Garbage(error.to_string()))?;
    refused(&value)?;
    about(draft, &value);
    let Some(choice) = value.get("choices").and_then(|it| it.get(0)) else {
        return Ok((false, String::new()));
    };
    let said = choice.get("delta").map_or(Ok(String::new()), |delta| take(draft, delta))?;
    finished(draft, choice);
    // What was used comes after the reason, and then the end.
    Ok((false, said))
}

/// Takes an answer that came whole.
pub(super) fn whole(draft: &mut Draft, value: &Value) -> Result<(), BadAnswer> {
    refused(value)?;
    about(draft, value);
    let choice = value.get("choices").and_then(|it| it.get(0));
    let Some((choice, message)) = choice.and_then(|it| Some((it, it.get("message")?))) else {
        return Err(BadAnswer::Garbage("it has no message".into()));
    };
    take(draft, message)?;
    finished(draft, choice);
    Ok(())
}

/// An error in the place of an answer, as servers send it in the middle of a stream too.
fn refused(value: &Value) -> Result<(), BadAnswer> {
    let Some(error) = value.get("error").filter(|it| !it.is_null()) else { return Ok(()) };
    let code = error.get("code").and_then(Value::as_u64);
    let kind = text(error, "type");
    let again = code.is_none_or(|it| it == 408 || it == 429 || it >= 500)
        && !matches!(kind, "invalid_request_error" | "authentication_error" | "insufficient_quota");
    Err(BadAnswer::Error { message: super::error_text(value.to_string().as_bytes()), again })
}

fn about(draft: &mut Draft, value: &Value) {
    if draft.model.is_empty() {
        draft.model = text(value, "model").chars().take(crate::llm::MODEL_BYTES_MAX).collect();
    }
    // The last one counts: some servers count with every piece.
    if let Some(usage) = value.get("usage").filter(|it| it.is_object()) {
        draft.usage.input_tokens = number(usage, "prompt_tokens");
        draft.usage.output_tokens = number(usage, "completion_tokens");
        let details = usage.get("prompt_tokens_details").unwrap_or(&Value::Null);
        draft.usage.cached_input_tokens = number(details, "cached_tokens");
    }
}

fn finished(draft: &mut Draft, choice: &Value) {
    let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) else { return };
    // A refusal ends like anything else.
    if draft.stop_reason == Some(StopReason::Refusal) {
        return;
    }
    draft.stop_reason = Some(match reason {
        "stop" => StopReason::EndTurn,
        "length" => StopReason::MaxTokens,
        "tool_calls" | "function_call" => StopReason::ToolCalls,
        "content_filter" => StopReason::Refusal,
        _ => StopReason::Other,
    });
}

/// Takes what a message, or a piece of one, says.
fn take(draft: &mut Draft, message: &Value) -> Result<String, BadAnswer> {
    let said = match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().map(|it| text(it, "text")).collect(),
        _ => String::new(),
    };
    draft.say(&said)?;
    let refusal = text(message, "refusal");
    if !refusal.is_empty() {
        draft.say(refusal)?;
        draft.stop_reason = Some(StopReason::Refusal);
    }
    for fragment in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
        call_fragment(draft, fragment)?;
    }
    Ok(said + refusal)
}

fn call_fragment(draft: &mut Draft, fragment: &Value) -> Result<(), BadAnswer> {
    let function = fragment.get("function").unwrap_or(&Value::Null);
    let (id, name) = (text(fragment, "id"), text(function, "name"));
    let arguments = match function.get("arguments") {
        Some(Value::String(text)) => text.clone(),
        // Some servers send what they have parsed.
        Some(value @ Value::Object(_)) => value.to_string(),
        _ => String::new(),
    };
    let key = fragment.get("index").and_then(Value::as_u64);
    let known = match key {
        Some(key) => draft.place_of(key),
        // Without a number, an id of its own begins a call, and anything else goes on with the last one.
        None if id.is_empty() && name.is_empty() => draft.last(),
        None => None,
    };
    // Some servers number all calls of a turn with zero: another id and a name are another call.
    let known = known.filter(|at| {
        draft
            .get(*at)
            .is_none_or(|call| id.is_empty() || name.is_empty() || call.id.is_empty() || call.id == id)
    });
    let Some(at) = known else {
        let (id, name) = (id.to_owned(), name.to_owned());
        return draft.call(PartialCall { key, id, name, arguments }).map(drop);
    };
    if let Some(call) = draft.get(at) {
        if call.id.is_empty() {
            call.id = id.chars().take(256).collect();
        }
        if call.name.is_empty() {
            call.name = name.chars().take(256).collect();
        }
    }
    draft.argue(at, &arguments)
}
