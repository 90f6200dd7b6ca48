//! What the document says of each route: a sentence, what goes in, what comes out.

mod agents;
mod kept;

use drydock_embed::Operation;
use serde_json::{Value, json};

/// What is said of a route.
pub(crate) struct About {
    pub(crate) summary: &'static str,
    /// Parameters of the query with their schemas.
    pub(crate) query: Vec<(&'static str, Value)>,
    /// Media types of the body with their schemas; null for no body.
    pub(crate) body: Value,
    pub(crate) body_required: bool,
    /// Media types of the answer with their schemas.
    pub(crate) answer: Value,
}

fn plain(summary: &'static str, answer: Value) -> About {
    About { summary, query: Vec::new(), body: Value::Null, body_required: false, answer }
}

fn as_json(schema: Value) -> Value {
    json!({ "application/json": { "schema": schema } })
}

/// An object whose members are all there.
fn object(properties: Value) -> Value {
    let names: Vec<String> =
        properties.as_object().map(|it| it.keys().cloned().collect()).unwrap_or_default();
    json!({ "type": "object", "properties": properties, "required": names })
}

fn list(of: Value) -> Value {
    json!({ "type": "array", "items": of })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn number() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn count(most: u64) -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": most })
}

fn limits() -> Value {
    json!({
        "type": "object",
        "properties": { "timeout_ms": count(600_000), "memory_mb": count(4_096) },
        "additionalProperties": false,
    })
}

fn secret() -> Value {
    let or_null = |it: Value| json!({ "anyOf": [it, { "type": "null" }] });
    let algorithm = json!({ "type": "string", "enum": ["hmac-sha256", "ed25519"] });
    object(json!({
        "name": text(), "kept": { "type": "boolean" }, "algorithm": or_null(algorithm), "public_key": or_null(text()),
    }))
}

fn extension() -> Value {
    object(json!({
        "name": text(), "version": text(), "module": text(), "module_bytes": number(), "allow_host": list(text()),
        "allow_url": list(text()), "allow_kv": list(text()), "secrets": list(text()), "secret_headers": list(text()), "limits": limits(), "installed_ms": number(),
    }))
}

/// The seed's request.
fn execute_body() -> Value {
    let nullable = json!({ "type": ["string", "null"] });
    let map = json!({ "type": ["object", "null"], "additionalProperties": { "type": "string" } });
    let pair = json!({ "type": "array", "prefixItems": [text(), text()], "minItems": 2, "maxItems": 2 });
    let pairs = json!({ "type": ["array", "null"], "items": pair });
    let asked = json!({ "type": ["integer", "null"], "minimum": 0 });
    let limits = json!({ "type": ["object", "null"], "properties": { "timeout_ms": asked, "memory_mb": asked, "fuel": asked } });
    json!({
        "type": "object",
        "properties": {
            "context": {
                "type": "object",
                "properties": {
                    "request_id": nullable, "tenant_id": nullable, "extension_id": text(), "version_id": nullable,
                    "limits": limits,
                },
                "required": ["extension_id"],
            },
            "http": {
                "type": ["object", "null"],
                "properties": {
                    "method": text(), "path": text(), "query": map, "headers": map, "query_all": pairs,
                    "headers_all": pairs, "body_b64": nullable,
                },
            },
            "limits": limits,
        },
        "required": ["context"],
    })
}

/// The seed's answer.
fn envelope() -> Value {
    json!({
        "type": "object",
        "properties": {
            "status": { "type": "integer", "minimum": 100, "maximum": 599 },
            "headers": { "type": "object", "additionalProperties": { "type": "string" } },
            "headers_all": list(list(text())),
            "body_b64": { "type": ["string", "null"] },
            "error": { "anyOf": [{ "type": "null" }, object(json!({
                "kind": text(), "code": { "type": ["string", "integer"] }, "message": text(),
            }))] },
        },
        "required": ["status", "headers", "body_b64", "error"],
    })
}

/// A run: what the sandbox's operation takes, and where it is done.
fn run(operation: &str, summary: &'static str) -> About {
    let (mut input, output) = match Operation::named(operation) {
        Some(it) => (it.input_schema(), it.output_schema()),
        None => (json!({}), json!({})),
    };
    input["properties"]["workspace"] =
        json!({ "type": "string", "description": "See the files of this workspace" });
    input["properties"]["files"] = json!({
        "type": "object", "additionalProperties": text(), "description": "Texts that are there before it begins, by path",
    });
    input["properties"]["allow"] =
        json!({ "type": "array", "items": text(), "description": "Only these commands may run" });
    input["properties"]["allow_host"] = json!({ "type": "array", "items": text(), "description": "Hosts it may reach, as HOST or HOST:PORT" });
    input["properties"]["allow_url"] = json!({
        "type": "array", "items": text(), "description": "Parts of hosts it may reach, as [METHODS ]URL: a scheme, a host and the beginning of a path",
    });
    input["properties"]["memory_mb"] = count(4_096);
    let answer = json!({
        "application/json": { "schema": output },
        "text/event-stream": { "schema": { "type": "string", "description": "Events stdout, stderr, then result or error" } },
    });
    About { body: as_json(input), body_required: true, ..plain(summary, answer) }
}

fn naming(summary: &'static str, answer: Value) -> About {
    let body = json!({ "type": "object", "properties": { "name": text() }, "required": ["name"], "additionalProperties": false });
    About { body: as_json(body), body_required: true, ..plain(summary, as_json(answer)) }
}

/// What is said of the route of that name.
pub(crate) fn about(id: &str) -> About {
    let any_bytes =
        || json!({ "application/octet-stream": { "schema": { "type": "string", "format": "binary" } } });
    let anything = || json!({ "*/*": {} });
    match id {
        "healthz" => plain("Whether the process lives", as_json(object(json!({ "status": text() })))),
        "readyz" => plain("Whether it takes requests", as_json(object(json!({ "status": text() })))),
        "openapi" => plain("This document", as_json(json!({ "type": "object" }))),
        "metrics" => {
            plain("Figures of the process, for Prometheus", json!({ "text/plain": { "schema": text() } }))
        }
        "execute" => About {
            body: as_json(execute_body()),
            body_required: true,
            ..plain("One request for an extension, as the Runner ABI has it", as_json(envelope()))
        },
        "x" | "x_root" | "x_bare" => About {
            body: anything(),
            ..plain("One HTTP request for an extension, answered by it", anything())
        },
        "extensions" => plain(
            "The extensions that are installed",
            as_json(object(json!({ "extensions": list(extension()) }))),
        ),
        "extension" => plain("One extension", as_json(extension())),
        "install" => {
            let body = json!({
                "type": "object",
                "properties": {
                    "module_b64": text(), "script": text(), "allow_host": list(text()), "allow_url": list(text()), "allow_kv": list(text()), "secrets": list(text()),
                    "secret_headers": list(text()), "limits": limits(),
                },
                "oneOf": [{ "required": ["module_b64"] }, { "required": ["script"] }],
                "additionalProperties": false,
            });
            let wasm = json!({ "schema": { "type": "string", "format": "binary" } });
            About {
                body: json!({ "application/json": { "schema": body }, "application/wasm": wasm, "text/javascript": { "schema": text() } }),
                body_required: true,
                ..plain("Install an extension, in the place of another of its name", as_json(extension()))
            }
        }
        "uninstall" => plain("Remove an extension", as_json(object(json!({ "removed": text() })))),
        "extension_logs" => About {
            query: vec![("lines", count(1_000))],
            ..plain(
                "What an extension logged last",
                as_json(object(json!({ "lines": list(json!({ "type": "object" })) }))),
            )
        },
        "secrets" => plain(
            "The secrets of the tenant, by name: no values, and not where they are read",
            as_json(object(json!({ "secrets": list(secret()) }))),
        ),
        "secret_keep" => About {
            query: vec![("generate", json!({ "type": "string", "enum": ["ed25519"] }))],
            body: json!({ "application/octet-stream": { "schema": { "type": "string", "format": "binary" } } }),
            ..plain(
                "Keep a secret, in the place of another of its name: the body is the value, or a key pair is made",
                as_json(secret()),
            )
        },
        "secret_remove" => plain("Forget a secret", as_json(object(json!({ "removed": text() })))),
        "run" => run("run", "Run one command"),
        "sh" => run("sh", "Run a line or a script"),
        "js" => run("js", "Run a JavaScript program"),
        "py" => run("py", "Run a Python program"),
        "commands" => {
            let command = object(json!({
                "name": text(), "sha256": text(), "mode": text(), "size": { "type": ["integer", "null"] },
                "origin": { "enum": ["builtin", "applet", "registered"] },
            }));
            plain("The commands that there are", as_json(object(json!({ "commands": list(command) }))))
        }
        "audit" => About {
            query: vec![("denied", json!({ "type": "boolean" })), ("limit", count(1_000))],
            ..plain(
                "The tenant's own records, newest last",
                as_json(object(json!({ "records": list(record()) }))),
            )
        },
        _ if id.starts_with("agent") || id.starts_with("review") => agents::about(id),
        _ if id.starts_with("mcp") => about_mcp(id),
        _ if id.starts_with("process") => about_process(id, any_bytes()),
        _ if id.starts_with("kv") || id.starts_with("queue") => kept::about(id, any_bytes()),
        _ => about_workspace(id, any_bytes()),
    }
}

/// A record of the audit, with the connections that the call made out of the house.
fn record() -> Value {
    let maybe = |kind: &str| json!({ "type": [kind, "null"] });
    let attempt = object(json!({
        "address": text(), "code": text(), "bytes_sent": { "type": "integer" }, "bytes_received": { "type": "integer" },
    }));
    object(json!({
        "at": text(), "tenant": text(), "principal": text(), "trace": text(), "call": text(), "parent": text(),
        "operation": text(), "subject": text(), "subjects": list(text()), "reason": maybe("string"),
        "decision": { "enum": ["allowed", "denied", "ended", "failed"] }, "grant": maybe("string"),
        "outcome": maybe("string"), "status": maybe("integer"), "count": { "type": "integer" }, "attempts": list(attempt),
    }))
}

/// The transport of MCP, whose messages its own revisions describe.
fn about_mcp(id: &str) -> About {
    let message = || json!({ "type": "object", "description": "JSON-RPC, as MCP has it" });
    let events = || json!({ "schema": { "type": "string", "description": "Messages as events" } });
    let about = match id {
        "mcp" => About {
            body: as_json(message()),
            body_required: true,
            ..plain(
                "A message of MCP's streamable HTTP",
                json!({ "application/json": { "schema": message() }, "text/event-stream": events() }),
            )
        },
        "mcp_listen" => {
            plain("What a session of MCP is told besides answers", json!({ "text/event-stream": events() }))
        }
        _ => plain("End a session of MCP", json!({ "*/*": {} })),
    };
    About { query: vec![("workspace", text())], ..about }
}

/// What is kept of a process.
fn process() -> Value {
    let maybe = |kind: &str| json!({ "type": [kind, "null"] });
    object(json!({
        "id": text(), "command": text(), "principal": text(),
        "state": { "enum": ["starting", "running", "exited", "killed", "failed"] },
        "exit_code": maybe("integer"), "code": maybe("string"), "message": maybe("string"),
        "started_ms": number(), "ended_ms": maybe("integer"), "stdout_bytes": number(), "stderr_bytes": number(),
    }))
}

fn about_process(id: &str, any_bytes: Value) -> About {
    let one = || as_json(process());
    let output = |summary| {
        let piece = json!({
            "type": "object",
            "properties": {
                "from": number(), "next": number(), "end": { "type": "boolean" }, "text": text(), "base64": text(),
            },
            "required": ["from", "next", "end"],
        });
        let events = "Events of the output, each with the cursor behind it as its id, then end or error";
        let answer = json!({
            "application/json": { "schema": piece },
            "text/event-stream": { "schema": { "type": "string", "description": events } },
        });
        About { query: vec![("from", number()), ("wait_ms", number())], ..plain(summary, answer) }
    };
    match id {
        "processes" => {
            plain("The processes that are kept", as_json(object(json!({ "processes": list(process()) }))))
        }
        "process_start" => {
            let map = || json!({ "type": "object", "additionalProperties": text() });
            let body = json!({
                "type": "object",
                "properties": {
                    "command": text(), "args": list(text()), "stdin": text(), "stdin_open": { "type": "boolean" },
                    "env": map(), "workspace": text(), "files": map(), "allow": list(text()),
                    "allow_host": list(text()), "allow_url": list(text()),
                    "timeout_ms": count(86_400_000), "memory_mb": count(4_096),
                },
                "required": ["command"],
                "additionalProperties": false,
            });
            About {
                body: as_json(body),
                body_required: true,
                ..plain("Start a command that goes on after the answer", one())
            }
        }
        "process" => plain("How far a process is", one()),
        "process_end" => About {
            query: vec![("remove", json!({ "type": "boolean" }))],
            ..plain("Kill a process; with remove=true forget it and its output", one())
        },
        "process_stdin" => About {
            query: vec![("end", json!({ "type": "boolean" }))],
            body: any_bytes,
            ..plain(
                "Add to the input of a process",
                as_json(object(json!({ "taken": number(), "ended": { "type": "boolean" } }))),
            )
        },
        "process_stdout" => output("Stdout of a process from a cursor on, as often as it is wanted"),
        _ => output("Stderr of a process from a cursor on, as often as it is wanted"),
    }
}

fn about_workspace(id: &str, any_bytes: Value) -> About {
    let name = || object(json!({ "name": text() }));
    let removed = || as_json(object(json!({ "removed": text() })));
    match id {
        "workspaces" => {
            let row = object(json!({ "name": text(), "snapshots": list(text()) }));
            plain("The workspaces", as_json(object(json!({ "workspaces": list(row) }))))
        }
        "workspace" => {
            let volume = object(
                json!({ "name": text(), "files": number(), "directories": number(), "bytes": number() }),
            );
            let facts = object(json!({ "name": text(), "volumes": list(volume), "stored_bytes": number() }));
            plain("How much a workspace holds", as_json(facts))
        }
        "workspace_make" => plain("Make a workspace, unless it is there", as_json(name())),
        "workspace_remove" => plain("Remove a workspace with its snapshots", removed()),
        "tree" => {
            let entry = object(json!({
                "name": text(), "kind": { "enum": ["file", "directory", "symlink"] }, "size": number(), "modified_ms": number(),
            }));
            let answer =
                object(json!({ "path": text(), "entries": list(entry), "truncated": { "type": "boolean" } }));
            About {
                query: vec![("path", text())],
                ..plain("The names in a folder of a workspace", as_json(answer))
            }
        }
        "file_read" => plain("The bytes of a file", any_bytes),
        "file_write" => {
            let answer = as_json(object(json!({ "path": text(), "bytes": number() })));
            About { body: any_bytes, ..plain("Write a file, and make the folders above it", answer) }
        }
        "file_remove" => plain("Remove a file or a folder", removed()),
        "diff" => {
            let change = object(json!({
                "path": text(), "kind": { "enum": ["added", "modified", "removed"] }, "size": number(),
            }));
            let answer = object(json!({ "changes": list(change), "truncated": { "type": "boolean" } }));
            About {
                query: vec![("snapshot", text())],
                ..plain("What changed since a snapshot", as_json(answer))
            }
        }
        "snapshots" => {
            plain("The snapshots of a workspace", as_json(object(json!({ "snapshots": list(text()) }))))
        }
        "snapshot" => {
            naming("Keep a workspace as it is now, under a name", object(json!({ "snapshot": text() })))
        }
        "restore" => naming("Bring a snapshot back", object(json!({ "restored": text() }))),
        _ => naming("Copy a workspace under a new name", name()),
    }
}
