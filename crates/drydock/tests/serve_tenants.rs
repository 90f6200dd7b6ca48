//! Who asks: tokens, ceilings, and what another tenant's token finds.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::{process::Stdio, time::Instant};

use common::{
    Shell,
    agent::{Agents, says, shell_turn, turn},
    server::{Answer, Server, answers, guest, install, shown, shows, token},
};
use serde_json::{Value, json};

#[test]
fn the_tenant_comes_from_the_token_alone_and_without_one_nobody_is_let_in() {
    let shell = Shell::new();
    install(&shell, "shows", &shows(), &[]);
    install(&shell, "shows", &shows(), &["--tenant", "acme"]);
    let server = Server::start(&shell, &[]);
    assert_eq!(
        shown(&server.get("/x/shows/"))["context"]["tenant_id"],
        "dev",
        "as long as there is no token"
    );
    let acme = token(&shell, "acme", &[]);
    let began = std::time::Instant::now();
    while server.get("/x/shows/").status != 401 {
        assert!(
            began.elapsed() < std::time::Duration::from_secs(10),
            "a token closes the door for all without one"
        );
    }
    let refused = server.get("/v1/workspaces");
    assert_eq!(
        (refused.code().as_str(), refused.header("www-authenticate")),
        ("unauthorized", Some("Bearer"))
    );
    let seen = shown(&server.ask_as(&acme, "GET", "/x/shows/", b""));
    assert_eq!(seen["context"]["tenant_id"], "acme");
    assert!(seen["http"]["headers"].get("authorization").is_none(), "a guest never sees the token: {seen}");
    for wrong in ["", "x", &acme[..acme.len() - 1], &format!("{acme}0")] {
        assert_eq!(server.ask_as(wrong, "GET", "/x/shows/", b"").status, 401, "{wrong}");
    }
    // Which tenant a request names decides nothing, and nothing runs: the guest is not called, by neither tenant.
    let ran = || {
        let of = |tenant| shell.run(&["audit", "--tenant", tenant, "--json", "--limit", "1000"]).stdout;
        ["dev", "acme"].map(|tenant| of(tenant).matches("handler.invoke").count())
    };
    server.ask_as(&acme, "GET", "/v1/audit", b"");
    let before = ran();
    let body = json!({ "context": { "extension_id": "shows", "tenant_id": "dev" } }).to_string();
    let lied = server.ask_as(&acme, "POST", "/v1/execute", body.as_bytes());
    assert_eq!((lied.status, lied.code().as_str()), (403, "wrong_tenant"));
    server.ask_as(&acme, "GET", "/v1/audit", b"");
    assert!(ran() == before && before[1] > 0, "{before:?}");
    for open in ["/healthz", "/readyz", "/openapi.json"] {
        assert_eq!(server.get(open).status, 200);
    }
    let id = acme.split('_').nth(1).unwrap();
    assert_eq!(shell.run(&["token", "rm", id]).status, 0);
    let other = token(&shell, "acme", &["--expires", "1h"]);
    let began = std::time::Instant::now();
    while server.ask_as(&acme, "GET", "/x/shows/", b"").status != 401 {
        assert!(began.elapsed() < std::time::Duration::from_secs(10), "a token that was removed is heard of");
    }
    assert_eq!(server.ask_as(&other, "GET", "/x/shows/", b"").status, 200);
    // The gate knows a token by its id, and a revocation ends it for good.
    let id = other.split('_').nth(1).unwrap();
    assert_eq!(shell.run(&["revoke", &format!("http:{id}"), "--tenant", "acme"]).status, 0);
    let began = std::time::Instant::now();
    loop {
        let answer = server.ask_as(&other, "GET", "/x/shows/", b"");
        if answer.code() == "revoked" {
            assert_eq!(answer.status, 403);
            break;
        }
        // Whoever was asked at that very moment is cut off.
        assert!(answer.status == 200 || answer.code() == "cancelled", "{answer:?}");
        assert!(began.elapsed() < std::time::Duration::from_secs(10));
    }
}

#[test]
fn a_wish_beyond_the_ceiling_of_a_token_is_refused_by_name() {
    let shell = Shell::new();
    install(&shell, "shows", &shows(), &["--tenant", "acme"]);
    install(&shell, "roomy", &shows(), &["--tenant", "acme", "--timeout-ms", "20000", "--memory-mb", "512"]);
    let invoke = token(&shell, "acme", &["--power", "invoke", "--timeout-ms", "300", "--memory-mb", "8"]);
    let installs =
        token(&shell, "acme", &["--power", "install", "--allow-host", "api.test", "--memory-mb", "8"]);
    let watches = token(&shell, "acme", &["--power", "metrics"]);
    let all = token(&shell, "acme", &[]);
    let server = Server::start(&shell, &[]);
    let said = |answer: &Answer| {
        assert_eq!((answer.status, answer.code().as_str()), (403, "beyond_ceiling"), "{answer:?}");
        answer.json()["error"]["message"].as_str().unwrap().to_owned()
    };
    assert!(said(&server.ask_as(&invoke, "GET", "/v1/workspaces", b"")).contains("power workspaces"));
    assert!(said(&server.ask_as(&all, "GET", "/metrics", b"")).contains("power metrics"));
    assert_eq!(server.ask_as(&watches, "GET", "/metrics", b"").status, 200);
    // Under `/x/` nobody can ask: there a request has what its extension was installed with, and no more than the token.
    for (name, token, limits) in [
        ("shows", &invoke, (300, 8)),
        ("shows", &all, (5_000, 64)),
        ("roomy", &invoke, (300, 8)),
        ("roomy", &all, (20_000, 512)),
    ] {
        let shown = shown(&server.ask_as(token, "GET", &format!("/x/{name}/"), b""));
        let told = &shown["context"]["limits"];
        assert_eq!((&told["timeout_ms"], &told["memory_mb"]), (&json!(limits.0), &json!(limits.1)), "{name}");
    }
    let asked =
        json!({ "context": { "extension_id": "shows" }, "limits": { "timeout_ms": 301 } }).to_string();
    assert!(
        said(&server.ask_as(&invoke, "POST", "/v1/execute", asked.as_bytes()))
            .contains("timeout_ms 301, and the most is 300")
    );
    let run = json!({ "name": "upper", "allow_host": ["api.test"] }).to_string();
    assert!(said(&server.ask_as(&all, "POST", "/v1/run", run.as_bytes())).contains("host api.test"));
    let module = base64(&wat::parse_str(answers("x")).unwrap());
    let put = |settings: Value| {
        let mut body = json!({ "module_b64": module });
        body.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
        server.ask_as(&installs, "PUT", "/v1/extensions/new", body.to_string().as_bytes())
    };
    assert!(said(&put(json!({ "allow_host": ["other.test"] }))).contains("host other.test"));
    assert!(said(&put(json!({ "allow_host": ["api.test:8080"] }))).contains("host api.test:8080"));
    assert!(said(&put(json!({ "limits": { "memory_mb": 9 } }))).contains("memory_mb 9"));
    let made = put(json!({ "allow_host": ["v2.api.test", "https://api.test"] }));
    assert_eq!(made.status, 200, "{}", made.text());
}

#[test]
fn a_part_of_a_host_is_within_a_ceiling_where_its_host_is() {
    let shell = Shell::new();
    let some = token(&shell, "acme", &["--power", "run", "--power", "install", "--allow-host", "api.test"]);
    let server = Server::start(&shell, &[]);
    let module = base64(&wat::parse_str(answers("x")).unwrap());
    for (method, path, body) in [
        ("POST", "/v1/run", json!({ "name": "true" })),
        ("POST", "/v1/sh", json!({ "script": "true" })),
        ("POST", "/v1/js", json!({ "code": "1" })),
        ("POST", "/v1/py", json!({ "code": "1" })),
        ("POST", "/v1/processes", json!({ "command": "true" })),
        ("PUT", "/v1/extensions/new", json!({ "module_b64": module })),
    ] {
        let with = |rule: &str| {
            let mut body = body.clone();
            body["allow_url"] = json!([rule]);
            server.ask_as(&some, method, path, body.to_string().as_bytes())
        };
        for beyond in
            ["GET https://other.test/v1", "https://api.test:8443/v1", "http://test/", "http://127.0.0.1/"]
        {
            let refused = with(beyond);
            assert_eq!(
                (refused.status, refused.code().as_str()),
                (403, "beyond_ceiling"),
                "{path} {refused:?}"
            );
            assert!(refused.text().contains(&format!("url {beyond}")), "by name: {refused:?}");
        }
        for none in ["api.test/v1", "https://api.test/x?y", "ftp://api.test/"] {
            let refused = with(none);
            assert_eq!((refused.status, refused.code().as_str()), (400, "bad_json"), "{path}: {refused:?}");
        }
        if path != "/v1/py" {
            let made = with("GET,HEAD https://v2.api.test/v1");
            assert_eq!(made.status, 200, "{path}: {made:?}");
        }
    }
    let shown = server.ask_as(&some, "GET", "/v1/extensions/new", b"").json();
    assert_eq!(shown["allow_url"], json!(["GET,HEAD https://v2.api.test/v1"]));
    // What a rule admits is looked up, and not found; what it does not admit is refused before that.
    let line = |asked: &str| {
        let script = format!("curl -sS {asked}");
        let body = json!({ "script": script, "allow_url": ["GET http://api.test/v1"] }).to_string();
        let ran = server.ask_as(&some, "POST", "/v1/sh", body.as_bytes()).json();
        ran["stderr"].as_str().unwrap().to_owned()
    };
    for (asked, is_admitted) in [
        ("http://api.test/v1/x", true),
        ("http://api.test/v2", false),
        ("-X POST http://api.test/v1/x", false),
    ] {
        let told = line(asked);
        assert!(told.starts_with("curl: ("), "{asked}: {told}");
        assert_eq!(!told.contains("is not granted"), is_admitted, "{asked}: {told}");
    }
}

#[test]
fn a_token_without_the_power_kept_gets_at_no_values_by_a_program_either() {
    let shell = Shell::new();
    let runs = token(&shell, "acme", &["--power", "run"]);
    let both = token(&shell, "acme", &["--power", "run", "--power", "kept"]);
    let all = token(&shell, "acme", &[]);
    let server = Server::start(&shell, &[]);
    let code = json!({ "code": "typeof kv + ' ' + typeof queue + ' ' + typeof secrets" }).to_string();
    let told = |token: &str| {
        let answer = server.ask_as(token, "POST", "/v1/js", code.as_bytes());
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["result"].as_str().unwrap().to_owned()
    };
    assert_eq!(told(&runs), "undefined undefined undefined");
    assert_eq!((told(&both), told(&all)), (told(&all), "object undefined undefined".into()));
    let guest = json!({ "code": "await kv.get({key: 'a'})" }).to_string();
    let answer = server.ask_as(&runs, "POST", "/v1/js", guest.as_bytes());
    assert!(answer.text().contains("kv is not defined"), "{answer:?}");
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// What makes a thing of the name that it takes: it cannot be answered as if the thing were not there.
const MAKES: [&str; 5] = ["install", "workspace_make", "kv_put", "queue_publish", "secret_keep"];

/// Powers enough for every route that a tenant has.
const POWERS: [&str; 9] =
    ["invoke", "install", "secrets", "run", "workspaces", "kept", "agents", "reviews", "audit"];

fn powers() -> Vec<&'static str> {
    POWERS.iter().flat_map(|it| ["--power", it]).collect()
}

/// Every route of the description that takes a name, asked with the token of a tenant that has such a thing, and of one
/// that has not: the second is answered as one who asks for what nobody has. Routes of later are covered by being there.
#[test]
fn with_another_tenants_token_everything_is_as_if_it_were_not_there() {
    let lacks = turn("file_issue", json!({ "title": "no ffmpeg", "need": "to cut a film", "tried": "sox" }));
    let agents = Agents::new(&[("m", vec![lacks, shell_turn("echo hi"), says("end")])]);
    let shell = &agents.shell;
    install(shell, "thing", &answers("mine"), &["--tenant", "owner"]);
    let powers = powers();
    let (owner, other) = (token(shell, "owner", &powers), token(shell, "other", &powers));
    let server = Server::of(agents.command(&["serve", "--listen", "0"]).stderr(Stdio::inherit()));
    for (method, path, body) in [
        ("PUT", "/v1/workspaces/thing", ""),
        ("PUT", "/v1/workspaces/thing/files/workspace/a", OWN),
        ("POST", "/v1/workspaces/thing/snapshots", r#"{"name":"thing"}"#),
        ("PUT", "/v1/kv/thing", "mine"),
        ("PUT", "/v1/secrets/thing", "a value of its owner"),
        ("POST", "/v1/queues/thing/messages", "mine"),
    ] {
        assert_eq!(server.ask_as(&owner, method, path, body.as_bytes()).status, 200, "{path}");
    }
    let wanted = br#"{"command":"cat","args":["/thing"],"stdin_open":true}"#;
    let process =
        server.ask_as(&owner, "POST", "/v1/processes", wanted).json()["id"].as_str().unwrap().to_owned();
    let (run, review) = waiting_run(&server, &owner);
    let issue = server.ask_as(&owner, "GET", "/v1/issues", b"").json()["issues"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let real_id = |path: &str| {
        let families = [
            ("/v1/processes/", &process),
            ("/v1/agents/", &run),
            ("/v1/reviews/", &review),
            ("/v1/issues/", &issue),
        ];
        let family = families.into_iter().find(|(family, _)| path.starts_with(family));
        family.unwrap_or_else(|| panic!("{path} takes an id, and its owner has none to try it with")).1
    };
    let document = server.get("/openapi.json").json();
    let mut asked = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        if !path.contains('{') {
            continue;
        }
        for (method, operation) in methods.as_object().unwrap() {
            if MAKES.contains(&operation["operationId"].as_str().unwrap()) {
                continue;
            }
            let body = match operation["requestBody"]["content"].get("application/json") {
                Some(_) => r#"{"name":"thing"}"#,
                None => "",
            };
            let at = |name: &str| {
                let filled = path.replace("{name}", name).replace("{extension}", name);
                let id = match name {
                    _ if !path.contains("{id}") => "",
                    "thing" => real_id(path).as_str(),
                    _ => "0123456789abcdef0123456789abcdef",
                };
                let filled = filled.replace("{path}", "workspace/a").replace("{id}", id);
                let filled = filled.replace("{key}", name).replace("{topic}", name);
                if path.ends_with("/diff") { format!("{filled}?snapshot=thing") } else { filled }
            };
            let ask = |token: &str, name: &str| {
                let answer = server.ask_as(token, &method.to_uppercase(), &at(name), body.as_bytes());
                let named = answer.text().replace(name, "NAME");
                let headers: Vec<_> = answer
                    .headers
                    .into_iter()
                    .filter(|(it, _)| it != "x-request-id" && it != "date")
                    .collect();
                (answer.status, headers, named)
            };
            let (theirs, nobodys) = (ask(&other, "thing"), ask(&other, "nobodys"));
            assert_eq!(theirs, nobodys, "{method} {path}");
            assert_eq!(theirs.0, 404, "{method} {path}: {}", theirs.2);
            if method == "get" {
                // It is the other tenant that makes the difference, and not a request that nobody has an answer for.
                let own = ask(&owner, "thing");
                assert_eq!(own.0, 200, "{method} {path}: {}", own.2);
            }
            asked += 1;
        }
    }
    assert!(asked >= 43, "{asked} operations take a name");
    // Nothing was taken from its owner.
    assert_eq!(server.ask_as(&owner, "GET", "/x/thing/", b"").text(), "mine");
    assert_eq!(server.ask_as(&owner, "GET", "/v1/workspaces/thing/files/workspace/a", b"").text(), OWN);
    let waits = server.ask_as(&owner, "GET", &format!("/v1/agents/{run}"), b"").json();
    assert_eq!(waits["status"], "waiting", "neither cancelled nor answered: {waits}");
    let found = server.ask_as(&owner, "GET", &format!("/v1/processes/{process}"), b"");
    assert_eq!(found.status, 200, "{found:?}");
    assert!(!server.ask_as(&other, "GET", "/v1/processes", b"").text().contains(&process));
    assert!(server.ask_as(&owner, "GET", "/v1/processes", b"").text().contains(&process));
    assert_eq!(server.ask_as(&owner, "GET", "/v1/kv/thing", b"").text(), "mine");
    assert_eq!(server.ask_as(&owner, "GET", "/v1/queues/thing", b"").json()["depth"], 1);
    // Lists and records are a tenant's own. What was asked for is on record, also where it is not there.
    let principal = format!("http:{}", owner.split('_').nth(1).unwrap());
    for (path, mark) in [
        ("/v1/workspaces", "thing"),
        ("/v1/extensions", "thing"),
        ("/v1/kv", "thing"),
        ("/v1/queues", "thing"),
        ("/v1/secrets", "thing"),
        ("/v1/agents", run.as_str()),
        ("/v1/reviews", review.as_str()),
        ("/v1/issues", issue.as_str()),
        ("/v1/audit", principal.as_str()),
    ] {
        let theirs = server.ask_as(&other, "GET", path, b"").text();
        assert!(!theirs.contains(mark), "{path}: {theirs}");
        assert!(server.ask_as(&owner, "GET", path, b"").text().contains(mark), "{path}");
    }
    // Names that are no part of a path: an extension in an envelope, a workspace of a run and of a session.
    let executed = |name: &str| {
        let body = json!({ "context": { "extension_id": name } }).to_string();
        let answer = server.ask_as(&other, "POST", "/v1/execute", body.as_bytes());
        (answer.status, answer.text().replace(name, "NAME"))
    };
    assert_eq!((executed("thing"), executed("thing").0), (executed("nobodys"), 404));
    for (path, body) in [
        ("/v1/run", json!({ "name": "cat", "args": ["/workspace/a", "a"], "workspace": "thing" })),
        ("/v1/sh", json!({ "script": "cat a /workspace/a; grep -r own /", "workspace": "thing" })),
        ("/v1/processes", json!({ "command": "cat", "args": ["a"], "workspace": "thing" })),
        ("/mcp?workspace=thing", call_of_sh("cat a /workspace/a; grep -r own /")),
    ] {
        let headers = [
            ("authorization", &*format!("Bearer {other}")),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "sh"),
        ];
        let answer = server.ask("POST", path, &headers, body.to_string().as_bytes());
        assert_ne!(answer.status, 500, "{path}: {answer:?}");
        assert!(!answer.text().contains(OWN), "{path}: {answer:?}");
        let own = [("authorization", &*format!("Bearer {owner}"))];
        let own = server.ask("POST", path, &[&own[..], &headers[1..]].concat(), body.to_string().as_bytes());
        assert!(path == "/v1/processes" || own.text().contains(OWN), "{path}: {own:?}");
    }
}

/// What only its owner has written.
const OWN: &str = "the owner's own words";

/// A call of the revision of MCP that has no handshake.
/// The routes that the test above cannot ask: whoever makes a thing under a name that another tenant has, makes its own, is
/// told what it would be told under a name that nobody has, and changes nothing of the other's.
#[test]
fn a_name_that_another_tenant_has_is_free_and_what_is_made_under_it_is_ones_own() {
    let shell = Shell::new();
    let powers = powers();
    let (owner, other) = (token(&shell, "owner", &powers), token(&shell, "other", &powers));
    let server = Server::start(&shell, &[]);
    let install = |text: &str| {
        let module = base64(&wat::parse_str(answers(text)).unwrap());
        json!({ "module_b64": module }).to_string()
    };
    let document = server.get("/openapi.json").json();
    let mut made = Vec::new();
    let operations = document["paths"].as_object().unwrap().iter().flat_map(|(path, methods)| {
        methods.as_object().unwrap().iter().map(move |(method, it)| (path, method.to_uppercase(), it))
    });
    for (path, method, operation) in operations {
        let id = operation["operationId"].as_str().unwrap();
        if !MAKES.contains(&id) {
            continue;
        }
        // Keys that are made are other ones each time, so that one that was replaced is seen.
        let generated = if id == "secret_keep" { "?generate=ed25519" } else { "" };
        let (mine, theirs) = match id {
            "install" => (install("mine"), install("theirs")),
            "kv_put" | "queue_publish" => ("mine".to_owned(), "theirs".to_owned()),
            _ => Default::default(),
        };
        let at = |name: &str| {
            let filled = path.replace("{name}", name).replace("{key}", name).replace("{topic}", name);
            assert!(!filled.contains('{'), "{path} takes more than a name");
            filled + generated
        };
        let ask = |token: &str, name: &str, body: &str| {
            let answer = server.ask_as(token, &method, &at(name), body.as_bytes());
            let mut told = answer.json();
            // What is another one each time, whoever asks.
            for member in ["version", "installed_ms", "public_key", "id", "ids"] {
                told.as_object_mut().unwrap().remove(member);
            }
            (answer.status, told.to_string().replace(name, "NAME"))
        };
        let own = ask(&owner, "thing", &mine);
        assert_eq!(own.0, 200, "{id}: {}", own.1);
        if id == "workspace_make" {
            let file = "/v1/workspaces/thing/files/workspace/a";
            assert_eq!(server.ask_as(&owner, "PUT", file, OWN.as_bytes()).status, 200);
        }
        let before = owned(&server, &owner);
        let (taken, free) = (ask(&other, "thing", &theirs), ask(&other, "nobodys", &theirs));
        assert_eq!((&taken, taken.0), (&free, 200), "{id}");
        assert_eq!(owned(&server, &owner), before, "{id}");
        made.push(id.to_owned());
    }
    made.sort();
    let mut all = MAKES.map(str::to_owned);
    all.sort();
    assert_eq!(made, all);
    let theirs = owned(&server, &other);
    assert!(theirs.iter().zip(owned(&server, &owner)).all(|(other, owner)| *other != owner), "{theirs:?}");
}

/// What a tenant has under the name `thing`.
fn owned(server: &Server, token: &str) -> [String; 5] {
    [
        "/v1/extensions/thing",
        "/v1/workspaces/thing",
        "/v1/kv/thing",
        "/v1/queues/thing/messages",
        "/v1/secrets",
    ]
    .map(|path| server.ask_as(token, "GET", path, b"").text())
}

fn call_of_sh(script: &str) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "sh", "arguments": { "script": script }, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
}

/// A run of an agent that waits for a person, and what that person is asked.
fn waiting_run(server: &Server, token: &str) -> (String, String) {
    let options = json!({ "model": "m", "review": ["shell"], "review_wait_ms": 600_000 });
    let wanted = json!({ "system": "s", "task": "t", "options": options }).to_string();
    let opened = server.ask_as(token, "POST", "/v1/agents", wanted.as_bytes());
    assert_eq!(opened.status, 200, "{opened:?}");
    let began = Instant::now();
    loop {
        let asked = server.ask_as(token, "GET", "/v1/reviews", b"").json();
        if let Some(review) = asked["reviews"][0]["id"].as_str() {
            return (opened.json()["id"].as_str().unwrap().to_owned(), review.to_owned());
        }
        assert!(began.elapsed() < std::time::Duration::from_secs(60), "nothing is asked");
    }
}

#[test]
fn every_route_is_in_the_description_and_the_reverse() {
    let shell = Shell::new();
    install(&shell, "thing", &answers("x"), &[]);
    let server = Server::start(&shell, &[]);
    let document = server.get("/openapi.json").json();
    let mut ids = std::collections::BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let filled = path.replace("{name}", "thing").replace("{extension}", "thing").replace("{path}", "a");
        let filled = filled.replace("{id}", "0123456789abcdef0123456789abcdef");
        let filled = filled.replace("{key}", "thing").replace("{topic}", "thing");
        for (method, operation) in methods.as_object().unwrap() {
            // What a GET sends is read by nobody, and may cost its answer.
            let body: &[u8] = if method == "get" { b"" } else { b"{}" };
            let answer = server.ask(&method.to_uppercase(), &filled, &[], body);
            assert!(
                !["no_route", "method_not_allowed"].contains(&answer.code().as_str()),
                "{method} {path}: {answer:?}"
            );
            let id = operation["operationId"].as_str().unwrap().to_owned();
            assert!(ids.insert(id), "{method} {path} has another's id");
            let described = &operation["responses"];
            let known = described.get(answer.status.to_string()).or(described.get("default"));
            assert!(known.is_some(), "{method} {path} answered {}, which is not described", answer.status);
        }
        let unnamed = ["PATCH", "TRACE"].iter().filter(|_| !path.starts_with("/x/"));
        for method in unnamed {
            assert_eq!(server.ask(method, &filled, &[], b"").status, 405, "{method} {path}");
        }
    }
    let measured = server.get("/metrics").text();
    for id in measured.lines().filter_map(|it| it.split_once("_requests_total{route=\"")?.1.split('"').next())
    {
        let described = ids.contains(id)
            || ids.iter().any(|it| it.strip_prefix(id).is_some_and(|it| it.starts_with('_')));
        assert!(described, "{id} was answered and is not described");
    }
}

#[test]
fn a_tenant_that_floods_waits_behind_itself_and_is_told_when_to_try_again() {
    let shell = Shell::new();
    install(
        &shell,
        "loop",
        &guest("", "", "(loop $on (br $on)) (i32.const 0)"),
        &["--tenant", "greedy", "--timeout-ms", "1500"],
    );
    install(&shell, "fine", &answers("fine"), &["--tenant", "modest"]);
    let (greedy, modest) = (token(&shell, "greedy", &[]), token(&shell, "modest", &[]));
    let server = Server::start(&shell, &["--tenant-in-flight", "2", "--tenant-waiting", "2"]);
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let flood: Vec<_> =
            (0..12).map(|_| scope.spawn(|| server.ask_as(&greedy, "GET", "/x/loop/", b""))).collect();
        for _ in 0..20 {
            assert_eq!(server.ask_as(&modest, "GET", "/x/fine/", b"").text(), "fine");
        }
        flood.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let refused: Vec<_> = answers.iter().filter(|it| it.status == 429).collect();
    assert_eq!(answers.iter().filter(|it| it.status == 504).count(), 12 - refused.len());
    assert!(refused.len() >= 6, "two run and two wait: {}", refused.len());
    for answer in refused {
        assert_eq!((answer.code().as_str(), answer.header("retry-after")), ("too_many_requests", Some("1")));
        assert_eq!(answer.json()["error"]["retryable"], true);
    }
}

#[test]
fn a_key_makes_a_request_happen_once_and_belongs_to_its_tenant_and_extension() {
    let shell = Shell::new();
    // Answers the id of the request that it was shown: another one each time that it really runs.
    for tenant in ["one", "two"] {
        install(&shell, "shows", &shows(), &["--tenant", tenant]);
        install(&shell, "again", &shows(), &["--tenant", tenant]);
    }
    install(
        &shell,
        "slow",
        &guest(
            "",
            "",
            "(local $i i32) (loop $on (local.set $i (i32.add (local.get $i) (i32.const 1))) (br_if $on (i32.lt_u (local.get $i) (i32.const 300000000)))) (call $answer (local.get $out) (local.get $req) (local.get $len)) (i32.const 0)",
        ),
        &["--tenant", "one"],
    );
    let (one, two) = (token(&shell, "one", &[]), token(&shell, "two", &[]));
    let server = Server::start(&shell, &[]);
    let ask = |token: &str, path: &str, key: &str, body: &str| {
        let bearer = format!("Bearer {token}");
        server.ask("POST", path, &[("authorization", &bearer), ("idempotency-key", key)], body.as_bytes())
    };
    let id = |answer: &Answer| shown(answer)["context"]["request_id"].as_str().unwrap().to_owned();
    let first = ask(&one, "/x/shows/", "k1", "body");
    let again = ask(&one, "/x/shows/", "k1", "body");
    assert_eq!((id(&first), first.header("idempotency-replayed")), (id(&again), None));
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    for (token, path) in [(&two, "/x/shows/"), (&one, "/x/again/")] {
        assert_ne!(id(&ask(token, path, "k1", "body")), id(&first), "{path}");
    }
    assert_ne!(id(&ask(&one, "/x/shows/", "k2", "body")), id(&first));
    for (path, body) in [("/x/shows/", "other"), ("/x/shows/?q", "body")] {
        let other = ask(&one, path, "k1", body);
        assert_eq!((other.status, other.code().as_str()), (422, "idempotency_mismatch"), "{path} {body}");
    }
    assert_eq!(ask(&one, "/x/shows/", &"k".repeat(256), "").code(), "bad_idempotency_key");
    // Those who ask at the same time wait for the one that runs.
    let all: Vec<Answer> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..6).map(|_| scope.spawn(|| ask(&one, "/x/slow/", "k3", ""))).collect();
        asked.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert!(all.iter().all(|it| it.status == all[0].status && it.body == all[0].body), "{all:?}");
    assert_eq!(all.iter().filter(|it| it.header("idempotency-replayed").is_none()).count(), 1);
}

#[test]
fn what_a_guest_says_is_kept_under_its_key_whatever_its_status_and_what_never_ran_is_not() {
    let shell = Shell::new();
    for status in ["429", "503"] {
        let said = format!(r#"{{"status":{status},"body_b64":""}}"#);
        install(&shell, &format!("s{status}"), &answers(&said), &[]);
    }
    let server = Server::start(&shell, &["--calls-per-minute", "2"]);
    let ask = |server: &Server, path: &str, key: &str, body: &str| {
        server.ask("POST", path, &[("idempotency-key", key)], body.as_bytes())
    };
    for status in [429, 503] {
        let path = format!("/x/s{status}/");
        let (first, again) = (ask(&server, &path, "k", ""), ask(&server, &path, "k", ""));
        assert_eq!((first.status, again.status), (status, status));
        assert_eq!(
            (first.header("idempotency-replayed"), again.header("idempotency-replayed")),
            (None, Some("true"))
        );
    }
    // The gate has no more calls to give: no guest was asked, under either spelling.
    let envelope = r#"{"context":{"extension_id":"s503"}}"#;
    for _ in 0..3 {
        let (direct, enveloped) =
            (ask(&server, "/x/s429/", "later", ""), ask(&server, "/v1/execute", "then", envelope));
        assert_eq!((direct.code().as_str(), direct.header("idempotency-replayed")), ("rate_limited", None));
        assert_eq!(enveloped.json()["error"]["code"], "rate_limited", "{enveloped:?}");
        assert_eq!(enveloped.header("idempotency-replayed"), None);
    }
}

#[test]
fn beyond_loopback_it_listens_with_a_token_and_tls_only() {
    let shell = Shell::new();
    let said = shell.run(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(said.status, 1);
    insta::assert_snapshot!(said.stderr, @"drydock: error: 0.0.0.0:0 is not loopback, and there is no token; make one with `drydock token add TENANT` first");
    token(&shell, "acme", &[]);
    let said = shell.run(&["serve", "--listen", "0.0.0.0:0"]);
    insta::assert_snapshot!(said.stderr, @"drydock: error: 0.0.0.0:0 is not loopback, and tokens would be sent in the clear; give --tls-cert and --tls-key, or say --behind-proxy where TLS ends in front of this server");
    let bad = shell.file("bad.pem", "no pem");
    let said = shell.run(&["serve", "--listen", "0", "--tls-cert", &bad, "--tls-key", &bad]);
    assert!(
        said.stderr.contains("the certificate is no PEM file with at least one certificate"),
        "{}",
        said.stderr
    );
}

#[test]
fn a_web_page_cannot_drive_a_server_on_loopback() {
    let shell = Shell::new();
    install(
        &shell,
        "page",
        &answers(r#"{"status":200,"headers":{"content-type":"text/html"},"body_b64":"PGI+"}"#),
        &[],
    );
    let server = Server::start(&shell, &["--host-name", "dock.test"]);
    let here = format!("127.0.0.1:{}", server.port);
    let origin = format!("http://{here}");
    for (headers, status, code) in [
        (vec![("host", "evil.test")], 421, "unknown_host"),
        (vec![("host", here.as_str()), ("origin", "http://evil.test")], 403, "cross_origin"),
        (vec![("host", here.as_str()), ("origin", "null")], 403, "cross_origin"),
        (vec![("host", here.as_str()), ("sec-fetch-site", "cross-site")], 403, "cross_origin"),
        (vec![("host", here.as_str()), ("origin", origin.as_str())], 200, ""),
        (vec![("host", "dock.test")], 200, ""),
        (vec![("host", "localhost")], 200, ""),
    ] {
        for (method, path) in [("GET", "/v1/workspaces"), ("GET", "/x/page/"), ("GET", "/healthz")] {
            let answer = server.ask(method, path, &headers, b"");
            assert_eq!((answer.status, answer.code().as_str()), (status, code), "{headers:?} {path}");
        }
    }
    // Scripts of an extension's page are of no origin, so they are refused as above.
    assert_eq!(
        server.get("/x/page/").header("content-security-policy"),
        Some("sandbox allow-forms allow-scripts")
    );
}
