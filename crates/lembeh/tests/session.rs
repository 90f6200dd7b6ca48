//! A session without an engine: a guest's calls one by one, a gate that answers as it is told, and a clock that somebody
//! else moves.
#![allow(clippy::unwrap_used)]

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use drydock_abi::lembeh::{
    CapSelector, Source, encode_source,
    exec::{self, Started, Status, encode_start, encode_status},
    net::{self, Connect, encode_connect},
    zax::{Command, CommandIds, Event, encode_command, next_event},
};
use drydock_abi::tcp::{CONNECT, ConnectAnswer, Connected};
use drydock_contract::{
    BoxFuture, Call, CallError, Denial, Dispatch, LembehHost, Meter, Outcome, Reply, RunReport, Sink,
    Source as Stream, Streams,
};
use drydock_gate::process::{AWAIT, ProcessState, SPAWN, SpawnedProcess};
use drydock_lembeh::{LembehParts, LembehPolicy, LembehSession, StreamLimits, Timer};
use parking_lot::Mutex;

/// A clock that stands where it was put.
#[derive(Default, Clone)]
struct Hands(Arc<(AtomicU64, Mutex<Vec<Waker>>)>);

impl Hands {
    fn put(&self, ms: u64) {
        self.0.0.store(ms, Ordering::Relaxed);
        self.0.1.lock().drain(..).for_each(Waker::wake);
    }
}

impl Timer for Hands {
    fn now_ms(&self) -> u64 {
        self.0.0.load(Ordering::Relaxed)
    }

    fn at(&self, ms: u64) -> BoxFuture<'static, ()> {
        let hands = self.clone();
        Box::pin(std::future::poll_fn(move |cx| {
            if hands.now_ms() >= ms {
                return Poll::Ready(());
            }
            hands.0.1.lock().push(cx.waker().clone());
            Poll::Pending
        }))
    }
}

/// What becomes of processes: those that are started wait, until `ends` says how they end.
#[derive(Default)]
struct World {
    streams: Mutex<Vec<Streams>>,
    ends: Mutex<Option<Outcome>>,
    waiting: Mutex<Vec<Waker>>,
    /// Processes that somebody still holds.
    held: Arc<()>,
    is_slow: bool,
}

impl Dispatch for World {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move {
            match call.operation {
                SPAWN if self.is_slow => std::future::pending().await,
                SPAWN => {
                    let mut streams = self.streams.lock();
                    streams.push(call.streams);
                    let owner = Box::new(Arc::clone(&self.held));
                    let process = SpawnedProcess { number: 0, command: "cat".into(), owner };
                    Ok(Reply::of_value(process, Streams::default()))
                }
                AWAIT => {
                    let ended = std::future::poll_fn(|cx| match self.ends.lock().take() {
                        Some(outcome) => Poll::Ready(outcome),
                        None => {
                            self.waiting.lock().push(cx.waker().clone());
                            Poll::Pending
                        }
                    });
                    let outcome = ended.await;
                    self.streams.lock().clear();
                    Ok(Reply::of_value(ProcessState::Exited(report(outcome)), Streams::default()))
                }
                CONNECT => {
                    // Whoever waits for it holds it.
                    let held = Arc::clone(&self.held);
                    if self.is_slow {
                        std::future::pending::<()>().await;
                    }
                    drop(held);
                    let (source, sink) = (Stream::Empty, Sink::capture());
                    let answer: ConnectAnswer = Ok(Connected { source, sink });
                    Ok(Reply::of_value(answer, Streams::default()))
                }
                other => Err(Denial::UnknownOperation(other.into()).into()),
            }
        })
    }
}

impl World {
    /// The process that waits ends so.
    fn end(&self, outcome: Outcome) {
        *self.ends.lock() = Some(outcome);
        self.waiting.lock().drain(..).for_each(Waker::wake);
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

struct Room {
    session: LembehSession,
    world: Arc<World>,
    hands: Arc<Hands>,
    meter: Arc<Meter>,
    futures: u64,
}

const HUB: i32 = 3;
const MEMORY: u64 = 64 << 20;
/// What a handle is paid for with.
const HANDLE: u64 = 64;
/// What a pipe is paid for with.
const PIPE: u64 = 64 * 1024 + 512;

impl Room {
    fn new(world: World) -> Self {
        Self::under(
            world,
            r#""programs": {"tools/cat": "cat"}, "start_timeout_ms": 50, "status_grace_ms": 500"#,
        )
    }

    fn under(world: World, policy: &str) -> Self {
        let policy = LembehPolicy::parse(format!("{{{policy}}}").as_bytes());
        let world = Arc::new(world);
        let hands = Arc::new(Hands::default());
        let mut session = LembehSession::new(LembehParts {
            policy: policy.unwrap(),
            streams: Streams::default(),
            limits: StreamLimits::default(),
            files: None,
            net: Some(Arc::clone(&world) as _),
            timer: Arc::clone(&hands) as _,
        });
        let meter = Arc::new(Meter::new(MEMORY));
        session.begin(Arc::clone(&world) as _, Arc::clone(&meter));
        let open = drydock_abi::lembeh::ctl::Operation::Open {
            kind: "async",
            name: "default",
            mode: 1,
            params: b"",
        };
        let frame = drydock_abi::lembeh::ctl::encode_request(1, 0, &open).unwrap();
        session.ctl(&mut Context::from_waker(Waker::noop()), &frame, 99).unwrap();
        Self { session, world, hands, meter, futures: 0 }
    }

    fn write(&mut self, handle: i32, bytes: &[u8]) -> Poll<Result<usize, drydock_contract::LembehEnd>> {
        self.session.poll_write(&mut Context::from_waker(Waker::noop()), handle, bytes)
    }

    fn read(&mut self, handle: i32) -> Poll<Result<Vec<u8>, drydock_contract::LembehEnd>> {
        let mut buffer = vec![0; 4096];
        let got = self.session.poll_read(&mut Context::from_waker(Waker::noop()), handle, &mut buffer);
        got.map_ok(|count| buffer[..count].to_vec())
    }

    /// Registers a future; its number.
    fn begin(&mut self, selector: &str, params: &[u8], timeout_ms: u16) -> u64 {
        self.begin_of((exec::KIND, exec::NAME), selector, params, timeout_ms)
    }

    fn begin_of(
        &mut self,
        (kind, name): (&str, &str),
        selector: &str,
        params: &[u8],
        timeout_ms: u16,
    ) -> u64 {
        self.futures += 1;
        let call = CapSelector { kind, name, selector, params };
        let source = encode_source(&Source::Selector(call)).unwrap();
        let mut frame = Vec::new();
        let ids = CommandIds { future_id: self.futures, timeout_ms, ..CommandIds::default() };
        encode_command(&mut frame, &ids, &Command::Register { source: &source }).unwrap();
        assert!(matches!(self.write(HUB, &frame), Poll::Ready(Ok(count)) if count == frame.len()));
        self.futures
    }

    /// The next event, as words; nothing if the guest would wait.
    fn event(&mut self) -> Option<(String, Vec<u8>)> {
        let Poll::Ready(Ok(bytes)) = self.read(HUB) else { return None };
        let (event, length) = next_event(&bytes).unwrap().unwrap();
        assert_eq!(length, bytes.len(), "one at a time");
        Some(match event {
            Event::FutureOk { value, .. } => ("ok".into(), value.to_vec()),
            Event::FutureFail { failure, .. } => (failure.trace.into(), Vec::new()),
            Event::FutureCancelled { .. } => ("cancelled".into(), Vec::new()),
            other => (format!("{other:?}"), Vec::new()),
        })
    }

    fn start(&mut self, wants: u32) -> Started {
        self.begin(exec::START, &encode_start("tools/cat", wants, &["cat"], &[]).unwrap(), 0);
        let (word, value) = self.event().unwrap();
        assert_eq!(word, "ok");
        Started::decode(&value, wants).unwrap()
    }

    fn status(&mut self, exec_id: u32) -> Result<Status, String> {
        self.begin(exec::STATUS, &encode_status(exec_id), 0);
        let (word, value) = self.event().unwrap();
        if word == "ok" { Ok(Status::decode(&value).unwrap()) } else { Err(word) }
    }

    /// Registers a connection.
    fn connect(&mut self, timeout_ms: u16) -> u64 {
        let wire = encode_connect(&Connect { host: "127.0.0.1", port: 80, connect_flags: 0 }).unwrap();
        self.begin_of((net::KIND, net::NAME), net::CONNECT, &wire, timeout_ms)
    }

    fn cancel(&mut self, future_id: u64) {
        let mut frame = Vec::new();
        let ids = CommandIds { future_id, ..CommandIds::default() };
        encode_command(&mut frame, &ids, &Command::Cancel).unwrap();
        assert!(self.write(HUB, &frame).is_ready());
    }

    /// Processes that are still held, besides the world's own word for it.
    fn held(&self) -> usize {
        Arc::strong_count(&self.world.held) - 1
    }
}

#[test]
fn status_is_forgotten_when_its_grace_period_is_over_and_its_handles_are_closed() {
    let mut room = Room::new(World::default());
    let started = room.start(exec::WANT_STDOUT);
    assert_eq!((started.exec_id, started.stdout_handle), (1, 4));
    assert_eq!(room.status(1).unwrap().code, 0);
    assert_eq!(room.held(), 1);
    room.world.end(Outcome::Exited(7));
    let exited = Status { state: exec::State::Exited, code: 7 };
    assert_eq!(room.status(1), Ok(exited));
    room.hands.put(10_000);
    assert_eq!(room.status(1), Ok(exited), "a handle of it is open");
    assert_eq!(room.read(4), Poll::Ready(Ok(Vec::new())), "and has ended");
    assert_eq!(room.status(1), Err("t_exec_not_found".into()));
    let started = room.start(0);
    assert_eq!(started.exec_id, 2, "no number comes again");
    room.world.end(Outcome::TimedOut);
    room.hands.put(10_499);
    assert_eq!(room.status(2), Ok(Status { state: exec::State::Timeout, code: 124 }));
    room.hands.put(11_000);
    assert_eq!(room.status(2), Err("t_exec_not_found".into()));
}

#[test]
fn a_start_that_is_cancelled_or_too_late_leaves_no_process_no_handle_and_no_byte() {
    let mut room = Room::new(World { is_slow: true, ..World::default() });
    let before = room.meter.held();
    let params = encode_start("tools/cat", 7, &["cat"], &[]).unwrap();
    let future = room.begin(exec::START, &params, 0);
    assert_eq!(room.event(), None, "it waits");
    assert!(room.meter.held() > before, "its pipes are paid for");
    room.cancel(future);
    assert_eq!(room.meter.held(), before, "at once, before the guest can read it");
    assert_eq!(room.event().unwrap().0, "cancelled");
    // The host's own limit is a failure, the guest's a cancel.
    room.begin(exec::START, &params, 0);
    room.begin(exec::START, &params, 20);
    room.hands.put(30);
    assert_eq!(room.event().unwrap().0, "cancelled");
    room.hands.put(60);
    assert_eq!(room.meter.held(), before + 3 * PIPE);
    room.session.end(&mut Context::from_waker(Waker::noop()), HUB).unwrap();
    assert_eq!(
        (room.held(), room.meter.held()),
        (0, HANDLE),
        "its hub is paid for no longer, and its number is"
    );
}

#[test]
fn a_start_without_memory_for_all_its_handles_has_none_of_them() {
    let mut room = Room::new(World::default());
    let rest = MEMORY - room.meter.held() - 3 * PIPE - 2 * HANDLE;
    assert!(room.meter.try_hold(rest));
    room.begin(exec::START, &encode_start("tools/cat", 7, &["cat"], &[]).unwrap(), 0);
    assert_eq!(room.event().unwrap().0, "t_async_overflow");
    room.world.streams.lock().clear();
    assert_eq!(room.held(), 0);
    room.meter.release(rest);
    assert_eq!(room.start(exec::WANT_STDOUT).stdout_handle, 4, "no number was given to the first");
}

#[test]
fn a_cancelled_connection_leaves_nothing_and_a_timeout_is_a_cancel() {
    let policy =
        r#""hosts": {"allowlist": ["127.0.0.1:80"], "max_conns": 2, "max_inflight": 2, "connect_ms": 50}"#;
    let mut room = Room::under(World { is_slow: true, ..World::default() }, policy);
    let before = room.meter.held();
    let first = room.connect(0);
    assert_eq!((room.event(), room.held()), (None, 1), "it waits");
    room.connect(20);
    assert_eq!(room.held(), 2);
    room.connect(0);
    assert_eq!(room.event().unwrap().0, "t_async_overflow", "two are on their way");
    room.cancel(first);
    assert_eq!(room.held(), 1, "gone before the guest can read it");
    assert_eq!(room.event().unwrap().0, "cancelled");
    room.connect(0);
    assert_eq!((room.event(), room.held()), (None, 2), "and its place is free");
    // The guest's own limit is a cancel, the policy's a failure.
    room.hands.put(30);
    assert_eq!((room.event().unwrap().0, room.held()), ("cancelled".into(), 1));
    room.hands.put(60);
    assert_eq!((room.event().unwrap().0, room.held()), ("t_ctl_timeout".into(), 0));
    assert_eq!((room.event(), room.meter.held()), (None, before), "each ended once");
}

#[test]
fn so_many_connections_may_be_open_and_on_their_way_as_the_policy_says() {
    let policy = r#""hosts": {"allowlist": ["127.0.0.1:80"], "max_conns": 2}"#;
    let mut room = Room::under(World::default(), policy);
    let told: Vec<String> = (0..3).map(|_| (room.connect(0), room.event().unwrap().0).1).collect();
    assert_eq!(told, ["ok", "ok", "t_async_overflow"]);
    // Both of its ways are closed: then its place is free.
    assert_eq!(room.read(4), Poll::Ready(Ok(Vec::new())));
    room.connect(0);
    assert_eq!(room.event().unwrap().0, "t_async_overflow");
    room.session.end(&mut Context::from_waker(Waker::noop()), 4).unwrap();
    room.connect(0);
    assert_eq!(room.event().unwrap().0, "ok");
    let narrow = r#""hosts": {"allowlist": ["127.0.0.1:80"], "max_inflight": 1}"#;
    let mut room = Room::under(World { is_slow: true, ..World::default() }, narrow);
    room.connect(0);
    room.connect(0);
    assert_eq!((room.event().unwrap().0, room.held()), ("t_async_overflow".into(), 1));
}

#[test]
fn what_a_guest_leaves_behind_ends_with_it() {
    let mut room = Room::new(World::default());
    for _ in 0..8 {
        room.start(7);
    }
    assert_eq!(room.held(), 8);
    room.session.finish();
    room.world.streams.lock().clear();
    assert_eq!(
        (room.held(), room.meter.held()),
        (0, 0),
        "and what a process had is paid for until it is gone"
    );
    assert!(matches!(room.write(HUB, b"x"), Poll::Ready(Err(_))));
}
