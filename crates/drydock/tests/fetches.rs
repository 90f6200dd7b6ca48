//! Requests that leave the house, from the command line: answers that are read while they come, parts of hosts, credentials that
//! stay behind, and what an extension is told where it may not ask. Every server is on loopback, and opened by name.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::{
    fs,
    io::Read as _,
    sync::{Mutex, mpsc},
    time::{Duration, Instant},
};

use common::{
    Said, Shell,
    server::{self, Server as Served},
    web::{Server, answer, serve},
};
use serde_json::{Value, json};

/// No test waits that long; one that does hangs.
const HANGS: Duration = Duration::from_secs(60);

/// Says what it was asked for.
fn site() -> Server {
    serve(|head, to| {
        let line = head.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1").to_owned();
        answer(to, "200 OK", "content-type: text/plain\r\n", &line);
    })
}

/// Sends everything to this address.
fn sends_to(location: String) -> Server {
    serve(move |_, to| answer(to, "302 Found", &format!("location: {location}\r\n"), ""))
}

/// Both addresses that the name `localhost` may have, opened.
fn opened(port: u16) -> [String; 4] {
    ["--allow-private".into(), format!("127.0.0.1:{port}"), "--allow-private".into(), format!("[::1]:{port}")]
}

fn envelope(said: &Said) -> Value {
    serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{}", said.all()))
}

#[test]
fn curl_shows_the_beginning_of_an_answer_whose_end_is_not_sent_yet() {
    let shell = Shell::sharing();
    let (go, waits) = mpsc::channel::<()>();
    let waits = Mutex::new(waits);
    let halves = serve(move |_, to| {
        to.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\nfirst\n").unwrap();
        to.flush().unwrap();
        // Whoever gathers all of it first is never sent the rest.
        waits.lock().unwrap().recv_timeout(HANGS).unwrap();
        to.write_all(b"second\n").unwrap();
    });
    let (place, url) = (halves.place(), halves.url("/"));
    let line = format!("curl -s {url}");
    for words in [
        &["run", "--allow-private", &place, "curl", "-s", &url][..],
        &["sh", "--allow-private", &place, "-c", &line],
    ] {
        let mut child = shell.command(words).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let mut first = [0; 6];
        stdout.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"first\n", "{words:?}");
        go.send(()).unwrap();
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        assert_eq!((rest.as_str(), child.wait().unwrap().code()), ("second\n", Some(0)), "{words:?}");
    }
}

#[test]
fn a_part_of_a_host_admits_its_method_and_paths_and_nothing_else_of_it_is_asked() {
    let (shell, site) = (Shell::sharing(), site());
    let port = site.address.port();
    let rule = format!("GET http://localhost:{port}/v1");
    let private = opened(port);
    let mut flags = vec!["--allow-url", &rule];
    flags.extend(private.iter().map(String::as_str));
    let at = |path: &str| format!("http://localhost:{port}{path}");
    for (more, path, asked) in [
        ("", "/v1", Some("GET /v1")),
        ("", "/v1/items?q=1", Some("GET /v1/items?q=1")),
        ("", "/v10", None),
        ("", "/v2", None),
        ("", "/", None),
        ("--path-as-is", "/v1/%2e%2e/v2", None),
        ("-X POST", "/v1", None),
        ("-I", "/v1", None),
    ] {
        let before = site.heads().len();
        let line = format!("curl -sS {more} '{}'", at(path));
        let said = shell.run(&[&["sh"], &flags[..], &["-c", &line]].concat());
        match asked {
            Some(asked) => {
                assert_eq!((said.status, said.stdout.as_str()), (0, asked), "{line}: {}", said.all())
            }
            None => {
                assert_eq!(said.status, 7, "{line}: {}", said.all());
                assert!(said.stderr.contains("--allow-url"), "it says what would help: {}", said.stderr);
            }
        }
        assert_eq!(site.heads().len() - before, usize::from(asked.is_some()), "{line}");
    }
}

/// Fetches where the query says by the method that it says, and hands on what it was told.
const ASKS: &str = "async function handler({query}) {
  try { const found = await fetch(query.from, {method: query.by}); return {status: found.status, body: await found.text()}; }
  catch (error) { return {status: 599, body: error.message}; } }";

#[test]
fn an_installation_reaches_the_parts_of_hosts_that_it_was_given_by_whichever_door_it_is_asked() {
    let (shell, site) = (Shell::new(), site());
    let port = site.address.port();
    let rule = format!("GET http://localhost:{port}/v1");
    let private = opened(port);
    let mut flags = vec!["--allow-url", &rule];
    flags.extend(private.iter().map(String::as_str));
    let script = shell.file("asks.js", ASKS);
    let said = shell.run(&[&["ext", "install", "asks", &script], &flags[..]].concat());
    assert_eq!(said.status, 0, "{}", said.all());
    let shown = shell.run(&["ext", "show", "asks"]).stdout;
    assert!(shown.contains(&format!("'{rule}' 127.0.0.1:{port}")), "{shown}");
    let kept: Value = serde_json::from_str(&shell.run(&["ext", "show", "asks", "--json"]).stdout).unwrap();
    assert_eq!(kept["allow_url"], json!([rule]));
    let server = Served::start(&shell, &[]);
    for (method, path, status) in [
        ("GET", "/v1", 200),
        ("GET", "/v1/a", 200),
        ("GET", "/v2", 599),
        ("POST", "/v1", 599),
        ("GET", "/v10", 599),
    ] {
        let from = format!("from=http://localhost:{port}{path}");
        let by = format!("by={method}");
        let said = shell.run(&["ext", "invoke", "asks", "--query", &from, "--query", &by]);
        assert_eq!(envelope(&said)["status"], status, "{method} {path}: {}", said.all());
        let asked = server.get(&format!("/x/asks/?{from}&{by}"));
        assert_eq!(asked.status, status, "{method} {path}: {asked:?}");
        if status == 599 {
            assert!(asked.text().contains("is not granted"), "{method} {path}: {asked:?}");
        }
    }
    assert_eq!(site.heads().len(), 4, "{:?}", site.heads());
    // The operator's list bounds it as it bounds one with hosts.
    let mut bounded =
        shell.command(&["ext", "invoke", "asks", "--query", &format!("from=http://localhost:{port}/v1")]);
    let said = shell.said(bounded.env("EXT_EGRESS_ALLOWLIST", "other.test").output().unwrap());
    assert_eq!(envelope(&said)["status"], 599, "{}", said.all());
    assert_eq!(site.heads().len(), 4);
}

#[test]
fn a_file_under_development_has_parts_of_hosts_and_one_that_does_not_install_leaves_the_old_one() {
    let (shell, site) = (Shell::new(), site());
    let port = site.address.port();
    let rule = format!("http://localhost:{port}/v1");
    let private = opened(port);
    let file = shell.file("asks.js", ASKS);
    let mut words = vec!["ext", "dev", &file, "--listen", "0", "--allow-url", &rule];
    words.extend(private.iter().map(String::as_str));
    let told = shell.path("told");
    let server = Served::start_telling(&shell, &words, &[], fs::File::create(&told).unwrap().into());
    let ask = |path: &str| server.get(&format!("/x/asks/?from=http://localhost:{port}{path}&by=GET"));
    assert_eq!((ask("/v1/a").text().as_str(), ask("/v2").status), ("GET /v1/a", 599));
    shell.file("asks.js", "function handler( {");
    let began = Instant::now();
    while !fs::read_to_string(&told).unwrap().contains("what was there before goes on answering") {
        assert!(began.elapsed() < HANGS, "the change is never looked at");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(ask("/v1/b").text(), "GET /v1/b", "the old one answers");
    shell.file("asks.js", "function handler() { return 'new'; }");
    while ask("/v1").text() != "new" {
        assert!(began.elapsed() < HANGS, "the next one that installs is never taken up");
    }
}

#[test]
fn credentials_of_a_program_stay_behind_when_it_is_sent_to_another_origin() {
    let shell = Shell::sharing();
    let end = site();
    let elsewhere = sends_to(end.url("/end"));
    let here = serve(|head, to| match head.starts_with("GET /start ") {
        true => answer(to, "302 Found", "location: /end\r\n", ""),
        false => answer(to, "200 OK", "", "here"),
    });
    let places = [end.place(), elsewhere.place(), here.place()];
    let flags: Vec<&str> = places.iter().flat_map(|it| ["--allow-private", it]).collect();
    let fetching = |site: &Server| {
        let code = format!(
            "const headers = {{ authorization: 'Bearer mine', cookie: 'c=1', 'x-own': '1' }};
             return await (await fetch('{}', {{ headers }})).text()",
            site.url("/start")
        );
        let said = shell.run(&[&["js"], &flags[..], &["-e", &code]].concat());
        assert_eq!(said.status, 0, "{}", said.all());
        said.stdout
    };
    assert_eq!(fetching(&elsewhere), "\"GET /end\"\n");
    let (first, second) = (elsewhere.last(), end.last());
    assert!(first.contains("authorization: Bearer mine\r\n") && first.contains("cookie: c=1\r\n"), "{first}");
    assert!(second.contains("x-own: 1\r\n"), "{second}");
    assert!(!second.contains("authorization") && !second.contains("cookie"), "{second}");
    // To the same origin they go along.
    assert_eq!(fetching(&here), "\"here\"\n");
    assert!(here.last().starts_with("GET /end ") && here.last().contains("authorization: Bearer mine\r\n"));
}

#[test]
fn curl_takes_the_long_words_for_a_query() {
    let (shell, site) = (Shell::sharing(), site());
    let line = format!("curl --silent --get --data a=1 --data-urlencode 'q=x y' {}", site.url("/a?z=0"));
    let said = shell.run(&["sh", "--allow-private", &site.place(), "-c", &line]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "GET /a?z=0&a=1&q=x+y"), "{}", said.all());
}

#[test]
fn a_request_for_an_extension_is_read_from_a_file() {
    let shell = Shell::new();
    let guest = shell.file("shows.wat", server::shows());
    let request = json!({
        "context": { "request_id": "r1", "extension_id": "shop", "version_id": "v1" },
        "http": { "method": "PUT", "path": "/p", "query": { "a": "b" }, "headers": { "h": "v" }, "body_b64": "AAE=" },
        "limits": { "timeout_ms": 400 },
    });
    let file = shell.file("request.json", request.to_string());
    for said in [
        shell.run(&["ext", "invoke", &guest, "--request", &file]),
        shell.pipe(&["ext", "invoke", &guest, "--request", "-"], request.to_string().as_bytes()),
    ] {
        assert_eq!(said.status, 0, "{}", said.all());
        let told = envelope(&said);
        let body = told["body_b64"].as_str().unwrap();
        let shown: Value = serde_json::from_slice(&decoded(body)[1..]).unwrap();
        assert_eq!(shown["http"], request["http"]);
        assert_eq!(
            (&shown["context"]["request_id"], &shown["context"]["limits"]["timeout_ms"]),
            (&json!("r1"), &json!(400))
        );
    }
    let missing = shell.run(&["ext", "invoke", &guest, "--request", "missing.json"]);
    assert!(missing.status != 0 && missing.stderr.contains("missing.json"), "{}", missing.all());
}

fn decoded(text: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}

/// A guest that asks for a URL by this import, and hands on what it is answered: the answer of a fetch has the shape of one of a
/// handler. Where there is none it answers 599 and says by which code.
fn fetching(import: &str, url: &str) -> String {
    let asked = json!({ "url": url }).to_string();
    let failed = r#"{"status":599,"headers":{"x-fetch-rc":"_"}}"#;
    let digit = 64 + failed.find('_').unwrap();
    let data = |bytes: &str| bytes.bytes().map(|it| format!("\\{it:02x}")).collect::<String>();
    format!(
        r#"(module (import "alga" "{import}" (func $fetch (param i32 i32 i32) (result i32)))
          (memory (export "memory") 2) (global $free (mut i32) (i32.const 16384))
          (data (i32.const 64) "{}") (data (i32.const 4096) "{}")
          (func (export "alloc") (param $count i32) (result i32)
            (global.get $free)
            (global.set $free (i32.and (i32.add (i32.add (global.get $free) (local.get $count)) (i32.const 15)) (i32.const -16))))
          (func (export "dealloc") (param i32 i32))
          (func (export "handler") (param $request i32) (param $length i32) (param $answer i32) (result i32) (local $code i32)
            (local.set $code (call $fetch (i32.const 4096) (i32.const {}) (local.get $answer)))
            (if (local.get $code) (then
              (i32.store8 (i32.const {digit}) (i32.add (i32.const 48) (local.get $code)))
              (i32.store (local.get $answer) (i32.const 64))
              (i32.store offset=4 (local.get $answer) (i32.const {}))))
            (i32.const 0)))"#,
        data(failed),
        data(&asked),
        asked.len(),
        failed.len(),
    )
}

#[test]
fn a_guest_is_answered_by_both_names_of_the_fetch_and_told_a_code_where_its_host_is_not_allowed() {
    let (shell, site) = (Shell::new(), site());
    let port = site.address.port();
    let (allowed, private) = (format!("localhost:{port}"), opened(port));
    let mut flags = vec!["--allow-host", &allowed];
    flags.extend(private.iter().map(String::as_str));
    let invoke = |name: &str, import: &str, host: &str| {
        let file = shell.file(&format!("{name}.wat"), fetching(import, &format!("http://{host}:{port}/ok")));
        let said = shell.run(&[&["ext", "invoke", &file], &flags[..]].concat());
        assert_eq!(said.status, 0, "{name}: {}", said.all());
        (envelope(&said), said)
    };
    for (name, import) in [("dotted", "http.fetch"), ("underscored", "http_fetch")] {
        let (told, said) = invoke(name, import, "localhost");
        assert_eq!(told["status"], 200, "{}", said.all());
        assert_eq!(decoded(told["body_b64"].as_str().unwrap()), b"GET /ok", "{name}");
    }
    assert_eq!(site.heads().len(), 2);
    // It ends in the name that is allowed, and is not below it.
    let (told, said) = invoke("denied", "http.fetch", "notlocalhost");
    assert_eq!(
        (&told["status"], &told["headers"]),
        (&json!(599), &json!({ "x-fetch-rc": "1" })),
        "{}",
        said.all()
    );
    assert_eq!(told["error"], Value::Null, "the guest answered");
    assert!(said.stderr.contains(&format!("hint: --allow-host notlocalhost:{port}")), "{}", said.stderr);
    assert_eq!(site.heads().len(), 2, "nobody was asked");
    let records = shell.run(&["audit", "--json", "--limit", "1000"]).stdout;
    let of = |host: &str| -> Vec<Value> {
        let subject = format!("{host}:{port}");
        let all = records.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
        all.filter(|it| {
            it["subjects"].as_array().is_some_and(|all| all.iter().any(|it| *it == *subject))
                || it["subject"] == *subject
        })
        .collect()
    };
    let denied = of("notlocalhost");
    assert_eq!(denied.len(), 1, "{denied:?}");
    assert_eq!((&denied[0]["operation"], &denied[0]["decision"]), (&json!("http.fetch"), &json!("denied")));
    assert!(denied[0]["attempts"].as_array().is_none_or(Vec::is_empty), "no address was dialled: {denied:?}");
    assert!(
        of("localhost").iter().any(|it| it["operation"] == "egress.dial"),
        "as it is told of the others: {records}"
    );
}
