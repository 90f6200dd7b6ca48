//! Proofs for `kv`: what a grant admits, which bounds there are, and what the record says. What a value is, is proven of
//! what keeps it.

use std::sync::Arc;

use drydock_abi::{
    broker::Answer,
    kv::{DELETE, GET, INCREMENT, KEY_BYTES_MAX, LIST, PUT, PUT_REQUEST_BYTES_MAX, VALUE_BYTES_MAX},
};
use drydock_contract::{Call, CallError, Cap, GrantSpec, Node, Streams, Tenant, port::Clock};
use drydock_gate::{Gate, GateSettings, Grant, Session, SessionSpec};
use drydock_store::{Home, SqliteKeyValues};
use drydock_testkit::{FixedClock, MemoryJournal, block_on, principal};
use serde_json::{Value, json};

use super::{Kv, KvRequest, KvValue};
use crate::broker::{Broker, Brokered};

struct Room {
    gate: Arc<Gate>,
    journal: Arc<MemoryJournal>,
    clock: Arc<FixedClock>,
    _home: tempfile::TempDir,
}

fn room() -> Room {
    let home = tempfile::tempdir().unwrap();
    let (journal, clock) = (Arc::new(MemoryJournal::default()), Arc::new(FixedClock::at_second(1_000)));
    let ticking = Arc::clone(&clock) as Arc<dyn Clock>;
    let values = Arc::new(SqliteKeyValues::of(&Home::open(home.path()).unwrap()));
    let kv = Brokered::new(Kv::new(values, Arc::clone(&ticking)), Arc::clone(&ticking));
    let gate = Gate::new(GateSettings::default(), ticking, Arc::clone(&journal) as _).with(kv);
    Room { gate: Arc::new(gate), journal, clock, _home: home }
}

fn granted(subjects: &[&str]) -> Vec<Grant> {
    let spec = json!({ "cap": "kv", "subjects": subjects }).to_string();
    vec![Grant::from_spec(&GrantSpec::parse(spec.as_bytes()).unwrap(), None)]
}

impl Room {
    fn session(&self, grants: Vec<Grant>) -> Session {
        self.session_of("me", grants)
    }

    fn session_of(&self, name: &str, grants: Vec<Grant>) -> Session {
        let grants = grants.into_iter().collect();
        self.gate.open(SessionSpec { grants, ..SessionSpec::new(principal(name)) }).unwrap()
    }

    fn ask(&self, session: &Session, operation: &str, request: &Value) -> Result<Value, CallError> {
        let payload = request.to_string();
        let call = Call::new(operation, payload.as_bytes(), Streams::default());
        let reply = block_on(self.gate.dispatch(session, call))?;
        Ok(serde_json::from_slice(&reply.payload).unwrap())
    }

    /// The code of a denial, or of an answer that is none.
    fn code(&self, session: &Session, operation: &str, request: &Value) -> String {
        match self.ask(session, operation, request) {
            Ok(told) => told["error"]["code"].as_str().unwrap_or("ok").to_owned(),
            Err(error) => error.code().to_owned(),
        }
    }

    /// The last record: its operation, its subject, and whether it is a denial.
    fn recorded(&self) -> (String, String) {
        self.gate.flush().unwrap();
        let record = self.journal.records().pop().unwrap();
        (record.call.operation.to_owned(), record.call.subjects.first().to_owned())
    }
}

#[test]
fn a_value_is_kept_read_counted_listed_and_removed() {
    let room = room();
    let me = room.session(vec![Grant::of(Cap::Kv)]);
    let put = room.ask(&me, PUT, &json!({ "key": "a", "value": "x" })).unwrap();
    let version = put["version"].as_u64().unwrap();
    assert_eq!(
        room.ask(&me, GET, &json!({ "key": "a" })).unwrap(),
        json!({ "value": "x", "version": version })
    );
    let bytes = json!({ "key": "b", "value": { "base64": "/wA=" }, "ttl_ms": 5_000 });
    room.ask(&me, PUT, &bytes).unwrap();
    let read = room.ask(&me, GET, &json!({ "key": "b" })).unwrap();
    assert_eq!((&read["value"], &read["expires_ms"]), (&json!({ "base64": "/wA=" }), &json!(1_005_000)));
    let sum = room.ask(&me, INCREMENT, &json!({ "key": "n", "by": 41 })).unwrap();
    assert_eq!(sum["sum"], 41);
    let listed = room.ask(&me, LIST, &json!({ "limit": 2 })).unwrap();
    assert_eq!((&listed["keys"][1]["key"], &listed["next"]), (&json!("b"), &json!("b")));
    let rest = room.ask(&me, LIST, &json!({ "limit": 2, "after": "b" })).unwrap();
    assert_eq!((&rest["keys"][0]["key"], rest.get("next")), (&json!("n"), None));
    room.clock.advance_s(5);
    assert_eq!(room.code(&me, GET, &json!({ "key": "b" })), "not_found");
    assert_eq!(room.code(&me, PUT, &json!({ "key": "a", "value": "", "if_version": 0 })), "conflict");
    assert_eq!(room.code(&me, INCREMENT, &json!({ "key": "a" })), "not_a_number");
    for deleted in [true, false] {
        assert_eq!(room.ask(&me, DELETE, &json!({ "key": "a" })).unwrap(), json!({ "deleted": deleted }));
    }
    assert_eq!(room.recorded(), (DELETE.to_owned(), "a".to_owned()));
}

#[test]
fn a_grant_names_keys_and_a_listing_is_admitted_where_all_it_tells_is() {
    let room = room();
    let me = room.session(granted(&["app/*", "one"]));
    for (operation, request, code) in [
        (PUT, json!({ "key": "app/x", "value": "" }), "ok"),
        (PUT, json!({ "key": "one", "value": "" }), "ok"),
        (PUT, json!({ "key": "app", "value": "" }), "denied"),
        (GET, json!({ "key": "one2" }), "denied"),
        (INCREMENT, json!({ "key": "" }), "denied"),
        (LIST, json!({ "prefix": "app/" }), "ok"),
        (LIST, json!({ "prefix": "app/x" }), "ok"),
        (LIST, json!({ "prefix": "app" }), "denied"),
        (LIST, json!({ "prefix": "one" }), "denied"),
        (LIST, json!({}), "denied"),
        (LIST, json!({ "prefix": "app/*" }), "ok"),
    ] {
        assert_eq!(room.code(&me, operation, &request), code, "{operation} {request}");
    }
    let denied = |request| match room.ask(&me, GET, &request) {
        Err(CallError::Denied(denial)) => denial,
        other => panic!("{other:?}"),
    };
    let denial = denied(json!({ "key": "app" }));
    assert_eq!(denial.remedy().unwrap().to_json(), r#"{"cap":"kv","subjects":["app"]}"#);
    let Err(CallError::Denied(listing)) = room.ask(&me, LIST, &json!({ "prefix": "a" })) else { panic!() };
    assert_eq!(listing.remedy(), None, "no wider grant is proposed than a person would see");
    assert_eq!(listing.to_string(), "capability `kv` is not granted: no grant admits all keys that begin so");
    let nobody = room.session(vec![]);
    assert_eq!(room.code(&nobody, GET, &json!({ "key": "app/x" })), "denied");
}

#[test]
fn keys_and_values_have_bounds_and_each_has_a_code_and_a_record() {
    let room = room();
    let me = room.session(vec![Grant::of(Cap::Kv)]);
    let long = "k".repeat(KEY_BYTES_MAX + 1);
    for (request, code) in [
        (json!({ "key": "", "value": "" }), "invalid_key"),
        (json!({ "key": long, "value": "" }), "invalid_key"),
        (json!({ "key": "k".repeat(1 << 20), "value": "" }), "invalid_key"),
        (json!({ "key": "k".repeat(KEY_BYTES_MAX), "value": "" }), "ok"),
        (json!({ "key": "\u{0}%_", "value": "" }), "ok"),
        (json!({ "key": "v", "value": "v".repeat(VALUE_BYTES_MAX) }), "ok"),
        (json!({ "key": "v", "value": "v".repeat(VALUE_BYTES_MAX + 1) }), "value_too_large"),
        (json!({ "key": "v", "value": "v".repeat(PUT_REQUEST_BYTES_MAX as usize) }), "too_large"),
        (json!({ "key": "v", "value": "", "ttl_ms": 0 }), "malformed"),
        (json!({ "key": "v" }), "malformed"),
    ] {
        let shown = request.to_string().chars().take(60).collect::<String>();
        assert_eq!(room.code(&me, PUT, &request), code, "{shown}");
        assert_eq!(room.recorded().0, PUT, "{shown}");
    }
    for (request, code) in [
        (json!({ "limit": 0 }), "malformed"),
        (json!({ "limit": 1_001 }), "malformed"),
        (json!({ "prefix": long }), "invalid_key"),
    ] {
        assert_eq!(room.code(&me, LIST, &request), code);
    }
}

#[test]
fn whoever_is_revoked_or_cancelled_is_told_so_and_nothing_is_written() {
    let room = room();
    let (me, other) =
        (room.session(vec![Grant::of(Cap::Kv)]), room.session_of("other", vec![Grant::of(Cap::Kv)]));
    me.cancel();
    assert_eq!(room.code(&me, PUT, &json!({ "key": "a", "value": "" })), "cancelled");
    room.gate.revoke(&Node::Principal(Tenant::default(), principal("me"))).unwrap();
    assert_eq!(room.code(&me, PUT, &json!({ "key": "a", "value": "" })), "revoked");
    assert_eq!(room.code(&other, GET, &json!({ "key": "a" })), "not_found");
}

#[test]
fn a_typed_request_is_answered_as_a_value() {
    let room = room();
    let me = room.session(vec![Grant::of(Cap::Kv)]);
    let put = drydock_abi::kv::Put { key: "k".into(), value: "v".into(), if_version: None, ttl_ms: None };
    let call = Call::typed(PUT, drydock_abi::kv::KvRequest::Put(put), 2, Streams::default());
    let mut reply = block_on(room.gate.dispatch(&me, call)).unwrap();
    let told = reply.value::<Answer<KvValue>>().unwrap().unwrap();
    assert!(matches!(told, KvValue::Written(_)));
}

#[test]
fn requests_that_differ_in_anything_are_told_apart_by_their_digests() {
    let digested = |(operation, payload): &(&str, &str)| {
        let request = KvRequest::decode(operation, payload.as_bytes()).unwrap();
        let parts = <Kv as Broker>::digested(&request).map(<[u8]>::to_vec);
        ((*operation).to_owned(), parts, <Kv as Broker>::digested_besides(&request))
    };
    let all = [
        (GET, r#"{"key":"k"}"#),
        (PUT, r#"{"key":"k","value":"v"}"#),
        (PUT, r#"{"key":"k","value":"w"}"#),
        (PUT, r#"{"key":"k","value":"v","if_version":0}"#),
        (PUT, r#"{"key":"k","value":"v","if_version":1}"#),
        (PUT, r#"{"key":"k","value":"v","ttl_ms":1}"#),
        (DELETE, r#"{"key":"k"}"#),
        (DELETE, r#"{"key":"k","if_version":1}"#),
        (INCREMENT, r#"{"key":"k"}"#),
        (INCREMENT, r#"{"key":"k","by":2}"#),
        (INCREMENT, r#"{"key":"k","ttl_ms":1}"#),
        (LIST, r#"{"prefix":"k"}"#),
        (LIST, r#"{"prefix":"k","limit":1}"#),
        (LIST, r#"{"prefix":"k","after":"k1"}"#),
    ];
    let digests: std::collections::HashSet<_> = all.iter().map(digested).collect();
    assert_eq!(digests.len(), all.len());
}
