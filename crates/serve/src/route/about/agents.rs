//! What the document says of runs of agents and of reviews.

use serde_json::{Value, json};

use super::{About, as_json, count, list, number, object, plain, text};

/// A run as lists show it.
fn head() -> Value {
    let states = json!({ "enum": ["running", "waiting", "done", "cancelled", "failed"] });
    json!({
        "type": "object",
        "properties": {
            "id": text(), "status": states, "principal": text(), "agent": text(), "model": text(), "task": text(),
            "workspace": text(), "parent": text(), "steps": number(), "usage": { "type": "object" },
            "started_ms": number(), "updated_ms": number(), "result": text(), "reason": text(),
        },
        "required": ["id", "status", "principal", "model", "task", "steps", "started_ms", "updated_ms"],
    })
}

fn review() -> Value {
    let kinds = json!({ "enum": ["tool", "grant", "budget", "in_flight", "other"] });
    json!({
        "type": "object",
        "properties": {
            "id": text(), "run": text(), "call": text(), "kind": kinds, "title": text(), "what": {},
            "grant": {}, "asked_ms": number(), "expires_ms": number(),
            "state": { "enum": ["pending", "answered", "expired"] },
        },
        "required": ["id", "run", "kind", "title", "what", "asked_ms", "state"],
    })
}

fn issue() -> Value {
    object(json!({
        "id": text(), "run": text(), "title": text(), "body": text(), "filed_ms": number(), "seen": number(),
    }))
}

/// The options of a run, as the room `agent` reads them.
fn options() -> Value {
    let ways = |of: &[&str]| json!({ "enum": of });
    json!({
        "type": "object",
        "properties": {
            "model": text(), "max_steps": one_or_more(), "temperature": { "type": "number" }, "max_tokens": count(u64::from(u32::MAX)),
            "tools": list(text()), "tool_wall_ms": number(), "tool_output_bytes": number(), "compact_bytes": number(),
            "tokens_max": number(), "cost_micros_max": number(), "at_limit": ways(&["stop", "ask"]),
            "on_denial": ways(&["tell", "ask"]), "review": list(text()), "review_wait_ms": number(),
        },
        "additionalProperties": false,
    })
}

fn one_or_more() -> Value {
    json!({ "type": "integer", "minimum": 1 })
}

fn body(properties: Value, required: &[&str]) -> Value {
    as_json(json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    }))
}

pub(super) fn about(id: &str) -> About {
    let one = |summary| plain(summary, as_json(head()));
    match id {
        "agents" => About {
            query: vec![("after", text()), ("limit", count(256))],
            ..plain(
                "Runs of agents, those that began last first",
                as_json(json!({
                    "type": "object", "properties": { "runs": list(head()), "next": { "type": ["string", "null"] } },
                    "required": ["runs", "next"],
                })),
            )
        },
        "agent_open" => About {
            body: body(
                json!({
                    "system": text(), "task": text(), "agent": text(), "options": options(), "workspace": text(),
                    "definition": {
                        "type": "object",
                        "properties": { "form": { "enum": ["org", "markdown"] }, "text": text() },
                        "required": ["form", "text"], "additionalProperties": false,
                    },
                    "allow": list(text()), "allow_host": list(text()),
                }),
                &["task"],
            ),
            body_required: true,
            ..one("Open a run of an agent, which the server drives")
        },
        "agent" => one("How far a run is"),
        "agent_remove" => plain(
            "Forget a run that is over, with its events, its snapshots and a workspace of its own",
            as_json(object(json!({ "removed": text() }))),
        ),
        "agent_events" => {
            let piece = object(json!({
                "from": number(), "next": number(), "events": list(json!({ "type": "object" })), "status": text(),
                "end": { "type": "boolean" },
            }));
            let told = "Events by their names, each with the number behind it as its id, words of the model as they come without one, then end or error";
            About {
                query: vec![("from", number()), ("wait_ms", number())],
                ..plain(
                    "What happened in a run, from any event on, as often as it is wanted",
                    json!({
                        "application/json": { "schema": piece },
                        "text/event-stream": { "schema": { "type": "string", "description": told } },
                    }),
                )
            }
        }
        "agent_cancel" => plain(
            "End a run; it can be resumed",
            as_json(object(json!({ "id": text(), "cancelled": { "type": "boolean" } }))),
        ),
        "agent_resume" => About {
            body: body(
                json!({ "model": text(), "options": options(), "more_steps": number(), "say": text() }),
                &[],
            ),
            ..one("Go on with a run that waited, failed, was cancelled or was interrupted")
        },
        "agent_fork" => About {
            body: body(
                json!({
                    "step": number(), "model": text(), "options": options(), "system": text(), "task": text(),
                    "allow": list(text()), "allow_host": list(text()),
                }),
                &["step"],
            ),
            body_required: true,
            ..one("Open a run that begins as another one did, up to a turn")
        },
        "agent_replay" => plain(
            "Go through a run again, and say where it differs",
            as_json(object(json!({ "events": number() }))),
        ),
        "agent_issues" => About {
            query: vec![("after", text()), ("limit", count(256))],
            ..plain(
                "What agents filed for whoever runs the installation, what was filed last first",
                as_json(json!({
                    "type": "object",
                    "properties": { "issues": list(issue()), "next": { "type": ["string", "null"] } },
                    "required": ["issues", "next"],
                })),
            )
        },
        "agent_issue_remove" => plain("Forget an issue", as_json(object(json!({ "removed": text() })))),
        "reviews" => About {
            query: vec![("run", text()), ("all", json!({ "type": "boolean" }))],
            ..plain("What waits for a person", as_json(object(json!({ "reviews": list(review()) }))))
        },
        "review" => plain("What would happen, and which authority is asked for", as_json(review())),
        _ => About {
            body: body(
                json!({
                    "answer": { "enum": ["once", "session", "limit", "deny"] }, "limit": one_or_more(), "reason": text(),
                }),
                &["answer"],
            ),
            body_required: true,
            ..plain("Answer a review, once and in its time", as_json(review()))
        },
    }
}
