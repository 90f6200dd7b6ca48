//! Runs of agents and reviews over HTTP: `/v1/agents`, `/v1/reviews`.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    io::{Read as _, Write as _},
    process::Stdio,
    time::{Duration, Instant},
};

use common::{
    agent::{Agents, says, shell_turn},
    server::{Answer, Server, token},
};
use serde_json::{Value, json};

/// Only against hanging.
const PATIENCE: Duration = Duration::from_secs(120);

fn start(agents: &Agents) -> Server {
    Server::of(agents.command(&["serve", "--listen", "0"]).stderr(Stdio::inherit()))
}

struct Caller<'s> {
    server: &'s Server,
    token: String,
}

impl Caller<'_> {
    fn ask(&self, method: &str, path: &str, body: &Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.server.ask_as(&self.token, method, path, body.as_bytes())
    }

    fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &Value::Null)
    }

    fn open(&self, options: Value) -> String {
        let answer =
            self.ask("POST", "/v1/agents", &json!({ "system": "s", "task": "t", "options": options }));
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    fn until(&self, run: &str, status: &str) -> Value {
        let began = Instant::now();
        loop {
            let head = self.get(&format!("/v1/agents/{run}")).json();
            if head["status"] == status {
                return head;
            }
            assert!(began.elapsed() < PATIENCE, "{run} is not {status}: {head}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What a run asks: it is there a moment after the run says that it waits.
    fn asked(&self) -> Value {
        let began = Instant::now();
        loop {
            if let Some(first) = self.waiting().into_iter().next() {
                return first;
            }
            assert!(began.elapsed() < PATIENCE, "nothing is asked");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn waiting(&self) -> Vec<Value> {
        self.get("/v1/reviews").json()["reviews"].as_array().unwrap().clone()
    }
}

fn runs_and_reviews<'s>(agents: &Agents, server: &'s Server, tenant: &str) -> Caller<'s> {
    let token =
        token(&agents.shell, tenant, &["--power", "agents", "--power", "reviews", "--power", "workspaces"]);
    Caller { server, token }
}

#[test]
fn a_run_is_opened_driven_followed_and_answered_for_over_http() {
    let agents = Agents::new(&[("m", vec![shell_turn("echo hi > f; cat f"), says("end")])]);
    let server = start(&agents);
    let ada = runs_and_reviews(&agents, &server, "ada");
    let run = ada.open(json!({ "model": "m", "review": ["shell"] }));
    ada.until(&run, "waiting");
    let asked = ada.asked();
    assert_eq!(asked["run"], run);
    let review = asked["id"].as_str().unwrap();
    let shown = ada.get(&format!("/v1/reviews/{review}")).json();
    assert!(shown["what"].to_string().contains("echo hi"), "{shown}");
    let path = format!("/v1/reviews/{review}/answer");
    assert_eq!(ada.ask("POST", &path, &json!({ "answer": "limit", "limit": 0 })).status, 400);
    assert_eq!(ada.ask("POST", &path, &json!({ "answer": "maybe" })).status, 400);
    assert_eq!(ada.ask("POST", &path, &json!({ "answer": "once" })).status, 200);
    assert_eq!(ada.ask("POST", &path, &json!({ "answer": "once" })).code(), "review_answered");
    let head = ada.until(&run, "done");
    assert_eq!((&head["result"], &head["steps"]), (&json!("end"), &json!(2)));
    assert_eq!(ada.waiting().len(), 0);
    // All of it, whenever one looks, from any event on.
    let all = ada.get(&format!("/v1/agents/{run}/events")).json();
    let events = all["events"].as_array().unwrap();
    assert_eq!(
        (&events[0]["event"], all["next"].as_u64().unwrap()),
        (&json!("started"), events.len() as u64)
    );
    let rest = ada.get(&format!("/v1/agents/{run}/events?from={}", events.len() - 1)).json();
    assert_eq!(
        (&rest["events"][0]["event"], &rest["events"].as_array().unwrap().len()),
        (&json!("ended"), &1)
    );
    let bearer = format!("Bearer {}", ada.token);
    let stream = |more: &[(&str, &str)]| {
        let headers = [&[("authorization", bearer.as_str()), ("accept", "text/event-stream")], more].concat();
        server.ask("GET", &format!("/v1/agents/{run}/events"), &headers, b"").text()
    };
    let late = stream(&[]);
    assert!(late.starts_with("id: 1\nevent: started\n") && late.contains("\nevent: end\n"), "{late}");
    let last = (events.len() - 1).to_string();
    let resumed = stream(&[("last-event-id", &last)]);
    assert!(resumed.starts_with(&format!("id: {}\nevent: ended\n", events.len())), "{resumed}");
    // What it wrote is in its workspace.
    let file = ada.get(&format!("/v1/workspaces/agent-{run}/files/workspace/f"));
    assert_eq!(file.text(), "hi\n");
    let forked = ada.ask("POST", &format!("/v1/agents/{run}/fork"), &json!({ "step": 1 })).json();
    assert_eq!(ada.until(forked["id"].as_str().unwrap(), "done")["parent"], run);
    let listed = ada.get("/v1/agents?limit=1").json();
    assert_eq!(listed["runs"][0]["id"], forked["id"]);
    let next = listed["next"].as_str().unwrap();
    assert_eq!(ada.get(&format!("/v1/agents?after={next}")).json()["runs"][0]["id"], run);
    assert_eq!(ada.ask("DELETE", &format!("/v1/agents/{run}"), &Value::Null).json()["removed"], run);
    assert_eq!(ada.get(&format!("/v1/agents/{run}")).status, 404);
}

#[test]
fn runs_belong_to_a_tenant_and_go_on_for_whoever_opened_them() {
    let agents = Agents::new(&[("m", vec![shell_turn("while true; do :; done"), says("end")])]);
    let server = start(&agents);
    let ada = runs_and_reviews(&agents, &server, "ada");
    let bob = runs_and_reviews(&agents, &server, "bob");
    let plain = Caller { server: &server, token: token(&agents.shell, "ada", &[]) };
    let runs = token(&agents.shell, "ada", &["--power", "agents"]);
    let runs = Caller { server: &server, token: runs };
    for path in ["/v1/agents", "/v1/reviews"] {
        assert_eq!(plain.get(path).code(), "beyond_ceiling", "{path}");
    }
    assert_eq!(
        runs.get("/v1/reviews").code(),
        "beyond_ceiling",
        "who opens runs does not approve what they ask"
    );
    let run = ada.open(json!({ "model": "m" }));
    let absent = "0".repeat(32);
    for (method, rest, body) in [
        ("GET", "", Value::Null),
        ("GET", "/events", Value::Null),
        ("DELETE", "", Value::Null),
        ("POST", "/cancel", Value::Null),
        ("POST", "/resume", json!({})),
        ("POST", "/fork", json!({ "step": 0 })),
    ] {
        let of = |id: &str| bob.ask(method, &format!("/v1/agents/{id}{rest}"), &body);
        let (theirs, none) = (of(&run), of(&absent));
        assert_eq!((theirs.status, &theirs.body), (404, &none.body), "{method} {rest}");
    }
    assert_eq!(ada.ask("DELETE", &format!("/v1/agents/{run}"), &Value::Null).code(), "run_held");
    assert_eq!(
        runs.ask("POST", &format!("/v1/agents/{run}/fork"), &json!({ "step": 0 })).code(),
        "another_principal"
    );
    assert_eq!(runs.ask("POST", &format!("/v1/agents/{run}/cancel"), &Value::Null).json()["cancelled"], true);
    ada.until(&run, "cancelled");
    for (body, code) in [
        (json!({ "system": "s", "task": "t", "options": {} }), "bad_input"),
        (json!({ "system": "s", "options": { "model": "m" } }), "bad_json"),
        (json!({ "system": "s", "task": "t", "options": { "model": "m" }, "dirs": ["/"] }), "bad_json"),
        (
            json!({ "system": "s", "task": "t", "options": { "model": "m" }, "allow_host": ["a.test"] }),
            "beyond_ceiling",
        ),
        (json!({ "system": "s", "task": "t", "options": { "model": "m" }, "workspace": "../x" }), "bad_name"),
    ] {
        assert_eq!(ada.ask("POST", "/v1/agents", &body).code(), code, "{body}");
    }
}

#[test]
fn a_server_that_was_killed_shows_what_it_drove_as_interrupted_and_goes_on_with_what_waited() {
    let agents = Agents::new(&[
        ("m", vec![shell_turn("echo once >> f; cat f"), shell_turn("while true; do :; done"), says("end")]),
        ("asks", vec![shell_turn("echo hi"), says("answered")]),
    ]);
    let mut server = start(&agents);
    let ada = runs_and_reviews(&agents, &server, "ada");
    let token = ada.token.clone();
    let (run, asks) =
        (ada.open(json!({ "model": "m" })), ada.open(json!({ "model": "asks", "review": ["*"] })));
    ada.until(&asks, "waiting");
    let began = Instant::now();
    while !ada.get(&format!("/v1/agents/{run}/events?wait_ms=1000")).text().contains("while true") {
        assert!(began.elapsed() < PATIENCE);
    }
    server.signal("-KILL");
    server.wait();
    let server = start(&agents);
    let ada = Caller { server: &server, token };
    let head = ada.until(&run, "failed");
    assert_eq!(head["reason"], "interrupted");
    // A call that may have done something is asked about, and not made again.
    assert_eq!(ada.ask("POST", &format!("/v1/agents/{run}/resume"), &json!({})).status, 200);
    ada.until(&run, "waiting");
    for review in ada.waiting() {
        let answer = if review["run"] == json!(asks) {
            json!({ "answer": "session" })
        } else {
            json!({ "answer": "deny" })
        };
        let path = format!("/v1/reviews/{}/answer", review["id"].as_str().unwrap());
        assert_eq!(ada.ask("POST", &path, &answer).status, 200);
    }
    assert_eq!(ada.until(&asks, "done")["result"], "answered");
    ada.until(&run, "done");
    let file = ada.get(&format!("/v1/workspaces/agent-{run}/files/workspace/f"));
    assert_eq!(file.text(), "once\n", "what was done before is not done again");
}

#[test]
fn a_listener_is_told_as_it_happens() {
    let agents = Agents::new(&[("m", vec![shell_turn("echo hi"), says("end")])]);
    let server = start(&agents);
    let ada = runs_and_reviews(&agents, &server, "ada");
    let run = ada.open(json!({ "model": "m", "review": ["shell"] }));
    let mut stream = server.connect();
    let bearer = format!("Bearer {}", ada.token);
    let headers = [("authorization", bearer.as_str()), ("accept", "text/event-stream")];
    stream.write_all(&server.head("GET", &format!("/v1/agents/{run}/events"), &headers, None)).unwrap();
    let mut told = String::new();
    let mut buffer = [0; 4096];
    let mut until = |word: &str, told: &mut String| {
        while !told.contains(word) {
            let bytes = stream.read(&mut buffer).unwrap();
            assert!(bytes > 0, "{told}");
            told.push_str(&String::from_utf8_lossy(&buffer[..bytes]));
        }
    };
    until("event: asked", &mut told);
    ada.until(&run, "waiting");
    let review = ada.asked()["id"].as_str().unwrap().to_owned();
    ada.ask("POST", &format!("/v1/reviews/{review}/answer"), &json!({ "answer": "session" }));
    until("event: end\n", &mut told);
    assert!(told.contains("event: answered"), "{told}");
}
