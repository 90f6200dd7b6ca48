//! Proofs for `instance`, with a runner whose instances answer what they are given.

use std::sync::Arc;

use drydock_abi::{
    kernel::{self, CALL, CLOSE, OPEN, Open},
    runner::{INVOKE, Invoked, encode_invoke},
};
use drydock_contract::{Artifact, Budget, Call, CallError, Cap, Digest, Kernel, Node, Streams, Unit};
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
    let call = kernel::encode_call(id, 1_000, b"hello");
    let output = kernel::decode_output(&dispatch(&room, &mine, CALL, &call).unwrap()).unwrap().unwrap();
    assert_eq!(output.bytes, b"hello");
    let error = dispatch(&room, &other, CALL, &call).unwrap_err();
    assert_eq!(error.to_string(), format!("malformed request: this session has no kernel {id}"));
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
    assert!(dispatch(&room, &other, CALL, &kernel::encode_call(id, 1, b"")).is_ok());
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
}

#[test]
fn a_kernel_is_closed_at_the_gate_and_only_by_its_own_session() {
    let room = room();
    let (mine, other) = (session(&room, None), session(&room, None));
    let close = kernel::encode_close(open(&room, &mine));
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
    let places: Vec<_> =
        (0..crate::shelf::SESSION_KERNELS_MAX).map(|_| room.shelf.reserve(&mine).ok().unwrap()).collect();
    assert!(room.shelf.reserve(&mine).is_err(), "before any of them is open");
    drop(places);
    assert_eq!(room.shelf.count(), 0);
    open(&room, &mine);
}

#[test]
fn only_modules_that_were_handed_over_can_be_named_and_only_with_the_power() {
    let room = room();
    let mine = session(&room, None);
    let unknown = encode_invoke(Digest::of(b"other"), "dev", "x", b"{}");
    let error = dispatch(&room, &mine, INVOKE, &unknown).unwrap_err();
    assert!(error.to_string().contains("was handed over"), "{error}");
    let powerless = room.gate.open(SessionSpec::new(principal("me"))).unwrap();
    let known = encode_invoke(room.module.digest(), "dev", "x", b"{}");
    assert_eq!(dispatch(&room, &powerless, INVOKE, &known).unwrap_err().code(), "denied");
    let Room { shelf, module, .. } = room;
    let digest = module.digest();
    let again = shelf.put(Artifact::hash(b"module".to_vec()));
    drop(module);
    assert!(shelf.module(digest).is_some());
    drop(again);
    assert!(shelf.module(digest).is_none());
}

#[test]
fn an_invocation_is_recorded_by_its_extension_and_paid_for() {
    let room = room();
    let budget = Arc::new(Budget::of([(Unit::Fuel, 10_000)]));
    let mine = session(&room, Some(Arc::clone(&budget)));
    let payload = encode_invoke(room.module.digest(), "dev", "shop", br#"{"http":{"path":"/x"}}"#);
    let reply = dispatch(&room, &mine, INVOKE, &payload).unwrap();
    let invoked: Invoked = serde_json::from_slice(&reply).unwrap();
    // The instance answers with its request, which is an object and no response.
    let error = invoked.envelope.error.unwrap();
    assert_eq!(error.message, "malformed response: it has no `status`");
    room.gate.flush().unwrap();
    let records = room.journal.records();
    assert!(
        records.iter().any(|it| it.call.operation == INVOKE && it.call.subjects.first() == "shop"),
        "{records:?}"
    );
}
