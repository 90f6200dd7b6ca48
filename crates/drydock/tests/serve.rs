//! The server as its callers see it: extensions, runs, workspaces, what can be looked at.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::Write as _;

use common::{
    Shell,
    server::{Server, answers, guest, install, read, shown, shows},
    web,
};
use serde_json::json;

#[test]
fn an_extension_is_installed_and_answers_http_with_http() {
    let shell = Shell::new();
    let cookies = r#"{"status":201,"headers":{"content-type":"text/plain","x-a":"b"},"headers_all":[["set-cookie","a=1"],["set-cookie","b=2"]],"body_b64":"aGk="}"#;
    install(&shell, "shop", &answers(cookies), &[]);
    install(&shell, "shows", &shows(), &["--timeout-ms", "700"]);
    let server = Server::start(&shell, &[]);
    let answer = server.get("/x/shop/");
    assert_eq!((answer.status, answer.body.as_slice()), (201, &b"hi"[..]));
    assert_eq!(answer.all("set-cookie"), ["a=1", "b=2"]);
    assert_eq!((answer.header("x-a"), answer.header("content-type")), (Some("b"), Some("text/plain")));
    let told = server.ask(
        "POST",
        "/x/shows/a%20b/%00/../c//d?k=1&k=%C3%A4&e",
        &[
            ("x-two", "1"),
            ("x-two", "2"),
            ("cookie", "a=1"),
            ("cookie", "b=2"),
            ("x-request-id", "mine"),
            ("te", "trailers"),
        ],
        b"\0body",
    );
    assert_eq!(told.header("x-request-id"), Some("mine"));
    let shown = shown(&told);
    assert_eq!(shown["http"]["method"], "POST");
    assert_eq!(shown["http"]["path"], "/a%20b/%00/../c//d", "as it was sent");
    assert_eq!(shown["http"]["query"], json!({ "k": "ä", "e": "" }));
    assert_eq!(shown["http"]["query_all"], json!([["k", "1"], ["k", "ä"], ["e", ""]]));
    assert_eq!(
        (&shown["http"]["headers"]["x-two"], &shown["http"]["headers"]["cookie"]),
        (&json!("1, 2"), &json!("a=1; b=2"))
    );
    let list = shown["http"]["headers_all"].as_array().unwrap();
    assert_eq!(list.iter().filter(|it| it[0] == "x-two").count(), 2);
    assert!(
        !list.iter().any(|it| it[0] == "te" || it[0] == "connection" || it[0] == "content-length"),
        "{list:?}"
    );
    assert_eq!(shown["http"]["body_b64"], "AGJvZHk=");
    assert_eq!(
        (&shown["context"]["tenant_id"], &shown["context"]["extension_id"]),
        (&json!("dev"), &json!("shows"))
    );
    assert_eq!(
        (&shown["context"]["request_id"], &shown["context"]["limits"]["timeout_ms"]),
        (&json!("mine"), &json!(700))
    );
    assert_eq!(shown["context"]["version_id"].as_str().unwrap().len(), 12);
    for path in ["/x/shows", "/x/shows/", "/x/shows/?q"] {
        assert_eq!(common::server::shown(&server.get(path))["http"]["path"], "/", "{path}");
    }
    assert_eq!((server.get("/x/none/").status, server.get("/x/no%20name/").status), (404, 404));
}

#[test]
fn an_extension_says_nothing_in_the_name_of_the_server() {
    let shell = Shell::new();
    let said = r#"{"status":200,"headers":{"x-drydock-failure":"trap","idempotency-replayed":"true","x-request-id":"mine","X-Drydock-Failure":"app","x-own":"own"},"body_b64":""}"#;
    install(&shell, "lies", &answers(said), &[]);
    let server = Server::start(&shell, &[]);
    let answer = server.ask("GET", "/x/lies/", &[("x-request-id", "r1")], b"");
    assert_eq!((answer.status, answer.header("x-own")), (200, Some("own")), "{answer:?}");
    assert_eq!((answer.header("x-drydock-failure"), answer.header("idempotency-replayed")), (None, None));
    assert_eq!(answer.all("x-request-id"), ["r1"]);
}

#[test]
fn what_a_guest_has_no_answer_for_is_a_status_and_a_code_and_the_next_request_is_fine() {
    let shell = Shell::new();
    install(&shell, "seven", &guest("", "", "(i32.const 7)"), &[]);
    install(&shell, "trap", &guest("", "", "unreachable"), &[]);
    install(&shell, "loop", &guest("", "", "(loop $on (br $on)) (i32.const 0)"), &["--timeout-ms", "200"]);
    install(
        &shell,
        "huge",
        &guest(
            "",
            "",
            "(call $answer (local.get $out) (call $alloc (i32.const 10485761)) (i32.const 10485761)) (i32.const 0)",
        ),
        &[],
    );
    install(
        &shell,
        "outside",
        &guest("", "", "(call $answer (local.get $out) (i32.const -16) (i32.const 32)) (i32.const 0)"),
        &[],
    );
    install(&shell, "hundred", &answers(r#"{"status":100}"#), &[]);
    install(&shell, "bell", &answers("{\"status\":200,\"headers\":{\"x\":\"a\\u0007b\"}}"), &[]);
    install(&shell, "fine", &answers("fine"), &[]);
    let server = Server::start(&shell, &[]);
    for (name, status, code, kind) in [
        ("seven", 500, "execute_failed", "app"),
        ("trap", 500, "execute_failed", "trap"),
        ("loop", 504, "timed_out", "timeout"),
        ("huge", 413, "too_large", "too_large"),
        ("outside", 500, "execute_failed", "abi"),
        ("hundred", 500, "execute_failed", "abi"),
        ("bell", 500, "execute_failed", "abi"),
    ] {
        let answer = server.get(&format!("/x/{name}/"));
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{name}: {answer:?}");
        assert_eq!(answer.header("x-drydock-failure"), Some(kind), "{name}");
        let error = &answer.json()["error"];
        assert!(error["retryable"].is_boolean() && error["message"].is_string(), "{name}");
        assert_eq!(server.get("/x/fine/").text(), "fine");
    }
    let envelope = server.post("/v1/execute", &json!({ "context": { "extension_id": "seven" } }));
    assert_eq!((envelope.status, &envelope.json()["error"]["code"]), (200, &json!(7)));
    assert_eq!(envelope.json()["status"], 500);
    let timed = server.post(
        "/v1/execute",
        &json!({ "context": { "extension_id": "loop" }, "limits": { "timeout_ms": 50 } }),
    );
    assert_eq!((timed.status, &timed.json()["error"]["kind"]), (200, &json!("timeout")));
    let metrics = server.get("/metrics").text();
    for line in [
        "drydock_extension_failures_total{kind=\"app\"} 2",
        "drydock_extension_failures_total{kind=\"timeout\"} 2",
        "drydock_extension_failures_total{kind=\"trap\"} 1",
        "drydock_extension_answers_total 9",
        "drydock_http_requests_total{route=\"x_root\",status=\"2xx\"} 7",
        "drydock_http_in_flight 0",
    ] {
        assert!(metrics.contains(&format!("{line}\n")), "{line}\n{metrics}");
    }
}

#[test]
fn the_seeds_envelope_goes_in_and_comes_out() {
    let shell = Shell::new();
    install(&shell, "shows", &shows(), &[]);
    let server = Server::start(&shell, &[]);
    let request = json!({
        "context": { "request_id": "r1", "tenant_id": "dev", "extension_id": "shows", "version_id": "v1" },
        "http": { "method": "PUT", "path": "/p", "query": { "a": "b" }, "headers": { "h": "v" }, "body_b64": "AAE=" },
    });
    let answer = server.post("/v1/execute", &request);
    let envelope = answer.json();
    assert_eq!((answer.status, &envelope["status"], &envelope["error"]), (200, &json!(200), &json!(null)));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let payload = base64(envelope["body_b64"].as_str().unwrap());
    let shown: serde_json::Value = serde_json::from_slice(&payload[1..]).unwrap();
    assert_eq!((&shown["http"], &shown["context"]["version_id"]), (&request["http"], &json!("v1")));
    for (body, status, code) in [
        (json!({ "context": { "extension_id": "none" } }), 404, "not_found"),
        (json!({ "context": {} }), 400, "bad_input"),
        (json!({ "context": { "extension_id": "shows", "tenant_id": "acme" } }), 403, "wrong_tenant"),
        (json!({ "context": { "extension_id": "shows" }, "http": { "body_b64": "%" } }), 400, "bad_input"),
        (json!([]), 400, "bad_input"),
    ] {
        let answer = server.post("/v1/execute", &body);
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{body}");
    }
}

fn base64(text: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}

#[test]
fn commands_lines_and_programs_run_over_the_files_of_a_workspace() {
    let shell = Shell::sharing();
    let server = Server::start(&shell, &[]);
    let name = format!("ws{}", std::process::id());
    assert_eq!(server.ask("PUT", &format!("/v1/workspaces/{name}"), &[], b"").status, 200);
    let files = format!("/v1/workspaces/{name}/files/workspace");
    assert_eq!(server.ask("PUT", &format!("{files}/in/a.txt"), &[], b"one\ntwo\n").json()["bytes"], 8);
    let ran = server.post("/v1/run", &json!({ "name": "wc", "args": ["-l", "in/a.txt"], "workspace": name }));
    assert_eq!((ran.status, ran.json()["stdout"].as_str().unwrap().trim()), (200, "2 in/a.txt"), "{ran:?}");
    let ran = server.post(
        "/v1/sh",
        &json!({ "script": "sort -r in/a.txt > out.txt; echo done >&2; exit 3", "workspace": name }),
    );
    assert_eq!((&ran.json()["status"], &ran.json()["stderr"]), (&json!(3), &json!("done\n")));
    assert_eq!(server.get(&format!("{files}/out.txt")).body, b"two\none\n");
    // More than is read at a time.
    let large: Vec<u8> = (0..3_000_000_u32).map(|it| (it % 251) as u8).collect();
    assert_eq!(server.ask("PUT", &format!("{files}/large"), &[], &large).status, 200);
    let back = server.get(&format!("{files}/large"));
    assert_eq!((back.status, back.header("content-length")), (200, Some("3000000")));
    assert!(back.body == large);
    assert_eq!(server.ask("DELETE", &format!("{files}/large"), &[], b"").status, 200);
    let ran = server.post("/v1/js", &json!({ "code": "(await files.read({path:'in/a.txt'})).length + args.n", "args": { "n": 1 }, "workspace": name }));
    assert_eq!(ran.json()["result"], 9, "{ran:?}");
    let ran = server.post("/v1/sh", &json!({ "script": "cat a.txt", "files": { "a.txt": "given" } }));
    assert_eq!(ran.json()["stdout"], "given");
    let entries = server.get(&format!("/v1/workspaces/{name}/tree?path=/workspace")).json();
    let names: Vec<_> =
        entries["entries"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["in", "out.txt"]);
    let of = format!("/v1/workspaces/{name}");
    assert_eq!(server.post(&format!("{of}/snapshots"), &json!({ "name": "s1" })).status, 200);
    assert_eq!(server.ask("DELETE", &format!("{files}/out.txt"), &[], b"").status, 200);
    let changes = server.get(&format!("{of}/diff?snapshot=s1")).json();
    assert_eq!(
        (&changes["changes"][0]["path"], &changes["changes"][0]["kind"]),
        (&json!("out.txt"), &json!("removed"))
    );
    let fork = format!("{name}-fork");
    assert_eq!(server.post(&format!("{of}/fork"), &json!({ "name": fork })).status, 200);
    assert_eq!(server.post(&format!("{of}/restore"), &json!({ "name": "s1" })).status, 200);
    assert_eq!(server.get(&format!("{files}/out.txt")).status, 200);
    assert_eq!(server.get(&format!("/v1/workspaces/{fork}/files/workspace/out.txt")).status, 404);
    let all = server.get("/v1/workspaces").json().to_string();
    assert!(all.contains(&name) && all.contains(&fork) && all.contains("s1"), "{all}");
    for name in [&name, &fork] {
        assert_eq!(server.ask("DELETE", &format!("/v1/workspaces/{name}"), &[], b"").status, 200);
        assert_eq!(server.get(&format!("/v1/workspaces/{name}")).status, 404);
    }
}

#[test]
fn output_is_told_while_it_is_written() {
    let shell = Shell::sharing();
    let server = Server::start(&shell, &[]);
    let body = json!({ "script": "echo one; echo two >&2; exit 4" }).to_string();
    let answer = server.ask("POST", "/v1/sh", &[("accept", "text/event-stream")], body.as_bytes());
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/event-stream")));
    let text = answer.text();
    let events: Vec<(&str, serde_json::Value)> = text
        .split("\n\n")
        .filter_map(|it| it.strip_prefix("event: ")?.split_once("\ndata: "))
        .map(|(name, data)| (name, serde_json::from_str(data).unwrap()))
        .collect();
    let told = |stream: &str| {
        events.iter().filter(|it| it.0 == stream).filter_map(|it| it.1["text"].as_str()).collect::<String>()
    };
    assert_eq!((told("stdout").as_str(), told("stderr").as_str()), ("one\n", "two\n"), "{text}");
    let last = events.last().unwrap();
    assert_eq!((last.0, &last.1["status"], &last.1["stdout"]), ("result", &json!(4), &json!("one\n")));
    let denied = json!({ "name": "nosuch" }).to_string();
    let answer = server.ask("POST", "/v1/run", &[("accept", "text/event-stream")], denied.as_bytes());
    assert!(
        answer.text().starts_with("event: error\ndata: {\"error\":{\"code\":\"unknown_command\""),
        "{}",
        answer.text()
    );
}

#[test]
fn a_run_says_what_is_wrong_with_it_by_a_status_and_a_code() {
    let shell = Shell::sharing();
    let server = Server::start(&shell, &[]);
    for (path, body, status, code) in [
        ("/v1/run", json!({ "name": "nosuch" }), 404, "unknown_command"),
        ("/v1/run", json!({ "name": "jq", "allow": ["wc"] }), 403, "command_not_granted"),
        ("/v1/run", json!({}), 400, "bad_input"),
        ("/v1/run", json!({ "name": "jq", "dir": "/etc" }), 400, "bad_input"),
        ("/v1/run", json!({ "name": "jq", "env": { "A": "b" } }), 400, "bad_input"),
        ("/v1/run", json!({ "name": "jq", "workspace": "../x" }), 400, "bad_name"),
        ("/v1/run", json!({ "name": "jq", "memory_mb": 0 }), 400, "bad_input"),
        ("/v1/sh", json!({ "script": "cat x", "files": { "../x": "" } }), 400, "bad_path"),
        ("/v1/sh", json!([1]), 400, "bad_json"),
        ("/v1/run?x=1", json!({ "name": "jq" }), 400, "bad_parameter"),
    ] {
        let answer = server.post(path, &body);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (status, code),
            "{path} {body}: {}",
            answer.text()
        );
    }
    let timed = server.post("/v1/sh", &json!({ "script": "while :; do :; done", "timeout_ms": 200 }));
    assert_eq!((timed.status, &timed.json()["limit"]), (200, &json!("timed_out")));
    // No file of the host is there, by whatever name.
    let looked =
        server.post("/v1/sh", &json!({ "script": "cat /etc/hostname; cat /proc/self/environ; echo $HOME" }));
    assert_eq!(looked.json()["stdout"].as_str().unwrap().trim(), "/workspace", "{}", looked.text());
}

#[test]
fn a_host_is_allowed_by_name_and_opens_no_address_that_is_not_public() {
    let shell = Shell::sharing();
    let server = Server::start(&shell, &[]);
    // Nobody is asked: both are refused before anything is dialled.
    let line = |url: &str, allow: serde_json::Value| {
        let body = json!({ "script": format!("curl -sS {url}"), "allow_host": allow });
        server.post("/v1/sh", &body).json()["stderr"].as_str().unwrap().to_owned()
    };
    let refused = line("http://api.test/", json!([]));
    assert!(refused.contains("host `api.test:80` is not granted"), "{refused}");
    let opened = line("http://127.0.0.1:9/", json!(["127.0.0.1:9"]));
    assert!(opened.contains("host `private:127.0.0.1:9` is not granted"), "{opened}");
    let bad = server.post("/v1/sh", &json!({ "script": "true", "allow_host": ["http://a b/"] }));
    assert_eq!((bad.status, bad.code().as_str()), (400, "bad_json"));
}

#[test]
fn nobody_opens_a_private_address_over_http() {
    let shell = Shell::new();
    let server = Server::start(&shell, &[]);
    let module = encode(&wat::parse_str(answers("x")).unwrap());
    for (method, path, body) in [
        ("PUT", "/v1/extensions/new", json!({ "module_b64": module })),
        ("POST", "/v1/run", json!({ "name": "upper" })),
        ("POST", "/v1/sh", json!({ "script": "true" })),
        ("POST", "/v1/js", json!({ "code": "1" })),
        ("POST", "/v1/py", json!({ "code": "1" })),
        ("POST", "/v1/processes", json!({ "command": "upper" })),
        ("POST", "/v1/agents", json!({ "system": "s", "task": "t" })),
    ] {
        for member in ["allow_private", "private"] {
            let mut body = body.clone();
            body[member] = json!(["127.0.0.1:80"]);
            let headers = [("content-type", "application/json")];
            let answer = server.ask(method, path, &headers, body.to_string().as_bytes());
            assert_eq!(answer.status, 400, "{path}: {answer:?}");
            assert!(answer.text().contains(member), "by name: {path}: {answer:?}");
        }
    }
    assert_eq!(server.get("/v1/extensions").json(), json!({ "extensions": [] }));
    assert!(!server.get("/v1/audit").text().contains("exec.run"), "nothing ran");
}

#[test]
fn what_can_be_looked_at_is_there() {
    let shell = Shell::new();
    let logs = guest(
        r#"(import "alga" "log_info" (func $info (param i32 i32))) (import "alga" "log_error" (func $error (param i32 i32)))"#,
        r#"(data (i32.const 16) "hello")"#,
        "(call $info (i32.const 16) (i32.const 5)) (call $error (i32.const 16) (i32.const 4)) (i32.const 0)",
    );
    install(&shell, "logs", &logs, &["--allow-host", "api.example.com", "--secret", "KEY=env:SHOP_KEY"]);
    let server = Server::start(&shell, &[]);
    assert_eq!((server.get("/healthz").status, server.get("/readyz").status), (200, 200));
    assert!(server.get("/v1/commands").text().contains(r#""name":"jq""#));
    assert_eq!(server.ask("GET", "/x/logs/", &[("x-request-id", "r7")], b"").status, 200);
    let audit = server.get("/v1/audit?limit=5").json();
    let record = &audit["records"][0];
    assert_eq!(
        (&record["operation"], &record["subject"], &record["principal"]),
        (&json!("handler.invoke"), &json!("logs"), &json!("http"))
    );
    let lines = server.get("/v1/extensions/logs/logs?lines=10").json()["lines"].clone();
    assert_eq!(
        (&lines[0]["text"], &lines[0]["level"], &lines[1]["level"]),
        (&json!("hello"), &json!("info"), &json!("error"))
    );
    assert_eq!(
        (&lines[0]["tenant"], &lines[0]["extension"], &lines[0]["request_id"]),
        (&json!("dev"), &json!("logs"), &json!("r7"))
    );
    let said = shell.run(&["ext", "logs", "logs"]);
    assert!(said.stdout.contains("info request=r7 hello"), "{}", said.stdout);
    let shown = server.get("/v1/extensions/logs").json();
    assert_eq!(
        (&shown["allow_host"], &shown["secrets"]),
        (&json!(["api.example.com"]), &json!(["KEY"])),
        "a secret by its name alone"
    );
    assert_eq!(
        (server.get("/nowhere").code(), server.get("/v1/run").code()),
        ("no_route".into(), "method_not_allowed".into())
    );
    assert!(server.get("/healthz").header("x-request-id").is_some());
}

#[test]
fn an_extension_is_uploaded_changed_and_removed_over_http() {
    let shell = Shell::new();
    let server = Server::start(&shell, &[]);
    let module = |text: &str| wat::parse_str(answers(text)).unwrap();
    let put =
        server.ask("PUT", "/v1/extensions/shop", &[("content-type", "application/wasm")], &module("one"));
    assert_eq!(put.status, 200, "{}", put.text());
    assert_eq!(server.get("/x/shop/").text(), "one");
    let body = json!({ "module_b64": encode(&module("two")), "limits": { "timeout_ms": 900, "memory_mb": 8 }, "allow_host": ["a.test"] });
    let put = server.ask(
        "PUT",
        "/v1/extensions/shop",
        &[("content-type", "application/json")],
        body.to_string().as_bytes(),
    );
    assert_eq!(
        (put.status, &put.json()["limits"]["timeout_ms"], &put.json()["allow_host"]),
        (200, &json!(900), &json!(["a.test"]))
    );
    assert_eq!(server.get("/x/shop/").text(), "two", "at once");
    assert_eq!(server.get("/v1/extensions").json()["extensions"].as_array().unwrap().len(), 1);
    // What another process installs is heard of soon.
    install(&shell, "shop", &answers("three"), &[]);
    let began = std::time::Instant::now();
    while server.get("/x/shop/").text() != "three" {
        assert!(began.elapsed() < std::time::Duration::from_secs(10));
    }
    let script = "const handler = (request) => new Response(request.http.path);";
    let put =
        server.ask("PUT", "/v1/extensions/paths", &[("content-type", "text/javascript")], script.as_bytes());
    assert_eq!((put.status, server.get("/x/paths/a/b").text()), (200, "/a/b".into()), "{}", put.text());
    assert_eq!(server.ask("DELETE", "/v1/extensions/paths", &[], b"").status, 200);
    for (name, kind, body, status, code) in [
        ("shop", "application/wasm", b"no wasm".to_vec(), 422, "bad_module"),
        ("shop", "application/wasm", wat::parse_str("(module)").unwrap(), 422, "bad_exports"),
        (
            "shop",
            "application/wasm",
            wat::parse_str(guest(r#"(import "env" "f" (func))"#, "", "(i32.const 0)")).unwrap(),
            422,
            "import_not_granted",
        ),
        ("shop", "text/plain", Vec::new(), 415, "unsupported_media_type"),
        ("no name", "application/wasm", module("x"), 400, "bad_name"),
        ("shop", "application/json", b"{}".to_vec(), 400, "bad_input"),
        ("shop", "text/javascript", b"\xff".to_vec(), 400, "bad_input"),
        (
            "shop",
            "application/json",
            json!({ "script": "", "secret_headers": ["a.test X-Key: {{secret:KEY}}"] }).to_string().into(),
            422,
            "bad_secret_header",
        ),
        (
            "shop",
            "application/json",
            json!({ "module_b64": "AAE=", "secrets": ["KEY"] }).to_string().into(),
            422,
            "unknown_secret",
        ),
        (
            "shop",
            "application/json",
            json!({ "module_b64": "AAE=", "secrets": { "KEY": "env:HOME" } }).to_string().into(),
            400,
            "bad_json",
        ),
        (
            "shop",
            "application/json",
            json!({ "module_b64": "AAE=", "limits": { "memory_mb": 5000 } }).to_string().into(),
            400,
            "bad_input",
        ),
    ] {
        let path = format!("/v1/extensions/{}", name.replace(' ', "%20"));
        let put = server.ask("PUT", &path, &[("content-type", kind)], &body);
        assert_eq!((put.status, put.code().as_str()), (status, code), "{}", put.text());
    }
    assert_eq!(server.get("/x/shop/").text(), "three", "what could not be installed changed nothing");
    assert_eq!(server.ask("DELETE", "/v1/extensions/shop", &[], b"").status, 200);
    assert_eq!((server.get("/x/shop/").status, server.get("/v1/extensions/shop").status), (404, 404));
    assert_eq!(server.ask("DELETE", "/v1/extensions/shop", &[], b"").status, 404);
}

fn encode(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[test]
fn a_signal_ends_it_once_what_was_begun_is_answered() {
    let shell = Shell::new();
    install(&shell, "loop", &guest("", "", "(loop $on (br $on)) (i32.const 0)"), &["--timeout-ms", "1500"]);
    let mut server = Server::start(&shell, &[]);
    let mut begun = server.connect();
    begun.write_all(&server.head("GET", "/x/loop/", &[], None)).unwrap();
    let began = std::time::Instant::now();
    while !server.get("/metrics").text().contains("drydock_http_in_flight 1\n") {
        assert!(began.elapsed() < std::time::Duration::from_secs(10));
    }
    server.signal("-TERM");
    let answer = read(&mut begun).expect("it is answered though the server ends");
    assert_eq!((answer.status, answer.code().as_str()), (504, "timed_out"));
    assert_eq!(server.wait(), 0);
}

#[test]
fn a_server_that_ends_takes_nothing_new_says_so_and_a_second_signal_ends_it_at_once() {
    let shell = Shell::new();
    install(&shell, "loop", &guest("", "", "(loop $on (br $on)) (i32.const 0)"), &["--timeout-ms", "60000"]);
    let mut server = Server::start(&shell, &[]);
    let mut begun = server.connect();
    begun.write_all(&server.head("GET", "/x/loop/", &[], None)).unwrap();
    let began = std::time::Instant::now();
    while !server.get("/metrics").text().contains("drydock_http_in_flight 1\n") {
        assert!(began.elapsed() < std::time::Duration::from_secs(10));
    }
    // Connections that are there already, in the middle of a request.
    let heads = ["/readyz", "/x/loop/"].map(|path| server.head("GET", path, &[], None));
    let mut open = heads.map(|head| {
        let mut stream = server.connect();
        let (first, rest) = head.split_at(20);
        stream.write_all(first).unwrap();
        (stream, rest.to_vec())
    });
    // Accepted, and not only in line: one that came later was answered.
    assert_eq!(server.get("/readyz").status, 200);
    server.signal("-TERM");
    while std::net::TcpStream::connect(("127.0.0.1", server.port)).is_ok() {
        assert!(began.elapsed() < std::time::Duration::from_secs(10), "no new connection is taken");
    }
    for (stream, rest) in &mut open {
        stream.write_all(rest).unwrap();
        let answer = read(stream).expect("what was begun is answered");
        assert_eq!((answer.status, answer.code().as_str()), (503, "draining"), "{answer:?}");
    }
    let began = std::time::Instant::now();
    server.signal("-TERM");
    assert_eq!(server.wait(), 130);
    assert!(began.elapsed() < std::time::Duration::from_secs(10), "it does not wait for what was begun");
}

#[test]
fn what_a_principal_may_fetch_is_set_where_the_server_is_started() {
    let shell = Shell::new();
    let site = web::serve(|_, to| web::answer(to, "200 OK", "", &"x".repeat(600)));
    let script = "const handler = async ({query}) => {
      try { return (await (await fetch(query.from)).text()).length } catch (error) { return String(error) } }";
    let asks = shell.file("asks.js", script);
    let installed = shell.run(&["ext", "install", "asks", &asks, "--allow-private", &site.place()]);
    assert_eq!(installed.status, 0, "{}", installed.all());
    let query = format!("/x/asks/?from=http%3A%2F%2F{}%2F", site.place().replace(':', "%3A"));
    for (flags, refusal) in [
        (["--fetches-per-minute", "2"], "sent its 2 requests"),
        (["--fetched-per-minute", "1KiB"], "moved its 1024 bytes"),
    ] {
        let server = Server::start(&shell, &flags);
        let told = [(); 3].map(|()| server.get(&query).text());
        assert_eq!(told[0], "600", "{told:?}");
        assert!(told.iter().any(|it| it.contains(refusal)), "{told:?}");
    }
    let server = Server::start(&shell, &["--fetches", "1"]);
    assert_eq!(server.get(&query).text(), "600");
    assert_eq!(shell.run(&["serve", "--fetches", "0"]).status, 2);
}
