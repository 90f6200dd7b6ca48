//! What a collector of OpenTelemetry is told of a server's requests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{
    Shell,
    server::{Server, guest, install, shows, token},
    web::{Server as Collector, answer, serve},
};
use drydock_embed::{
    Dock, DockSettings, HANDLER_LIMITS, Network, Setup, WorkerProgram,
    egress::{InjectedHeader, Rules, Secret, Secrets},
};
use drydock_serve::Telemetry;
use serde_json::{Value, json};
use tracing::instrument::WithSubscriber as _;
use tracing_subscriber::layer::SubscriberExt as _;

/// A collector that takes whatever it is sent.
fn collector() -> Collector {
    serve(|_, to| answer(to, "200 OK", "content-type: application/json\r\n", "{}"))
}

/// All spans that were sent to it.
fn spans(collector: &Collector) -> Vec<Value> {
    let mut all = Vec::new();
    for message in collector.heads() {
        let (head, body) = message.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /v1/traces HTTP/1.1"), "{head}");
        let body: Value = serde_json::from_str(body).unwrap();
        for resource in body["resourceSpans"].as_array().unwrap() {
            assert_eq!(text(&resource["resource"], "service.name"), "drydock");
            for scope in resource["scopeSpans"].as_array().unwrap() {
                all.extend(scope["spans"].as_array().unwrap().iter().cloned());
            }
        }
    }
    all
}

/// An attribute, whatever its type.
fn text(span: &Value, name: &str) -> String {
    let all = span["attributes"].as_array().unwrap();
    let found = all.iter().find(|it| it["key"] == name).unwrap_or_else(|| panic!("no {name}: {span}"));
    let (_, value) = found["value"].as_object().unwrap().iter().next().unwrap();
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn named<'a>(spans: &'a [Value], name: &str) -> Vec<&'a Value> {
    spans.iter().filter(|it| it["name"] == name).collect()
}

#[test]
fn a_request_is_told_from_http_through_the_gate_to_the_engine_and_says_nothing_that_was_sent() {
    let collector = collector();
    let shell = Shell::new();
    install(&shell, "shows", &shows(), &["--tenant", "acme"]);
    let logs = guest(
        r#"(import "alga" "log_info" (func $info (param i32 i32)))"#,
        r#"(data (i32.const 16) "canary-of-the-log")"#,
        "(call $info (i32.const 16) (i32.const 17)) (i32.const 3)",
    );
    install(&shell, "logs", &logs, &["--tenant", "acme"]);
    let acme = token(&shell, "acme", &[]);
    let mut server = Server::start(&shell, &["--otlp", &collector.url("/")]);
    let bearer = format!("Bearer {acme}");
    let asked = server.ask(
        "POST",
        "/x/shows/canary-of-the-path?canary-of-the-query",
        &[("authorization", &bearer), ("x-request-id", "r42"), ("x-canary", "canary-of-a-header")],
        b"canary-of-the-body",
    );
    assert_eq!((asked.status, asked.header("x-request-id")), (200, Some("r42")));
    assert_eq!(server.ask_as(&acme, "GET", "/x/logs/", b"").status, 500);
    assert_eq!(server.ask_as(&acme, "GET", "/x/none/", b"").status, 404);
    server.signal("-TERM");
    assert_eq!(server.wait(), 0, "what is left is sent before it ends");

    let all = spans(&collector);
    let requests = named(&all, "request");
    assert_eq!(requests.len(), 3, "{all:#?}");
    let request = requests.iter().find(|it| text(it, "request_id") == "r42").unwrap();
    for (name, value) in [
        ("http.request.method", "POST"),
        ("http.route", "/x/{extension}/{*path}"),
        ("http.response.status_code", "200"),
        ("tenant", "acme"),
        ("extension", "shows"),
    ] {
        assert_eq!(text(request, name), value);
    }
    assert_eq!((&request["kind"], request["parentSpanId"].as_str().unwrap_or_default()), (&2.into(), ""));
    let below = |parent: &Value, name: &str| {
        let all = named(&all, name);
        let mut found = all.into_iter().filter(|it| it["parentSpanId"] == parent["spanId"]);
        let one = found.next().unwrap_or_else(|| panic!("no {name} below {parent}")).clone();
        assert!(found.next().is_none());
        assert_eq!(one["traceId"], parent["traceId"]);
        one
    };
    let call = below(request, "call");
    for (name, value) in [("operation", "handler.invoke"), ("tenant", "acme"), ("result", "done")] {
        assert_eq!(text(&call, name), value);
    }
    assert!(text(&call, "principal").starts_with("http:"));
    let answer = below(&call, "answer");
    assert_eq!((text(&answer, "kind").as_str(), text(&answer, "outcome").as_str()), ("handler", "answered"));
    let failed = requests.iter().find(|it| text(it, "http.response.status_code") == "500").unwrap();
    assert_eq!(text(&below(&below(failed, "call"), "answer"), "outcome"), "execute_failed");
    let told = collector.heads().concat();
    let secret = acme.rsplit('_').next().unwrap();
    assert!(!told.contains("canary") && !told.contains(secret), "{told}");
}

/// A guest that fetches, and hands the answer on.
fn fetches(request: &Value) -> Vec<u8> {
    let text = request.to_string();
    let data: String = text.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    let import = r#"(import "alga" "http.fetch" (func $fetch (param i32 i32 i32) (result i32)))"#;
    let body = format!("(call $fetch (i32.const 1024) (i32.const {}) (local.get $out))", text.len());
    wat::parse_str(guest(import, &format!(r#"(data (i32.const 1024) "{data}")"#), &body)).unwrap()
}

/// Through the library: over HTTP no address of this machine can be opened, and tests ask no other.
#[test]
fn a_fetch_is_told_below_the_call_that_made_it_and_no_secret_is_in_any_span() {
    let canary = "canary-51f0c9d3a7e8b642";
    let (site, collector) = (serve(|_, to| answer(to, "200 OK", "", "hello")), collector());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let telemetry = Telemetry::to(&collector.url(""), runtime.handle().clone()).unwrap();
    let subscriber = tracing_subscriber::registry().with(telemetry.layer());

    let home = tempfile::tempdir().unwrap();
    let worker = Some(WorkerProgram::new(env!("CARGO_BIN_EXE_drydock"), ["compile-worker"]));
    let dock = Dock::open_with(home.path(), DockSettings { worker, ..DockSettings::default() }).unwrap();
    let mut secrets = Secrets::default();
    secrets.put("API", Secret::new(canary.into()).unwrap());
    let place = site.place();
    let injected = InjectedHeader::parse(&place, "Authorization: Bearer {{secret:API}}", &secrets).unwrap();
    let rules = Rules::parse(&[], &[], &[place.as_str()]).unwrap();
    let network = Network { rules, injected: vec![injected] };
    let session = dock.session("me", Setup { network, ..Setup::instances(HANDLER_LIMITS) }).unwrap();
    let request =
        json!({ "url": site.url("/canary-path?canary-query"), "headers": { "x": "canary-header" } });
    let invoked = runtime.block_on(async {
        let module = dock.hand_over(fetches(&request)).await;
        dock.invoke(&session, &module, "shop", "{}").with_subscriber(subscriber).await
    });
    assert_eq!((invoked.envelope.status, invoked.envelope.body_b64.as_deref()), (200, Some("aGVsbG8=")));
    assert!(site.last().contains(&format!("authorization: Bearer {canary}\r\n")));
    telemetry.end();

    let all = spans(&collector);
    let below = |parent: &Value, name: &str| {
        let is_it = |it: &&&Value| it["parentSpanId"] == parent["spanId"];
        (*named(&all, name)
            .iter()
            .find(is_it)
            .unwrap_or_else(|| panic!("no {name} below {parent}: {all:#?}")))
        .clone()
    };
    let calls = named(&all, "call");
    let invoke = calls.iter().find(|it| it["parentSpanId"].as_str().unwrap_or_default().is_empty()).unwrap();
    assert_eq!(text(invoke, "operation"), "handler.invoke");
    let call = below(&below(invoke, "answer"), "call");
    assert_eq!((text(&call, "operation").as_str(), text(&call, "result").as_str()), ("http.fetch", "done"));
    let fetch = below(&call, "fetch");
    for (name, value) in [
        ("scheme", "http".to_owned()),
        ("host", "127.0.0.1".to_owned()),
        ("port", site.address.port().to_string()),
        ("status", "200".to_owned()),
        ("result", "answered".to_owned()),
    ] {
        assert_eq!(text(&fetch, name), value);
    }
    assert_eq!(named(&all, "fetch").len(), 1, "sending spans makes none");
    assert!(!collector.heads().concat().contains("canary"));
}

#[test]
fn a_collector_that_takes_nothing_costs_spans_and_no_request() {
    let refuses = serve(|_, to| answer(to, "503 Service Unavailable", "", ""));
    let shell = Shell::new();
    install(&shell, "shows", &shows(), &[]);
    let server = Server::start(&shell, &["--otlp", &refuses.url("")]);
    for _ in 0..20 {
        assert_eq!(server.get("/x/shows/").status, 200);
    }
    let said = shell.run(&["serve", "--listen", "0", "--otlp", "ftp://127.0.0.1"]);
    assert_eq!(said.status, 1);
    insta::assert_snapshot!(said.stderr, @"drydock: error: `ftp://127.0.0.1` is no place for spans: the scheme `ftp` is not fetched: use http or https");
}
