//! Processes as their users see them: over HTTP, from the command line, and after the server was killed.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    io::{Read as _, Write as _},
    time::{Duration, Instant},
};

use common::{
    Said, Shell,
    server::{Answer, Server, token},
};
use serde_json::{Value, json};

/// A guard against a test that hangs; nothing is measured by it.
const HANG: Duration = Duration::from_secs(120);

fn start(server: &Server, body: &Value) -> String {
    let answer = server.post("/v1/processes", body);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["state"], "starting");
    answer.json()["id"].as_str().unwrap().to_owned()
}

fn until_over(server: &Server, id: &str) -> Value {
    let began = Instant::now();
    loop {
        let told = server.get(&format!("/v1/processes/{id}")).json();
        if ["exited", "killed", "failed"].contains(&told["state"].as_str().unwrap()) {
            return told;
        }
        assert!(began.elapsed() < HANG, "{told}");
    }
}

/// The events of an answer: name, id and data of each.
fn events(answer: &Answer) -> Vec<(String, u64, Value)> {
    assert_eq!(answer.header("content-type"), Some("text/event-stream"), "{answer:?}");
    let text = answer.text();
    let field = |event: &str, name: &str| {
        event.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
    };
    let whole = |event: &str| {
        let id = field(event, "id")?.parse().unwrap();
        Some((field(event, "event")?, id, serde_json::from_str(&field(event, "data")?).unwrap()))
    };
    text.split("\n\n").filter_map(whole).collect()
}

#[test]
fn a_process_is_fed_followed_and_read_again_from_the_cursor_of_a_lost_connection() {
    let server_home = Shell::new();
    let server = Server::start(&server_home, &[]);
    let id = start(&server, &json!({ "command": "cat", "stdin": "one ", "stdin_open": true }));
    let path = |rest: &str| format!("/v1/processes/{id}{rest}");
    let first = server.get(&path("/stdout?wait_ms=60000"));
    assert_eq!(first.json(), json!({ "from": 0, "next": 4, "end": false, "text": "one " }));
    let fed = server.ask("POST", &path("/stdin"), &[], "two \u{e9}".as_bytes());
    assert_eq!(fed.json(), json!({ "taken": 6, "ended": false }));
    let next = server.get(&path("/stdout?from=4&wait_ms=60000")).json();
    assert_eq!((next["from"].as_u64(), next["next"].as_u64()), (Some(4), Some(10)));
    // A reader that goes away in the middle costs nothing and ends nothing.
    let mut gone = server.connect();
    let accept = [("accept", "text/event-stream")];
    gone.write_all(&server.head("GET", &path("/stdout"), &accept, None)).unwrap();
    let mut some = [0; 64];
    assert!(gone.read(&mut some).unwrap() > 0);
    drop(gone);
    assert_eq!(server.get(&path("")).json()["state"], "running");
    let fed = server.ask("POST", &path("/stdin?end=true"), &[], b"three");
    assert_eq!(fed.json(), json!({ "taken": 5, "ended": true }));
    let told = until_over(&server, &id);
    assert_eq!(
        (&told["state"], &told["exit_code"], &told["stdout_bytes"]),
        (&json!("exited"), &json!(0), &json!(15))
    );
    let whole = "one two \u{e9}three".as_bytes();
    for from in 0..=whole.len() {
        let followed = server.ask("GET", &path(&format!("/stdout?from={from}")), &accept, b"");
        let all = events(&followed);
        let (last, told) = all.split_last().unwrap();
        assert_eq!((last.0.as_str(), &last.2["state"]), ("end", &json!("exited")));
        let mut text = Vec::new();
        for (name, at, piece) in told {
            assert_eq!((name.as_str(), Some(*at)), ("stdout", piece["next"].as_u64()));
            match piece.get("text").and_then(Value::as_str) {
                Some(piece) => text.extend_from_slice(piece.as_bytes()),
                None => text.extend([0xa9, b't', b'h', b'r', b'e', b'e']),
            }
        }
        assert_eq!(text, &whole[from..], "{from}");
    }
    // As a browser that reconnects says it.
    let again = [("accept", "text/event-stream"), ("last-event-id", "10")];
    assert_eq!(events(&server.ask("GET", &path("/stdout?from=0"), &again, b""))[0].2["text"], "three");
    for (method, rest, status, code) in [
        ("GET", "/stdout?from=16", 400, "bad_cursor"),
        ("GET", "/stdout?from=-1", 400, "bad_parameter"),
        ("GET", "/stdout?wait_ms=60001", 400, "bad_parameter"),
        ("DELETE", "?remove=perhaps", 400, "bad_parameter"),
        ("POST", "/stdin", 409, "no_input"),
    ] {
        let answer = server.ask(method, &path(rest), &[], b"");
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{method} {rest}");
    }
    assert_eq!(server.ask("DELETE", &path("?remove=true"), &[], b"").json()["id"], id.as_str());
    assert_eq!(server.get(&path("")).status, 404);
}

#[test]
fn a_kill_ends_what_computes_and_what_writes_and_a_quota_ends_it_by_name() {
    let shell = Shell::new();
    let server = Server::start(&shell, &["--process-output", "200KiB"]);
    let spins = start(&server, &json!({ "command": "awk", "args": ["BEGIN { while (1) x++ }"] }));
    let killed = server.ask("DELETE", &format!("/v1/processes/{spins}"), &[], b"").json();
    assert_eq!((&killed["state"], &killed["exit_code"]), (&json!("killed"), &json!(137)));
    let loud = start(&server, &json!({ "command": "yes" }));
    let told = until_over(&server, &loud);
    assert_eq!(
        (&told["state"], &told["code"], &told["exit_code"]),
        (&json!("exited"), &json!("output_limit"), &json!(125))
    );
    assert!(told["message"].as_str().unwrap().contains("--process-output"), "{told}");
    assert!(told["stdout_bytes"].as_u64().unwrap() <= 200 << 10);
    let slow = start(&server, &json!({ "command": "sleep", "args": ["1000"], "timeout_ms": 50 }));
    let told = until_over(&server, &slow);
    assert_eq!((&told["code"], &told["exit_code"]), (&json!("timed_out"), &json!(124)));
    let unknown = start(&server, &json!({ "command": "no-such" }));
    let told = until_over(&server, &unknown);
    assert_eq!((&told["state"], &told["code"]), (&json!("failed"), &json!("unknown_command")));
    for (body, code) in [
        (json!({}), "bad_json"),
        (json!({ "command": "cat", "memmory_mb": 1 }), "bad_json"),
        (json!({ "command": "cat", "timeout_ms": 86_400_001 }), "bad_input"),
        (json!({ "command": "cat", "memory_mb": 0 }), "bad_input"),
        (json!({ "command": "cat", "env": { "": "x" } }), "bad_input"),
    ] {
        assert_eq!(server.post("/v1/processes", &body).code(), code, "{body}");
    }
    for _ in 0..32 {
        start(&server, &json!({ "command": "cat", "stdin_open": true }));
    }
    let refused = server.post("/v1/processes", &json!({ "command": "cat" }));
    assert_eq!((refused.status, refused.code().as_str()), (429, "too_many_processes"));
}

#[test]
fn the_table_outlives_a_server_that_is_killed() {
    let shell = Shell::new();
    let mut server = Server::start(&shell, &[]);
    let done = start(&server, &json!({ "command": "cat", "stdin": "done" }));
    until_over(&server, &done);
    let cut = start(&server, &json!({ "command": "cat", "stdin": "half", "stdin_open": true }));
    let began = server.get(&format!("/v1/processes/{cut}/stdout?wait_ms=60000")).json();
    assert_eq!(began["text"], "half");
    server.signal("-KILL");
    server.wait();
    let listed = shell.run(&["ps", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!((&listed[0]["state"], &listed[0]["code"]), (&json!("failed"), &json!("server_ended")));
    let again = Server::start(&shell, &[]);
    let found = again.get(&format!("/v1/processes/{cut}")).json();
    assert_eq!((&found["state"], &found["code"]), (&json!("failed"), &json!("server_ended")));
    assert!(found["message"].as_str().unwrap().contains("killed"), "{found}");
    let kept = again.get(&format!("/v1/processes/{cut}/stdout")).json();
    assert_eq!((&kept["text"], &kept["end"]), (&json!("half"), &json!(true)));
    let found = again.get(&format!("/v1/processes/{done}")).json();
    assert_eq!((&found["state"], &found["exit_code"]), (&json!("exited"), &json!(0)));
    assert_eq!(again.get(&format!("/v1/processes/{done}/stdout")).json()["text"], "done");
}

/// What a command said, with ids and times that are another one's each run left out.
fn stable(said: &Said, ids: &[&str]) -> String {
    let mut text = said.all();
    for (at, id) in ids.iter().enumerate() {
        text = text.replace(id, &format!("ID{at}"));
    }
    text
}

#[test]
fn a_command_is_detached_listed_followed_and_killed() {
    let shell = Shell::new();
    let none = shell.run(&["run", "--detach", "cat"]);
    insta::assert_snapshot!(none.all(), @r"
    [125]
    ---
    drydock: error: no server of this data directory runs; start one with `drydock serve`
    ");
    assert_eq!(shell.run(&["ps"]).stdout, "no processes\n");
    let server = Server::start(&shell, &[]);
    // With tokens, and without one of them: whoever owns the directory needs none.
    token(&shell, "acme", &[]);
    let detached = shell.run(&["run", "--detach", "--env", "A=b", "printf", r"hello\n"]);
    assert_eq!(detached.status, 0, "{}", detached.stderr);
    let hello = detached.stdout.trim().to_owned();
    let followed = shell.run(&["logs", "-f", &hello]);
    assert_eq!((followed.status, followed.stdout.as_str()), (0, "hello\n"), "{}", followed.stderr);
    let tail = shell.run(&["logs", "--output", "stdout", "--from", "4", &hello]);
    assert_eq!(tail.stdout, "o\n");
    let broken = shell.run(&["run", "--detach", "cat", "/no/such"]).stdout.trim().to_owned();
    let followed = shell.run(&["logs", "-f", &broken]);
    assert!(followed.stdout.is_empty() && followed.stderr.contains("/no/such"), "{}", followed.stderr);
    let sleeps = shell.run(&["run", "--detach", "sleep", "1000"]).stdout.trim().to_owned();
    let killed = shell.run(&["kill", "--json", &sleeps]);
    let told: Value = serde_json::from_str(&killed.stdout).unwrap_or_else(|_| panic!("{}", killed.all()));
    assert_eq!(
        (&told["state"], &told["command"], &told["principal"]),
        (&json!("killed"), &json!("sleep"), &json!("cli"))
    );
    let listed = shell.run(&["ps"]);
    let rows: Vec<Vec<&str>> = listed
        .stdout
        .lines()
        .map(|it| {
            it.split_whitespace().enumerate().filter(|(at, _)| *at != 3).map(|(_, cell)| cell).collect()
        })
        .collect();
    let rows: Vec<&[&str]> = rows.iter().map(|it| &it[1..]).collect();
    assert_eq!(
        rows,
        [
            &["STATE", "ENDED", "COMMAND"][..],
            &["killed", "killed", "sleep"],
            &["exited", "1", "cat"],
            &["exited", "0", "printf"],
        ]
    );
    assert_eq!(shell.run(&["kill", "--rm", &sleeps]).status, 0);
    let never = "0123456789abcdef0123456789abcdef";
    let asked: &[&[&str]] = &[
        &["logs", never],
        &["kill", never],
        &["kill", &sleeps],
        &["logs", "../../etc"],
        &["logs", "--output", "stdout", "--from", "99", &hello],
        &["run", "--detach", "--dir", ".", "cat"],
        &["run", "--detach", "--json", "cat"],
    ];
    let told: Vec<String> = asked.iter().map(|it| stable(&shell.run(it), &[&sleeps, &hello])).collect();
    insta::assert_snapshot!(told.join("\n"));
    drop(server);
    let gone = shell.run(&["run", "--detach", "cat"]);
    assert_eq!(
        gone.stderr,
        "drydock: error: no server of this data directory runs; start one with `drydock serve`\n"
    );
}
