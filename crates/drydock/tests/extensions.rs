//! Extensions as people write, install and call them: README's quickstart, the examples of the guest SDKs, and what an
//! installation may reach. Every server is on loopback, and opened by name.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::{fs, path::PathBuf};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use common::{
    Said, Shell,
    server::Server,
    web::{self, answer, serve},
};
use serde_json::{Value, json};

fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn envelope(said: &Said) -> Value {
    serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{}", said.all()))
}

fn body(envelope: &Value) -> String {
    let bytes = STANDARD.decode(envelope["body_b64"].as_str().unwrap_or_default()).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn the_quickstart_of_readme_works_as_it_is_written() {
    let shell = Shell::new();
    let readme = fs::read_to_string(repository("README.md")).unwrap();
    let (_, after) = readme.split_once("**Extensions.**").unwrap();
    let block = after.split_once("```sh\n").unwrap().1.split_once("```").unwrap().0;
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_drydock")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", program.display());
    let (mut server, mut told): (Option<Server>, Vec<String>) = (None, Vec::new());
    for line in block.lines() {
        let line = match &server {
            Some(server) => line.replace("8080", &server.port.to_string()),
            None => line.to_owned(),
        };
        if line.contains(" &  ") {
            // What a person sees before they type the next line: where it listens.
            assert!(line.starts_with("drydock serve --listen 127.0.0.1:8080 & "), "{line}");
            server = Some(Server::start(&shell, &[]));
            continue;
        }
        // The curl that is always there.
        let line = match (line.strip_prefix("curl "), &server) {
            (Some(rest), Some(Server { port, .. })) => {
                format!("drydock run --allow-private 127.0.0.1:{port} curl {rest}")
            }
            _ => line,
        };
        let mut bash = std::process::Command::new("bash");
        bash.args(["-c", &line]).env_clear().env("DRYDOCK_HOME", shell.home()).env("PATH", &path);
        bash.current_dir(shell.path("."));
        let said = shell.said(bash.output().unwrap());
        assert_eq!(said.status, 0, "{line}: {}", said.all());
        told.push(said.stdout);
    }
    assert!(told[1].starts_with("installed hello as version "), "{told:?}");
    let invoked: Value = serde_json::from_str(&told[2]).unwrap();
    assert_eq!((&invoked["status"], body(&invoked).as_str()), (&json!(200), r#"{"hello":"ada"}"#));
    assert_eq!(told[3], r#"{"hello":"ada"}"#);
    assert!(told[4].contains("hello"), "{told:?}");
    let logs = shell.run(&["ext", "logs", "hello"]);
    assert!(logs.stdout.trim_end().ends_with(" asked"), "{}", logs.all());
}

/// The examples of each language, installed under their own names.
fn examples(example: &str) -> [(&'static str, PathBuf); 3] {
    [
        ("rust", repository(&format!("sdk/modules/rust-{example}.wasm"))),
        ("c", repository(&format!("sdk/modules/c-{example}.wasm"))),
        ("js", repository(&format!("sdk/js/examples/{example}.js"))),
    ]
}

fn install(shell: &Shell, name: &str, file: &str, more: &[&str]) -> Said {
    let said = shell.run(&[&["ext", "install", name, file], more].concat());
    assert_eq!(said.status, 0, "{name}: {}", said.all());
    said
}

#[test]
fn the_guest_of_the_documents_pseudo_code_answers_ok_in_every_language_of_the_sdks() {
    let shell = Shell::new();
    for (language, file) in examples("ok") {
        install(&shell, language, file.to_str().unwrap(), &[]);
        let by_name = shell.run(&["ext", "invoke", language, "--method", "POST", "--body", "x"]);
        let by_file = shell.run(&["ext", "invoke", file.to_str().unwrap()]);
        for said in [by_name, by_file] {
            let told = envelope(&said);
            assert_eq!(
                (said.status, &told["status"], &told["error"]),
                (0, &json!(200), &Value::Null),
                "{language}"
            );
            assert_eq!(told["headers"], json!({ "content-type": "application/json" }), "{language}");
            assert_eq!(body(&told), r#"{"ok":true}"#, "{language}");
        }
    }
    let server = Server::start(&shell, &[]);
    for language in ["rust", "c", "js"] {
        let answer = server.get(&format!("/x/{language}/any/path"));
        assert_eq!((answer.status, answer.text().as_str()), (200, r#"{"ok":true}"#), "{language}");
    }
}

#[test]
fn an_extension_of_each_sdk_fetches_from_the_address_it_was_installed_with_and_logs() {
    let shell = Shell::new();
    let site = serve(|head, to| {
        let sent = head.split("\r\n\r\n").nth(1).unwrap_or_default();
        answer(to, "203 Yes", "content-type: text/plain\r\n", &format!("price for {sent} \u{1f600}\""));
    });
    let from = format!("from={}", site.url("/price?é"));
    for (language, file) in examples("quotes") {
        install(&shell, language, file.to_str().unwrap(), &["--allow-private", &site.place()]);
        let said = shell.run(&["ext", "invoke", language, "--query", &from, "--body", "\"é\n"]);
        let told = envelope(&said);
        assert_eq!(told["error"], Value::Null, "{language}: {}", said.all());
        assert!(body(&told).contains("price for "), "{language}: {}", body(&told));
        let found: Value = match language {
            "c" => {
                assert_eq!((&told["status"], &told["headers"]["x-found"]), (&json!(203), &json!("typed")));
                json!({ "status": 203, "text": body(&told) })
            }
            _ => serde_json::from_str(&body(&told)).unwrap(),
        };
        assert_eq!(found["status"], 203, "{language}");
        assert_eq!(found["text"], json!("price for \"é\n \u{1f600}\""), "{language}");
        assert!(
            said.stderr.contains("drydock: info tenant=dev extension=") && said.stderr.contains("asking")
        );
        let head = site.last();
        assert!(head.starts_with("POST /price?%C3%A9 HTTP/1.1\r\n"), "{language}: {head}");
        assert!(
            head.contains("accept: application/json\r\n") && head.ends_with("\"é\n"),
            "{language}: {head}"
        );
        let lacks = shell.run(&["ext", "invoke", language]);
        assert_eq!(envelope(&lacks)["status"], 400, "{language}: {}", lacks.all());
        assert!(lacks.stderr.contains("drydock: error tenant=dev"), "{language}: {}", lacks.stderr);
        let denied = shell.run(&["ext", "invoke", file.to_str().unwrap(), "--query", &from]);
        assert_eq!(envelope(&denied)["status"], 502, "{language}: {}", denied.all());
    }
    assert_eq!(site.heads().len(), 3, "nothing was sent where nothing was granted");
    let server = Server::start(&shell, &[]);
    let query = format!("?from=http%3A%2F%2F{}%2F", site.place().replace(':', "%3A"));
    for language in ["rust", "c", "js"] {
        let answer = server.get(&format!("/x/{language}/{query}"));
        assert!([200, 203].contains(&answer.status), "{language}: {answer:?}");
        assert!(answer.text().contains("price for "), "{language}: {answer:?}");
    }
}

/// Fetches where the query says, and hands on what it was told, code and all.
const ASKS: &str = "async function handler({query}) {
  try { const found = await fetch(query.from); return {status: found.status, body: await found.text()}; }
  catch (error) { return {status: 599, body: error.message}; } }";

fn echoing_site() -> web::Server {
    serve(|head, to| {
        let key = head.lines().find_map(|it| it.strip_prefix("x-key: ")).unwrap_or("none").to_owned();
        answer(to, "200 OK", "", &format!("key {key}"));
    })
}

#[test]
fn the_secrets_of_an_installation_go_out_in_its_headers_and_nowhere_else() {
    let (shell, site) = (Shell::new(), echoing_site());
    let canary = "canary-0123456789abcdef";
    let script = shell.file("asks.js", ASKS);
    let key = shell.file("key", format!("{canary}\n"));
    let header = format!("{} X-Key: {{{{secret:KEY}}}}", site.place());
    for (name, from) in [("env", "KEY=env:SHOP_KEY".to_owned()), ("file", format!("KEY=file:{key}"))] {
        let flags = ["--allow-private", &site.place(), "--secret", &from, "--secret-header", &header];
        install(&shell, name, &script, &flags);
        let query = format!("from={}", site.url("/"));
        let invoke = ["ext", "invoke", name, "--query", &query];
        let said = shell.said(shell.command(&invoke).env("SHOP_KEY", canary).output().unwrap());
        assert_eq!(body(&envelope(&said)), "key [redacted]", "{}", said.all());
        assert!(site.last().contains(&format!("x-key: {canary}\r\n")), "{}", site.last());
        assert!(!format!("{}{}", said.all(), shell.run(&["ext", "show", name]).all()).contains(canary));
    }
    let missing = shell.run(&["ext", "invoke", "env", "--query", "from=http://a.test/"]);
    assert_eq!(missing.status, 125);
    insta::assert_snapshot!(missing.stderr, @"drydock: error: secret `KEY` cannot be read: env:SHOP_KEY: there is no such variable");
    for (path, _) in common::tree(&shell.home()) {
        let bytes = fs::read(&path).unwrap();
        assert!(!bytes.windows(canary.len()).any(|it| it == canary.as_bytes()), "{}", path.display());
    }
}

#[test]
fn the_operators_list_of_hosts_is_read_from_the_environment_and_a_wrong_one_stops_everything() {
    let shell = Shell::new();
    let script = shell.file("asks.js", ASKS);
    install(&shell, "own", &script, &["--allow-host", "own.test"]);
    let ask = |name: &str, list: &str| {
        let mut command = shell.command(&["ext", "invoke", name, "--query", "from=http://own.test/"]);
        shell.said(command.env("EXT_EGRESS_ALLOWLIST", list).output().unwrap())
    };
    // What the list does not have is not even looked up.
    for (name, list) in [("own", "listed.test"), ("own", ""), (script.as_str(), "listed.test"), (&script, "")]
    {
        let said = ask(name, list);
        assert!(body(&envelope(&said)).contains("is not granted"), "{name} {list:?}: {}", said.all());
    }
    let bad = ask("own", "a b");
    assert_eq!(bad.status, 125);
    assert!(bad.stderr.contains("EXT_EGRESS_ALLOWLIST cannot be read"), "{}", bad.stderr);
}

#[test]
fn what_is_installed_is_listed_shown_and_removed_and_what_cannot_be_is_refused_with_its_code() {
    let shell = Shell::new();
    let script = shell.file("shop.js", "function handler() {}");
    let mut told = String::new();
    let mut tell = |args: &[&str]| {
        let said = shell.run(args);
        told += &format!("$ drydock {}\n{}\n", args.join(" ").replace(&script, "shop.js"), said.all());
    };
    tell(&["ext", "list"]);
    let flags = [
        "--allow-host",
        "https://API.example.com",
        "--allow-host",
        "b.test:8443",
        "--allow-private",
        "127.0.0.1:9",
        "--secret",
        "KEY=env:SHOP_KEY",
        "--secret",
        "SPARE=file:/run/spare",
        "--secret-header",
        "b.test:8443 Authorization: Bearer {{secret:KEY}}",
        "--timeout-ms",
        "250",
        "--memory-mb",
        "16",
    ];
    tell(&[&["ext", "install", "shop", &script], &flags[..]].concat());
    tell(&["ext", "list"]);
    tell(&["ext", "show", "shop"]);
    tell(&["ext", "show", "shop", "--json"]);
    tell(&["ext", "logs", "shop"]);
    for wrong in [
        &["ext", "install", "a b", &script][..],
        &["ext", "install", "jq", &script],
        &["ext", "install", "shop", "missing.js"],
        &["ext", "install", "shop", &script, "--allow-host", "*"],
        &["ext", "install", "shop", &script, "--allow-host", "user@a.test"],
        &["ext", "install", "shop", &script, "--allow-private", "a.test:80"],
        &["ext", "install", "shop", &script, "--secret", "KEY=hunter2"],
        &["ext", "install", "shop", &script, "--secret", "hunter2"],
        &["ext", "install", "shop", &script, "--secret", "K-Y=env:A"],
        &["ext", "install", "shop", &script, "--secret-header", "a.test"],
        &["ext", "install", "shop", &script, "--secret-header", "a.test A: {{secret:KEY}}"],
        &["ext", "install", "shop", &script, "--timeout-ms", "0"],
        &["ext", "install", "shop", &script, "--memory-mb", "5000"],
        &["ext", "invoke", "nobody"],
        &["ext", "invoke", "shop", "--header", "novalue"],
        &["ext", "invoke", "shop", "--request", "-", "--body", "x"],
        &["ext", "rm", "nobody"],
        &["ext", "rm", "shop"],
        &["ext", "show", "shop", "--json"],
        &["ext", "logs", "shop"],
    ] {
        tell(wrong);
    }
    let broken = shell.file("broken.js", "function handler( {");
    let empty = shell.file("empty.js", "");
    let text = shell.file("text.wasm", "no module");
    for file in [&broken, &empty, &text] {
        tell(&["ext", "install", "shop", file, "--json"]);
    }
    assert!(
        !told.lines().any(|it| !it.starts_with('$') && it.contains("hunter2")),
        "it may be the secret: {told}"
    );
    let filters = vec![
        ("\\b[0-9a-f]{12}\\b", "VERSION"),
        ("\\b[0-9a-f]{64}\\b", "SHA256"),
        ("\"installed_ms\":[0-9]+", "\"installed_ms\":MS"),
        ("/[^ ]*/(broken|empty|text)\\.", "$1."),
    ];
    insta::with_settings!({ filters => filters }, { insta::assert_snapshot!(told); });
}

#[test]
fn a_script_under_development_is_served_again_when_it_changes() {
    let shell = Shell::new();
    let file = shell.file("page.js", "function handler() { return 'one'; }");
    let server = Server::start_as(&shell, &["ext", "dev", &file, "--listen", "0"], &[]);
    assert_eq!(server.get("/x/page/").text(), "one");
    shell.file("page.js", "function handler() { return 'two!'; }");
    let began = std::time::Instant::now();
    while server.get("/x/page/").text() != "two!" {
        assert!(began.elapsed().as_secs() < 60, "it was never taken up");
    }
}
