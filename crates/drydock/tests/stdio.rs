//! `drydock stdio` as a client in any language sees it: lines of JSON, by docs/specs/stdio.md.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin},
    sync::mpsc,
    time::Duration,
};

use common::Shell;
use serde_json::{Value, json};

/// Only against hanging: cold compilations on a busy machine are slow.
const PATIENCE: Duration = Duration::from_secs(240);

struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: mpsc::Receiver<Value>,
    next: u64,
}

impl Client {
    /// Starts one and reads what it says first.
    fn new(shell: &Shell, args: &[&str]) -> (Self, Value) {
        let mut child = shell.command(&[&["stdio"], args].concat()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if send.send(serde_json::from_str(&line).unwrap()).is_err() {
                    return;
                }
            }
        });
        let mut client = Self { child, input, lines, next: 1 };
        let ready = client.line();
        (client, ready["ready"].clone())
    }

    fn write(&mut self, line: &str) {
        self.input.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn line(&mut self) -> Value {
        self.lines.recv_timeout(PATIENCE).expect("an answer")
    }

    fn begin(&mut self, op: &str, input: Value, stream: bool) -> u64 {
        let id = self.next;
        self.next += 1;
        self.write(&json!({ "id": id, "op": op, "input": input, "stream": stream }).to_string());
        id
    }

    /// One operation; nothing else may be said meanwhile.
    fn ask(&mut self, op: &str, input: Value) -> Value {
        let id = self.begin(op, input, false);
        let answer = self.line();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn result(&mut self, op: &str, input: Value) -> Value {
        let answer = self.ask(op, input);
        assert_eq!(answer.get("error"), None, "{op}: {answer}");
        answer["result"].clone()
    }

    fn code(&mut self, op: &str, input: Value) -> String {
        let answer = self.ask(op, input);
        assert_eq!(answer.get("result"), None, "{op}: {answer}");
        assert!(answer["error"]["message"].as_str().is_some_and(|it| !it.is_empty()), "{answer}");
        answer["error"]["code"].as_str().unwrap().to_owned()
    }
}

#[test]
fn each_operation_is_answered_under_its_id() {
    let shell = Shell::sharing();
    std::fs::create_dir(shell.path("project")).unwrap();
    shell.file("project/a.txt", "b\na\n");
    let project = shell.path("project");
    let (mut client, ready) = Client::new(&shell, &["--dir", project.to_str().unwrap()]);
    assert_eq!((&ready["version"], &ready["cwd"]), (&env!("CARGO_PKG_VERSION").into(), &"/project".into()));
    for op in ["sh", "run", "js", "py", "read_file", "write_file", "diff"] {
        assert!(ready["operations"].as_array().unwrap().contains(&op.into()), "{op}: {ready}");
    }

    let done = client.result("sh", json!({ "script": "sort a.txt; echo gone >&2; exit 3" }));
    assert_eq!((&done["status"], &done["stdout"]), (&3.into(), &"a\nb\n".into()), "{done}");
    assert_eq!(done["stderr"], "gone\n", "{done}");
    let done = client.result("run", json!({ "name": "jq", "args": ["-c", "."], "stdin": "{\"a\": 1}" }));
    assert_eq!(done["stdout"], "{\"a\":1}\n", "{done}");
    let done = client.result("js", json!({ "code": "args.n * 2", "args": { "n": 21 } }));
    assert_eq!(done["result"], 42, "{done}");
    assert_eq!(client.code("py", json!({ "code": "1 + 1" })), "not_installed");

    client.result("write_file", json!({ "path": "new.txt", "text": "new\n" }));
    let done = client.result("read_file", json!({ "path": "new.txt" }));
    assert!(done.to_string().contains("new"), "{done}");
    let done = client.result("diff", json!({}));
    assert!(done.to_string().contains("+new"), "{done}");
    assert!(!project.join("new.txt").exists(), "the directory is copy-on-write");

    assert_eq!(client.code("read_file", json!({ "path": "nothing" })), "not_found");
    assert_eq!(client.code("read_file", json!({ "path": "../a" })), "bad_path");
    assert_eq!(client.code("dance", json!({})), "unknown_operation");
}

#[test]
fn a_stream_is_told_as_it_is_written_and_operations_run_side_by_side() {
    let shell = Shell::sharing();
    let (mut client, _) = Client::new(&shell, &[]);
    let waiting = client.begin("sh", json!({ "script": "echo begun; sleep 60" }), true);
    let piece = client.line();
    assert_eq!(piece, json!({ "id": waiting, "stream": "stdout", "text": "begun\n" }));
    // It still runs; another is answered before it.
    assert_eq!(client.result("sh", json!({ "script": "echo beside" }))["stdout"], "beside\n");
    client.write(&json!({ "cancel": waiting }).to_string());
    let answer = client.line();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&waiting.into(), &"cancelled".into()), "{answer}");
    let bytes = client.begin("sh", json!({ "script": r"printf '\377'" }), true);
    let piece = client.line();
    assert_eq!((&piece["id"], &piece["base64"]), (&bytes.into(), &"/w==".into()), "{piece}");
    assert_eq!(client.line()["result"]["status"], 0);
}

#[test]
fn what_is_no_request_is_refused_and_the_next_line_is_read() {
    let shell = Shell::sharing();
    let (mut client, _) = Client::new(&shell, &[]);
    for line in ["hello", "{", "[]", "{}", "{\"op\": 1}"] {
        client.write(line);
        let answer = client.line();
        assert_eq!(answer["error"]["code"], "bad_request", "{line}: {answer}");
        assert!(answer["id"].is_null(), "{line}: {answer}");
    }
    client.write("{\"id\": 9, \"op\": \"sh\", \"input\": []}");
    let answer = client.line();
    assert_eq!((&answer["id"], answer["error"]["code"].is_string()), (&9.into(), true), "{answer}");
    assert_eq!(client.result("sh", json!({ "script": "echo fine" }))["stdout"], "fine\n");
}

#[test]
fn a_client_that_goes_away_ends_what_runs_and_the_process() {
    let shell = Shell::sharing();
    let (mut client, _) = Client::new(&shell, &[]);
    let id = client.begin("sh", json!({ "script": "echo begun; sleep 1000" }), true);
    assert_eq!(client.line()["id"], id);
    drop(client.input.take());
    // Its own end, well before the guest's.
    let started = std::time::Instant::now();
    assert!(client.child.wait().unwrap().success());
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

#[test]
fn a_refused_operation_carries_the_grant_it_lacked_as_a_value() {
    let (mut client, _) = Client::new(&Shell::sharing(), &["--allow", "jq"]);
    let want = r#"{"cap":"exec","subjects":["upper"]}"#;
    let refused = client.ask("run", json!({ "name": "upper" }));
    assert_eq!(refused["error"]["denial"]["grant"].to_string(), want, "{refused}");
    let line = client.ask("sh", json!({ "script": "upper </dev/null; true" }));
    assert_eq!(line["result"]["denials"][0]["grant"].to_string(), want, "{line}");
    let well = client.ask("sh", json!({ "script": "true" }));
    assert_eq!(well["result"].get("denials"), None, "the next call has a log of its own: {well}");
}
