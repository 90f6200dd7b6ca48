//! Proofs for `parallel`, with a runner that says what it read, and counts who runs beside whom.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Waker},
    time::Duration,
};

use drydock_abi::{
    broker::{Answer, Blob},
    parallel::{AT_ONCE_MAX, INPUTS_MAX, MAP, MapAnswer, MapRequest, Mapped, REQUEST_BYTES_MAX},
};
use drydock_contract::{
    BoxFuture, Call, Cap, Fault, LiveError, LiveSpec, Meter, Node, Outcome, RunReport, RunRequest, Streams,
    Tenant,
    port::{AuditEvent, LiveInstance, Runner},
    yield_now,
};
use drydock_gate::{Gate, GateSettings, Grant, HeldGrants, Session, SessionSpec};
use drydock_testkit::{FixedClock, MemoryJournal, TinyRegistry, block_on, principal};

use super::Parallel;
use crate::exec::Exec;

/// Runs that go on now, and the most that ever did.
#[derive(Default)]
struct Shout {
    now: AtomicUsize,
    most: AtomicUsize,
}

struct Going<'a>(&'a AtomicUsize);

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Runner for Shout {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        Box::pin(async move {
            let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            let _going = Going(&self.now);
            // Others begin meanwhile.
            yield_now().await;
            let mut streams = request.streams;
            let mut buffer = [0; 64];
            let got = poll_fn(|cx| streams.stdin.poll_read(cx, &mut buffer)).await.unwrap();
            let text = buffer[..got].to_ascii_uppercase();
            let outcome = match &buffer[..got] {
                _ if request.limits.wall_max.is_zero() => Outcome::TimedOut,
                b"trap" => Outcome::Trapped("unreachable".into()),
                b"one" => Outcome::Exited(1),
                b"never" => std::future::pending().await,
                b"broken" => return Err(Fault::Internal("a secret of the host".into())),
                _ => Outcome::Exited(0),
            };
            poll_fn(|cx| streams.stdout.poll_write(cx, &text)).await.unwrap();
            let report = RunReport {
                outcome,
                fuel: 0,
                memory_bytes: 0,
                duration: Duration::ZERO,
                stdin_bytes: 0,
                stdout_bytes: 0,
                stderr_bytes: 0,
                quota: None,
            };
            Ok((report, streams))
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
}

fn room_with(parallel: Parallel) -> Room {
    room_by(parallel, GateSettings::default())
}

fn room_by(parallel: Parallel, settings: GateSettings) -> Room {
    let (journal, runner) = (Arc::new(MemoryJournal::default()), Arc::new(Shout::default()));
    let registry = Arc::new(TinyRegistry::of(&["upper", "jq"]));
    let gate = Gate::new(settings, Arc::new(FixedClock::default()), Arc::clone(&journal) as _);
    let gate = gate.with(Exec::new(registry, Arc::clone(&runner) as _)).with(parallel);
    Room { gate: Arc::new(gate), journal, runner }
}

fn room() -> Room {
    room_with(Parallel::default())
}

fn session(room: &Room, caps: &[Cap]) -> Session {
    let grants: HeldGrants = caps.iter().map(|it| Grant::of(*it)).collect();
    room.gate.open(SessionSpec { grants, ..SessionSpec::new(principal("me")) }).unwrap()
}

fn call(command: &str, inputs: &[&str]) -> Call<'static> {
    let inputs = inputs.iter().map(|it| Blob(it.as_bytes().to_vec())).collect();
    let request = MapRequest { command: command.into(), args: Vec::new(), inputs };
    let bytes = request.bytes();
    Call::typed(MAP, request, bytes, Streams::default())
}

fn map(room: &Room, session: &Session, command: &str, inputs: &[&str]) -> Result<Vec<String>, &'static str> {
    let mut reply =
        block_on(room.gate.dispatch(session, call(command, inputs))).map_err(|error| error.code())?;
    let answer = reply.value::<Answer<MapAnswer>>().unwrap().unwrap();
    let shown = |it: &Mapped| match it {
        Mapped::Exited { status, stdout } => format!("{status} {}", String::from_utf8_lossy(&stdout.0)),
        Mapped::Failed { error } => error.code.to_string(),
    };
    Ok(answer.results.iter().map(shown).collect())
}

const BOTH: [Cap; 2] = [Cap::Parallel, Cap::Exec];

#[test]
fn answers_come_in_the_order_of_the_inputs_and_sixteen_tasks_go_on_at_once() {
    let room = room();
    let session = session(&room, &BOTH);
    let inputs: Vec<String> = (0..INPUTS_MAX).map(|it| format!("n{it}")).collect();
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let results = map(&room, &session, "upper", &inputs).unwrap();
    assert_eq!((results.len(), results[0].as_str(), results[1_023].as_str()), (1_024, "0 N0", "0 N1023"));
    assert_eq!(room.runner.most.load(Ordering::SeqCst), AT_ONCE_MAX);
    assert_eq!(map(&room, &session, "upper", &[]).unwrap(), [""; 0]);
}

#[test]
fn a_task_that_fails_hurts_no_other_and_says_how() {
    let room = room();
    let session = session(&room, &BOTH);
    let results = map(&room, &session, "upper", &["a", "trap", "one", "broken", "b"]).unwrap();
    assert_eq!(results, ["0 A", "trapped", "1 ONE", "internal_error", "0 B"]);
    assert_eq!(map(&room, &session, "missing", &["a"]).unwrap(), ["unknown_command"]);
}

#[test]
fn a_task_whose_time_is_up_is_one_that_failed() {
    let room = room_with(Parallel::within(Duration::ZERO));
    let results = map(&room, &session(&room, &BOTH), "upper", &["a", "b"]).unwrap();
    assert_eq!(results, ["timed_out", "timed_out"], "each run is told how long it has");
    assert_eq!(drydock_abi::parallel::TASK_WALL_MAX, Duration::from_secs(30));
}

#[test]
fn each_task_is_a_call_of_exec_with_the_grants_of_exec() {
    let room = room();
    let narrow: HeldGrants =
        [Grant::of(Cap::Parallel), Grant::of(Cap::Exec).only(["jq".parse().unwrap()])].into_iter().collect();
    let session =
        room.gate.open(SessionSpec { grants: narrow, ..SessionSpec::new(principal("me")) }).unwrap();
    assert_eq!(map(&room, &session, "upper", &["a"]).unwrap(), ["command_not_granted"]);
    assert_eq!(map(&room, &session, "jq", &["a"]).unwrap(), ["0 A"]);
    room.gate.flush().unwrap();
    let records = room.journal.records();
    let event = |it: &AuditEvent| match it {
        AuditEvent::Begun => "begun",
        AuditEvent::Ended(end) => end.kind.code(),
        AuditEvent::Denied(_) => "denied",
    };
    let rows: Vec<String> =
        records.iter().map(|it| format!("{} {}", it.call.operation, event(&it.event))).collect();
    let want = [
        ["parallel.map begun", "exec.start denied", "parallel.map done"].as_slice(),
        ["parallel.map begun", "exec.start begun", "exec.start done", "parallel.map done"].as_slice(),
    ];
    assert_eq!(rows, want.concat());
    assert_eq!(records[1].call.parent, records[0].call.call, "it hangs from its map");
}

#[test]
fn what_a_map_is_refused_for_has_its_own_code() {
    let room = room();
    let both = session(&room, &BOTH);
    assert_eq!(map(&room, &session(&room, &[Cap::Exec]), "upper", &["a"]), Err("denied"));
    assert_eq!(map(&room, &both, "upper", &vec!["x"; INPUTS_MAX + 1]), Err("too_many_inputs"));
    let nul = MapRequest { command: "upper".into(), args: vec![Blob(b"a\0b".to_vec())], inputs: Vec::new() };
    let nul = Call::typed(MAP, nul, 8, Streams::default());
    assert_eq!(block_on(room.gate.dispatch(&both, nul)).map(drop).unwrap_err().code(), "malformed");
    let bytes =
        |payload: &[u8]| block_on(room.gate.dispatch(&both, Call::new(MAP, payload, Streams::default())));
    for bad in [&b"\0"[..], b"{}", b"[]", br#"{"command":"upper","inputs":"x"}"#] {
        assert_eq!(bytes(bad).map(drop).unwrap_err().code(), "malformed");
    }
    let huge = Call::oversized(MAP, REQUEST_BYTES_MAX + 1);
    assert_eq!(block_on(room.gate.dispatch(&both, huge)).map(drop).unwrap_err().code(), "too_large");
    let reply = bytes(br#"{"command":"upper","inputs":["a",{"base64":"Yg=="}]}"#).unwrap();
    let text = String::from_utf8(reply.payload).unwrap();
    assert_eq!(text, r#"{"results":[{"status":0,"stdout":"A"},{"status":0,"stdout":"B"}]}"#);
    room.gate.flush().unwrap();
    let denied = room.journal.records().iter().filter(|it| matches!(it.event, AuditEvent::Denied(_))).count();
    assert_eq!(denied, 7, "each is on record");
    let ended = room
        .journal
        .records()
        .iter()
        .any(|it| matches!(&it.event, AuditEvent::Ended(end) if end.kind.code() == "malformed"));
    assert!(ended, "and what was found while acting");
}

#[test]
fn output_that_has_no_room_in_the_sessions_memory_is_a_task_that_failed() {
    let room = room();
    let spec = session(&room, &BOTH).spec().clone();
    let session = room.gate.open(SessionSpec { memory: Some(Arc::new(Meter::new(4))), ..spec }).unwrap();
    assert_eq!(
        map(&room, &session, "upper", &["abc", "de", "f"]).unwrap(),
        ["0 ABC", "output_too_large", "0 F"]
    );
}

#[test]
fn whoever_is_revoked_loses_the_map_and_all_its_tasks() {
    let room = room();
    let session = session(&room, &BOTH);
    let mut cx = Context::from_waker(Waker::noop());
    {
        let mut going = pin!(room.gate.dispatch(&session, call("upper", &["never"; 20])));
        for _ in 0..40 {
            assert!(going.as_mut().poll(&mut cx).is_pending());
        }
        assert_eq!(room.runner.now.load(Ordering::SeqCst), AT_ONCE_MAX);
        room.gate.revoke(&Node::Principal(Tenant::default(), principal("me"))).unwrap();
        assert_eq!(block_on(going).map(drop).unwrap_err().code(), "revoked");
    }
    assert_eq!(room.runner.now.load(Ordering::SeqCst), 0);
    assert_eq!(session.in_flight(), 0);
}

#[test]
fn a_map_is_counted_like_any_call_and_each_of_its_tasks_too() {
    let settings = GateSettings { calls_max: 3, ..GateSettings::default() };
    let room = room_by(Parallel::default(), settings);
    let session = session(&room, &BOTH);
    assert_eq!(map(&room, &session, "upper", &["a", "b", "c"]).unwrap(), ["0 A", "0 B", "rate_limited"]);
    assert_eq!(map(&room, &session, "upper", &[]), Err("rate_limited"));
}

#[test]
fn a_session_that_is_cancelled_loses_its_map_in_the_middle() {
    let room = room();
    let session = session(&room, &BOTH);
    let mut cx = Context::from_waker(Waker::noop());
    let mut going = pin!(room.gate.dispatch(&session, call("upper", &["never"; 3])));
    for _ in 0..10 {
        assert!(going.as_mut().poll(&mut cx).is_pending());
    }
    session.cancel();
    assert_eq!(block_on(going).map(drop).unwrap_err().code(), "cancelled");
    assert_eq!(session.in_flight(), 0);
}
