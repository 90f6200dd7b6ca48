//! Runs of agents over MCP: tools, tasks, and what a run asks a person as a form for the client's user.
#![allow(clippy::panic, clippy::expect_used, reason = "helpers of a test may panic")]
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

use common::{
    agent::{Agents, says, shell_turn},
    server::{Server, token},
};
use serde_json::{Value, json};

/// Only against hanging.
const PATIENCE: Duration = Duration::from_secs(120);

struct Client {
    child: Child,
    input: ChildStdin,
    lines: mpsc::Receiver<Value>,
    next: u64,
}

impl Client {
    fn new(agents: &Agents) -> Self {
        let mut command = agents.command(&["mcp", "--agents", "m"]);
        let mut child = command.stderr(Stdio::inherit()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if send.send(serde_json::from_str(&line).unwrap()).is_err() {
                    return;
                }
            }
        });
        Self { child, input, lines, next: 1 }
    }

    fn send(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    fn post(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    fn line(&mut self) -> Value {
        self.lines.recv_timeout(PATIENCE).expect("a message")
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.post(method, params);
        loop {
            let line = self.line();
            if line["id"] == id {
                return line;
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn world() -> Agents {
    Agents::new(&[
        ("m", vec![shell_turn("echo hi"), says("end")]),
        ("asks", vec![shell_turn("curl -s http://evil.example/"), says("end")]),
    ])
}

fn call(meta: Option<Value>) -> Value {
    let mut params = json!({ "name": "agent_run", "arguments": { "task": "t", "review": ["shell"] } });
    if let Some(meta) = meta {
        params["_meta"] = meta;
    }
    params
}

fn newest(capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

#[test]
fn a_client_with_forms_is_asked_in_the_way_of_the_call() {
    let agents = world();
    let mut client = Client::new(&agents);
    let capabilities = json!({ "elicitation": {} });
    let begin = json!({
        "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": { "name": "t", "version": "1" },
    });
    client.ask("initialize", &begin);
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let id = client.post("tools/call", &call(None));
    let form = client.line();
    assert_eq!(form["method"], "elicitation/create", "{form}");
    assert!(form["params"]["message"].as_str().unwrap().contains("echo hi"), "{form}");
    let answer = json!({ "action": "accept", "content": { "decision": "once" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": form["id"], "result": answer }));
    let done = client.line();
    assert_eq!((&done["id"], text(&done["result"])), (&json!(id), "end"), "{done}");
    let given = &agents.json(&["review", "list", "--all", "--json"])[0];
    assert_eq!((&given["given"]["answer"], &given["by"]), (&json!("once"), &json!("mcp")), "{given}");
}

#[test]
fn a_client_without_forms_is_told_what_waits_and_asks_again() {
    let agents = world();
    let mut client = Client::new(&agents);
    let begin = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    client.ask("initialize", &begin);
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let told = client.ask("tools/call", &call(None))["result"].clone();
    assert_eq!(told["structuredContent"]["status"], "waiting", "{told}");
    let (run, review) = (&told["structuredContent"]["run"], &told["structuredContent"]["reviews"][0]);
    assert_eq!(agents.run(&["review", "approve", review.as_str().unwrap(), "--session"]).status, 0);
    let show = json!({ "name": "agent_show", "arguments": { "run": run, "wait_ms": 60_000 } });
    let done = (0..600).map(|_| {
        std::thread::sleep(Duration::from_millis(100));
        client.ask("tools/call", &show)["result"].clone()
    });
    let done = done.into_iter().find(|it| it["structuredContent"]["status"] == "done").unwrap();
    assert_eq!(text(&done), "end");
    let absent = json!({ "name": "agent_show", "arguments": { "run": "0".repeat(32) } });
    let refused = client.ask("tools/call", &absent)["result"].clone();
    assert_eq!((&refused["isError"], text(&refused).starts_with("not_found")), (&json!(true), true));
    let bad = json!({ "name": "agent_run", "arguments": { "task": "t", "grants": [] } });
    assert!(text(&client.ask("tools/call", &bad)["result"]).starts_with("bad_input"));
}

#[test]
fn the_newest_revision_answers_with_forms_and_is_called_again_with_what_came_of_them() {
    let agents = world();
    let mut client = Client::new(&agents);
    let meta = newest(&json!({ "elicitation": { "form": {} } }));
    let asks = client.ask("tools/call", &call(Some(meta.clone())))["result"].clone();
    assert_eq!(asks["resultType"], "input_required", "{asks}");
    let review = asks["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let mut again = call(Some(meta));
    again["requestState"] = asks["requestState"].clone();
    again["inputResponses"] = json!({ review: { "action": "accept", "content": { "decision": "session" } } });
    let done = client.ask("tools/call", &again)["result"].clone();
    assert_eq!((text(&done), &done["resultType"]), ("end", &json!("complete")), "{done}");
    assert_eq!(agents.json(&["agent", "sessions", "--json"]).as_array().unwrap().len(), 1);
}

#[test]
fn a_long_run_is_a_task_that_outlives_who_asked_for_it() {
    let agents = world();
    let meta = newest(&json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } }));
    let mut client = Client::new(&agents);
    let task = client.ask("tools/call", &call(Some(meta.clone())))["result"].clone();
    assert_eq!(task["resultType"], "task", "{task}");
    let id = task["taskId"].as_str().unwrap().to_owned();
    let until = |client: &mut Client, status: &str| {
        for _ in 0..600 {
            let got = client.ask("tasks/get", &json!({ "taskId": id, "_meta": meta }))["result"].clone();
            if got["status"] == status {
                return got;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("the task is never {status}");
    };
    let asks = until(&mut client, "input_required");
    let review = asks["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    // Another connection, to another process: the task is the run.
    let mut other = Client::new(&agents);
    assert_eq!(until(&mut other, "input_required")["inputRequests"], asks["inputRequests"]);
    let answers = json!({ review: { "action": "accept", "content": { "decision": "once" } } });
    let taken = other.ask("tasks/update", &json!({ "taskId": id, "inputResponses": answers, "_meta": meta }));
    assert!(taken.get("error").is_none(), "{taken}");
    let done = until(&mut client, "completed");
    assert_eq!(text(&done["result"]), "end", "{done}");
    let absent = client.ask("tasks/get", &json!({ "taskId": "x", "_meta": meta }));
    assert_eq!(absent["error"]["code"], -32602, "{absent}");
    let unaware = client.ask("tasks/get", &json!({ "taskId": id, "_meta": newest(&json!({})) }));
    assert!(unaware.get("error").is_some(), "tasks are for whoever declares them");
    let second = client.ask("tools/call", &call(Some(meta.clone())))["result"].clone();
    let second = second["taskId"].as_str().unwrap().to_owned();
    let ended = client.ask("tasks/cancel", &json!({ "taskId": second, "_meta": meta }));
    assert!(ended.get("error").is_none(), "{ended}");
    // A cancelled task ends when its call in flight has ended.
    let hung = Instant::now() + Duration::from_secs(60);
    let mut status = agents.json(&["agent", "show", &second, "--json"])["status"].clone();
    while status == "running" && Instant::now() < hung {
        std::thread::sleep(Duration::from_millis(50));
        status = agents.json(&["agent", "show", &second, "--json"])["status"].clone();
    }
    assert_eq!(status, "cancelled");
}

#[test]
fn over_http_agents_are_there_for_tokens_that_name_them() {
    let agents = world();
    let server = Server::of(agents.command(&["serve", "--listen", "0"]).stderr(Stdio::inherit()));
    let with = token(&agents.shell, "ada", &["--power", "run", "--power", "agents", "--power", "reviews"]);
    let without = token(&agents.shell, "ada", &[]);
    let post = |token: &str, method: &str, params: &Value| {
        let bearer = format!("Bearer {token}");
        let name = params["name"].as_str().or(params["taskId"].as_str()).unwrap_or_default().to_owned();
        let mut headers = vec![
            ("authorization", bearer.as_str()),
            ("accept", "application/json, text/event-stream"),
            ("content-type", "application/json"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", method),
        ];
        if !name.is_empty() {
            headers.push(("mcp-name", &name));
        }
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        server.ask("POST", "/mcp", &headers, body.to_string().as_bytes()).json()
    };
    let meta = newest(&json!({ "elicitation": {} }));
    let names =
        |token: &str| post(token, "tools/list", &json!({ "_meta": meta }))["result"]["tools"].to_string();
    assert!(names(&with).contains("agent_run") && !names(&without).contains("agent_run"));
    let mut run = call(Some(meta.clone()));
    run["arguments"]["model"] = "m".into();
    assert!(post(&without, "tools/call", &run).get("error").is_some());
    let asks = post(&with, "tools/call", &run)["result"].clone();
    assert_eq!(asks["resultType"], "input_required", "{asks}");
    let review = asks["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    run["requestState"] = asks["requestState"].clone();
    run["inputResponses"] = json!({ review: { "action": "decline" } });
    let done = post(&with, "tools/call", &run)["result"].clone();
    assert_eq!(text(&done), "end", "{done}");
    // A form is no way around what the token may have: not on the way of a call, and not for a task.
    let options = json!({ "model": "asks", "on_denial": "ask" });
    let opened = json!({ "system": "s", "task": "t", "options": options }).to_string();
    let opened = server.ask_as(&with, "POST", "/v1/agents", opened.as_bytes()).json();
    let began = std::time::Instant::now();
    let review = loop {
        let all = server.ask_as(&with, "GET", "/v1/reviews", b"").json();
        if let Some(first) = all["reviews"].as_array().unwrap().first() {
            break first["id"].as_str().unwrap().to_owned();
        }
        assert!(began.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(50));
    };
    let answer = json!({ review.as_str(): { "action": "accept", "content": { "decision": "once" } } });
    run["requestState"] = opened["id"].clone();
    run["inputResponses"] = answer.clone();
    let refused = post(&with, "tools/call", &run)["result"].clone();
    assert!(refused["isError"] == true && text(&refused).starts_with("beyond_ceiling"), "{refused}");
    let tasks = newest(&json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } }));
    let update = json!({ "taskId": opened["id"], "inputResponses": answer, "_meta": tasks });
    let refused = post(&with, "tasks/update", &update);
    assert!(refused["error"]["message"].as_str().is_some_and(|it| it.contains("may not have")), "{refused}");
    let state = server.ask_as(&with, "GET", &format!("/v1/reviews/{review}"), b"").json();
    assert_eq!(state["state"], "pending");
}
