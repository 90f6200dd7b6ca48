//! Proofs for `process`, with a runner that ends when its stdin does.

use std::{sync::Arc, time::Duration};

use drydock_abi::exec::{COMMAND, START, encode_command, encode_request};
use drydock_contract::{
    BoxFuture, Call, CallError, Cap, GrantSpec, Node, Outcome, PipeWriter, Source, Streams,
    port::{AuditEvent, EndKind},
};
use drydock_gate::{
    Class, Gate, GateSettings, Grant, Session, SessionSpec,
    process::{AWAIT, KILL, PROCESSES_MAX, ProcessSpawn, ProcessState, SPAWN, SpawnedProcess},
};
use drydock_testkit::{EchoRunner, FixedClock, MemoryJournal, TinyRegistry, principal};
use parking_lot::Mutex;

use super::{Process, Tasks};
use crate::{exec::Exec, processes::Processes};

struct Room {
    gate: Arc<Gate>,
    table: Arc<Processes>,
    journal: Arc<MemoryJournal>,
}

/// A gate whose processes run on these tasks.
fn room(tasks: Tasks) -> Room {
    let journal = Arc::new(MemoryJournal::default());
    let process = Process::new(tasks, Arc::new(FixedClock::default()));
    let table = Arc::clone(&process.table);
    let exec = Exec::new(Arc::new(TinyRegistry::of(&["cat", "jq"])), Arc::new(EchoRunner::default()));
    let gate = Gate::new(GateSettings::default(), Arc::new(FixedClock::default()), Arc::clone(&journal) as _);
    Room { gate: Arc::new(gate.with(exec).with(process)), table, journal }
}

fn on_tokio() -> Tasks {
    Arc::new(|work| drop(tokio::spawn(work)))
}

fn session(room: &Room) -> Session {
    let grants = [Grant::of(Cap::Exec), Grant::of(Cap::Process)].into_iter().collect();
    room.gate.open(SessionSpec { grants, ..SessionSpec::new(principal("me")) }).unwrap()
}

async fn ask<T: Send + 'static>(
    room: &Room,
    session: &Session,
    operation: &str,
    request: impl std::any::Any + Send,
    streams: Streams,
) -> Result<T, CallError> {
    let call = Call::typed(operation, request, 0, streams);
    Ok(room.gate.dispatch(session, call).await?.value().unwrap())
}

/// A process that lives until the writer is dropped.
async fn spawn(
    room: &Room,
    session: &Session,
    name: &str,
) -> Result<(SpawnedProcess, PipeWriter), CallError> {
    let request = encode_request::<&str>(name, &[], b"").unwrap();
    let (reader, writer) = drydock_contract::pipe();
    let streams = Streams { stdin: Source::Stream(Box::new(reader)), ..Streams::default() };
    let spawn = ProcessSpawn { operation: START, request };
    Ok((ask(room, session, SPAWN, spawn, streams).await?, writer))
}

async fn end_of(room: &Room, session: &Session, process: &SpawnedProcess) -> Result<ProcessState, CallError> {
    let wait = process.awaiting(Duration::from_secs(600));
    ask(room, session, AWAIT, wait, Streams::default()).await
}

async fn state_of(room: &Room, session: &Session, process: &SpawnedProcess) -> ProcessState {
    ask(room, session, AWAIT, process.awaiting(Duration::ZERO), Streams::default()).await.unwrap()
}

async fn kill(room: &Room, session: &Session, process: &SpawnedProcess) -> ProcessState {
    ask(room, session, KILL, process.killing(), Streams::default()).await.unwrap()
}

/// Until the stdin of a process is closed: its run is gone.
async fn closed(writer: &PipeWriter) {
    while std::future::poll_fn(|cx| writer.poll_write(cx, b"x")).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

fn in_flight(session: &Session) -> [u32; 2] {
    [session.own_in_flight(Class::Process), session.own_in_flight(Class::Run)]
}

#[tokio::test]
async fn a_process_goes_on_after_its_call_and_keeps_its_place_until_its_end_was_heard() {
    let room = room(on_tokio());
    let me = session(&room);
    let (process, writer) = spawn(&room, &me, "cat").await.unwrap();
    assert_eq!(state_of(&room, &me, &process).await, ProcessState::Starting);
    while state_of(&room, &me, &process).await == ProcessState::Starting {
        tokio::task::yield_now().await;
    }
    assert_eq!(state_of(&room, &me, &process).await, ProcessState::Running);
    assert_eq!(in_flight(&me), [1, 1]);
    drop(writer);
    while in_flight(&me)[1] > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!((in_flight(&me), room.table.count()), ([1, 0], 1), "a zombie counts");
    let ended = end_of(&room, &me, &process).await.unwrap();
    assert!(
        matches!(&ended, ProcessState::Exited(report) if report.outcome == Outcome::Exited(0)),
        "{ended:?}"
    );
    assert_eq!((in_flight(&me), room.table.count()), ([0, 0], 0));
    let gone = end_of(&room, &me, &process).await.unwrap_err();
    assert_eq!(gone.to_string(), "malformed request: this session has no process 0 of command `cat`");
}

#[tokio::test]
async fn a_principal_has_thirty_two_processes_zombies_among_them_and_no_more() {
    let room = room(on_tokio());
    let (me, again) = (session(&room), session(&room));
    let mut held = Vec::new();
    for _ in 0..PROCESSES_MAX {
        let (process, writer) = spawn(&room, &me, "cat").await.unwrap();
        drop(writer);
        held.push(process);
    }
    for owner in [&me, &again] {
        let refused = spawn(&room, owner, "cat").await.err().unwrap();
        assert_eq!(refused.code(), "too_many_processes");
    }
    assert!(end_of(&room, &me, &held[7]).await.unwrap().is_over());
    let (one_more, _writer) = spawn(&room, &again, "cat").await.unwrap();
    assert_eq!(kill(&room, &again, &one_more).await, ProcessState::Killed);
    drop(held);
    while room.table.count() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(in_flight(&me), [0, 0]);
}

#[tokio::test]
async fn a_kill_closes_what_the_run_held_before_anybody_hears_of_it() {
    let room = room(on_tokio());
    let me = session(&room);
    let (process, writer) = spawn(&room, &me, "cat").await.unwrap();
    while state_of(&room, &me, &process).await == ProcessState::Starting {
        tokio::task::yield_now().await;
    }
    assert_eq!(kill(&room, &me, &process).await, ProcessState::Killed);
    let written = std::future::poll_fn(|cx| writer.poll_write(cx, b"x")).await;
    assert_eq!(written.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
    assert_eq!((in_flight(&me), room.table.count()), ([0, 0], 0));
}

#[tokio::test]
async fn what_is_killed_while_it_starts_is_never_asked_for() {
    let held: Arc<Mutex<Vec<BoxFuture<'static, ()>>>> = Arc::default();
    let own = Arc::clone(&held);
    let room = room(Arc::new(move |work| own.lock().push(work)));
    let me = session(&room);
    let (process, _writer) = spawn(&room, &me, "cat").await.unwrap();
    let killed = kill(&room, &me, &process);
    let task = async {
        tokio::task::yield_now().await;
        let work = held.lock().pop().unwrap();
        work.await;
    };
    assert_eq!(tokio::join!(killed, task).0, ProcessState::Killed);
    room.gate.flush().unwrap();
    let asked = room.journal.records().iter().filter(|it| it.call.operation == START).count();
    assert_eq!((asked, in_flight(&me), room.table.count()), (0, [0, 0], 0));
}

#[tokio::test]
async fn an_end_is_final_and_a_kill_after_it_changes_nothing() {
    let room = room(on_tokio());
    let me = session(&room);
    let (process, writer) = spawn(&room, &me, "cat").await.unwrap();
    drop(writer);
    while in_flight(&me)[1] > 0 || state_of_is_starting(&room, &me) {
        tokio::task::yield_now().await;
    }
    let late = kill(&room, &me, &process).await;
    assert!(matches!(late, ProcessState::Exited(_)), "{late:?}");
}

/// Whether the only process there is was not asked for yet.
fn state_of_is_starting(room: &Room, session: &Session) -> bool {
    room.table.own(session, 0, "cat").is_some_and(|it| it.state() == ProcessState::Starting)
}

#[tokio::test]
async fn what_may_not_run_is_a_process_that_failed_by_the_code_of_the_refusal() {
    let room = room(on_tokio());
    let grant = |text: &str| Grant::from_spec(&GrantSpec::parse(text.as_bytes()).unwrap(), None);
    let only_jq = grant(r#"{"cap":"exec","subjects":["jq"]}"#);
    let grants = [only_jq, Grant::of(Cap::Process)].into_iter().collect();
    let me = room.gate.open(SessionSpec { grants, ..SessionSpec::new(principal("me")) }).unwrap();
    for (name, want) in [("cat", "command_not_granted"), ("jq", ""), ("rm", "command_not_granted")] {
        let (process, writer) = spawn(&room, &me, name).await.unwrap();
        drop(writer);
        let code = match end_of(&room, &me, &process).await.unwrap() {
            ProcessState::Failed { code, .. } => code,
            _ => "",
        };
        assert_eq!(code, want, "{name}");
    }
    let grants = [Grant::of(Cap::Exec)].into_iter().collect();
    let without = room.gate.open(SessionSpec { grants, ..SessionSpec::new(principal("me")) }).unwrap();
    assert_eq!(spawn(&room, &without, "cat").await.err().unwrap().code(), "denied");
    let others = grant(r#"{"cap":"process","subjects":["jq"]}"#);
    let grants = [Grant::of(Cap::Exec), others].into_iter().collect();
    let narrow = room.gate.open(SessionSpec { grants, ..SessionSpec::new(principal("me")) }).unwrap();
    assert_eq!(spawn(&room, &narrow, "cat").await.err().unwrap().code(), "denied");
    assert!(spawn(&room, &narrow, "jq").await.is_ok());
}

#[tokio::test]
async fn a_process_is_its_sessions_own_and_ends_with_what_let_it_begin() {
    let room = room(on_tokio());
    let (me, other) = (session(&room), session(&room));
    let (process, writer) = spawn(&room, &me, "cat").await.unwrap();
    assert_eq!(end_of(&room, &other, &process).await.unwrap_err().code(), "malformed");
    let asked: Result<ProcessState, _> =
        ask(&room, &other, KILL, process.killing(), Streams::default()).await;
    assert_eq!(asked.unwrap_err().code(), "malformed");
    drop(process);
    closed(&writer).await;
    while room.table.count() > 0 {
        tokio::task::yield_now().await;
    }
    let (_kept, writer) = spawn(&room, &me, "cat").await.unwrap();
    me.cancel();
    closed(&writer).await;
    let (_revoked, writer) = spawn(&room, &other, "cat").await.unwrap();
    let who = &other.spec().principal;
    room.gate.revoke(&Node::Principal(other.spec().tenant.clone(), who.clone())).unwrap();
    closed(&writer).await;
    while room.table.count() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!((in_flight(&me), in_flight(&other)), ([0, 0], [0, 0]));
}

#[tokio::test]
async fn a_task_that_is_dropped_is_a_process_that_failed_and_the_record_says_how_each_ended() {
    let room = room(Arc::new(drop));
    let me = session(&room);
    let (process, _writer) = spawn(&room, &me, "cat").await.unwrap();
    let ended = end_of(&room, &me, &process).await.unwrap();
    assert!(matches!(ended, ProcessState::Failed { code: "host_ended", .. }), "{ended:?}");
    room.gate.flush().unwrap();
    let ends: Vec<EndKind> = room
        .journal
        .records()
        .into_iter()
        .filter(|it| it.call.operation == SPAWN)
        .filter_map(|it| match it.event {
            AuditEvent::Ended(end) => Some(end.kind),
            _ => None,
        })
        .collect();
    assert_eq!(ends, [EndKind::Failed("host_ended")]);
}

#[tokio::test]
async fn what_is_no_request_of_a_command_is_refused_by_its_name() {
    let room = room(on_tokio());
    let me = session(&room);
    let command = encode_command(&["A=b"], "cat", &[] as &[&str], b"").unwrap();
    let whole = [(START, encode_request::<&str>("cat", &[], b"").unwrap()), (COMMAND, command)];
    for (operation, request) in whole {
        for cut in 0..request.len() {
            let spawn = ProcessSpawn { operation, request: request[..cut].to_vec() };
            let refused = ask::<SpawnedProcess>(&room, &me, SPAWN, spawn, Streams::default()).await;
            assert_eq!(refused.err().unwrap().code(), "malformed", "{operation} {cut}");
        }
        let spawn = ProcessSpawn { operation, request };
        let process: SpawnedProcess = ask(&room, &me, SPAWN, spawn, Streams::default()).await.unwrap();
        assert!(matches!(end_of(&room, &me, &process).await.unwrap(), ProcessState::Exited(_)));
    }
    let spawn = ProcessSpawn { operation: "code.run", request: Vec::new() };
    let refused = ask::<SpawnedProcess>(&room, &me, SPAWN, spawn, Streams::default()).await;
    assert_eq!(
        refused.err().unwrap().to_string(),
        "malformed request: a process cannot be made of `code.run`"
    );
    let in_bytes = room.gate.dispatch(&me, Call::new(SPAWN, b"", Streams::default())).await;
    assert_eq!(in_bytes.err().unwrap().code(), "malformed");
}
