//! `llm.complete` as people and models are told of it.

use serde_json::{Value, json};

use super::COMPLETE;
use crate::broker::{OperationText, count, object, text};

/// The operations of the power.
pub const OPERATIONS: &[OperationText] = &[OperationText {
    name: COMPLETE,
    title: "Ask a language model for its next turn",
    description: "One turn of a language model: a transcript goes in, text and calls of tools come out. The model is named as \
        it is configured here, and a grant names it too. A result of a tool follows the turn that called it.",
    is_read: true,
    input,
    output,
}];

fn call_schema() -> Value {
    object(
        json!({
            "id": text("What its result refers to."),
            "name": text("Which tool."),
            "arguments": { "type": "object", "description": "Its arguments." },
            "malformed": text("What the model wrote in the place of arguments, if that is no JSON object."),
        }),
        &["id", "name"],
    )
}

fn input() -> Value {
    let calls = json!({ "type": "array", "items": call_schema() });
    let user = object(
        json!({ "role": { "const": "user" }, "content": text("What was said.") }),
        &["role", "content"],
    );
    let assistant = object(
        json!({ "role": { "const": "assistant" }, "content": text("What the model said."), "tool_calls": calls }),
        &["role"],
    );
    let tool = object(
        json!({
            "role": { "const": "tool" },
            "tool_call_id": text("Of which call."),
            "content": text("What came of it."),
            "is_error": { "type": "boolean" },
        }),
        &["role", "tool_call_id", "content"],
    );
    let tools = object(
        json!({
            "name": text("Letters, digits, _ and -."),
            "description": text("What it does."),
            "parameters": { "type": "object", "description": "The JSON Schema of its arguments." },
        }),
        &["name"],
    );
    object(
        json!({
            "model": text("The name of a configured model."),
            "system": text("What the model is told before everything else."),
            "messages": { "type": "array", "items": { "anyOf": [user, assistant, tool] }, "minItems": 1 },
            "tools": { "type": "array", "items": tools },
            "tool_choice": { "enum": ["auto", "none", "required"] },
            "max_tokens": { "type": "integer", "minimum": 1, "description": "The most that it may say." },
            "temperature": { "type": "number", "minimum": 0, "maximum": 2 },
            "stop": { "type": "array", "items": { "type": "string" }, "description": "Texts that end the turn." },
            "timeout_ms": count("Less time than the host gives."),
        }),
        &["model", "messages"],
    )
}

fn output() -> Value {
    let usage = object(
        json!({
            "input_tokens": count("Tokens read."),
            "cached_input_tokens": count("How many of them came from a cache."),
            "output_tokens": count("Tokens written."),
            "cost_micros": count("What that costs in millionths, where the model has prices."),
            "attempts": count("How often the server was asked."),
        }),
        &["input_tokens", "cached_input_tokens", "output_tokens", "attempts"],
    );
    let reasons = json!(["end_turn", "tool_calls", "max_tokens", "stop_sequence", "refusal", "other"]);
    object(
        json!({
            "model": text("Which model it was, as its server calls it."),
            "content": text("What it said."),
            "tool_calls": { "type": "array", "items": call_schema() },
            "stop_reason": { "enum": reasons },
            "usage": usage,
        }),
        &["model", "content", "tool_calls", "stop_reason", "usage"],
    )
}
