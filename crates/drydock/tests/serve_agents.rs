//! Runs of agents and reviews over HTTP: `/v1/agents`, `/v1/reviews`.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    io::{Read as _, Write as _},
    process::Stdio,
    time::{Duration, Instant},
};

use common::{
    agent::{Agents, says, shell_turn, turn},
    server::{Answer, Server, token},
    web,
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

    /// Until a question is answered as far as its run knows.
    fn until_not_waiting(&self, review: &Value) {
        let began = Instant::now();
        while self.waiting().iter().any(|it| it["id"] == review["id"]) {
            assert!(began.elapsed() < PATIENCE, "{review}");
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

#[test]
fn a_yes_gives_no_more_than_whoever_says_it_could_have_given() {
    let agents = Agents::new(&[(
        "m",
        vec![
            shell_turn("curl -s http://evil.example/"),
            shell_turn("curl -s http://good.example/"),
            says("end"),
        ],
    )]);
    let server = start(&agents);
    let few = ["--power", "agents", "--power", "reviews", "--allow-host", "good.example"];
    let ada = Caller { server: &server, token: token(&agents.shell, "ada", &few) };
    let all = [&few[..], &["--power", "kept", "--allow-host", "evil.example"]].concat();
    let boss = Caller { server: &server, token: token(&agents.shell, "ada", &all) };
    let answer = |by: &Caller<'_>, review: &Value, body: Value| {
        by.ask("POST", &format!("/v1/reviews/{}/answer", review["id"].as_str().unwrap()), &body)
    };
    // Whoever may give it says yes; whoever may not is refused by name, and may say no.
    for by in [&boss, &ada] {
        let run = ada.open(json!({ "model": "m", "on_denial": "ask" }));
        for (subject, mine) in [("net evil.example:80", false), ("net good.example:80", true)] {
            let asked = ada.asked();
            let grant = &asked["grant"];
            assert_eq!(format!("{} {}", grant["cap"], grant["subjects"][0]).replace('"', ""), subject);
            for yes in [json!({ "answer": "session" }), json!({ "answer": "limit", "limit": 1 })] {
                if !mine {
                    assert_eq!(answer(&ada, &asked, yes).code(), "beyond_ceiling", "{asked}");
                }
            }
            let said = if mine || by.token == boss.token { "once" } else { "deny" };
            let answered = answer(by, &asked, json!({ "answer": said }));
            assert_eq!(answered.status, 200, "{answered:?}");
            ada.until_not_waiting(&asked);
        }
        ada.until(&run, "done");
    }
}

#[test]
fn whoever_has_no_token_decides_nothing_for_a_run_of_the_command_line() {
    let agents = Agents::new(&[("m", vec![shell_turn("echo hi"), says("end")])]);
    let server = start(&agents);
    let open = ["agent", "run", "--system", "s", "--task", "t", "--model", "m", "--review", "shell"];
    assert_eq!(agents.run(&open).status, 126);
    let run = agents.last();
    let review = agents.waiting()[0]["id"].as_str().unwrap().to_owned();
    let post = |path: &str, body: &Value| server.post(path, body);
    for yes in [json!({ "answer": "once" }), json!({ "answer": "deny" })] {
        let refused = post(&format!("/v1/reviews/{review}/answer"), &yes);
        assert_eq!((refused.status, refused.code().as_str()), (403, "another_principal"), "{yes}");
    }
    assert_eq!(post(&format!("/v1/agents/{run}/cancel"), &json!({})).code(), "another_principal");
    let removed = server.ask("DELETE", &format!("/v1/agents/{run}"), &[], b"");
    assert_eq!(removed.code(), "another_principal");
    // Nor does it change the files that what a person is asked about may lie in.
    let files = format!("/v1/workspaces/agent-{run}");
    for (method, path, body) in [
        ("PUT", format!("{files}/files/workspace/a"), "swapped".to_owned()),
        ("DELETE", format!("{files}/files/workspace/_steps.jsonl"), String::new()),
        ("DELETE", files.clone(), String::new()),
        ("POST", "/v1/sh".into(), json!({ "script": "rm -rf *", "workspace": format!("agent-{run}") }).to_string()),
        ("POST", "/v1/agents".into(), json!({ "system": "s", "task": "t", "options": { "model": "m" }, "workspace": format!("agent-{run}") }).to_string()),
    ] {
        let refused = server.ask(method, &path, &[], body.as_bytes());
        assert_eq!((refused.status, refused.code().as_str()), (403, "another_principal"), "{method} {path}: {refused:?}");
    }
    assert_eq!(agents.waiting()[0]["state"], "pending");
    // What was opened without a token is decided for without one.
    let options = json!({ "model": "m", "review": ["shell"] });
    let own = post("/v1/agents", &json!({ "system": "s", "task": "t", "options": options })).json();
    let began = Instant::now();
    let asked = loop {
        let all = server.get(&format!("/v1/reviews?run={}", own["id"].as_str().unwrap())).json();
        if let Some(first) = all["reviews"].as_array().unwrap().first() {
            break first["id"].as_str().unwrap().to_owned();
        }
        assert!(began.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(post(&format!("/v1/reviews/{asked}/answer"), &json!({ "answer": "once" })).status, 200);
}

#[test]
fn a_definition_a_replay_other_grants_and_what_was_filed_are_there_over_http_too() {
    let file = json!({ "title": "No printer", "need": "a way to print" });
    let turns = vec![turn("file_issue", file), shell_turn("echo hi; ls /"), says("end")];
    let agents = Agents::new(&[("m", turns)]);
    let server = start(&agents);
    let ada = runs_and_reviews(&agents, &server, "ada");
    let bob = runs_and_reviews(&agents, &server, "bob");
    let runs = token(&agents.shell, "ada", &["--power", "agents"]);
    let runs = Caller { server: &server, token: runs };
    let org = "* Ada  :agent:\n:PROPERTIES:\n:ID: ada\n:MODEL: m\n:END:\n** System prompt\nBe kind.\n";
    let defined = |text: &str| json!({ "task": "t", "definition": { "form": "org", "text": text } });
    let run = ada.ask("POST", "/v1/agents", &defined(org)).json()["id"].as_str().unwrap().to_owned();
    let head = ada.until(&run, "done");
    assert_eq!((&head["agent"], &head["model"]), (&json!("ada"), &json!("m")));
    let first = ada.get(&format!("/v1/agents/{run}/events")).json()["events"][0].clone();
    assert_eq!((&first["system"], &first["options"]["max_steps"]), (&json!("Be kind."), &json!(40)));
    let markdown =
        json!({ "form": "markdown", "text": "---\nname: bo\nmodel: m\nmax_steps: 2\n---\nBe brief." });
    let other = json!({ "task": "t", "system": "mine", "definition": markdown });
    let other = ada.ask("POST", "/v1/agents", &other).json()["id"].as_str().unwrap().to_owned();
    assert_eq!(ada.until(&other, "failed")["reason"], "max_steps");
    let first = ada.get(&format!("/v1/agents/{other}/events")).json()["events"][0].clone();
    assert_eq!((&first["system"], &first["agent"]), (&json!("mine"), &json!("bo")));
    for (body, status, code) in [
        (defined("* Ada\n"), 422, "no_agent"),
        (defined(&org.replace(":END:", ":TOOLKITS: csv\n:END:")), 422, "not_over_http"),
        (defined(&org.replace(":MODEL: m\n", "")), 400, "bad_input"),
        (json!({ "task": "t", "options": { "model": "m" } }), 400, "bad_input"),
        (json!({ "task": "t", "definition": { "form": "toml", "text": org } }), 400, "bad_json"),
    ] {
        let refused = ada.ask("POST", "/v1/agents", &body);
        assert_eq!((refused.status, refused.code().as_str()), (status, code), "{body}");
    }
    // Gone through again.
    let replayed = ada.ask("POST", &format!("/v1/agents/{run}/replay"), &Value::Null);
    let events = ada.get(&format!("/v1/agents/{run}/events")).json()["next"].clone();
    assert_eq!((replayed.status, &replayed.json()["events"]), (200, &events), "{replayed:?}");
    assert_eq!(bob.ask("POST", &format!("/v1/agents/{run}/replay"), &Value::Null).status, 404);
    let others = runs.ask("POST", &format!("/v1/agents/{run}/replay"), &Value::Null);
    assert_eq!(others.code(), "another_principal");
    // Forked with other grants, which are the caller's to give.
    let fork = |more: Value| {
        let mut body = json!({ "step": 1 });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ada.ask("POST", &format!("/v1/agents/{run}/fork"), &body)
    };
    assert_eq!(fork(json!({ "allow_host": ["a.test"] })).code(), "beyond_ceiling");
    let forked = fork(json!({ "allow": ["cat"] })).json()["id"].as_str().unwrap().to_owned();
    ada.until(&forked, "done");
    let listed = |id: &str| {
        let all = ada.get(&format!("/v1/agents/{id}/events")).json()["events"].as_array().unwrap().clone();
        let last = all.into_iter().rfind(|it| it["event"] == "result").unwrap();
        last["output"].as_str().unwrap().to_owned()
    };
    assert!(listed(&run).contains("workspace"), "{}", listed(&run));
    assert!(!listed(&forked).contains("workspace"), "it may no longer list: {}", listed(&forked));
    // What was filed is there for whoever runs the installation, once, however often it was filed.
    let filed = ada.get("/v1/issues").json();
    let issue = &filed["issues"][0];
    assert_eq!(filed["issues"].as_array().unwrap().len(), 1, "{filed}");
    assert_eq!((&issue["title"], &issue["run"]), (&json!("No printer"), &json!(run)));
    assert_eq!(bob.get("/v1/issues").json()["issues"], json!([]));
    let path = format!("/v1/issues/{}", issue["id"].as_str().unwrap());
    assert_eq!(bob.ask("DELETE", &path, &Value::Null).status, 404);
    assert_eq!(ada.ask("DELETE", &path, &Value::Null).json()["removed"], issue["id"]);
    assert_eq!(ada.get("/v1/issues").json()["issues"], json!([]));
}

#[test]
fn a_listener_hears_the_words_of_a_turn_before_the_turn_is_there() {
    let (say, said) = std::sync::mpsc::channel::<()>();
    let said = std::sync::Mutex::new(said);
    let site = web::serve(move |_, to| {
        // Not before somebody listens; and the turn ends when the words were heard.
        let wait = || said.lock().unwrap().recv_timeout(PATIENCE).unwrap();
        wait();
        let piece = |delta: Value, end: Value| {
            let choice = json!({ "delta": delta, "finish_reason": end });
            format!("data: {}\n\n", json!({ "model": "up", "choices": [choice] }))
        };
        let first = piece(json!({ "content": "one " }), Value::Null);
        write!(to, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{first}")
            .unwrap();
        to.flush().unwrap();
        wait();
        let last = piece(json!({ "content": "two" }), "stop".into());
        write!(to, "{last}data: [DONE]\n\n").unwrap();
    });
    let agents = Agents::new(&[]);
    let config = agents.config().join("drydock/drydock.toml");
    std::fs::write(config, format!("[models.live]\nbase-url = \"{}\"\n", site.url("/v1"))).unwrap();
    let server = start(&agents);
    let ada = runs_and_reviews(&agents, &server, "ada");
    let run = ada.open(json!({ "model": "live" }));
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
    until("event: started", &mut told);
    say.send(()).unwrap();
    until("event: words\ndata: {\"text\":\"one \"}", &mut told);
    assert!(!told.contains("event: turn"), "the turn is not over: {told}");
    say.send(()).unwrap();
    until("event: end\n", &mut told);
    assert!(told.contains("\"content\":\"one two\""), "{told}");
}
