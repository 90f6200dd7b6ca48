//! One secret, and everything that a server and the runs of its home ever say. It is looked for everywhere, in every
//! spelling that egress promises to know.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::{
    fs::{self, File},
    path::Path,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use common::{
    Shell,
    server::Server,
    web::{answer, serve},
};
use serde_json::{Value, json};

/// With characters that URLs and JSON spell in another way.
const CANARY: &str = "canary+7f3a/9c2e=5b81d604";
/// A guard against a test that hangs; nothing is measured by it.
const HANG: Duration = Duration::from_secs(120);

/// Fetches where the query says, logs what it was told, and hands it on.
const ASKS: &str = "async function handler({query}) {
  const found = await fetch(query.from), text = await found.text();
  console.log(text, found.headers.get('x-told'));
  return {status: found.status, headers: {'x-told': found.headers.get('x-told')}, body: text}; }";

fn percent(text: &str, is_kept: impl Fn(u8) -> bool, upper: bool) -> String {
    let spelled = |byte: u8| match (is_kept(byte), upper) {
        (true, _) => char::from(byte).to_string(),
        (false, true) => format!("%{byte:02X}"),
        (false, false) => format!("%{byte:02x}"),
    };
    text.bytes().map(spelled).collect()
}

/// Every spelling that is looked for. In base64 the letters at both ends depend on what stands beside.
fn spellings() -> Vec<String> {
    let mut all = vec![CANARY.to_owned(), CANARY.replace('/', "\\/")];
    for upper in [true, false] {
        all.push(percent(CANARY, |byte| byte.is_ascii_alphanumeric(), upper));
        all.push(percent(CANARY, |_| false, upper));
    }
    for before in 0..3 {
        let text = STANDARD.encode(format!("{}{CANARY}", "x".repeat(before)));
        all.push(text.trim_end_matches('=')[4..text.len() - 4].to_owned());
    }
    all.push(CANARY.bytes().map(|byte| format!("{byte:02x}")).collect());
    all
}

/// Everything that was said, each with where.
#[derive(Default)]
struct Said(Vec<(String, Vec<u8>)>);

impl Said {
    fn add(&mut self, place: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.0.push((place.into(), bytes.into()));
    }

    fn add_folder(&mut self, folder: &Path) {
        for (path, _) in common::tree(folder) {
            self.add(path.display().to_string(), fs::read(&path).unwrap_or_default());
        }
    }

    /// Where it is, in which spelling.
    fn search(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (place, bytes) in &self.0 {
            for spelling in spellings() {
                if bytes.windows(spelling.len()).any(|it| it.eq_ignore_ascii_case(spelling.as_bytes())) {
                    found.push(format!("`{spelling}` is in {place}"));
                }
            }
        }
        found
    }
}

/// Whoever finds nothing must be able to find something.
#[test]
fn what_is_planted_is_found_in_every_spelling_and_in_files() {
    for spelling in spellings() {
        let mut said = Said::default();
        said.add("here", format!("before{}after", spelling.to_lowercase()));
        assert!(!said.search().is_empty(), "{spelling}");
    }
    for before in ["", "a", "ab", "abc"] {
        let mut said = Said::default();
        said.add("here", STANDARD.encode(format!("{before}{CANARY} and more")));
        assert_eq!(said.search().len(), 1, "{before}");
    }
    let (folder, mut said) = (tempfile::tempdir().unwrap(), Said::default());
    fs::create_dir(folder.path().join("deep")).unwrap();
    fs::write(folder.path().join("deep/file"), [b"\0\xff", CANARY.as_bytes()].concat()).unwrap();
    said.add_folder(folder.path());
    assert!(said.search().iter().any(|it| it.contains("deep/file")), "{:?}", said.search());
    let mut said = Said::default();
    said.add("here", "canary, and nothing of its own");
    assert!(said.search().is_empty());
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

#[test]
fn a_secret_is_in_no_output_file_record_figure_span_or_stream_of_a_run() {
    let told_of = |head: &str| head.lines().find_map(|it| it.strip_prefix("x-key: ").map(str::to_owned));
    // Tells what it was told in every spelling, in head and body.
    let site = serve(move |head, to| {
        let told = told_of(head).unwrap_or_default();
        let body = [
            told.clone(),
            percent(&told, |byte| byte.is_ascii_alphanumeric(), true),
            percent(&told, |_| false, false),
            STANDARD.encode(&told),
            STANDARD.encode(format!("user:{told}")),
            told.bytes().map(|byte| format!("{byte:02x}")).collect(),
        ];
        answer(to, "200 OK", &format!("x-told: {told}\r\n"), &body.join("\n"));
    });
    let collector = serve(|_, to| answer(to, "200 OK", "content-type: application/json\r\n", "{}"));
    let (shell, mut said) = (Shell::new(), Said::default());
    let outside = tempfile::tempdir().unwrap();
    let key = outside.path().join("key");
    fs::write(&key, CANARY).unwrap();
    let secret = format!("KEY=file:{}", key.display());
    let header = format!("{} X-Key: {{{{secret:KEY}}}}", site.place());
    let place = site.place();
    let flags = ["--allow-private", &place, "--secret", &secret, "--secret-header", &header];
    let script = shell.file("asks.js", ASKS);
    let installed = shell.run(&[&["ext", "install", "asks", &script][..], &flags].concat());
    assert_eq!(installed.status, 0, "{}", installed.all());

    let log = outside.path().join("stderr");
    let command = ["serve", "--listen", "0", "--otlp", &collector.url("/")];
    let mut server = Server::start_telling(&shell, &command, &[], File::create(&log).unwrap().into());
    let query = format!("?from=http%3A%2F%2F{}%2F", place.replace(':', "%3A"));
    let fetched = server.get(&format!("/x/asks/{query}"));
    assert_eq!((fetched.status, fetched.header("x-told")), (200, Some("[redacted]")), "{fetched:?}");
    assert!(fetched.text().matches("[redacted]").count() >= 5, "{}", fetched.text());
    said.add("the answer of the extension", fetched.body.clone());

    // The same value, kept over HTTP and by name alone in what is installed.
    let kept = server.ask("PUT", "/v1/secrets/KEPT", &[], CANARY.as_bytes());
    assert_eq!(kept.status, 200, "{kept:?}");
    said.add("what was kept", kept.body);
    let header = format!("{place} X-Key: {{{{secret:KEPT}}}}");
    let flags_of_kept = ["--allow-private", &place, "--secret", "KEPT=kept", "--secret-header", &header];
    let installed = shell.run(&[&["ext", "install", "kept", &script][..], &flags_of_kept].concat());
    assert_eq!(installed.status, 0, "{}", installed.all());
    said.add("what was installed", installed.all());
    let fetched_with_kept = server.get(&format!("/x/kept/{query}"));
    assert_eq!(
        (fetched_with_kept.status, fetched_with_kept.header("x-told")),
        (200, Some("[redacted]")),
        "{fetched_with_kept:?}"
    );
    said.add("the answer with the kept one", fetched_with_kept.body);
    let over_http = json!({ "script": ASKS, "allow_host": ["api.example.com"], "secrets": ["KEPT"],
        "secret_headers": ["api.example.com X-Key: {{secret:KEPT}}"] });
    let put = [("content-type", "application/json")];
    let put = server.ask("PUT", "/v1/extensions/http", &put, over_http.to_string().as_bytes());
    assert_eq!(put.status, 200, "{put:?}");
    said.add("what was installed over HTTP", put.body);

    // What it said goes through a workspace, a line and a process, and is told as it is written.
    assert_eq!(server.ask("PUT", "/v1/workspaces/w", &[], b"").status, 200);
    let file = "/v1/workspaces/w/files/workspace/told";
    assert_eq!(server.ask("PUT", file, &[], &fetched.body).status, 200);
    let events = [("accept", "text/event-stream"), ("content-type", "application/json")];
    let line = json!({ "script": "cat told; cat told >&2; env", "workspace": "w" }).to_string();
    let streamed = server.ask("POST", "/v1/sh", &events, line.as_bytes());
    assert!(streamed.text().contains("event: stderr") && streamed.text().contains("[redacted]"));
    said.add("the stream of a line", streamed.body);
    let process =
        server.post("/v1/processes", &json!({ "command": "cat", "args": ["told"], "workspace": "w" }));
    let id = process.json()["id"].as_str().unwrap().to_owned();
    said.add("a process", until_over(&server, &id).to_string());
    let streamed = server.ask("GET", &format!("/v1/processes/{id}/stdout"), &events[..1], b"");
    assert!(streamed.text().contains("[redacted]"), "{streamed:?}");
    said.add("the stream of a process", streamed.body);
    for path in [
        file,
        "/v1/audit",
        "/metrics",
        "/v1/secrets",
        "/v1/extensions/asks",
        "/v1/extensions/kept/logs",
        "/v1/extensions",
        "/openapi.json",
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        said.add(path, answer.body);
    }

    // The same home from the command line: outputs, records, tapes.
    let url = site.url("/");
    let ask =
        format!("env; curl -sv {url} | tee kept; curl -s {url} >&2; curl -s http://other.test/ || true");
    let program = format!(
        "const r = await fetch('{url}'); console.log(await r.text()); return r.headers.get('x-told')"
    );
    for (words, rest) in [
        (&["sh", "--record"][..], ["-c", ask.as_str()]),
        (&["sh", "--json"], ["-c", &ask]),
        (&["sh", "--session", "s"], ["-c", &ask]),
        (&["js"], ["-e", program.as_str()]),
    ] {
        let run = shell.run(&[words, &flags[..], &rest[..]].concat());
        assert!(run.all().contains("[redacted]"), "{words:?}: {}", run.all());
        said.add(format!("{words:?}"), run.all());
    }
    let tapes: Value = serde_json::from_str(&shell.run(&["tape", "list", "--json"]).stdout).unwrap();
    let tape = tapes[0]["id"].as_str().unwrap();
    for words in [
        &["tape", "show", tape][..],
        &["tape", "show", "--json", tape],
        &["tape", "replay", tape],
        &["audit", "--json", "--limit", "1000"],
        &["ext", "logs", "asks"],
        &["ext", "show", "asks"],
        &["logs", &id],
        &["ps", "--json"],
    ] {
        let run = shell.run(words);
        assert_eq!(run.status, 0, "{words:?}: {}", run.all());
        said.add(format!("{words:?}"), run.all());
    }
    server.signal("-TERM");
    assert_eq!(server.wait(), 0);
    let spans = collector.heads().concat();
    assert!(spans.contains("http.fetch") && spans.contains("fetch"), "{spans}");
    said.add("the spans", spans);
    said.add("the server's stderr", fs::read(&log).unwrap());
    said.add_folder(&shell.home());

    assert!(site.heads().len() >= 9, "each of them asked");
    assert!(site.heads().iter().all(|it| it.contains(&format!("x-key: {CANARY}\r\n"))));
    assert_eq!(said.search(), [""; 0]);
}
