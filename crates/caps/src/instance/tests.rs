//! Proofs for `instance`, with a runner whose instances answer what they are given.

use std::{sync::Arc, time::Duration};

use drydock_abi::{
    kernel::{self, CALL, CLOSE, CallKernel, OPEN, Open},
    runner::{Answered, ContextFrom, INVOKE, Invoke, SentRequest},
};
use drydock_contract::{
    Artifact, Budget, Call, CallError, Cap, Digest, GrantSpec, Kernel, Meter, Node, Streams, Tenant, Unit,
};
use drydock_gate::{Gate, GateSettings, Grant, Session, SessionSpec};
use drydock_testkit::{EchoRunner, FixedClock, MemoryJournal, block_on, principal};

use super::{Instance, Shelf, Shelved};

struct Room {
    gate: Arc<Gate>,
    journal: Arc<MemoryJournal>,
    shelf: Arc<Shelf>,
    module: Shelved,
}

fn room() -> Room {
    let (shelf, journal) = (Arc::new(Shelf::default()), Arc::new(MemoryJournal::default()));
    let gate = Gate::new(GateSettings::default(), Arc::new(FixedClock::default()), Arc::clone(&journal) as _);
    let gate = gate.with(Instance::new(Arc::new(EchoRunner::default()), Arc::clone(&shelf)));
    let module = shelf.put(Artifact::hash(b"module".to_vec()));
    Room { gate: Arc::new(gate), journal, shelf, module }
}

fn session(room: &Room, budget: Option<Arc<Budget>>) -> Session {
    let grants = [Grant::of(Cap::Instance)].into_iter().collect();
    room.gate.open(SessionSpec { grants, budget, ..SessionSpec::new(principal("me")) }).unwrap()
}

fn dispatch(room: &Room, session: &Session, operation: &str, payload: &[u8]) -> Result<Vec<u8>, CallError> {
    let call = Call::new(operation, payload, Streams::default());
    block_on(room.gate.dispatch(session, call)).map(|reply| reply.payload)
}

/// One request for the module, in the name of `shop`.
fn shop(room: &Room, request: &str) -> Invoke {
    Invoke {
        module: room.module.digest(),
        extension: "shop".into(),
        context_from: ContextFrom::Host,
        sent: SentRequest::read(request.as_bytes()),
    }
}

fn invoke(room: &Room, session: &Session, invoke: Invoke) -> Result<Answered, CallError> {
    let bytes = invoke.sent.bytes;
    let call = Call::typed(INVOKE, invoke, bytes, Streams::default());
    block_on(room.gate.dispatch(session, call)).map(|mut reply| reply.value().unwrap())
}

/// What the guest was shown: the runner's instances answer what they are given.
fn shown(answered: Answered) -> serde_json::Value {
    serde_json::from_slice(&answered.response.unwrap()).unwrap()
}

fn granted(room: &Room, grant: &str) -> Session {
    let grant = Grant::from_spec(&GrantSpec::parse(grant.as_bytes()).unwrap(), None);
    let spec = SessionSpec { grants: [grant].into_iter().collect(), ..SessionSpec::new(principal("me")) };
    room.gate.open(spec).unwrap()
}

fn call_of(room: &Room, id: u64, input: &[u8]) -> Vec<u8> {
    kernel::encode_call(&CallKernel { id, module: room.module.digest(), wall_ms: 1_000, input })
}

fn open(room: &Room, session: &Session) -> u64 {
    let module = room.module.digest();
    let payload = kernel::encode_open(&Open { module, kernel: Kernel::default(), memory_bytes_max: None });
    kernel::decode_opened(&dispatch(room, session, OPEN, &payload).unwrap()).unwrap().unwrap()
}

#[test]
fn a_kernel_is_its_sessions_own_until_it_is_closed() {
    let room = room();
    let (mine, other) = (session(&room, None), session(&room, None));
    let id = open(&room, &mine);
    let call = call_of(&room, id, b"hello");
    let output = kernel::decode_output(&dispatch(&room, &mine, CALL, &call).unwrap()).unwrap().unwrap();
    assert_eq!(output.bytes, b"hello");
    let error = dispatch(&room, &other, CALL, &call).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("malformed request: this session has no kernel {id} of module {}", room.module.digest())
    );
    room.shelf.close(id);
    room.shelf.close(id);
    assert_eq!(dispatch(&room, &mine, CALL, &call).unwrap_err().code(), "malformed");
}

#[test]
fn a_session_has_a_bounded_number_of_kernels_and_a_cancelled_one_none() {
    let room = room();
    let (mine, other) = (session(&room, None), session(&room, None));
    for _ in 0..crate::shelf::SESSION_KERNELS_MAX {
        open(&room, &mine);
    }
    let module = room.module.digest();
    let payload = kernel::encode_open(&Open { module, kernel: Kernel::default(), memory_bytes_max: None });
    assert_eq!(dispatch(&room, &mine, OPEN, &payload).unwrap_err().code(), "too_many_processes");
    let id = open(&room, &other);
    mine.cancel();
    open(&room, &other);
    assert_eq!(room.shelf.count(), 2, "the cancelled session's are gone");
    assert!(dispatch(&room, &other, CALL, &call_of(&room, id, b"")).is_ok());
}

#[test]
fn a_tenant_has_a_share_of_the_kernels_and_a_revoked_principal_none() {
    let room = room();
    let of = |tenant: &str, name: &str| {
        let grants = [Grant::of(Cap::Instance)].into_iter().collect();
        let tenant = tenant.parse().unwrap();
        room.gate.open(SessionSpec { tenant, grants, ..SessionSpec::new(principal(name)) }).unwrap()
    };
    let greedy = [of("greedy", "a"), of("greedy", "a"), of("greedy", "b")];
    for session in &greedy[..2] {
        for _ in 0..crate::shelf::SESSION_KERNELS_MAX {
            open(&room, session);
        }
    }
    let module = room.module.digest();
    let payload = kernel::encode_open(&Open { module, kernel: Kernel::default(), memory_bytes_max: None });
    let refused = dispatch(&room, &greedy[2], OPEN, &payload).unwrap_err();
    assert_eq!(refused.code(), "too_many_processes", "its tenant has had its share");
    let other = of("other", "a");
    open(&room, &other);
    let node = Node::Principal("greedy".parse().unwrap(), principal("a"));
    room.gate.revoke(&node).unwrap();
    open(&room, &greedy[2]);
    assert_eq!(room.shelf.count(), 2, "what a revoked principal had is gone");
    other.cancel();
    room.shelf.sweep();
    assert_eq!(room.shelf.count(), 1, "also where nobody opens another one");
}

#[test]
fn a_kernel_is_closed_at_the_gate_and_only_by_its_own_session() {
    let room = room();
    let (mine, other) = (session(&room, None), session(&room, None));
    let close = kernel::encode_close(open(&room, &mine), room.module.digest());
    assert_eq!(dispatch(&room, &other, CLOSE, &close).unwrap_err().code(), "malformed");
    assert_eq!(dispatch(&room, &mine, CLOSE, &close).unwrap(), b"");
    assert_eq!(room.shelf.count(), 0);
    assert_eq!(dispatch(&room, &mine, CLOSE, &close).unwrap_err().code(), "malformed");
    assert_eq!(dispatch(&room, &mine, CLOSE, b"7").unwrap_err().code(), "malformed");
}

#[test]
fn a_kernel_that_is_being_made_has_its_place_and_gives_it_back_if_nothing_comes_of_it() {
    let room = room();
    let mine = session(&room, None);
    let places: Vec<_> = (0..crate::shelf::SESSION_KERNELS_MAX)
        .map(|_| room.shelf.reserve(&mine, room.module.digest()).ok().unwrap())
        .collect();
    assert!(room.shelf.reserve(&mine, room.module.digest()).is_err(), "before any of them is open");
    drop(places);
    assert_eq!(room.shelf.count(), 0);
    open(&room, &mine);
}

#[test]
fn only_modules_that_were_handed_over_can_be_named_and_only_with_the_power() {
    let room = room();
    let mine = session(&room, None);
    let unknown = Invoke { module: Digest::of(b"other"), ..shop(&room, "{}") };
    let error = invoke(&room, &mine, unknown).unwrap_err();
    assert!(error.to_string().contains("was handed over"), "{error}");
    let powerless = room.gate.open(SessionSpec::new(principal("me"))).unwrap();
    assert_eq!(invoke(&room, &powerless, shop(&room, "{}")).unwrap_err().code(), "denied");
    let Room { shelf, module, .. } = room;
    let digest = module.digest();
    let again = shelf.put(Artifact::hash(b"module".to_vec()));
    drop(module);
    assert!(shelf.module(digest).is_some());
    drop(again);
    assert!(shelf.module(digest).is_none());
}

#[test]
fn an_invocation_is_recorded_by_its_extension_and_its_module_and_paid_for() {
    let room = room();
    let budget = Arc::new(Budget::of([(Unit::Fuel, 10_000)]));
    let mine = session(&room, Some(Arc::clone(&budget)));
    let answered = invoke(&room, &mine, shop(&room, r#"{"http":{"path":"/x"}}"#)).unwrap();
    let bytes = answered.response.as_ref().unwrap().len() as u64;
    assert_eq!(shown(answered)["http"]["path"], "/x");
    room.gate.flush().unwrap();
    let records = room.journal.records();
    let names: Vec<Vec<&str>> = records.iter().map(|it| it.call.subjects.iter().collect()).collect();
    let module = format!("sha256:{}", room.module.digest());
    assert_eq!(names, [["shop", &module], ["shop", &module]]);
    assert_eq!(records[0].call.request.map(|it| it.bytes), Some(22));
    let drydock_contract::port::AuditEvent::Ended(end) = &records[1].event else { panic!("{records:?}") };
    assert_eq!(end.reply.map(|it| it.bytes), Some(bytes), "of the guest's own bytes");
    // Other bytes, another digest; the same, the same.
    for (sent, is_same) in [(r#"{"http":{"path":"/x"}}"#, true), (r#"{"http":{"path":"/y"}}"#, false)] {
        invoke(&room, &mine, shop(&room, sent)).unwrap();
        room.gate.flush().unwrap();
        let last = room.journal.records();
        assert_eq!(last[last.len() - 2].call.request == records[0].call.request, is_same);
    }
}

#[test]
fn a_grant_for_an_extension_is_compared_with_what_the_host_says_and_never_with_the_request() {
    let room = room();
    let module = format!("sha256:{}", room.module.digest());
    let claims = r#"{"context":{"extension_id":"shop"}}"#;
    let only_shop = granted(&room, r#"{"cap":"instance","subjects":["shop","sha256:*"]}"#);
    assert!(invoke(&room, &only_shop, shop(&room, claims)).is_ok());
    let other = || Invoke { extension: "other".into(), ..shop(&room, claims) };
    for context_from in [ContextFrom::Host, ContextFrom::Request] {
        let error = invoke(&room, &only_shop, Invoke { context_from, ..other() }).unwrap_err();
        let CallError::Denied(denial) = &error else { panic!("{error}") };
        assert_eq!(
            denial.remedy().unwrap().to_json(),
            format!(r#"{{"cap":"instance","subjects":["other","{module}"]}}"#)
        );
    }
    // One grant admits all names, or it admits none of them.
    for grant in [
        r#"{"cap":"instance","subjects":["shop"]}"#.to_owned(),
        format!(r#"{{"cap":"instance","subjects":["{module}"]}}"#),
        r#"{"cap":"instance","subjects":["shop","sha256:0*"]}"#.to_owned(),
    ] {
        assert_eq!(invoke(&room, &granted(&room, &grant), shop(&room, "{}")).unwrap_err().code(), "denied");
    }
    let exact = granted(&room, &format!(r#"{{"cap":"instance","subjects":["shop","{module}"]}}"#));
    assert!(invoke(&room, &exact, shop(&room, "{}")).is_ok());
}

#[test]
fn a_request_that_names_another_tenant_or_extension_is_refused_and_never_shown() {
    let room = room();
    let mine = session(&room, None);
    for (claim, member) in
        [(r#"{"tenant_id":"acme"}"#, "tenant_id"), (r#"{"extension_id":"bank"}"#, "extension_id")]
    {
        let request = format!(r#"{{"context":{claim}}}"#);
        let error = invoke(&room, &mine, shop(&room, &request)).unwrap_err();
        assert_eq!(error.code(), "malformed");
        assert!(error.to_string().contains(member), "{error}");
        // The command line is a developer's, and its tenant the default one: what they write is what they mean.
        let believed = || Invoke { context_from: ContextFrom::Request, ..shop(&room, &request) };
        let context = shown(invoke(&room, &mine, believed()).unwrap())["context"].clone();
        assert!(context[member] == "acme" || context[member] == "bank", "{context}");
        let grants = [Grant::of(Cap::Instance)].into_iter().collect();
        let tenant: Tenant = "other".parse().unwrap();
        let spec = SessionSpec { grants, tenant, ..SessionSpec::new(principal("me")) };
        let theirs = room.gate.open(spec).unwrap();
        assert_eq!(invoke(&room, &theirs, believed()).unwrap_err().code(), "malformed");
        let plain = shown(invoke(&room, &theirs, shop(&room, "{}")).unwrap())["context"].clone();
        assert_eq!((&plain["tenant_id"], &plain["extension_id"]), (&"other".into(), &"shop".into()));
    }
    let agrees = r#"{"context":{"tenant_id":"dev","extension_id":"shop"}}"#;
    assert!(invoke(&room, &mine, shop(&room, agrees)).is_ok());
}

#[test]
fn a_grant_for_a_module_is_enough_to_open_and_to_call_its_kernels_and_no_others() {
    let room = room();
    let other = room.shelf.put(Artifact::hash(b"other".to_vec()));
    let grant = format!(r#"{{"cap":"instance","subjects":["sha256:{}"]}}"#, room.module.digest());
    let mine = granted(&room, &grant);
    let id = open(&room, &mine);
    assert!(dispatch(&room, &mine, CALL, &call_of(&room, id, b"hello")).is_ok());
    let module = other.digest();
    let payload = kernel::encode_open(&Open { module, kernel: Kernel::default(), memory_bytes_max: None });
    assert_eq!(dispatch(&room, &mine, OPEN, &payload).unwrap_err().code(), "denied");
    // A number that is said to be of another module than it is.
    let all = session(&room, None);
    let id = open(&room, &all);
    let lie = kernel::encode_call(&CallKernel { id, module, wall_ms: 1, input: b"" });
    assert_eq!(dispatch(&room, &all, CALL, &lie).unwrap_err().code(), "malformed");
}

#[test]
fn a_call_of_a_kernel_has_the_time_of_its_session_for_calls_and_not_that_for_runs() {
    let room = room();
    let grants = [Grant::of(Cap::Instance)].into_iter().collect();
    let call_wall_max = Duration::from_secs(5);
    let spec = SessionSpec { grants, call_wall_max, ..SessionSpec::new(principal("me")) };
    assert!(spec.limits.wall_max > call_wall_max);
    let mine = room.gate.open(spec).unwrap();
    let id = open(&room, &mine);
    for (asked_ms, want) in [(60_000, call_wall_max), (7, Duration::from_millis(7))] {
        let module = room.module.digest();
        let payload = kernel::encode_call(&CallKernel { id, module, wall_ms: asked_ms, input: b"" });
        let request = super::request::decode(CALL, &payload).unwrap();
        let ready = super::policy::check(&room.shelf, &mine, request).ok().unwrap();
        let super::Act::Call(call) = ready.act else { panic!("it is a call") };
        assert_eq!(call.wall_max, want);
    }
}

#[test]
fn a_request_that_does_not_parse_is_refused_with_its_names_on_record_and_bytes_are_no_way_in() {
    let room = room();
    let mine = session(&room, None);
    assert_eq!(invoke(&room, &mine, shop(&room, "[]")).unwrap_err().code(), "malformed");
    let denied = room.journal.records().pop().unwrap();
    assert_eq!(denied.call.subjects.first(), "shop");
    assert_eq!(dispatch(&room, &mine, INVOKE, b"{}").unwrap_err().code(), "malformed");
    let stranger = Call::typed(OPEN, shop(&room, "{}"), 2, Streams::default());
    assert_eq!(block_on(room.gate.dispatch(&mine, stranger)).map(drop).unwrap_err().code(), "malformed");
}

#[test]
fn what_the_host_holds_of_a_request_is_memory_of_its_session() {
    let room = room();
    let memory = Arc::new(Meter::new(4_096));
    let grants = [Grant::of(Cap::Instance)].into_iter().collect();
    let spec = SessionSpec { grants, memory: Some(Arc::clone(&memory)), ..SessionSpec::new(principal("me")) };
    let mine = room.gate.open(spec).unwrap();
    let posts = |bytes: usize| format!(r#"{{"http":{{"body_b64":"{}"}}}}"#, "A".repeat(bytes));
    assert!(invoke(&room, &mine, shop(&room, &posts(1_024))).unwrap().response.is_ok());
    assert!(memory.peak() > 2_048 && memory.held() == 0);
    let refused = invoke(&room, &mine, shop(&room, &posts(4_096))).unwrap().response.unwrap_err();
    assert!(refused.error.unwrap().message.contains("the limit of 4096"));
    assert_eq!(memory.held(), 0);
}
