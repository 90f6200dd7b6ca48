//! Tools over the powers that keep and reach out, from the command line: `kv`, `queue`, `tcp-send`, `http`, models, and
//! packages of a registry. Every server is on loopback, opened by name, and every package is made here.
#![allow(clippy::panic, clippy::unwrap_used)]

mod common;

use std::{
    io::{BufRead, BufReader, Write as _},
    net::TcpListener,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use common::{
    Said, Shell,
    web::{Server, answer, serve},
};
use serde_json::{Value, json};

/// Says what it was asked, or points elsewhere.
fn site() -> Server {
    serve(|head, to| {
        let (first, rest) = head.split_once("\r\n").unwrap();
        let (lines, body) = rest.split_once("\r\n\r\n").unwrap();
        let header = |name: &str| lines.lines().find_map(|it| it.strip_prefix(&format!("{name}: ")));
        let words: Vec<&str> = first.split(' ').collect();
        match words[1] {
            "/missing" => answer(to, "404 Not Found", "", "nothing here\n"),
            "/redirect" => answer(to, "302 Found", "location: /there\r\n", ""),
            "/metadata" => answer(to, "302 Found", "location: http://169.254.169.254/\r\n", ""),
            path => {
                let told = json!({ "method": words[0], "path": path, "body": body, "type": header("content-type"),
                    "x": header("x-a"), "auth": header("authorization") });
                answer(to, "200 OK", "content-type: application/json\r\n", &told.to_string());
            }
        }
    })
}

fn http(shell: &Shell, site: &Server, line: &str) -> Said {
    let line = line.replace("SITE", &site.url(""));
    shell.run(&["sh", "--allow-private", &site.place(), "-c", &line])
}

#[test]
fn http_makes_requests_as_httpie_writes_them() {
    let (shell, site) = (Shell::sharing(), site());
    let asked = |line: &str| -> Value {
        let said = http(&shell, &site, line);
        serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{line}: {}", said.all()))
    };
    let told = asked("http PUT SITE/x X-A:1 name=Ada n:=3 q==a");
    assert_eq!((&told["method"], &told["path"], &told["x"]), (&json!("PUT"), &json!("/x?q=a"), &json!("1")));
    assert_eq!(
        (&told["body"], &told["type"]),
        (&json!(r#"{"name": "Ada", "n": 3}"#), &json!("application/json"))
    );
    assert_eq!(asked("http --form SITE a=1")["body"], "a=1");
    assert_eq!(asked("printf '[1]' | http SITE")["body"], "[1]");
    assert_eq!(asked("http -I -a me:pw SITE")["auth"], "Basic bWU6cHc=");
    assert_eq!(asked("http -I --follow SITE/redirect")["path"], "/there");
    let said = http(&shell, &site, "http -I -h SITE/missing; echo $?");
    assert!(
        said.stdout.starts_with("HTTP/1.1 404 Not Found\n") && said.stdout.ends_with("\n\n1\n"),
        "{}",
        said.stdout
    );
    assert_eq!(
        http(&shell, &site, "http -I --check-status SITE/missing; echo $?").stdout,
        "nothing here\n4\n"
    );
    assert_eq!(http(&shell, &site, "http; echo $?").stdout, "2\n");
}

#[test]
fn http_reaches_what_was_granted_and_says_which_grant_it_lacks() {
    let (shell, site) = (Shell::sharing(), site());
    let said = shell.run(&["run", "http", "-I", "https://api.example.com/"]);
    assert_eq!(said.status, 1);
    assert!(said.stderr.contains("--allow-host api.example.com"), "{}", said.stderr);
    let said = http(&shell, &site, "http -I --follow SITE/metadata");
    assert!(said.status == 1 && said.stderr.contains("169.254.169.254"), "{}", said.all());
}

/// A line in a session that may start commands, and has this grant besides.
fn granted(shell: &Shell, grant: Option<Value>, line: &str) -> Said {
    let grants: Vec<Value> = [json!({ "cap": "exec" })].into_iter().chain(grant).collect();
    let file = shell.file("line.json", json!({ "grants": grants }).to_string());
    shell.run(&["sh", "--grants", &file, "-c", line])
}

/// A name that no other test keeps anything under: the tenant's values outlive us.
fn place() -> String {
    format!("line-{}", std::process::id())
}

#[test]
fn kv_keeps_what_a_grant_names_and_says_which_grant_it_lacks() {
    let (shell, at) = (Shell::sharing(), place());
    let grant = json!({ "cap": "kv", "subjects": [format!("{at}/*")] });
    let said = |grant: Option<&Value>, line: &str| granted(&shell, grant.cloned(), &line.replace("AT", &at));
    for (line, want) in [
        ("printf 'a\\377' | kv put AT/b; kv get AT/b | base64", "Yf8=\n"),
        ("kv put --if-version=0 AT/b x 2>/dev/null; echo $?", "1\n"),
        ("kv incr AT/n 4; kv incr AT/n -1", "4\n3\n"),
        ("kv list AT/ | sed s,.*/,,", "b\nn\n"),
        ("kv get --json AT/n | jq -c '[.value, .version > 0]'", "[\"3\",true]\n"),
        ("kv rm AT/b AT/n && kv get AT/b; echo $?", "1\n"),
        ("kv get; echo $?", "2\n"),
    ] {
        let told = said(Some(&grant), line);
        assert_eq!(told.stdout, want, "{line}: {}", told.all());
    }
    let told = said(Some(&grant), "kv put elsewhere x; echo $?");
    assert_eq!(told.stdout, "1\n", "{}", told.all());
    assert!(told.stderr.contains(r#"{"cap":"kv","subjects":["elsewhere"]}"#), "{}", told.stderr);
    let told = said(Some(&grant), "kv list; echo $?");
    assert!(
        told.stdout == "1\n" && told.stderr.contains("kv"),
        "a grant of some keys lists no others: {}",
        told.all()
    );
    let told = said(None, "kv get AT/b; echo $?");
    assert_eq!(told.stdout, "1\n", "{}", told.all());
    assert!(told.stderr.contains(&format!(r#"{{"cap":"kv","subjects":["{at}/b"]}}"#)), "{}", told.stderr);
}

#[test]
fn a_module_that_says_nothing_of_a_refusal_is_spoken_for_and_the_hint_works() {
    let shell = Shell::new();
    let module = r#"(module (import "env" "host_kv_put" (func $put (param i32 i32 i32 i32) (result i32)))
      (memory (export "memory") 1) (data (i32.const 0) "key")
      (func (export "_start") (drop (call $put (i32.const 0) (i32.const 3) (i32.const 0) (i32.const 3)))))"#;
    shell.add("keeper", module);
    let held = r#"{"cap":"exec"},{"cap":"kv","subjects":["other"]}"#;
    let held = shell.file("held.json", format!(r#"{{"grants":[{held}]}}"#));
    let said = shell.run(&["run", "--grants", &held, "keeper"]);
    let lines: Vec<&str> = said.stderr.lines().collect();
    let [denied, grant, hint] = lines[..] else { panic!("{}", said.all()) };
    assert!(denied.starts_with("drydock: denied: kv `key`: capability `kv` is not granted"), "{denied}");
    let grant = grant.strip_prefix("drydock: grant: ").unwrap();
    assert!(
        hint.starts_with("drydock: hint: put it in a file") && hint.contains("`drydock grants add FILE`"),
        "{hint}"
    );
    let file =
        shell.file("kept.json", format!(r#"{{"grants":[{}]}}"#, grant.replacen('{', r#"{"id":"mine","#, 1)));
    let kept = shell.run(&["grants", "add", &file]);
    assert_eq!(kept.status, 0, "{}", kept.all());
    let said = shell.run(&["run", "keeper"]);
    assert_eq!((said.status, said.stderr.as_str()), (0, ""));
    assert_eq!(shell.run(&["kv", "get", "key"]).stdout, "key");
}

#[test]
fn queue_passes_messages_of_the_topics_that_a_grant_names() {
    let (shell, topic) = (Shell::sharing(), place());
    let grant = json!({ "cap": "queue", "subjects": [topic] });
    let said = |grant: Option<&Value>, line: &str| {
        granted(&shell, grant.cloned(), &line.replace("T ", &format!("{topic} ")))
    };
    for (line, want) in [
        ("queue publish T one two; queue depth T ", "2\n"),
        ("queue peek T --max=5", "one\ntwo\n"),
        ("queue poll T ; echo; queue depth T ", "one\n1\n"),
        (
            "r=$(queue lease T | jq -r .receipt); queue poll T 2>/dev/null; echo $?; queue ack T \"$r\"; queue depth T ",
            "1\n0\n",
        ),
        ("printf 'a\\nb\\n' | queue publish --lines T ; queue poll T --max=5", "a\nb\n"),
        ("queue poll T 2>/dev/null; echo $?", "1\n"),
    ] {
        let told = said(Some(&grant), line);
        assert_eq!(told.stdout, want, "{line}: {}", told.all());
    }
    let told = said(Some(&grant), "queue publish elsewhere x; echo $?");
    assert_eq!(told.stdout, "1\n", "{}", told.all());
    assert!(told.stderr.contains(r#"{"cap":"queue","subjects":["elsewhere"]}"#), "{}", told.stderr);
    let told = said(None, "queue poll T ; echo $?");
    assert_eq!(told.stdout, "1\n", "{}", told.all());
    assert!(told.stderr.contains(&format!(r#"{{"cap":"queue","subjects":["{topic}"]}}"#)), "{}", told.stderr);
}

#[test]
fn tcp_send_reaches_the_host_and_port_that_a_grant_names() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            let _ = write!(stream, "you said {line}");
        }
    });
    let shell = Shell::sharing();
    let (open, line) =
        (format!("private:127.0.0.1:{port}"), format!("echo PING | tcp-send 127.0.0.1 {port}; echo $?"));
    let said = shell.run(&["sh", "--allow-tcp", &open, "-c", &line]);
    assert_eq!(said.stdout, "you said PING\n0\n", "{}", said.all());
    let said = shell.run(&["sh", "-c", &line]);
    assert_eq!(said.stdout, "1\n", "{}", said.all());
    let grant = format!(r#"{{"cap":"tcp","subjects":["{open}"]}}"#);
    assert!(said.stderr.contains("is not granted") && said.stderr.contains(&grant), "{}", said.stderr);
}

/// A package in both shapes, with its hashes: made in the sandbox, by the commands there are.
fn package(shell: &Shell) -> (Vec<u8>, String, Vec<u8>, String) {
    let line = "mkdir -p package/lib six six-1.2.dist-info && \
        echo '{\"name\":\"tiny\",\"scripts\":{\"postinstall\":\"touch /workspace/ran\"}}' > package/package.json && echo 1 > package/lib/a.js && \
        echo 'x = 6' > six/__init__.py && echo 'Name: six' > six-1.2.dist-info/METADATA && \
        tar czf p.tgz package && zip -q -r p.whl six six-1.2.dist-info && \
        base64 -w0 p.tgz; echo; sha512sum p.tgz | cut -d' ' -f1; base64 -w0 p.whl; echo; sha256sum p.whl | cut -d' ' -f1";
    let said = shell.run(&["sh", "-c", line]);
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert_eq!(lines.len(), 4, "{}", said.all());
    let bytes = |text: &str| STANDARD.decode(text).unwrap();
    let hex: Vec<u8> =
        (0..128).step_by(2).map(|at| u8::from_str_radix(&lines[1][at..at + 2], 16).unwrap()).collect();
    (bytes(lines[0]), format!("sha512-{}", STANDARD.encode(hex)), bytes(lines[2]), lines[3].to_owned())
}

/// A registry of npm's kind below `/npm`, and an index of Python's kind below `/simple`.
fn registry(shell: &Shell) -> Server {
    let (tarball, integrity, wheel, sha256) = package(shell);
    serve(move |head, to| {
        let path = head.split(' ').nth(1).unwrap_or_default();
        let send = |to: &mut dyn std::io::Write, bytes: &[u8]| {
            let _ = write!(to, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", bytes.len());
            let _ = to.write_all(bytes);
        };
        let other = format!("sha512-{}", STANDARD.encode([7; 64]));
        let npm = |integrity: &str| {
            let dist = json!({ "tarball": "/files/p.tgz", "integrity": integrity });
            json!({ "dist-tags": { "latest": "1.0.0" }, "versions": { "1.0.0": { "dist": dist } } })
                .to_string()
        };
        match path {
            "/npm/tiny" => send(to, npm(&integrity).as_bytes()),
            "/npm/swapped" => send(to, npm(&other).as_bytes()),
            "/files/p.tgz" => send(to, &tarball),
            "/simple/six/" => {
                let file = json!({ "filename": "six-1.2-py3-none-any.whl", "url": "/files/p.whl", "hashes": { "sha256": sha256 } });
                send(to, json!({ "files": [file] }).to_string().as_bytes());
            }
            "/files/p.whl" => send(to, &wheel),
            _ => answer(to, "404 Not Found", "", ""),
        }
    })
}

#[test]
fn a_package_is_fetched_from_the_registry_that_is_granted_by_its_hash_and_nothing_of_it_runs() {
    let shell = Shell::sharing();
    let site = registry(&shell);
    let said = http(
        &shell,
        &site,
        "npm-fetch --registry=SITE/npm tiny && cat node_modules/tiny/lib/a.js && ls /workspace/ran",
    );
    assert!(
        said.stdout.starts_with("tiny@1.0.0 sha512-") && said.stdout.contains("not run: postinstall"),
        "{}",
        said.all()
    );
    assert!(said.stdout.ends_with("\n1\n") && said.stderr.contains("ran"), "{}", said.all());
    let said = http(&shell, &site, "npm-fetch --registry=SITE/npm swapped; echo $?; ls");
    assert!(said.stderr.contains("other bytes came") && said.stdout == "1\n", "{}", said.all());
    let said = http(&shell, &site, "npm_config_registry=SITE/npm npm-fetch missing; echo $?");
    assert_eq!(said.stdout, "1\n");
    let said = shell.run(&["sh", "-c", "npm-fetch tiny; echo $?"]);
    assert!(said.stdout == "2\n" && said.stderr.contains("which registry?"), "{}", said.all());
    let said = shell.run(&["sh", "-c", "npm-fetch --registry=https://registry.example.com tiny; echo $?"]);
    assert!(
        said.stdout == "1\n" && said.stderr.contains("--allow-host registry.example.com"),
        "{}",
        said.all()
    );

    let said =
        http(&shell, &site, "PIP_INDEX_URL=SITE/simple pip-fetch six && cat site-packages/six/__init__.py");
    assert!(
        said.stdout.starts_with("six==1.2 sha256:") && said.stdout.ends_with("x = 6\n"),
        "{}",
        said.all()
    );
    let said = http(
        &shell,
        &site,
        "pip-fetch --index-url=SITE/simple --sha256=$(printf '0%.0s' $(seq 64)) six; echo $?; ls",
    );
    assert!(said.stdout == "1\n", "{}", said.all());
}

/// What a program says under these grants, with this `drydock.toml` of the user and this key in the environment.
fn program(shell: &Shell, config: &str, grants: &Value, text: &str) -> Said {
    std::fs::create_dir_all(shell.path("config/drydock")).unwrap();
    std::fs::write(shell.path("config/drydock/drydock.toml"), config).unwrap();
    let grants = shell.file("grants.json", json!({ "grants": grants }).to_string());
    let mut command = shell.command(&["js", "--grants", &grants, "-e", text]);
    let output = command
        .env("XDG_CONFIG_HOME", shell.path("config"))
        .env("MODEL_KEY", "sk-not-for-anybody")
        .output()
        .unwrap();
    shell.said(output)
}

#[test]
fn a_program_asks_the_models_that_its_user_configured_and_was_granted_and_never_sees_a_key() {
    let shell = Shell::sharing();
    let site = serve(|_, to| {
        let message = json!({ "role": "assistant", "content": "I had sk-not-for-anybody." });
        let body = json!({ "model": "m-2", "choices": [{ "message": message, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 1000, "completion_tokens": 10 } });
        answer(to, "200 OK", "content-type: application/json\r\n", &body.to_string());
    });
    let script = shell.file("script.jsonl", "{\"content\":\"scripted\"}\n");
    let config = format!(
        "[models.demo]\ndialect = \"scripted\"\nscript = \"{script}\"\n\n[models.\"far/m\"]\nbase-url = \"{}\"\nkey = \"env:MODEL_KEY\"\nmodel = \"m-2\"\nprice = {{ input = 2.0, output = 8.0 }}\n",
        site.url("/v1")
    );
    let grants = json!([{ "cap": "tool" }, { "cap": "llm", "subjects": ["demo", "far/*"] }]);
    let ask = |model: &str| {
        let text = format!(
            "try {{ const t = await llm.complete({{model:'{model}',messages:[{{role:'user',content:'hi'}}]}}); return [t.content, t.usage.cost_micros] }} catch (e) {{ return String(e) }}"
        );
        program(&shell, &config, &grants, &text)
    };
    let said = ask("demo");
    assert!(said.status == 0 && said.stdout.contains("scripted"), "{}", said.all());
    let said = ask("far/m");
    assert!(said.stdout.contains("I had [redacted].") && said.stdout.contains("2080"), "{}", said.all());
    assert!(site.last().contains("authorization: Bearer sk-not-for-anybody"), "{}", site.last());
    assert!(site.last().starts_with("POST /v1/chat/completions ") && site.last().contains("\"m-2\""));
    let said = ask("other");
    assert!(said.stdout.contains("denied"), "{}", said.all());
    let mut listing = shell.command(&["models"]);
    let listed = shell.said(listing.env("XDG_CONFIG_HOME", shell.path("config")).output().unwrap());
    assert!(
        listed.stdout.starts_with("demo   scripted   TMP/script.jsonl\nfar/m   openai   http://"),
        "{}",
        listed.all()
    );
    assert!(listed.stdout.ends_with("   key env:MODEL_KEY\n"), "{}", listed.all());
    // A key that is kept here instead: the host opens it, and no program can.
    assert_eq!(shell.pipe(&["secret", "keep", "LLM_KEY"], b"sk-not-for-anybody").status, 0);
    let config = config.replace("env:MODEL_KEY", "secret:LLM_KEY");
    let text = "const t = await llm.complete({model:'far/m',messages:[{role:'user',content:'hi'}]}); return t.content";
    let said = program(&shell, &config, &grants, text);
    assert_eq!(shell.run(&["secret", "rm", "LLM_KEY"]).status, 0, "the home is shared");
    assert!(said.stdout.contains("I had [redacted]."), "{}", said.all());
    assert!(site.last().contains("authorization: Bearer sk-not-for-anybody"), "{}", site.last());
    let records = shell.run(&["audit", "--json"]);
    assert!(records.stdout.contains("llm.complete") && records.stdout.contains("far/m"), "{}", records.all());
    assert!(!records.all().contains("sk-not-for-anybody") && !records.all().contains("scripted"));
}
