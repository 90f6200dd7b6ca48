//! Proofs for `serve`, with a runner that answers what it was asked, in capitals, or as it was told to by the request.

use core::net::{IpAddr, SocketAddr};
use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Waker},
    time::Duration,
};

use bytes::Bytes;
use drydock_abi::{
    broker::Answer,
    serve::{ACCEPT, CLIENT_CALLS_MAX, CLIENT_CONNECTIONS_MAX, LISTEN, Protocol, REQUEST, REQUEST_BYTES_MAX},
};
use drydock_contract::{
    Artifact, BoxFuture, Call, CallError, Cap, CapSet, Denial, Digest, Exchange, Fault, LiveError, LiveSpec,
    Node, Outcome, RunReport, RunRequest, Streams, Tenant, Terms,
    port::{AuditEvent, LiveInstance, Runner},
};
use drydock_gate::{Class, Gate, GateSettings, Grant, Session, SessionSpec};
use drydock_testkit::{FixedClock, MemoryJournal, TinyRegistry, block_on, principal};

use super::{Accept, Accepted, Ask, Handler, Listen, Serve, Serving};
use crate::{exec::Exec, instance::Shelf};

#[derive(Default)]
struct Shout {
    going: AtomicUsize,
}

struct Going<'a>(&'a AtomicUsize);

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn report(outcome: Outcome) -> RunReport {
    RunReport {
        outcome,
        fuel: 0,
        memory_bytes: 0,
        duration: Duration::ZERO,
        stdin_bytes: 0,
        stdout_bytes: 0,
        stderr_bytes: 0,
        quota: None,
    }
}

impl Runner for Shout {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        Box::pin(async move {
            let mut streams = request.streams;
            let mut buffer = [0; 64];
            let got = std::future::poll_fn(|cx| streams.stdin.poll_read(cx, &mut buffer)).await.unwrap();
            let text = buffer[..got].to_ascii_uppercase();
            std::future::poll_fn(|cx| streams.stdout.poll_write(cx, &text)).await.unwrap();
            Ok((report(Outcome::Exited(1)), streams))
        })
    }

    fn run_serving(
        &self,
        request: RunRequest,
        exchange: Arc<Exchange>,
    ) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        Box::pin(async move {
            self.going.fetch_add(1, Ordering::SeqCst);
            let _going = Going(&self.going);
            assert_eq!(request.limits.wall_max, Duration::from_secs(10));
            let outcome = match &exchange.request()[..] {
                b"never" => std::future::pending().await,
                b"seven" => Outcome::Exited(7),
                b"trap" => Outcome::Trapped("unreachable".into()),
                b"broken" => return Err(Fault::Internal("ours".into())),
                _ => Outcome::Exited(0),
            };
            exchange.answer(exchange.request().to_ascii_uppercase().into());
            Ok((report(outcome), request.streams))
        })
    }

    fn check_serving(&self, artifact: &Artifact, _: CapSet, _: Tenant) -> BoxFuture<'_, Result<(), Fault>> {
        let digest = artifact.digest();
        let is_bad = digest == Digest::of(b"bad");
        Box::pin(async move {
            if is_bad { Err(Fault::BadModule { digest, reason: "no `handle`".into() }) } else { Ok(()) }
        })
    }

    fn open(&self, _: LiveSpec) -> BoxFuture<'_, Result<Box<dyn LiveInstance>, LiveError>> {
        Box::pin(async { Err(LiveError::Fault(Fault::Internal("nothing lives here".into()))) })
    }
}

struct Room {
    gate: Arc<Gate>,
    journal: Arc<MemoryJournal>,
    runner: Arc<Shout>,
    shelf: Arc<Shelf>,
    clock: Arc<FixedClock>,
}

fn room() -> Room {
    let (journal, runner) = (Arc::new(MemoryJournal::default()), Arc::new(Shout::default()));
    let (shelf, clock) = (Arc::new(Shelf::default()), Arc::new(FixedClock::at_second(90)));
    let gate = Gate::new(GateSettings::default(), Arc::clone(&clock) as _, Arc::clone(&journal) as _)
        .with(Exec::new(Arc::new(TinyRegistry::of(&["upper"])), Arc::clone(&runner) as _))
        .with(Serve::new(Arc::clone(&runner) as _, Arc::clone(&shelf), Arc::clone(&clock) as _));
    Room { gate: Arc::new(gate), journal, runner, shelf, clock }
}

fn session_with(room: &Room, grants: Vec<Grant>) -> Session {
    let grants = grants.into_iter().collect();
    room.gate.open(SessionSpec { grants, ..SessionSpec::new(principal("shop")) }).unwrap()
}

fn may_listen(subject: &str) -> Grant {
    Grant::of(Cap::Serve).within(Terms::of([subject.parse().unwrap()]))
}

const HERE: &str = "127.0.0.1:8080";

fn listening(address: &str, handler: Handler, calls: u32) -> Listen {
    let protocol = Protocol::Http;
    let address = address.parse().unwrap();
    Listen { protocol, address, serve_id: "shop".into(), handler, client_calls_max: calls }
}

fn listen(room: &Room, session: &Session, listen: Listen) -> Result<Arc<Serving>, CallError> {
    let call = Call::typed(LISTEN, listen, 4, Streams::default());
    block_on(room.gate.dispatch(session, call)).map(|mut reply| reply.value().unwrap())
}

/// A listener that answers in capitals, by a module that was handed over for good.
fn served(room: &Room, calls: u32) -> (Session, Arc<Serving>) {
    let session = session_with(room, vec![may_listen("http:127.0.0.1:8080"), Grant::of(Cap::Exec)]);
    let module = room.shelf.put(Artifact::hash(b"good".to_vec()));
    let serving = listen(room, &session, listening(HERE, Handler::Module(module.digest()), calls)).unwrap();
    (session, serving)
}

fn client(last: u8) -> IpAddr {
    [127, 0, 0, last].into()
}

fn accept(serving: &Arc<Serving>, client: IpAddr) -> Result<Accepted, &'static str> {
    let accept = Accept { serving: Arc::clone(serving), client };
    let call = Call::typed(ACCEPT, accept, 0, Streams::default());
    let accepted = block_on(serving.door().dispatch(call)).map_err(|error| error.code())?.value();
    Ok(accepted.unwrap())
}

fn call(serving: &Arc<Serving>, from: IpAddr, text: &'static str) -> Call<'static> {
    let ask = Ask { serving: Arc::clone(serving), client: from, bytes: Bytes::from_static(text.as_bytes()) };
    Call::typed(REQUEST, ask, text.len() as u64, Streams::default())
}

fn ask(serving: &Arc<Serving>, text: &'static str) -> Result<String, String> {
    let mut reply = block_on(serving.door().dispatch(call(serving, client(1), text)))
        .map_err(|error| error.code().to_owned())?;
    match reply.value::<Answer<Bytes>>().unwrap() {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(failure) => Err(format!("failed: {}", failure.code)),
    }
}

#[test]
fn each_request_is_answered_by_a_run_of_its_own_and_on_record() {
    let room = room();
    let (_session, serving) = served(&room, CLIENT_CALLS_MAX);
    assert_eq!(ask(&serving, "hello"), Ok("HELLO".into()));
    assert_eq!(ask(&serving, "seven"), Err("failed: guest_failed".into()));
    assert_eq!(ask(&serving, "trap"), Err("failed: trapped".into()));
    assert_eq!(ask(&serving, "broken"), Err("internal_error".into()));
    room.gate.flush().unwrap();
    let records = room.journal.records();
    let of = |operation: &str| records.iter().filter(|it| it.call.operation == operation).count();
    assert_eq!((of(LISTEN), of(REQUEST)), (1, 8), "the listener goes on");
    let first = records.iter().find(|it| it.call.operation == REQUEST).unwrap();
    assert_eq!(first.call.parent, records[0].call.call, "a request hangs from its listener");
    assert_eq!(first.call.subjects.first(), "http:127.0.0.1:8080");
    drop(serving);
    room.gate.flush().unwrap();
    let end = room.journal.records().last().unwrap().clone();
    assert_eq!(end.call.operation, LISTEN);
    assert!(matches!(end.event, AuditEvent::Ended(_)), "its end is told when nobody has it any more");
}

#[test]
fn where_it_listens_is_named_by_the_grant() {
    let room = room();
    let module = room.shelf.put(Artifact::hash(b"good".to_vec()));
    let try_at = |grants: Vec<Grant>, address: &str| {
        let session = session_with(&room, grants);
        let asked = listening(address, Handler::Module(module.digest()), 1);
        listen(&room, &session, asked).map(drop).map_err(|error| error.code())
    };
    assert_eq!(try_at(vec![], HERE), Err("denied"));
    assert_eq!(try_at(vec![may_listen("http:127.0.0.1:8080")], HERE), Ok(()));
    assert_eq!(try_at(vec![may_listen("http:127.0.0.1:8080")], "127.0.0.1:8081"), Err("denied"));
    assert_eq!(try_at(vec![may_listen("tcp:127.0.0.1:8080")], HERE), Err("denied"), "another protocol");
    assert_eq!(try_at(vec![may_listen("http:*")], HERE), Ok(()));
    for beyond in ["0.0.0.0:8080", "192.0.2.1:8080", "[::]:8080", "[::ffff:10.0.0.1]:8080"] {
        assert_eq!(try_at(vec![Grant::of(Cap::Serve)], beyond), Err("denied"), "{beyond}");
        assert_eq!(try_at(vec![may_listen("http:*")], beyond), Err("denied"), "a star opens no {beyond}");
    }
    assert_eq!(try_at(vec![may_listen("http:0.0.0.0:8080")], "0.0.0.0:8080"), Ok(()));
    assert_eq!(try_at(vec![may_listen("http:[::1]:80")], "[::1]:80"), Ok(()));
    for (subject, is_fine) in
        [("http:127.0.0.1:80", true), ("tcp:*", true), ("*", true), ("127.0.0.1:80", false)]
    {
        let judged = crate::judge_terms(Cap::Serve, &Terms::of([subject.parse().unwrap()]));
        assert_eq!(judged.is_ok(), is_fine, "{subject}");
    }
}

#[test]
fn what_cannot_serve_is_refused_before_anybody_listens() {
    let room = room();
    let session = session_with(&room, vec![may_listen("http:*")]);
    let (good, bad) =
        (room.shelf.put(Artifact::hash(b"good".to_vec())), room.shelf.put(Artifact::hash(b"bad".to_vec())));
    let code = |asked: Listen| listen(&room, &session, asked).map(drop).map_err(|error| error.code());
    assert_eq!(code(listening(HERE, Handler::Module(bad.digest()), 1)), Err("bad_module"));
    assert_eq!(code(listening(HERE, Handler::Module(Digest::of(b"none")), 1)), Err("malformed"));
    for serve_id in ["", "two words", "line\nbreak"] {
        let asked =
            Listen { serve_id: serve_id.into(), ..listening(HERE, Handler::Module(good.digest()), 1) };
        assert_eq!(code(asked), Err("malformed"), "{serve_id:?}");
    }
    let first = listen(&room, &session, listening(HERE, Handler::Module(good.digest()), 1)).unwrap();
    let again = || listening("127.0.0.1:9", Handler::Module(good.digest()), 1);
    assert_eq!(code(again()), Err("serve_id_taken"));
    drop(first);
    assert_eq!(code(again()), Ok(()), "the name is free again");
    let bytes = Call::new(LISTEN, b"{}", Streams::default());
    assert_eq!(block_on(room.gate.dispatch(&session, bytes)).map(drop).unwrap_err().code(), "malformed");
}

#[test]
fn a_registered_command_can_be_the_handler_and_is_a_call_of_exec() {
    let room = room();
    let handler = |name: &str| Handler::Command { name: name.into(), args: vec![b"-x".to_vec()] };
    let session = session_with(&room, vec![may_listen("http:*"), Grant::of(Cap::Exec)]);
    let serving = listen(&room, &session, listening(HERE, handler("upper"), CLIENT_CALLS_MAX)).unwrap();
    assert_eq!(ask(&serving, "hello"), Ok("HELLO".into()));
    drop(serving);
    let serving = listen(&room, &session, listening(HERE, handler("missing"), CLIENT_CALLS_MAX)).unwrap();
    assert_eq!(ask(&serving, "hello"), Err("unknown_command".into()));
    drop(serving);
    let session = session_with(&room, vec![may_listen("http:*")]);
    let serving = listen(&room, &session, listening(HERE, handler("upper"), CLIENT_CALLS_MAX)).unwrap();
    assert_eq!(ask(&serving, "hello"), Err("denied".into()), "serving is not starting");
}

#[test]
fn clients_are_counted_by_listener_and_address() {
    let room = room();
    let (_session, serving) = served(&room, 2);
    assert_eq!([0; 3].map(|_| ask(&serving, "x").is_ok()), [true, true, false]);
    assert_eq!(ask(&serving, "x"), Err("rate_limited".into()));
    let other = block_on(serving.door().dispatch(call(&serving, client(2), "x")));
    assert!(other.is_ok(), "another client");
    room.clock.advance_s(60);
    assert_eq!(ask(&serving, "x"), Ok("X".into()), "a new window");
}

#[test]
fn one_client_holds_so_many_connections_and_others_get_in() {
    let room = room();
    let (session, serving) = served(&room, CLIENT_CALLS_MAX);
    let held: Vec<Accepted> =
        (0..CLIENT_CONNECTIONS_MAX).map(|_| accept(&serving, client(1)).unwrap()).collect();
    assert_eq!(accept(&serving, client(1)).map(drop), Err("too_many_connections"));
    let others: Vec<Accepted> =
        (0..255 - CLIENT_CONNECTIONS_MAX).map(|_| accept(&serving, client(2)).unwrap()).collect();
    assert_eq!(
        accept(&serving, client(3)).map(drop),
        Err("too_many_processes"),
        "256, the listener among them"
    );
    drop((held, others));
    assert_eq!(session.own_in_flight(Class::Connection), 1);
    accept(&serving, client(1)).unwrap();
}

#[test]
fn a_raw_connection_is_one_request_of_its_clients_rate() {
    let room = room();
    let session = session_with(&room, vec![may_listen("tcp:*")]);
    let module = room.shelf.put(Artifact::hash(b"good".to_vec()));
    let asked = Listen { protocol: Protocol::Tcp, ..listening(HERE, Handler::Module(module.digest()), 1) };
    let serving = listen(&room, &session, asked).unwrap();
    let accepted = accept(&serving, client(1)).unwrap();
    assert_eq!(accept(&serving, client(1)).map(drop), Err("rate_limited"));
    assert_eq!(ask(&serving, "x"), Ok("X".into()), "and its request is not counted again");
    drop(accepted);
    assert_eq!(session.own_in_flight(Class::Connection), 1, "what was refused holds nothing");
}

#[test]
fn what_is_too_large_is_refused_and_on_record() {
    let room = room();
    let (_session, serving) = served(&room, CLIENT_CALLS_MAX);
    let refused = block_on(serving.door().dispatch(Call::oversized(REQUEST, REQUEST_BYTES_MAX + 1)));
    assert_eq!(refused.map(drop).unwrap_err().code(), "too_large");
    room.gate.flush().unwrap();
    assert!(room.journal.records().iter().any(|it| matches!(it.event, AuditEvent::Denied("too_large"))));
}

#[test]
fn whoever_is_revoked_loses_listener_connections_and_requests_at_once() {
    let room = room();
    let (session, serving) = served(&room, CLIENT_CALLS_MAX);
    let accepted = accept(&serving, client(1)).unwrap();
    let mut cx = Context::from_waker(Waker::noop());
    {
        let door = serving.door();
        let mut going = pin!(door.dispatch(call(&serving, client(1), "never")));
        assert!(going.as_mut().poll(&mut cx).is_pending());
        assert_eq!(room.runner.going.load(Ordering::SeqCst), 1);
        room.gate.revoke(&Node::Principal(Tenant::default(), principal("shop"))).unwrap();
        assert!(serving.switches().iter().any(|it| it.is_tripped()), "whoever listens hears of it");
        let done = block_on(going);
        assert!(matches!(done, Err(CallError::Denied(Denial::Revoked))));
    }
    assert_eq!(room.runner.going.load(Ordering::SeqCst), 0);
    assert!(!serving.still_valid());
    assert_eq!(accept(&serving, client(2)).map(drop), Err("revoked"));
    assert_eq!(ask(&serving, "x"), Err("revoked".into()));
    room.gate.unrevoke(&Node::Principal(Tenant::default(), principal("shop"))).unwrap();
    assert!(!serving.still_valid(), "what was ended stays ended");
    drop((accepted, serving));
    assert_eq!(session.own_in_flight(Class::Connection), 0);
}

#[test]
fn a_cancelled_session_serves_no_longer() {
    let room = room();
    let (session, serving) = served(&room, CLIENT_CALLS_MAX);
    let mut cx = Context::from_waker(Waker::noop());
    let door = serving.door();
    let mut going = pin!(door.dispatch(call(&serving, client(1), "never")));
    assert!(going.as_mut().poll(&mut cx).is_pending());
    session.cancel();
    assert_eq!(block_on(going).map(drop).unwrap_err().code(), "cancelled");
    assert_eq!(room.runner.going.load(Ordering::SeqCst), 0);
    assert!(!serving.still_valid());
    assert_eq!(ask(&serving, "x"), Err("cancelled".into()));
}

#[test]
fn two_spellings_of_an_address_are_one_subject() {
    let subject = |address: &str| super::subject_of(Protocol::Http, address.parse::<SocketAddr>().unwrap());
    assert_eq!(subject("[::ffff:127.0.0.1]:80"), "http:127.0.0.1:80");
    assert_eq!(subject("[::1]:80"), "http:[::1]:80");
}
