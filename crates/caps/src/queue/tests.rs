//! Proofs for `queue`: what a grant admits, which bounds there are, how a poll waits, and what the record says. What becomes
//! of messages is proven of what keeps them.

use std::{
    sync::Arc,
    task::{Context, Waker},
};

use drydock_abi::queue::{
    ACK, BATCH_BYTES_MAX, BATCH_MAX, DEPTH, LEASE, MESSAGE_BYTES_MAX, NACK, PEEK, POLL, PUBLISH,
    TOPIC_BYTES_MAX, TOPICS, WAIT_MS_MAX,
};
use drydock_contract::{Call, CallError, Cap, GrantSpec, Streams, port::Clock};
use drydock_gate::{Gate, GateSettings, Grant, Session, SessionSpec};
use drydock_store::{Home, SqliteQueues};
use drydock_testkit::{FixedClock, MemoryJournal, block_on, principal};
use serde_json::{Value, json};

use super::{Queue, QueueRequest};
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
    let queues = Arc::new(SqliteQueues::of(&Home::open(home.path()).unwrap()));
    let queue = Brokered::new(Queue::new(queues, Arc::clone(&ticking)), Arc::clone(&ticking));
    let gate = Gate::new(GateSettings::default(), ticking, Arc::clone(&journal) as _).with(queue);
    Room { gate: Arc::new(gate), journal, clock, _home: home }
}

fn granted(subjects: &[&str]) -> Vec<Grant> {
    let spec = json!({ "cap": "queue", "subjects": subjects }).to_string();
    vec![Grant::from_spec(&GrantSpec::parse(spec.as_bytes()).unwrap(), None)]
}

impl Room {
    fn session(&self, grants: Vec<Grant>) -> Session {
        let grants = grants.into_iter().collect();
        self.gate.open(SessionSpec { grants, ..SessionSpec::new(principal("me")) }).unwrap()
    }

    fn ask(&self, session: &Session, operation: &str, request: &Value) -> Result<Value, CallError> {
        let payload = request.to_string();
        let call = Call::new(operation, payload.as_bytes(), Streams::default());
        let reply = block_on(self.gate.dispatch(session, call))?;
        Ok(serde_json::from_slice(&reply.payload).unwrap())
    }

    fn code(&self, session: &Session, operation: &str, request: &Value) -> String {
        match self.ask(session, operation, request) {
            Ok(told) => told["error"]["code"].as_str().unwrap_or("ok").to_owned(),
            Err(error) => error.code().to_owned(),
        }
    }

    fn recorded(&self) -> (String, String) {
        self.gate.flush().unwrap();
        let record = self.journal.records().pop().unwrap();
        (record.call.operation.to_owned(), record.call.subjects.first().to_owned())
    }
}

#[test]
fn messages_are_published_polled_leased_acknowledged_and_given_back() {
    let room = room();
    let me = room.session(vec![Grant::of(Cap::Queue)]);
    let t = || json!({ "topic": "t" });
    assert_eq!(room.code(&me, POLL, &t()), "empty");
    let published = room.ask(&me, PUBLISH, &json!({ "topic": "t", "message": "1" })).unwrap();
    assert_eq!(published, json!({ "published": 1, "depth": 1 }));
    let several = json!({ "topic": "t", "messages": ["2", { "base64": "/w==" }, "4"] });
    assert_eq!(room.ask(&me, PUBLISH, &several).unwrap()["depth"], 4);
    let polled = room.ask(&me, POLL, &t()).unwrap();
    assert_eq!(polled, json!({ "messages": [{ "message": "1", "published_ms": 1_000_000 }] }));
    let leased = room.ask(&me, LEASE, &json!({ "topic": "t", "max": 2, "visibility_ms": 5_000 })).unwrap();
    let receipt = |n: usize| leased["messages"][n]["receipt"].clone();
    assert_eq!(leased["messages"][1]["message"], json!({ "base64": "/w==" }));
    assert_eq!(room.ask(&me, DEPTH, &t()).unwrap(), json!({ "depth": 3, "hidden": 2 }));
    let ack = json!({ "topic": "t", "receipts": [receipt(0), "99.1"] });
    assert_eq!(room.ask(&me, ACK, &ack).unwrap(), json!({ "settled": 1, "unknown": ["99.1"] }));
    assert_eq!(room.code(&me, ACK, &ack), "not_found");
    let nack = json!({ "topic": "t", "receipts": [receipt(1)] });
    assert_eq!(room.ask(&me, NACK, &nack).unwrap()["settled"], 1);
    let again = room.ask(&me, LEASE, &json!({ "topic": "t", "attempts_max": 2 })).unwrap();
    assert_eq!(again["messages"][0]["attempt"], 2);
    room.clock.advance_s(60);
    assert_eq!(room.ask(&me, POLL, &t()).unwrap()["messages"][0]["message"], "4");
    assert_eq!(room.code(&me, POLL, &t()), "empty");
    let topics = room.ask(&me, TOPICS, &json!({})).unwrap();
    assert_eq!(topics, json!({ "topics": [{ "topic": "t.dead", "depth": 1 }] }));
    let seen = room.ask(&me, PEEK, &json!({ "topic": "t.dead", "max": 9 })).unwrap();
    assert_eq!(seen["messages"][0]["message"], json!({ "base64": "/w==" }));
    assert_eq!(room.recorded(), (POLL.to_owned(), "t".to_owned()));
}

#[test]
fn a_grant_names_topics_and_none_is_granted_by_itself() {
    let room = room();
    let me = room.session(granted(&["jobs.*", "one"]));
    for (operation, request, code) in [
        (PUBLISH, json!({ "topic": "jobs.a", "message": "" }), "ok"),
        (PUBLISH, json!({ "topic": "one", "message": "" }), "ok"),
        (PUBLISH, json!({ "topic": "two", "message": "" }), "denied"),
        (POLL, json!({ "topic": "one.dead" }), "denied"),
        (TOPICS, json!({ "prefix": "jobs." }), "ok"),
        (TOPICS, json!({}), "denied"),
    ] {
        assert_eq!(room.code(&me, operation, &request), code, "{operation} {request}");
    }
    let Err(CallError::Denied(denial)) = room.ask(&me, DEPTH, &json!({ "topic": "two" })) else { panic!() };
    assert_eq!(denial.remedy().unwrap().to_json(), r#"{"cap":"queue","subjects":["two"]}"#);
}

#[test]
fn topics_messages_and_batches_have_bounds_and_each_has_a_code_and_a_record() {
    let room = room();
    let me = room.session(vec![Grant::of(Cap::Queue)]);
    let message = |bytes: usize| "m".repeat(bytes);
    for (operation, request, code) in [
        (PUBLISH, json!({ "topic": "", "message": "" }), "invalid_topic"),
        (PUBLISH, json!({ "topic": "t".repeat(TOPIC_BYTES_MAX - 4), "message": "" }), "invalid_topic"),
        (PUBLISH, json!({ "topic": "t".repeat(TOPIC_BYTES_MAX - 5), "message": "" }), "ok"),
        (DEPTH, json!({ "topic": "t".repeat(TOPIC_BYTES_MAX) }), "ok"),
        (DEPTH, json!({ "topic": "t".repeat(TOPIC_BYTES_MAX + 1) }), "invalid_topic"),
        (PUBLISH, json!({ "topic": "t", "message": message(MESSAGE_BYTES_MAX) }), "ok"),
        (PUBLISH, json!({ "topic": "t", "message": message(MESSAGE_BYTES_MAX + 1) }), "message_too_large"),
        (PUBLISH, json!({ "topic": "t", "message": message(7 * BATCH_BYTES_MAX) }), "too_large"),
        (
            PUBLISH,
            json!({ "topic": "t", "messages": vec![message(MESSAGE_BYTES_MAX); 5] }),
            "message_too_large",
        ),
        (PUBLISH, json!({ "topic": "t", "messages": [] }), "malformed"),
        (PUBLISH, json!({ "topic": "t", "messages": vec![""; BATCH_MAX as usize + 1] }), "malformed"),
        (POLL, json!({ "topic": "t", "max": 0 }), "malformed"),
        (POLL, json!({ "topic": "t", "wait_ms": WAIT_MS_MAX + 1 }), "malformed"),
        (LEASE, json!({ "topic": "t", "visibility_ms": 0 }), "malformed"),
        (LEASE, json!({ "topic": "t", "attempts_max": 0 }), "malformed"),
        (ACK, json!({ "topic": "t", "receipts": [] }), "malformed"),
        (NACK, json!({ "topic": "t", "receipts": ["1.1"], "visibility_ms": u64::MAX }), "malformed"),
    ] {
        let shown = request.to_string().chars().take(60).collect::<String>();
        assert_eq!(room.code(&me, operation, &request), code, "{operation} {shown}");
        if code != "ok" {
            assert_eq!(room.recorded().0, operation, "{shown}");
        }
    }
    let many = json!({ "topic": "full", "messages": vec![""; 250] });
    for _ in 0..4 {
        assert_eq!(room.code(&me, PUBLISH, &many), "ok");
    }
    assert_eq!(room.code(&me, PUBLISH, &json!({ "topic": "full", "message": "" })), "queue_full");
}

#[test]
fn a_poll_that_waits_is_answered_by_what_comes_and_takes_nothing_where_it_is_given_up() {
    let room = room();
    let me = room.session(vec![Grant::of(Cap::Queue)]);
    let request = json!({ "topic": "t", "wait_ms": 60_000 }).to_string();
    let poll = || Box::pin(room.gate.dispatch(&me, Call::new(POLL, request.as_bytes(), Streams::default())));
    let mut cx = Context::from_waker(Waker::noop());
    let (mut given_up, mut waiting) = (poll(), poll());
    for _ in 0..50 {
        assert!(given_up.as_mut().poll(&mut cx).is_pending() && waiting.as_mut().poll(&mut cx).is_pending());
        std::thread::yield_now();
    }
    drop(given_up);
    room.ask(&me, PUBLISH, &json!({ "topic": "t", "message": "hello" })).unwrap();
    let told: Value = serde_json::from_slice(&block_on(waiting).unwrap().payload).unwrap();
    assert_eq!(told["messages"][0]["message"], "hello");
    let mut cut = poll();
    assert!(cut.as_mut().poll(&mut cx).is_pending());
    me.cancel();
    assert_eq!(block_on(cut).err().unwrap().code(), "cancelled");
}

#[test]
fn requests_that_differ_in_anything_are_told_apart_by_their_digests() {
    let digested = |(operation, payload): &(&str, String)| {
        let request = QueueRequest::decode(operation, payload.as_bytes()).unwrap();
        let parts = <Queue as Broker>::digested(&request).map(<[u8]>::to_vec);
        ((*operation).to_owned(), parts, <Queue as Broker>::digested_besides(&request))
    };
    let of = |rest: &str| format!(r#"{{"topic":"t"{rest}}}"#);
    let receipts = |room: &Room| {
        let session = room.session(granted(&["t"]));
        room.ask(&session, PUBLISH, &json!({ "topic": "t", "messages": ["a", "b"] })).unwrap();
        let leased = room.ask(&session, LEASE, &json!({ "topic": "t", "max": 2 })).unwrap();
        [0, 1].map(|at| leased["messages"][at]["receipt"].to_string())
    };
    let [one, two] = receipts(&room());
    let all = [
        (PUBLISH, of(r#","message":"a""#)),
        (PUBLISH, of(r#","message":"b""#)),
        (POLL, of("")),
        (POLL, of(r#","max":2"#)),
        (POLL, of(r#","wait_ms":1"#)),
        (LEASE, of("")),
        (LEASE, of(r#","visibility_ms":1"#)),
        (LEASE, of(r#","attempts_max":1"#)),
        (ACK, of(&format!(r#","receipts":[{one}]"#))),
        (ACK, of(&format!(r#","receipts":[{two}]"#))),
        (NACK, of(&format!(r#","receipts":[{one}]"#))),
        (NACK, of(&format!(r#","receipts":[{one}],"visibility_ms":1"#))),
        (PEEK, of("")),
        (PEEK, of(r#","max":2"#)),
        (TOPICS, r#"{"prefix":"t"}"#.to_owned()),
        (TOPICS, r#"{"prefix":"t","limit":1}"#.to_owned()),
    ];
    let digests: std::collections::HashSet<_> = all.iter().map(digested).collect();
    assert_eq!(digests.len(), all.len());
}
