//! Handlers in JavaScript: the same gate, limits, envelope and log as those of WebAssembly, and `fetch` by the same grants.
#![allow(clippy::unwrap_used)]

mod runner_room;
mod web_room;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use drydock_embed::{
    DockSession, DockSettings, ExtensionCode, HANDLER_LIMITS, InstallationSettings, Network, Setup,
    contract::{LogLevel, Timestamp},
    egress::{QuotaLimits, Rules},
    extension::runner::{FailureKind, Invoked},
};
use runner_room::{Room, kind, message, room, room_with};
use serde_json::{Value, json};
use web_room::{local, serve, serving};

async fn run(room: &Room, script: &str, request: &str) -> Invoked {
    run_in(room, &room.session, script, request).await
}

async fn run_in(room: &Room, session: &DockSession, script: &str, request: &str) -> Invoked {
    let script = room.dock.hand_over_script(script).await;
    room.dock.invoke(session, &script, "guest", request.to_owned()).await
}

fn body(invoked: &Invoked) -> String {
    let text = invoked.envelope.body_b64.as_deref().unwrap_or_default();
    String::from_utf8(STANDARD.decode(text).unwrap()).unwrap()
}

#[tokio::test]
async fn a_script_is_shown_the_request_of_the_abi_and_what_is_made_of_it() {
    let script = "function handler(request) { return { body: { ...request, text: request.text(), bytes: [...request.bytes()] } }; }";
    let sent = r#"{"context":{"request_id":"r1"},"http":{"method":"POST","path":"/p","query":{"q":"1"},"headers":{"h":"é"},"body_b64":"w6k="},"limits":{"memory_mb":32,"timeout_ms":3000}}"#;
    let invoked = run(&room(), script, sent).await;
    assert_eq!(kind(&invoked), None, "{}", message(&invoked));
    assert_eq!(invoked.envelope.headers["content-type"], "application/json");
    let shown: Value = serde_json::from_str(&body(&invoked)).unwrap();
    assert_eq!(shown["context"]["limits"], json!({ "timeout_ms": 3000, "memory_mb": 32, "fuel": null }));
    assert_eq!(
        (&shown["context"]["request_id"], &shown["context"]["version_id"]),
        (&json!("r1"), &Value::Null)
    );
    assert_eq!((&shown["method"], &shown["http"]["body_b64"]), (&json!("POST"), &json!("w6k=")));
    assert_eq!((&shown["text"], &shown["bytes"]), (&json!("é"), &json!([0xc3, 0xa9])));
    assert_eq!((&shown["query"]["q"], &shown["headers"]["h"]), (&json!("1"), &json!("é")));
}

#[tokio::test]
async fn what_a_script_answers_is_a_response_a_body_or_malformed() {
    let room = room();
    for (answer, status, want) in [
        (r#"{status: 201, headers: {a: "b"}, body_b64: "aGk="}"#, 201, "hi"),
        (r#"{status: 204}"#, 204, ""),
        (r#"{body: "text"}"#, 200, "text"),
        (r#"{status: 404, body: {n: 1}}"#, 404, r#"{"n":1}"#),
        (r#"{body: new Uint8Array([104, 105])}"#, 200, "hi"),
        (r#"{body: null}"#, 200, ""),
        (r#"new Response("made", {status: 418})"#, 418, "made"),
        (r#"Response.json({n: 1})"#, 200, r#"{"n":1}"#),
        (r#""plain""#, 200, "plain"),
        (r#"[1, 2]"#, 200, "[1,2]"),
        ("7", 200, "7"),
        (r#"new TextEncoder().encode("é").buffer"#, 200, "é"),
        ("undefined", 200, ""),
        (r#"Promise.resolve({status: 202})"#, 202, ""),
    ] {
        let invoked = run(&room, &format!("function handler() {{ return {answer}; }}"), "{}").await;
        assert_eq!(
            (kind(&invoked), invoked.envelope.status),
            (None, status),
            "{answer}: {}",
            message(&invoked)
        );
        assert_eq!(body(&invoked), want, "{answer}");
    }
    for bad in [
        "{}",
        "{ok: true}",
        "{status: 70000}",
        "{status: 200, headers: {a: 1}}",
        "{status: 200, body_b64: '%'}",
    ] {
        let invoked = run(&room, &format!("const handler = () => ({bad});"), "{}").await;
        assert_eq!((kind(&invoked), invoked.envelope.status), (Some(FailureKind::Abi), 500), "{bad}");
        assert!(message(&invoked).contains("malformed response"), "{bad}: {}", message(&invoked));
    }
    let cookies = "function handler() { const r = new Response('x'); r.headers.append('set-cookie', 'a'); r.headers.append('set-cookie', 'b'); return r; }";
    let invoked = run(&room, cookies, "{}").await;
    let sent = invoked.envelope.headers_all.unwrap();
    let cookies: Vec<_> = sent.iter().filter(|it| it.0 == "set-cookie").map(|it| it.1.as_str()).collect();
    assert_eq!(cookies, ["a", "b"]);
}

#[tokio::test]
async fn how_a_script_fails_is_told_as_of_any_other_handler_and_the_next_call_is_fine() {
    let room = room();
    // What loops has little time, and everything else plenty.
    let request = |is_loop: bool| {
        format!(r#"{{"limits":{{"timeout_ms":{},"memory_mb":16}}}}"#, if is_loop { 400 } else { 30_000 })
    };
    for (script, want, words) in [
        ("let x = ;", FailureKind::Link, "no JavaScript"),
        ("// nothing\n\nfunction handler() { return }\n}", FailureKind::Link, "(line 4)"),
        ("const answer = 1;", FailureKind::Abi, "no function `handler`"),
        ("const handler = {};", FailureKind::Abi, "no function `handler`"),
        ("function handler() {}\nreturn 7;", FailureKind::Abi, "returned before its handler"),
        ("function handler() {\n  throw new Error('broken');\n}", FailureKind::Trap, "broken (line 2)"),
        ("function handler() { return f(); } function f() { return f() + 1; }", FailureKind::Trap, "stack"),
        ("throw new Error('at once');", FailureKind::Trap, "at once"),
        ("function handler() { for (;;); }", FailureKind::Timeout, "longer"),
        ("for (;;);", FailureKind::Timeout, "longer"),
        ("function handler() { return new Promise(() => {}); }", FailureKind::Timeout, "longer"),
        (
            "function handler() { const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1)); }",
            FailureKind::Memory,
            "memory",
        ),
        ("import { x } from './other.js'; function handler() {}", FailureKind::Trap, "files.read"),
        ("function handler() { return 'x'.repeat((10 << 20) + 1); }", FailureKind::Memory, "memory"),
    ] {
        let invoked = run(&room, script, &request(want == FailureKind::Timeout)).await;
        assert_eq!(
            (kind(&invoked), invoked.envelope.status),
            (Some(want), 500),
            "{script}: {}",
            message(&invoked)
        );
        assert!(message(&invoked).contains(words), "{script}: {}", message(&invoked));
        let next = run(&room, "function handler() { return 'fine'; }", &request(false)).await;
        assert_eq!(body(&next), "fine");
    }
    let huge = "function handler() { return {status: 200, body_b64: 'AAAA'.repeat((10 << 20) / 4)}; }";
    let invoked = run(&room, huge, r#"{"limits":{"memory_mb":256,"timeout_ms":20000}}"#).await;
    assert_eq!(kind(&invoked), Some(FailureKind::TooLarge), "{}", message(&invoked));
    let burns = run(&room, "function handler() { for (;;); }", r#"{"limits":{"fuel":100000000}}"#).await;
    assert_eq!(kind(&burns), Some(FailureKind::Timeout), "{}", message(&burns));
    assert!(message(&burns).contains("fuel"), "{}", message(&burns));
}

#[tokio::test]
async fn a_script_logs_with_levels_and_is_bounded_as_any_other() {
    let room = room();
    let script = "log.info('top', {n: 1}); function handler() { log.error('bad'); console.warn('w'); console.log('\\u0000é'); }";
    let log = run(&room, script, "{}").await.log;
    let told: Vec<_> = log.iter().map(|it| (it.level, it.text.as_str())).collect();
    let (info, error) = (LogLevel::Info, LogLevel::Error);
    assert_eq!(told, [(info, r#"top {"n":1}"#), (error, "bad"), (error, "w"), (info, "\0é")]);
    let many =
        "function handler() { for (let at = 0; at < 500; at++) log.info(at); log.error('x'.repeat(99999)); }";
    let log = run(&room, many, "{}").await.log;
    assert_eq!((log.len(), log[199].text.as_str()), (201, "199"));
    assert!(log[200].text.starts_with("[more than 200 lines"), "{}", log[200].text);
}

#[tokio::test]
async fn a_script_fetches_what_was_granted_as_often_as_any_other_and_nothing_else() {
    let (egress, dialled) = local(QuotaLimits::default());
    let room = room_with(DockSettings { egress: Some(egress), ..DockSettings::default() });
    let server = serving("201 Created", "x-a: b\r\n", "fetched");
    let rules = Rules::parse(&[], &[], &[server.address.to_string()]).unwrap();
    let network = Network { rules, injected: Vec::new() };
    let session = room.dock.session("me", Setup { network, ..Setup::instances(HANDLER_LIMITS) }).unwrap();
    let script = "async function handler({query}) {
        const found = await fetch(query.from, {method: 'POST', body: 'hi'});
        return {status: found.status, body: await found.text() + found.headers.get('x-a')}; }";
    let ask = |url: &str| json!({ "http": { "query": { "from": url } } }).to_string();
    let invoked = run_in(&room, &session, script, &ask(&server.url("/ok"))).await;
    assert_eq!(
        (invoked.envelope.status, body(&invoked).as_str()),
        (201, "fetchedb"),
        "{}",
        message(&invoked)
    );
    assert!(server.heads()[0].starts_with("POST /ok ") && server.heads()[0].ends_with("hi"));
    let denied = run_in(&room, &session, script, &ask("http://notallowed.test/")).await;
    assert_eq!(kind(&denied), Some(FailureKind::Trap));
    assert!(message(&denied).contains("--allow-host notallowed.test"), "{}", message(&denied));
    assert_eq!(dialled.to.lock().unwrap().len(), 1);
    let often = "async function handler({query}) { let at = 0;
        try { for (; at < 40; at++) await fetch(query.from); } catch (error) { return `${at} ${error.cause.kind}`; } }";
    let invoked = run_in(&room, &session, often, &ask(&server.url("/"))).await;
    assert!(body(&invoked).starts_with("32 "), "{}", body(&invoked));
    let silent = serve(|_, _| std::thread::sleep(std::time::Duration::from_secs(20)));
    let rules = Rules::parse(&[], &[], &[silent.address.to_string()]).unwrap();
    let network = Network { rules, injected: Vec::new() };
    let slow = room.dock.session("me", Setup { network, ..Setup::instances(HANDLER_LIMITS) }).unwrap();
    let request =
        json!({ "http": { "query": { "from": silent.url("/") } }, "limits": { "timeout_ms": 300 } });
    let invoked = run_in(&room, &slow, script, &request.to_string()).await;
    assert_eq!(kind(&invoked), Some(FailureKind::Timeout), "{}", message(&invoked));
}

#[tokio::test]
async fn only_a_script_with_a_handler_is_installed_and_bytes_are_no_way_to_one() {
    let room = room();
    let install = async |code: ExtensionCode| {
        let settings = InstallationSettings::default();
        room.dock.install_extension("shop".parse().unwrap(), code, settings, Timestamp(0)).await
    };
    let script = |text: &str| ExtensionCode::Script(text.to_owned());
    let made = install(script("function handler() { return 'installed'; }")).await.unwrap();
    let installed = room.dock.installed(made).await.unwrap();
    let session = room.dock.extension_session("me", &installed, Setup::default()).unwrap();
    let invoked = room.dock.invoke(&session, &installed.module, "shop", "{}").await;
    assert_eq!(body(&invoked), "installed", "{}", message(&invoked));
    for (text, code) in [
        ("const x = 1;", "bad_exports"),
        ("function handler( {", "bad_module"),
        ("throw 1; function handler() {}", "bad_module"),
        ("await fetch('http://a.test/'); function handler() {}", "bad_module"),
        (&"x".repeat((4 << 20) + 1), "bad_module"),
    ] {
        let refused = install(script(text)).await.unwrap_err();
        assert_eq!(refused.code(), code, "{}: {refused:?}", &text[..text.len().min(60)]);
    }
    let bytes = bytes::Bytes::from_static(b"\0js\nfunction handler() {}");
    assert_eq!(
        install(bytes.into()).await.unwrap_err().code(),
        "bad_module",
        "it does not begin with \\0asm"
    );
}
