//! Requests with a key: done once, whichever route they ask, and refused where they are not the same or cannot be kept.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{
    Shell,
    server::{Answer, Server, guest, install, shown, shows, token},
};
use serde_json::{Value, json};

fn ask(server: &Server, path: &str, key: &str, body: &Value) -> Answer {
    let headers = [("idempotency-key", key), ("content-type", "application/json")];
    server.ask("POST", path, &headers, body.to_string().as_bytes())
}

fn is_replayed(answer: &Answer) -> bool {
    answer.header("idempotency-replayed") == Some("true")
}

#[test]
fn a_run_with_a_key_has_its_effect_once() {
    let shell = Shell::new();
    let server = Server::start(&shell, &[]);
    // What is counted says how often it ran.
    for (path, count, body) in [
        ("/v1/run", "a", json!({ "name": "kv", "args": ["incr", "a"] })),
        ("/v1/sh", "b", json!({ "script": "kv incr b" })),
        ("/v1/js", "c", json!({ "code": "await kv.increment({ key: 'c' })" })),
    ] {
        let first = ask(&server, path, "k", &body);
        assert_eq!((first.status, is_replayed(&first)), (200, false), "{path}: {first:?}");
        let again = ask(&server, path, "k", &body);
        assert_eq!((again.status, is_replayed(&again), &again.body), (200, true, &first.body), "{path}");
        assert_eq!(server.get(&format!("/v1/kv/{count}")).text(), "1", "{path}");
        let mut other = body.clone();
        other["timeout_ms"] = json!(9_000);
        let mismatch = ask(&server, path, "k", &other);
        assert_eq!((mismatch.status, mismatch.code().as_str()), (422, "idempotency_mismatch"), "{path}");
        assert_eq!(ask(&server, path, "k2", &body).status, 200);
        assert_eq!(server.get(&format!("/v1/kv/{count}")).text(), "2", "{path}");
    }
    // Python is not installed here, and that is an answer as any other.
    let body = json!({ "code": "1" });
    let (first, again) = (ask(&server, "/v1/py", "k", &body), ask(&server, "/v1/py", "k", &body));
    assert_eq!((is_replayed(&first), is_replayed(&again)), (false, true), "{first:?} {again:?}");
    assert_eq!((first.status, &first.body), (again.status, &again.body));
}

#[test]
fn keys_of_an_envelope_belong_to_the_extension_that_it_names() {
    let shell = Shell::new();
    install(&shell, "shows", &shows(), &[]);
    install(&shell, "again", &shows(), &[]);
    let server = Server::start(&shell, &[]);
    let envelope = |name: &str| json!({ "context": { "extension_id": name } });
    let first = ask(&server, "/v1/execute", "k", &envelope("shows"));
    let again = ask(&server, "/v1/execute", "k", &envelope("shows"));
    assert_eq!((first.status, is_replayed(&first)), (200, false), "{first:?}");
    // It was shown an id of its own, which would be another one.
    assert_eq!((is_replayed(&again), &again.body), (true, &first.body));
    let other = ask(&server, "/v1/execute", "k", &envelope("again"));
    assert_eq!((other.status, is_replayed(&other)), (200, false), "another extension's: {other:?}");
    // Of one extension it is one key, whichever way it is asked.
    let direct = ask(&server, "/x/shows/", "k", &envelope("shows"));
    assert_eq!((direct.status, direct.code().as_str()), (422, "idempotency_mismatch"), "{direct:?}");
    for bad in [json!({}), json!([]), json!({ "context": { "extension_id": 7 } })] {
        let refused = ask(&server, "/v1/execute", "bad", &bad);
        assert!([400, 422].contains(&refused.status), "{bad}: {refused:?}");
    }
}

#[test]
fn a_header_that_the_guest_is_shown_makes_it_another_request_and_one_of_the_way_does_not() {
    let shell = Shell::new();
    install(&shell, "shows", &shows(), &["--tenant", "acme"]);
    let (one, two) = (token(&shell, "acme", &[]), token(&shell, "acme", &[]));
    let server = Server::start(&shell, &[]);
    let (one, two) = (format!("Bearer {one}"), format!("Bearer {two}"));
    let usual =
        [("idempotency-key", "k"), ("authorization", &one), ("content-type", "text/plain"), ("x-a", "1")];
    let with = |changed: &[(&'static str, &str)]| {
        let kept = usual.into_iter().filter(|it| !changed.iter().any(|new| new.0 == it.0));
        let headers: Vec<(&str, &str)> = kept.chain(changed.iter().copied()).collect();
        server.ask("POST", "/x/shows/", &headers, b"body")
    };
    let first = with(&[]);
    assert!(!is_replayed(&first));
    for same in [
        &[("x-request-id", "r2")][..],
        &[("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")],
        &[("x-forwarded-for", "198.51.100.7")],
        &[("te", "trailers")],
        // The token says whose it is, and no guest sees it.
        &[("authorization", &two)],
        &[("x-a", "1"), ("content-type", "text/plain")],
    ] {
        let again = with(same);
        assert_eq!((is_replayed(&again), &again.body), (true, &first.body), "{same:?}: {again:?}");
        assert_eq!(shown(&again)["http"]["headers"]["x-a"], "1");
    }
    for other in [
        &[("content-type", "application/json")][..],
        &[("x-a", "2")],
        &[("x-b", "1")],
        &[("x-a", "1"), ("x-a", "1")],
        &[("cookie", "c=1")],
        &[("authorization", &one), ("accept", "text/plain")],
    ] {
        let refused = with(other);
        assert_eq!((refused.status, refused.code().as_str()), (422, "idempotency_mismatch"), "{other:?}");
    }
}

#[test]
fn an_answer_that_is_too_long_is_not_kept_and_one_that_goes_on_takes_no_key() {
    let shell = Shell::new();
    let length = 5 << 20;
    let long = format!(
        "(call $answer (local.get $out) (call $alloc (i32.const {length})) (i32.const {length})) (i32.const 0)"
    );
    install(&shell, "long", &guest("", "", &long), &[]);
    let server = Server::start(&shell, &[]);
    let first = ask(&server, "/x/long/", "k", &json!({}));
    assert_eq!((first.status, first.body.len()), (200, length), "whoever asks first has all of it");
    let again = ask(&server, "/x/long/", "k", &json!({}));
    assert_eq!((again.status, again.code().as_str()), (409, "answer_not_kept"), "{again:?}");
    let headers = [("idempotency-key", "k"), ("accept", "text/event-stream")];
    for path in ["/v1/run", "/v1/sh", "/v1/js", "/v1/py"] {
        let refused = server.ask("POST", path, &headers, b"{}");
        assert_eq!((refused.status, refused.code().as_str()), (400, "idempotency_events"), "{path}");
    }
}
