//! Secrets and raw bytes as people use them: kept from stdin, made here, listed, granted, sent along, forgotten; over HTTP, by
//! the token's tenant; and a value that is in no file, no output and no answer.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    thread,
};

use common::{
    Shell,
    server::{Server, token},
    web,
};
use serde_json::{Value, json};

const CANARY: &str = "canary-value-0123456789";

/// Writes what `env.IMPORT` answers for these two texts, or the code; `between` are arguments between them.
fn asks(import: &str, parameters: usize, first: &str, between: &str, second: &str) -> String {
    format!(
        r#"(module
          (import "env" "host_error" (func $error (param i32 i32) (result i32)))
          (import "env" "{import}" (func $ask (param {}) (result i32)))
          (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
          (memory (export "memory") 2)
          (data (i32.const 1024) "{first}") (data (i32.const 2048) "{second}")
          (func (export "_start") (local $n i32)
            (local.set $n (call $ask (i32.const 1024) (i32.const {}) {between} (i32.const 2048) (i32.const {})
              (i32.const 4096) (i32.const 4096)))
            (if (i32.lt_s (local.get $n) (i32.const 0))
              (then (local.set $n (call $error (i32.const 4096) (i32.const 4096)))))
            (i32.store (i32.const 0) (i32.const 4096))
            (i32.store (i32.const 4) (local.get $n))
            (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"#,
        "i32 ".repeat(parameters),
        first.len(),
        second.len(),
    )
}

fn add(shell: &Shell, name: &str, wat: &str) {
    let file = shell.file(&format!("{name}.wat"), wat);
    let said = shell.run(&["commands", "add", name, &file]);
    assert_eq!(said.status, 0, "{}", said.all());
}

/// That no file below the data directory has the value in it.
fn is_nowhere(shell: &Shell) {
    let files = common::tree(&shell.home());
    assert!(files.len() > 3);
    for (path, _) in files {
        let bytes = fs::read(&path).unwrap_or_default();
        assert!(!bytes.windows(CANARY.len()).any(|it| it == CANARY.as_bytes()), "{}", path.display());
    }
}

#[test]
fn a_secret_is_kept_granted_sent_along_and_forgotten_and_is_in_no_file_and_no_output() {
    let shell = Shell::new();
    let mut said = String::new();
    let mut run = |args: &[&str], stdin: &[u8], status: i32| {
        let ran = shell.pipe(args, stdin);
        assert_eq!(ran.status, status, "{args:?}: {}", ran.all());
        said.push_str(&ran.all());
        ran.stdout
    };
    run(&["secret", "keep", "KEY"], format!("{CANARY}\n").as_bytes(), 0);
    let public_key = run(&["secret", "generate", "IDENTITY"], b"", 0);
    let again = shell.run(&["secret", "generate", "IDENTITY"]);
    assert!(again.status == 1 && again.stderr.contains("--replace"), "{}", again.all());
    assert_eq!(shell.pipe(&["secret", "keep", "TWICE"], b"a-long-enough-value").stderr, "");
    assert!(
        shell
            .pipe(&["secret", "keep", "TWICE"], b"another-long-enough-value")
            .stderr
            .contains("in the place of another")
    );
    assert_eq!(shell.run(&["secret", "rm", "TWICE"]).status, 0);
    assert_eq!(shell.run(&["secret", "generate", "OTHER"]).status, 0);
    assert_eq!(shell.run(&["secret", "generate", "OTHER", "--replace"]).status, 0);
    assert_eq!(shell.run(&["secret", "rm", "OTHER"]).status, 0);
    assert_eq!(public_key.trim().len(), 64);
    run(&["secret", "add", "ELSEWHERE", "env:SOME_VARIABLE"], b"", 0);
    let listed: Value = serde_json::from_str(&run(&["secret", "list", "--json"], b"", 0)).unwrap();
    assert_eq!(
        listed,
        json!([
            { "name": "ELSEWHERE", "from": "env:SOME_VARIABLE", "algorithm": null, "public_key": null },
            { "name": "IDENTITY", "from": "kept", "algorithm": "ed25519", "public_key": public_key.trim() },
            { "name": "KEY", "from": "kept", "algorithm": "hmac-sha256", "public_key": null },
        ])
    );
    assert!(run(&["secret", "list"], b"", 0).contains("KEY        kept"));
    for (args, stdin) in [
        (&["secret", "keep", "SHORT"][..], &b"short"[..]),
        (&["secret", "keep", "a-b"], b"long-enough-value"),
        (&["secret", "add", "KEY", "kept"], b""),
        (&["secret", "add", "KEY", CANARY], b""),
        (&["secret", "keep", "KEY", "no-such-file"], b""),
        (&["secret", "rm", "NOBODY"], b""),
    ] {
        let refused = shell.pipe(args, stdin);
        assert_ne!(refused.status, 0, "{args:?}");
    }
    add(&shell, "signs", &asks("host_sign", 6, "KEY", "", "data"));
    let signed = |flags: &[&str]| {
        let args = [&["run"], flags, &["signs"]].concat();
        shell.command(&args).output().unwrap().stdout
    };
    assert_eq!(signed(&[]), b"denied");
    assert_eq!(signed(&["--allow-secret", "OTHER"]), b"denied");
    let signature = signed(&["--allow-secret", "KEY"]);
    assert_eq!(signature.len(), 32);
    // A program asks for the same by the power's name.
    let script = "(await secrets.sign({ name: 'KEY', data: 'data' })).signature.length";
    assert_eq!(run(&["js", "--allow-secret", "KEY", "-e", script], b"", 0).trim(), "44");
    // A tenant's secrets are its own.
    shell.pipe(&["secret", "keep", "KEY", "--tenant", "acme"], b"value-of-acme");
    assert_eq!(signed(&["--allow-secret", "*"]), signature);
    let site = web::serve(|head, to| {
        let key = head.lines().find_map(|it| it.strip_prefix("x-key: ")).unwrap_or("none").to_owned();
        web::answer(to, "200 OK", "", &format!("key {key}"));
    });
    let header = format!("{} X-Key: {{{{secret:KEY}}}}", site.place());
    let flags = ["--allow-private", &site.place(), "--secret", "KEY=kept", "--secret-header", &header];
    let line = format!("curl -s {}", site.url("/"));
    let fetched = run(&[&["sh"], &flags[..], &["-c", &line]].concat(), b"", 0);
    assert_eq!(fetched, "key [redacted]");
    assert!(site.last().contains(&format!("x-key: {CANARY}\r\n")));
    is_nowhere(&shell);
    run(&["audit"], b"", 0);
    run(&["secret", "rm", "KEY"], b"", 0);
    let audit = run(&["audit", "--json"], b"", 0);
    for (operation, name) in [
        ("keep", "KEY"),
        ("generate", "IDENTITY"),
        ("refer", "ELSEWHERE"),
        ("remove", "KEY"),
        ("remove", "TWICE"),
    ] {
        let operation = format!("secret.{operation}");
        let is_it = |it: &Value| it["operation"] == operation && it["subject"] == name;
        let found = audit.lines().any(|it| is_it(&serde_json::from_str(it).unwrap()));
        assert!(found, "{operation} {name}: {audit}");
    }
    assert_eq!(signed(&["--allow-secret", "KEY"]), b"unknown_secret");
    assert!(!said.contains(CANARY), "{said}");
}

#[test]
fn over_http_a_tenant_keeps_lists_and_forgets_its_own_secrets_and_reads_none() {
    let shell = Shell::new();
    let acme = token(&shell, "acme", &["--power", "secrets"]);
    let other = token(&shell, "other", &[]);
    let runs = token(&shell, "acme", &["--power", "run"]);
    let server = Server::start(&shell, &[]);
    let ask = |token: &str, method: &str, path: &str, body: &[u8]| server.ask_as(token, method, path, body);
    let kept = ask(&acme, "PUT", "/v1/secrets/KEY", CANARY.as_bytes());
    let shown = json!({ "name": "KEY", "kept": true, "algorithm": "hmac-sha256", "public_key": null });
    assert_eq!((kept.status, kept.json()), (200, shown.clone()));
    let made = ask(&acme, "PUT", "/v1/secrets/IDENTITY?generate=ed25519", b"");
    assert_eq!(made.json()["public_key"].as_str().unwrap().len(), 64);
    let listed = ask(&acme, "GET", "/v1/secrets", b"");
    assert_eq!(listed.json()["secrets"], json!([made.json(), shown]));
    assert_eq!(ask(&other, "GET", "/v1/secrets", b"").json(), json!({ "secrets": [] }));
    assert_eq!(ask(&other, "DELETE", "/v1/secrets/KEY", b"").status, 404);
    for (method, path, body, status, code) in [
        ("GET", "/v1/secrets/KEY", &b""[..], 405, "method_not_allowed"),
        ("PUT", "/v1/secrets/KEY", b"short", 400, "bad_secret"),
        ("PUT", "/v1/secrets/KEY", &[b'x'; 5000], 413, "too_large"),
        ("PUT", "/v1/secrets/a-b", b"long-enough-value", 400, "bad_name"),
        ("PUT", "/v1/secrets/KEY?generate=rsa", b"", 400, "bad_parameter"),
        ("PUT", "/v1/secrets/KEY?generate=ed25519", b"body-that-is-none", 400, "bad_input"),
    ] {
        let refused = ask(&acme, method, path, body);
        assert_eq!((refused.status, refused.code().as_str()), (status, code), "{method} {path}");
    }
    assert_eq!(ask(&runs, "GET", "/v1/secrets", b"").code(), "beyond_ceiling");
    let listed = shell.run(&["secret", "list", "--tenant", "acme"]);
    assert!(listed.stdout.contains("KEY") && !listed.stdout.contains(CANARY), "{}", listed.stdout);
    assert_eq!(ask(&acme, "DELETE", "/v1/secrets/KEY", b"").json(), json!({ "removed": "KEY" }));
    assert_eq!(ask(&acme, "DELETE", "/v1/secrets/KEY", b"").status, 404);
    is_nowhere(&shell);
}

/// Sends back the first five bytes of whoever comes.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut five = [0; 5];
            if stream.read_exact(&mut five).is_ok() {
                let _ = stream.write_all(&five);
            }
        }
    });
    address
}

#[test]
fn raw_bytes_go_where_a_flag_says_and_a_refusal_names_that_flag() {
    let (shell, address) = (Shell::new(), echo());
    let port = format!("(i32.const {})", address.port());
    add(&shell, "sends", &asks("host_tcp", 7, "127.0.0.1", &port, "hello"));
    let place = format!("private:{address}");
    let refused = shell.run(&["run", "sends"]);
    assert_eq!((refused.status, refused.stdout.as_str()), (0, "denied"), "{}", refused.all());
    let refused = shell.run(&["run", "--allow-tcp", "a.test:80", "sends"]);
    assert_eq!(refused.stdout, "host_not_granted");
    let flag = format!("--allow-tcp {place}");
    assert!(refused.stderr.contains(&flag), "{}", refused.stderr);
    for (flag, want) in [("--allow-tcp", "hello"), ("--allow-tls", "denied"), ("--allow-udp", "denied")] {
        let said = shell.run(&["run", flag, &place, "sends"]);
        assert_eq!(said.stdout, want, "{flag}: {}", said.all());
    }
    for (flag, wrong) in [("--allow-tcp", "a.test"), ("--allow-udp", "private:10.0.0.1"), ("--allow-tls", "")]
    {
        assert_eq!(shell.run(&["run", flag, wrong, "sends"]).status, 2, "{flag} {wrong}");
    }
}

#[test]
fn a_running_server_uses_no_secret_that_was_rotated_or_removed() {
    let shell = Shell::new();
    let site = web::serve(|_, to| web::answer(to, "200 OK", "", "found"));
    let asks = shell.file("asks.js", "const handler = async ({query}) => (await fetch(query.from)).text();");
    let in_a_file = shell.file("key", "the first of the file");
    let place = site.place();
    let header = |name: &str| format!("{place} X-{name}: {{{{secret:{name}}}}}");
    let (kept, read) = (header("KEPT"), header("READ"));
    let read_from = format!("READ=file:{in_a_file}");
    let server = Server::start(&shell, &[]);
    let keep = |value: &str| {
        let answer = server.ask("PUT", "/v1/secrets/KEPT", &[], value.as_bytes());
        assert_eq!(answer.status, 200, "{answer:?}");
    };
    keep("the first that is kept");
    let installed = shell.run(&[
        "ext",
        "install",
        "asks",
        &asks,
        "--allow-private",
        &place,
        "--secret",
        "KEPT=kept",
        "--secret",
        &read_from,
        "--secret-header",
        &kept,
        "--secret-header",
        &read,
    ]);
    assert_eq!(installed.status, 0, "{}", installed.all());
    let query = format!("/x/asks/?from=http%3A%2F%2F{}%2F", place.replace(':', "%3A"));
    let until = |want: &dyn Fn(u16, &str) -> bool| {
        let began = std::time::Instant::now();
        loop {
            let answer = server.get(&query);
            if want(answer.status, &site.last()) {
                return answer;
            }
            assert!(began.elapsed() < std::time::Duration::from_secs(20), "{answer:?}\n{}", site.last());
            // Each look is a fetch, and a principal has so many a minute.
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    };
    until(&|status, head| {
        status == 200
            && head.contains("x-kept: the first that is kept\r\n")
            && head.contains("x-read: the first of the file\r\n")
    });
    let audit = server.get("/v1/audit?limit=20").json();
    let fetched =
        audit["records"].as_array().unwrap().iter().rfind(|it| it["attempts"] != json!([])).unwrap();
    assert_eq!(fetched["operation"], "http.fetch", "{fetched}");
    let attempt =
        json!([{ "address": place, "code": "ok", "status": 200, "bytes_sent": 0, "bytes_received": 5 }]);
    assert_eq!(fetched["attempts"], attempt);
    keep("the second that is kept");
    until(&|_, head| head.contains("x-kept: the second that is kept\r\n"));
    fs::write(&in_a_file, "the second of the file").unwrap();
    until(&|_, head| head.contains("x-read: the second of the file\r\n"));
    assert_eq!(server.ask("DELETE", "/v1/secrets/KEPT", &[], b"").status, 200);
    let refused = until(&|status, _| status != 200);
    assert_eq!((refused.status, refused.code().as_str()), (409, "secret_unavailable"), "{refused:?}");
    assert!(refused.text().contains("KEPT") && !refused.text().contains("file"), "{}", refused.text());
    let asked = site.heads().len();
    assert_eq!((server.get(&query).status, site.heads().len()), (409, asked), "nobody is asked without it");
}
