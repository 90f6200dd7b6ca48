//! Proofs for `net`: what is refused, and what the record and the proposal say of it.

use std::sync::Arc;

use drydock_abi::runner::FETCH;
use drydock_contract::{Call, CallError, Cap, Denial, GrantSpec, Streams};
use drydock_gate::{Gate, GateSettings, Grant, HeldGrants, SessionSpec};
use drydock_testkit::{FixedClock, MemoryJournal, block_on, principal};

use super::{Net, request};

/// What a fetch of the URL is answered, and the subject on its record.
fn fetch(grants: HeldGrants, payload: &[u8]) -> (Denial, String) {
    let journal = Arc::new(MemoryJournal::default());
    let clock = Arc::new(FixedClock::default());
    let gate = Arc::new(Gate::new(GateSettings::default(), clock, Arc::clone(&journal) as _).with(Net));
    let session = gate.open(SessionSpec { grants, ..SessionSpec::new(principal("me")) }).unwrap();
    let call = Call::new(FETCH, payload, Streams::default());
    let Err(CallError::Denied(denial)) = block_on(gate.dispatch(&session, call)).map(drop) else {
        panic!("it was let through")
    };
    let record = journal.records().pop().unwrap();
    assert_eq!(record.call.operation, "http.fetch");
    (denial, record.call.subjects.first().to_owned())
}

#[test]
fn a_fetch_is_denied_and_recorded_with_its_host_and_the_grant_that_it_lacks() {
    let request = br#"{"url":"https://API.example.com/v1?x","method":"POST","headers":{}}"#;
    let (denial, subject) = fetch(HeldGrants::default(), request);
    assert_eq!((denial.code(), subject.as_str()), ("denied", "api.example.com:443"));
    let grant = r#"{"cap":"net","subjects":["api.example.com:443"]}"#;
    assert_eq!(denial.remedy().unwrap().to_json(), grant);
    let held = |text: &str| {
        [Grant::from_spec(&GrantSpec::parse(text.as_bytes()).unwrap(), None)].into_iter().collect()
    };
    let (denial, _) = fetch(held(r#"{"cap":"net","subjects":["example.com:443"]}"#), request);
    assert_eq!(denial.remedy().unwrap().to_json(), grant);
    // Granted, and yet there is nobody who dials out.
    let (denial, subject) = fetch(held(grant), request);
    assert_eq!((denial.code(), subject.as_str()), ("unknown_operation", "api.example.com:443"));
    let (denial, subject) = fetch([Grant::of(Cap::Net)].into_iter().collect(), b"no json");
    assert_eq!((denial.code(), subject.as_str()), ("malformed", ""));
    let (denial, subject) = fetch(HeldGrants::default(), &[b' '; 70_000]);
    assert_eq!((denial.code(), denial.remedy(), subject.as_str()), ("denied", None, ""));
}

#[test]
fn the_host_of_a_url_is_the_one_that_would_be_dialled_or_there_is_none() {
    let host = |url: &str| {
        let payload = serde_json::json!({ "url": url }).to_string();
        request::decode(payload.as_bytes()).ok().map(|it| it.host().to_owned())
    };
    for (url, want) in [
        ("http://allowed.test/ok", "allowed.test:80"),
        ("HTTPS://Allowed.Test", "allowed.test:443"),
        ("http://allowed.test:8080?q", "allowed.test:8080"),
        ("http://allowed.test:#f", "allowed.test:80"),
        ("http://[::1]:9/", "[::1]:9"),
        ("http://[2001:db8::1]", "[2001:db8::1]:80"),
        ("http://evil.test\\@allowed.test/", "evil.test:80"),
    ] {
        assert_eq!(host(url).as_deref(), Some(want), "{url}");
    }
    for url in [
        "",
        "allowed.test",
        "ftp://allowed.test/",
        "http://",
        "http:///x",
        "http://user@allowed.test/",
        "http://allowed.test:80@evil.test/",
        "http://allowed.test:99999/",
        "http://allowed.test:+1/",
        "http://al lowed.test/",
        "http://b\u{fc}cher.test/",
        "http://allowed.test\n.evil.test/",
        "http://[allowed.test]/",
        "http://*/",
    ] {
        assert_eq!(host(url), None, "{url}");
    }
}
