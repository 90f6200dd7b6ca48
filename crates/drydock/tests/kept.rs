//! `drydock kv` and `drydock queue`, and the same over HTTP: what a person sees and changes of what guests keep.
#![allow(clippy::unwrap_used)]

mod common;

use common::{
    Shell,
    server::{Server, token},
};
use serde_json::{Value, json};

#[test]
fn values_are_put_listed_read_and_removed_per_tenant() {
    let shell = Shell::new();
    assert_eq!(shell.run(&["kv", "list"]).stdout, "no keys\n");
    assert_eq!(shell.pipe(&["kv", "put", "app/state"], b"from \xff stdin").status, 0);
    assert_eq!(shell.run(&["kv", "put", "app/%", "text"]).stdout, "version 2\n");
    assert_eq!(shell.run(&["kv", "put", "other", "-x"]).status, 2, "a flag is no value");
    let told = shell.run(&["kv", "list", "app/"]).stdout;
    let rows: Vec<Vec<&str>> = told.lines().map(|it| it.split_whitespace().collect()).collect();
    assert_eq!(rows[1], ["2", "4", "B", "-", "app/%"]);
    assert_eq!(rows[2], ["1", "12", "B", "-", "app/state"]);
    let read: Value = serde_json::from_str(&shell.run(&["kv", "get", "app/%", "--json"]).stdout).unwrap();
    assert_eq!(read, json!({ "value": "text", "version": 2 }));
    let conflict = shell.run(&["kv", "put", "app/%", "y", "--if-version", "1"]);
    assert_eq!(
        (conflict.status, conflict.stderr.as_str()),
        (1, "drydock: conflict: the key has version 2\n")
    );
    assert_eq!(
        shell.run(&["kv", "put", "app/%", "", "--if-version", "2", "--ttl", "1h"]).stdout,
        "version 3\n"
    );
    let missing = shell.run(&["kv", "get", "app/%", "--tenant", "acme", "--json"]);
    let told: Value = serde_json::from_str(&missing.stdout).unwrap();
    assert_eq!((missing.status, &told["error"]["code"]), (1, &json!("not_found")));
    for (args, code) in [
        (&["kv", "put", "", "x"][..], "invalid_key"),
        (&["kv", "get", &"k".repeat(513)], "invalid_key"),
        (&["kv", "put", "k", &"v".repeat(0), "--ttl", "0s"], "ttl"),
    ] {
        let said = shell.run(args);
        assert!(said.status != 0 && said.stderr.contains(code), "{args:?}: {}", said.all());
    }
    let large = shell.pipe(&["kv", "put", "k"], &vec![b'v'; (1 << 20) + 1]);
    assert!(large.stderr.starts_with("drydock: value_too_large: "), "{}", large.all());
    assert_eq!(shell.run(&["kv", "rm", "app/state"]).stdout, "removed\n");
    assert_eq!(shell.run(&["kv", "rm", "app/state"]).stdout, "there was no such key\n");
    let audit = shell.run(&["audit", "--limit", "500"]).stdout;
    assert!(audit.contains("kv.delete") && audit.contains("value_too_large"), "{audit}");
}

#[test]
fn messages_are_published_looked_at_and_drained_per_tenant() {
    let shell = Shell::new();
    assert_eq!(shell.run(&["queue", "topics"]).stdout, "no topic has messages\n");
    for message in ["one", "two\nlines"] {
        assert_eq!(shell.run(&["queue", "publish", "jobs", message]).status, 0);
    }
    assert_eq!(shell.pipe(&["queue", "publish", "jobs", "-"], b"\x1b[31m").stdout, "the topic has 3\n");
    assert_eq!(shell.run(&["queue", "topics"]).stdout, "MESSAGES  TOPIC\n3         jobs\n");
    assert_eq!(shell.run(&["queue", "topics", "--tenant", "acme"]).stdout, "no topic has messages\n");
    assert_eq!(shell.run(&["queue", "depth", "jobs"]).stdout, "3 messages, 0 hidden\n");
    let seen = shell.run(&["queue", "peek", "jobs"]).stdout;
    assert!(seen.contains("  one\n") && !seen.contains('\x1b'), "{seen}");
    let drained = shell.run(&["queue", "drain", "jobs", "--json"]).stdout;
    let all: Vec<Value> = drained.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let bodies: Vec<&str> = all.iter().map(|it| it["message"].as_str().unwrap()).collect();
    assert_eq!(bodies, ["one", "two\nlines", "\x1b[31m"]);
    assert_eq!(shell.run(&["queue", "drain", "jobs"]).all(), "[0]\n---\n");
    let bad = shell.run(&["queue", "publish", "", "x"]);
    assert!(bad.status == 1 && bad.stderr.starts_with("drydock: invalid_topic: "), "{}", bad.all());
}

#[test]
fn a_message_is_leased_acknowledged_and_given_back_and_a_number_is_counted() {
    let shell = Shell::new();
    for message in ["one", "two"] {
        assert_eq!(shell.run(&["queue", "publish", "jobs", message]).status, 0);
    }
    let leased = shell.run(&["queue", "lease", "jobs", "--max", "5", "--for", "10m"]).stdout;
    let receipts: Vec<&str> = leased.lines().filter_map(|it| it.split_once("  ")).map(|it| it.0).collect();
    assert_eq!(leased, format!("{}  one\n{}  two\n", receipts[0], receipts[1]));
    assert_eq!(shell.run(&["queue", "depth", "jobs"]).stdout, "2 messages, 2 hidden\n");
    assert_eq!(shell.run(&["queue", "ack", "jobs", receipts[0]]).stdout, "1 message\n");
    assert_eq!(shell.run(&["queue", "nack", "jobs", receipts[1]]).stdout, "1 message\n");
    let late = shell.run(&["queue", "ack", "jobs", receipts[1]]);
    assert!(late.status == 1 && late.stderr.contains("not_found: no receipt"), "{}", late.all());
    assert_eq!(shell.run(&["queue", "depth", "jobs"]).stdout, "1 message, 0 hidden\n");
    assert_eq!(shell.run(&["queue", "ack", "jobs", "no-receipt"]).status, 2);
    for (by, sum) in [("1", "1\n"), ("41", "42\n"), ("-2", "40\n")] {
        assert_eq!(shell.run(&["kv", "incr", "n", by]).stdout, sum);
    }
    assert_eq!(shell.run(&["kv", "incr", "n"]).stdout, "41\n");
}

#[test]
fn a_drain_whose_output_fails_loses_no_message() {
    let shell = Shell::new();
    for message in ["one", "two", "three"] {
        assert_eq!(shell.run(&["queue", "publish", "jobs", message]).status, 0);
    }
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let broken = shell.command(&["queue", "drain", "jobs"]).stdout(writer).output().unwrap();
    let said = shell.said(broken);
    assert!(said.status == 1 && said.stderr.contains("3 messages of the last batch stay"), "{}", said.all());
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let full =
        shell.said(shell.command(&["queue", "drain", "jobs", "--json"]).stdout(full).output().unwrap());
    assert!(full.status == 1 && full.stderr.contains("No space left"), "{}", full.all());
    assert_eq!(shell.run(&["queue", "depth", "jobs"]).stdout, "3 messages, 0 hidden\n");
    let first = shell.run(&["queue", "drain", "jobs", "--max", "2"]).stdout;
    assert!(first.contains("  one\n") && first.contains("  two\n") && first.lines().count() == 2, "{first}");
    assert_eq!(shell.run(&["queue", "depth", "jobs"]).stdout, "1 message, 0 hidden\n");
    let rest = shell.run(&["queue", "drain", "jobs", "--json"]).stdout;
    let rest: Value = serde_json::from_str(&rest).unwrap();
    assert_eq!((&rest["message"], rest.get("receipt")), (&json!("three"), None), "{rest}");
}

#[test]
fn who_is_revoked_is_told_how_that_is_taken_back() {
    let shell = Shell::new();
    assert_eq!(shell.run(&["revoke", "cli"]).status, 0);
    let said = shell.run(&["kv", "list"]);
    assert!(said.stderr.contains("`drydock unrevoke cli --tenant dev`"), "{}", said.all());
    let said = shell.run(&["run", "true"]);
    assert!(said.stderr.contains("`drydock unrevoke cli`"), "{}", said.all());
}

#[test]
fn the_server_has_values_and_messages_with_a_status_for_each_code() {
    let shell = Shell::new();
    let (kept, runs) =
        (token(&shell, "acme", &["--power", "kept"]), token(&shell, "acme", &["--power", "run"]));
    let server = Server::start(&shell, &[]);
    let ask = |method: &str, path: &str, body: &[u8]| server.ask_as(&kept, method, path, body);
    assert_eq!(server.ask_as(&runs, "GET", "/v1/kv", b"").code(), "beyond_ceiling");
    let put = ask("PUT", "/v1/kv/app/a%20b%2Fc", b"\x00\xff");
    assert_eq!((put.status, put.json()), (200, json!({ "version": 1 })));
    let got = ask("GET", "/v1/kv/app/a%20b/c", b"");
    assert_eq!((got.status, got.header("etag")), (200, Some("\"1\"")));
    assert_eq!(got.header("content-type"), Some("application/octet-stream"));
    let listed = ask("GET", "/v1/kv?prefix=app/&limit=1", b"").json();
    assert_eq!(listed, json!({ "keys": [{ "key": "app/a b/c", "bytes": 2, "version": 1 }] }));
    for (method, path, bytes, status, code) in [
        ("GET", "/v1/kv/none", 0, 404, "not_found"),
        ("DELETE", "/v1/kv/none", 0, 404, "not_found"),
        ("PUT", "/v1/kv/app/a%20b/c?if_version=7", 1, 409, "conflict"),
        ("PUT", "/v1/kv/k?if_version=x", 1, 400, "bad_parameter"),
        ("PUT", "/v1/kv/k?ttl_ms=0", 1, 400, "malformed"),
        ("PUT", "/v1/kv/k", (1 << 20) + 1, 413, "too_large"),
        ("GET", "/v1/kv?limit=0", 0, 400, "malformed"),
        ("GET", "/v1/kv?limit=9999", 0, 400, "bad_parameter"),
        ("GET", "/v1/queues/none", 0, 404, "not_found"),
        ("POST", "/v1/queues/none/poll", 0, 404, "empty"),
        ("POST", "/v1/queues/t/messages", (256 << 10) + 1, 413, "too_large"),
        ("POST", "/v1/queues/none/poll?max=0", 0, 400, "malformed"),
    ] {
        let answer = ask(method, path, &vec![b'x'; bytes]);
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{method} {path}: {answer:?}");
    }
    let long = format!("/v1/kv/{}", "k".repeat(513));
    assert_eq!(ask("PUT", &long, b"").code(), "invalid_key");
    for message in ["1", "2", "3"] {
        assert_eq!(ask("POST", "/v1/queues/a%2Fb/messages", message.as_bytes()).status, 200);
    }
    let polled = ask("POST", "/v1/queues/a%2Fb/poll", b"").json();
    assert_eq!(polled["messages"][0]["message"], "1");
    let leased = ask("POST", "/v1/queues/a%2Fb/lease?max=2&visibility_ms=60000", b"").json();
    let receipt = |n: usize| leased["messages"][n]["receipt"].clone();
    let ack = json!({ "receipts": [receipt(0)] }).to_string();
    assert_eq!(ask("POST", "/v1/queues/a%2Fb/ack", ack.as_bytes()).json()["settled"], 1);
    let nack = json!({ "receipts": [receipt(1)] }).to_string();
    assert_eq!(ask("POST", "/v1/queues/a%2Fb/nack", nack.as_bytes()).status, 200);
    assert_eq!(ask("GET", "/v1/queues/a%2Fb", b"").json(), json!({ "depth": 1, "hidden": 0 }));
    assert_eq!(ask("GET", "/v1/queues/a%2Fb/messages", b"").json()["messages"][0]["message"], "3");
    assert_eq!(ask("GET", "/v1/queues", b"").json()["topics"], json!([{ "topic": "a/b", "depth": 1 }]));
    assert_eq!(ask("DELETE", "/v1/kv/app/a%20b/c", b"").json(), json!({ "deleted": true }));
    let mine = shell.run(&["kv", "list", "--tenant", "acme"]).stdout;
    assert_eq!(mine, "no keys\n", "a process beside the server sees the same");
}

#[test]
fn requests_for_messages_and_values_take_turns_and_wait_as_long_as_the_token_may() {
    let shell = Shell::new();
    let short = token(&shell, "brief", &["--power", "kept", "--timeout-ms", "300"]);
    let waits = token(&shell, "acme", &["--power", "kept"]);
    let server = Server::start(&shell, &["--tenant-in-flight", "1", "--tenant-waiting", "1"]);
    for path in ["/v1/queues/t/poll?wait_ms=301", "/v1/queues/t/lease?wait_ms=301"] {
        let refused = server.ask_as(&short, "POST", path, b"");
        assert_eq!((refused.status, refused.code().as_str()), (403, "beyond_ceiling"));
        assert!(refused.text().contains("wait_ms 301, and the most is 300"), "{}", refused.text());
    }
    assert_eq!(server.ask_as(&short, "POST", "/v1/queues/t/poll?wait_ms=1", b"").code(), "empty");
    // One waits for messages, one for its turn, and one is refused.
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let (told, answers) = std::sync::mpsc::channel();
        for _ in 0..3 {
            let (told, server, waits) = (told.clone(), &server, &waits);
            scope.spawn(move || {
                let answer = server.ask_as(waits, "POST", "/v1/queues/t/poll?wait_ms=60000", b"");
                told.send(answer.status).unwrap();
            });
        }
        let first = answers.recv().unwrap();
        for message in ["1", "2"] {
            assert_eq!(shell.run(&["queue", "publish", "--tenant", "acme", "t", message]).status, 0);
        }
        std::iter::once(first).chain(answers.iter().take(2)).collect()
    });
    assert!(statuses[0] == 429 && statuses.contains(&200), "{statuses:?}");
}

#[test]
fn a_look_at_messages_answers_as_many_as_it_has_room_for() {
    let shell = Shell::new();
    let kept = token(&shell, "acme", &["--power", "kept"]);
    let server = Server::start(&shell, &[]);
    for path in ["/v1/queues/t/messages", "/v1/queues/t/messages", "/v1/queues/s/messages"] {
        assert_eq!(server.ask_as(&kept, "POST", path, &vec![1; 256 << 10]).status, 200);
    }
    assert_eq!(server.ask_as(&kept, "POST", "/v1/queues/s/messages", b"short").status, 200);
    let seen = |topic: &str| {
        let seen = server.ask_as(&kept, "GET", &format!("/v1/queues/{topic}/messages?max=9"), b"").json();
        seen["messages"].as_array().unwrap().len()
    };
    assert_eq!((seen("t"), seen("s")), (1, 1), "one that is too long comes alone");
    assert_eq!(server.ask_as(&kept, "GET", "/v1/queues/t", b"").json()["depth"], 2, "and the others stay");
}
