//! `http.fetch` of the Runner ABI, from the guest's memory to a server on loopback and back.
#![allow(clippy::unwrap_used)]

mod runner_room;
mod web_room;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use drydock_embed::{
    DockSession, DockSettings, HANDLER_LIMITS, Network, Setup,
    egress::{InjectedHeader, QuotaLimits, Rules, Secret, Secrets},
    extension::runner::{FailureKind, Invoked},
    gate::DenialLog,
    store::{Filter, read_audit},
};
use runner_room::{Room, guest, kind, message, room_with};
use serde_json::{Value, json};
use web_room::{Dialled, Server, local, serve, serving};

struct Net {
    room: Room,
    dialled: Arc<Dialled>,
}

fn net() -> Net {
    net_with(QuotaLimits::default())
}

fn net_with(quota: QuotaLimits) -> Net {
    let (egress, dialled) = local(quota);
    let room = room_with(DockSettings { egress: Some(egress), ..DockSettings::default() });
    Net { room, dialled }
}

impl Net {
    fn session(&self, hosts: &[String], privates: &[String]) -> DockSession {
        let rules = Rules::parse(hosts, &[], privates).unwrap();
        self.session_of(Network { rules, injected: Vec::new() })
    }

    fn session_of(&self, network: Network) -> DockSession {
        self.room.dock.session("me", Setup { network, ..Setup::instances(HANDLER_LIMITS) }).unwrap()
    }

    /// A session that may ask this server, and `allowed.test` on its port.
    fn session_for(&self, server: &Server) -> DockSession {
        let port = server.address.port();
        self.session(&[format!("allowed.test:{port}")], &[server.address.to_string()])
    }

    async fn fetch(&self, session: &DockSession, request: &Value) -> Invoked {
        self.fetch_as(session, "alga\" \"http.fetch", request, "{}").await
    }

    async fn fetch_as(&self, session: &DockSession, import: &str, request: &Value, invoke: &str) -> Invoked {
        let module = wat::parse_str(fetches(import, &request.to_string(), 1)).unwrap();
        self.room.invoke_in(session, &module, invoke).await
    }
}

/// Fetches so often, and hands the last answer on; where there is none, its handler answers the code.
fn fetches(import: &str, request: &str, times: u32) -> String {
    let data: String = request.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    guest(
        &format!(r#"(import "{import}" (func $fetch (param i32 i32 i32) (result i32)))"#),
        &format!(r#"(data (i32.const 1024) "{data}")"#),
        &format!(
            r#"(local.set $len (i32.const {times}))
               (loop $again
                 (local.set $i (call $fetch (i32.const 1024) (i32.const {}) (local.get $out)))
                 (if (local.get $i) (then (return (local.get $i))))
                 (br_if $again (local.tee $len (i32.sub (local.get $len) (i32.const 1)))))
               (local.get $i)"#,
            request.len()
        ),
    )
}

fn body(invoked: &Invoked) -> String {
    let text = invoked.envelope.body_b64.as_deref().unwrap_or_default();
    String::from_utf8(STANDARD.decode(text).unwrap()).unwrap()
}

/// The code that the guest's handler was answered.
fn code(invoked: &Invoked) -> String {
    let error = invoked.envelope.error.as_ref().unwrap();
    serde_json::to_string(&error.code).unwrap()
}

#[tokio::test]
async fn a14_a15_an_allowed_fetch_arrives_whole_and_its_answer_is_placed_by_the_guests_alloc() {
    let (net, server) = (net(), serving("201 Created", "set-cookie: a=1\r\nset-cookie: b=2\r\n", "fetched"));
    let session = net.session_for(&server);
    for import in ["alga\" \"http.fetch", "alga\" \"http_fetch", "alga.http\" \"fetch"] {
        let invoked = net.fetch_as(&session, import, &json!({ "url": server.url("/ok") }), "{}").await;
        assert_eq!((invoked.envelope.status, body(&invoked).as_str()), (201, "fetched"), "{import}");
        assert_eq!(invoked.envelope.headers["set-cookie"], "a=1, b=2");
    }
    let url = format!("http://Allowed.TEST:{}/p?q=1#f", server.address.port());
    let request = json!({ "url": url, "method": "POST", "headers": { "x-a": "1", "host": "evil.test" },
        "body_b64": STANDARD.encode(b"hello") });
    let invoked = net.fetch(&session, &request).await;
    assert_eq!(invoked.envelope.status, 201);
    let heads = server.heads();
    assert!(
        heads[0].starts_with("GET /ok HTTP/1.1\r\n"),
        "the method is GET unless it is said: {}",
        heads[0]
    );
    let sent = heads.last().unwrap();
    assert!(sent.starts_with("POST /p?q=1 HTTP/1.1\r\n") && sent.ends_with("hello"), "{sent}");
    assert!(sent.contains("x-a: 1\r\n"), "{sent}");
    assert!(sent.contains(&format!("host: allowed.test:{}\r\n", server.address.port())), "{sent}");
}

#[tokio::test]
async fn a14_every_failure_is_a_return_code_and_only_a_breach_of_memory_traps() {
    let (net, server) = (net(), serving("200 OK", "", "x"));
    let session = net.session_for(&server);
    let closed = "http://127.0.0.1:9/";
    let shut = net.session(&[], &["127.0.0.1:9".to_owned()]);
    let large = serve(|_, to| {
        let _ = to.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n");
    });
    let silent = serve(|_, _| std::thread::sleep(Duration::from_secs(5)));
    for (session, request, want) in [
        (&session, json!({ "url": "http://notallowed.test/" }), "1"),
        (&session, json!({ "url": format!("http://u@127.0.0.1:{}/", server.address.port()) }), "1"),
        (&session, json!({ "url": "ftp://allowed.test/" }), "1"),
        (&session, json!({ "url": server.url("/"), "method": "CONNECT" }), "1"),
        (&session, json!({ "method": "GET" }), "2"),
        (&session, json!({ "url": "http://" }), "2"),
        (&session, json!({ "url": server.url("/"), "body_b64": "%" }), "2"),
        (&session, json!({ "url": server.url("/"), "headers": { "a b": "1" } }), "2"),
        (&session, json!([]), "2"),
        (&shut, json!({ "url": closed }), "3"),
        (&net.session_for(&large), json!({ "url": large.url("/") }), "4"),
        (&net.session_for(&silent), json!({ "url": silent.url("/"), "timeout_ms": 50 }), "5"),
    ] {
        let invoked = net.fetch(session, &request).await;
        assert_eq!((kind(&invoked), code(&invoked).as_str()), (Some(FailureKind::App), want), "{request}");
    }
    let before = server.heads().len();
    let request = json!({ "url": server.url("/") }).to_string();
    let far =
        fetches("alga\" \"http.fetch", &request, 1).replace("(local.get $out)))\n", "(i32.const -4)))\n");
    let invoked = net.room.invoke_in(&session, &wat::parse_str(far).unwrap(), "{}").await;
    assert_eq!(kind(&invoked), Some(FailureKind::Trap), "{}", message(&invoked));
    assert_eq!(server.heads().len(), before, "nothing is sent for a tuple that is not there");
    let nowhere = fetches("alga\" \"http.fetch", &request, 1).replace(
        "(local.set $at (global.get $next))",
        "(local.set $at (select (i32.const -9) (global.get $next) (i32.gt_u (local.get $n) (i32.const 40))))",
    );
    let invoked = net.room.invoke_in(&session, &wat::parse_str(nowhere).unwrap(), "{}").await;
    assert!(message(&invoked).contains("not in the guest's memory") || message(&invoked).contains("alloc"));
}

#[tokio::test]
async fn a16_a_list_admits_a_host_and_what_is_below_it_and_nothing_is_sent_to_others() {
    let (net, server) = (net(), serving("200 OK", "", "fetched"));
    let port = server.address.port();
    let session = net.session(&[format!("x.com:{port}")], &[server.address.to_string()]);
    let log = Arc::new(DenialLog::default());
    let setup = Setup { denials: Some(Arc::clone(&log)), ..Setup::instances(HANDLER_LIMITS) };
    for host in ["x.com", "api.x.com", "API.X.COM."] {
        let invoked = net.fetch(&session, &json!({ "url": format!("http://{host}:{port}/") })).await;
        assert_eq!(body(&invoked), "fetched", "{host}");
    }
    let before = net.dialled.to.lock().unwrap().len();
    for host in ["notx.com", "x.com.evil.net", "user@x.com", "x.com@evil.net", "evil.net/x.com"] {
        let invoked = net.fetch(&session, &json!({ "url": format!("http://{host}:{port}/") })).await;
        assert!(["1", "2"].contains(&code(&invoked).as_str()), "{host}");
    }
    let none = net.room.dock.session("me", setup).unwrap();
    assert_eq!(code(&net.fetch(&none, &json!({ "url": server.url("/") })).await), "1", "no list, no host");
    assert_eq!(net.dialled.to.lock().unwrap().len(), before);
    let denied = log.take().remove(0);
    assert_eq!(denied.flag.unwrap(), format!("--allow-private {}", server.address));
}

#[tokio::test]
async fn a16_redirects_are_shown_and_not_followed() {
    let (net, server) = (net(), serving("302 Found", "location: http://169.254.169.254/latest\r\n", ""));
    let invoked = net.fetch(&net.session_for(&server), &json!({ "url": server.url("/") })).await;
    assert_eq!(invoked.envelope.status, 302);
    assert_eq!(invoked.envelope.headers["location"], "http://169.254.169.254/latest");
    assert_eq!(net.dialled.to.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a17_two_slow_fetches_in_two_calls_overlap() {
    let net = net();
    // Answers nobody before both have asked.
    let waiting = Arc::new(std::sync::Barrier::new(2));
    let server = serve(move |_, to| {
        waiting.wait();
        to.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").unwrap();
    });
    let (session, request) = (net.session_for(&server), json!({ "url": server.url("/") }));
    let (one, two) = tokio::join!(net.fetch(&session, &request), net.fetch(&session, &request));
    assert_eq!((body(&one).as_str(), body(&two).as_str()), ("ok", "ok"));
}

#[tokio::test]
async fn a18_the_deadline_of_a_call_covers_its_fetches() {
    let net = net();
    let server = serve(|_, _| std::thread::sleep(Duration::from_secs(20)));
    let began = Instant::now();
    let request = json!({ "url": server.url("/") });
    let limits = r#"{"limits":{"timeout_ms":300}}"#;
    let session = net.session_for(&server);
    let invoked = net.fetch_as(&session, "alga\" \"http.fetch", &request, limits).await;
    assert_eq!(kind(&invoked), Some(FailureKind::Timeout), "{}", message(&invoked));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a20_bodies_of_fetches_have_caps_and_one_call_makes_32_of_them() {
    let net = net();
    let server = serving("200 OK", "", "fetched");
    let session = net.session_for(&server);
    let module = |times| {
        let request = json!({ "url": server.url("/") }).to_string();
        wat::parse_str(fetches("alga\" \"http.fetch", &request, times)).unwrap()
    };
    let invoked = net.room.invoke_in(&session, &module(32), "{}").await;
    assert_eq!(body(&invoked), "fetched", "{}", message(&invoked));
    let invoked = net.room.invoke_in(&session, &module(33), "{}").await;
    assert_eq!((code(&invoked).as_str(), server.heads().len()), ("6", 64));
    let exact = serve(|head, to| {
        let bytes = if head.contains("/over") { 10 << 20 | 1 } else { 10 << 20 };
        let _ = to.write_all(format!("HTTP/1.1 200 OK\r\ncontent-length: {bytes}\r\n\r\n").as_bytes());
        let _ = to.write_all(&vec![b'x'; bytes]);
    });
    let session = net.session_for(&exact);
    let asked = r#"{"limits":{"memory_mb":64}}"#;
    for (path, want) in [("/at", FailureKind::TooLarge), ("/over", FailureKind::App)] {
        let request = json!({ "url": exact.url(path) });
        let invoked = net.fetch_as(&session, "alga\" \"http.fetch", &request, asked).await;
        // At the cap the fetch passes, and what the guest hands on of it is larger than an answer may be.
        assert_eq!(kind(&invoked), Some(want), "{path}: {}", message(&invoked));
    }
}

#[tokio::test]
async fn a_principal_has_quotas_and_what_exceeds_them_is_code_6() {
    let quota = QuotaLimits { requests_max: 2, ..QuotaLimits::default() };
    let (net, server) = (net_with(quota), serving("200 OK", "", "x"));
    let (session, request) = (net.session_for(&server), json!({ "url": server.url("/") }));
    for _ in 0..2 {
        assert_eq!(body(&net.fetch(&session, &request).await), "x");
    }
    assert_eq!(code(&net.fetch(&session, &request).await), "6");
    assert_eq!(server.heads().len(), 2);
}

#[tokio::test]
async fn a_fetch_is_on_record_with_host_address_status_and_bytes_and_nothing_else() {
    let (net, server) = (net(), serving("200 OK", "x-canary: answer-secret\r\n", "body-secret"));
    let request = json!({ "url": server.url("/path-secret?query-secret"), "headers": { "x": "header-secret" },
        "body_b64": STANDARD.encode("sent-secret"), "method": "PUT" });
    let invoked = net.fetch(&net.session_for(&server), &request).await;
    assert_eq!(body(&invoked), "body-secret");
    net.room.dock.gate().flush().unwrap();
    let home = net.room.dock.home().tenant(net.room.dock.tenant());
    let records: Vec<_> =
        read_audit(&home, Filter { denied_only: false, limit: None }).unwrap().map(Result::unwrap).collect();
    let ours: Vec<_> = records.iter().filter(|it| it.operation == "http.fetch").collect();
    assert_eq!(ours.len(), 2, "a beginning and an end");
    assert!(ours.iter().all(|it| it.subject == format!("private:{}", server.address)));
    let dialled: Vec<_> = records.iter().filter(|it| it.operation == "egress.dial").collect();
    let address = server.address.to_string();
    assert_eq!(dialled.len(), 1, "before it was dialled");
    assert_eq!((&dialled[0].subject, &dialled[0].more_subjects), (&address, &vec![address.clone()]));
    assert_eq!(dialled[0].call, ours[0].call);
    let attempt = &ours.iter().find(|it| !it.attempts.is_empty()).unwrap().attempts[0];
    assert_eq!((attempt.address.as_str(), attempt.status), (server.address.to_string().as_str(), Some(200)));
    assert_eq!((attempt.bytes_sent, attempt.bytes_received, attempt.code.as_str()), (11, 11, "ok"));
    assert!(!format!("{records:?}").contains("secret"), "{records:?}");
}

#[tokio::test]
async fn a_secret_goes_out_in_its_header_and_comes_back_redacted() {
    let canary = "canary-0123456789abcdef";
    let (net, server) = (
        net(),
        serve(|head, to| {
            let told = head.lines().find(|it| it.starts_with("authorization")).unwrap_or("none").to_owned();
            let text =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nx-echo: {told}\r\n\r\n{told}", told.len());
            to.write_all(text.as_bytes()).unwrap();
        }),
    );
    let mut secrets = Secrets::default();
    secrets.put("API", Secret::new(canary.into()).unwrap());
    let place = server.address.to_string();
    let injected = InjectedHeader::parse(&place, "Authorization: Bearer {{secret:API}}", &secrets).unwrap();
    let rules = Rules::parse(&[], &[], &[place]).unwrap();
    let session = net.session_of(Network { rules, injected: vec![injected] });
    let request = json!({ "url": server.url("/"), "headers": { "authorization": "Bearer guest" } });
    let invoked = net.fetch(&session, &request).await;
    assert!(
        server.heads()[0].contains(&format!("authorization: Bearer {canary}\r\n")),
        "{:?}",
        server.heads()
    );
    assert_eq!(body(&invoked), "authorization: Bearer [redacted]");
    assert_eq!(invoked.envelope.headers["x-echo"], "authorization: Bearer [redacted]");
}

/// Everything that is traced, at any level and of any crate: spans and events with all their fields.
#[derive(Clone, Default)]
struct Everything(std::sync::Arc<std::sync::Mutex<String>>);

struct Fields<'a>(&'a mut String);

impl tracing::field::Visit for Fields<'_> {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        self.0.push_str(&format!(" {field}={value:?}"));
    }
}

impl tracing::Subscriber for Everything {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        let mut told = self.0.lock().unwrap();
        told.push_str(&format!("\nspan {}", span.metadata().name()));
        span.record(&mut Fields(&mut told));
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, values: &tracing::span::Record<'_>) {
        values.record(&mut Fields(&mut self.0.lock().unwrap()));
    }

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut told = self.0.lock().unwrap();
        told.push_str("\nevent");
        event.record(&mut Fields(&mut told));
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn a_secret_is_in_no_span_and_no_event_and_neither_is_what_was_asked() {
    let canary = "canary-0123456789abcdef";
    let everything = Everything::default();
    // For the whole process: of several that come and go with their tests, `tracing` would ask only one. The others have
    // nothing to tell of either.
    tracing::subscriber::set_global_default(everything.clone()).unwrap();
    let (net, server) = (net(), serving("200 OK", "x-told: answer-words\r\n", "body-words"));
    let mut secrets = Secrets::default();
    secrets.put("API", Secret::new(canary.into()).unwrap());
    let place = server.address.to_string();
    let injected = InjectedHeader::parse(&place, "Authorization: Bearer {{secret:API}}", &secrets).unwrap();
    let rules = Rules::parse(&[], &[], &[place]).unwrap();
    let session = net.session_of(Network { rules, injected: vec![injected] });
    let request = json!({ "url": server.url("/path-words?query-words"), "headers": { "x": "header-words" } });
    assert_eq!(body(&net.fetch(&session, &request).await), "body-words");
    assert!(server.heads()[0].contains(canary), "it went out");
    let told = everything.0.lock().unwrap().clone();
    assert!(told.contains("caps/net"), "what is told is heard: {told}");
    for hidden in
        [canary, "canary", "path-words", "query-words", "header-words", "answer-words", "body-words"]
    {
        assert!(!told.contains(hidden), "{hidden}: {told}");
    }
}
