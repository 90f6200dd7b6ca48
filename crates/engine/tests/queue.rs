//! More runs than slots: who waits, for how long, whose turn it is, and who is refused instead.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    io,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use common::request;
use drydock_abi::exec::encode_report;
use drydock_contract::{
    BoxFuture, ByteSource, Call, CallError, Cap, CapSet, Dispatch, Outcome, Preparing, Reply, RunRequest,
    Source, Streams, Switch, port::Runner as _,
};
use drydock_engine::{Engine, EngineSettings};
use drydock_testkit::guests;
use futures_util::future::join_all;
use parking_lot::Mutex;

/// Generous: only a hang is caught by it.
const HANG: Duration = Duration::from_secs(60);

fn with_slots(slots: u32) -> Arc<Engine> {
    Arc::new(Engine::new(EngineSettings { slots: Some(slots), ..EngineSettings::default() }, None).unwrap())
}

/// A run that keeps its slot until the switch is thrown.
fn keeping(until: &Arc<Switch>) -> RunRequest {
    let switches = [Arc::clone(until), Arc::default()];
    RunRequest { switches, ..request(&guests::sleep_ms(3_600_000)) }
}

async fn ended(engine: &Engine, request: RunRequest) -> Outcome {
    engine.run(request).await.unwrap().0.outcome
}

/// Lets everything that is spawned come to where it waits.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

/// Starts another run, and answers when that has ended.
struct Nest {
    engine: Arc<Engine>,
    depth: u32,
    session: Arc<Preparing>,
}

const NEST_DEPTH: u32 = 2;

fn nested(engine: &Arc<Engine>, depth: u32, session: &Arc<Preparing>) -> RunRequest {
    let starts = r#"(module
  (import "env" "host_command" (func $command (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func (export "_start") (call $exit (call $command (i32.const 0) (i32.const 0) (i32.const 0)))))"#;
    let wat = if depth < NEST_DEPTH { starts.to_owned() } else { guests::sleep_ms(1) };
    let door = Nest { engine: Arc::clone(engine), depth, session: Arc::clone(session) };
    let preparing = Some(Arc::clone(session));
    RunRequest { caps: CapSet::of(&[Cap::Exec]), door: Arc::new(door), depth, preparing, ..request(&wat) }
}

impl Dispatch for Nest {
    fn dispatch<'a>(&'a self, _: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move {
            // By now every slot that may be taken is.
            settle().await;
            let run = self.engine.run(nested(&self.engine, self.depth + 1, &self.session));
            let (report, _) = run.await.map_err(CallError::Failed)?;
            Ok(Reply::of_bytes(encode_report(&report), Streams::default()))
        })
    }
}

#[tokio::test]
async fn two_hundred_sessions_nesting_three_deep_end_before_their_deadlines() {
    let engine = with_slots(8);
    let sessions = (0..200).map(|_| async {
        let session = Arc::default();
        ended(&engine, nested(&engine, 0, &session)).await
    });
    let all = tokio::time::timeout(HANG, join_all(sessions)).await.expect("they wait for each other");
    assert!(all.iter().all(|it| *it == Outcome::Exited(0)), "{all:?}");
}

/// Ends when the switch is thrown.
struct EndsWith(Arc<Switch>, Option<event_listener::EventListener>);

impl ByteSource for EndsWith {
    fn poll_read(&mut self, cx: &mut Context<'_>, _: &mut [u8]) -> Poll<io::Result<usize>> {
        let listener = self.1.get_or_insert_with(|| self.0.listen());
        if self.0.is_tripped() || std::pin::Pin::new(listener).poll(cx).is_ready() {
            return Poll::Ready(Ok(0));
        }
        Poll::Pending
    }
}

#[tokio::test]
async fn a_pipeline_gets_its_other_stages_where_first_stages_hold_all_slots() {
    let engine = with_slots(8);
    let lines = (0..100).map(|_| async {
        let (session, reader_ran) = (Some(Arc::<Preparing>::default()), Arc::<Switch>::default());
        // It writes to nobody until there is a reader, as one does that has filled its pipe.
        let mut writer = RunRequest { preparing: session.clone(), ..request(&guests::drain_stdin()) };
        writer.streams.stdin = Source::Stream(Box::new(EndsWith(Arc::clone(&reader_ran), None)));
        let reader = RunRequest { preparing: session, ..request(&guests::exit(0)) };
        let reader = async {
            settle().await;
            let outcome = ended(&engine, reader).await;
            reader_ran.trip();
            outcome
        };
        futures_util::future::join(ended(&engine, writer), reader).await
    });
    let all = tokio::time::timeout(HANG, join_all(lines)).await.expect("they wait for each other");
    assert!(all.iter().all(|it| *it == (Outcome::Exited(0), Outcome::Exited(0))), "{all:?}");
}

#[tokio::test]
async fn more_runs_than_slots_and_queue_take_is_a_clear_fault() {
    let engine = with_slots(4);
    let until = Arc::<Switch>::default();
    engine.warm(&keeping(&until).artifact).await.unwrap();
    // Three slots for runs that nobody waits for, and 512 places in the queue for those of one tenant.
    let waiting: Vec<_> = (0..3 + 512)
        .map(|_| {
            let (engine, request) = (Arc::clone(&engine), keeping(&until));
            tokio::spawn(async move { engine.run(request).await })
        })
        .collect();
    settle().await;
    let fault = engine.run(keeping(&until)).await.err().unwrap();
    assert_eq!(fault.code(), "saturated");
    assert!(
        fault.to_string().contains("512 runs wait for one already, 512 of them of tenant dev"),
        "{fault}"
    );
    // Another tenant has places left, and the next turn.
    let other = RunRequest { tenant: "acme".parse().unwrap(), ..keeping(&until) };
    let mut other = engine.run(other);
    assert!(futures_util::poll!(&mut other).is_pending());
    until.trip();
    for it in waiting {
        assert_eq!(it.await.unwrap().unwrap().0.outcome, Outcome::Cancelled);
    }
    assert_eq!(other.await.unwrap().0.outcome, Outcome::Cancelled);
    assert_eq!(ended(&engine, request(&guests::exit(5))).await, Outcome::Exited(5));
}

#[tokio::test]
async fn tenants_take_turns_however_many_runs_one_of_them_has() {
    let engine = with_slots(1);
    let until = Arc::<Switch>::default();
    let mut keeper = engine.run(keeping(&until));
    assert!(tokio::time::timeout(Duration::from_millis(200), &mut keeper).await.is_err());
    engine.warm(&request(&guests::exit(0)).artifact).await.unwrap();
    let order = Mutex::new(String::new());
    let runs = ["a1", "a2", "a3", "b1", "a4", "c1", "b2"].map(|name| {
        let asked = RunRequest { tenant: name[..1].parse().unwrap(), ..request(&guests::exit(0)) };
        let (engine, order) = (&engine, &order);
        async move {
            assert_eq!(ended(engine, asked).await, Outcome::Exited(0));
            order.lock().push_str(name);
        }
    });
    let release = async {
        settle().await;
        until.trip();
        keeper.await.unwrap()
    };
    futures_util::future::join(join_all(runs), release).await;
    assert_eq!(order.into_inner(), "a1b1c1a2b2a3a4");
}

#[tokio::test]
async fn a_wait_for_a_slot_is_the_runs_own_time_and_ends_with_it() {
    let engine = with_slots(1);
    let until = Arc::<Switch>::default();
    let mut keeper = engine.run(keeping(&until));
    assert!(tokio::time::timeout(Duration::from_millis(200), &mut keeper).await.is_err());

    engine.warm(&request(&guests::exit(0)).artifact).await.unwrap();
    let mut late = request(&guests::exit(0));
    late.limits.wall_max = Duration::from_millis(30);
    let (report, _) = tokio::time::timeout(HANG, engine.run(late)).await.unwrap().unwrap();
    assert_eq!((report.outcome, report.fuel), (Outcome::TimedOut, 0));
    assert!(report.duration >= Duration::from_millis(30), "{:?}", report.duration);

    for index in [0, 1] {
        let revoked = request(&guests::exit(0));
        let switch = Arc::clone(&revoked.switches[index]);
        let mut revoked = engine.run(revoked);
        assert!(futures_util::poll!(&mut revoked).is_pending());
        switch.trip();
        let (report, _) = tokio::time::timeout(HANG, revoked).await.unwrap().unwrap();
        assert_eq!(report.outcome, Outcome::Cancelled);
    }

    // One that is dropped while it waits, and one that is dropped when it was just called.
    let mut dropped = engine.run(request(&guests::exit(0)));
    let mut called = engine.run(request(&guests::exit(0)));
    assert!(futures_util::poll!(&mut dropped).is_pending() && futures_util::poll!(&mut called).is_pending());
    drop(dropped);
    until.trip();
    assert_eq!(keeper.await.unwrap().0.outcome, Outcome::Cancelled);
    drop(called);
    let next = tokio::time::timeout(HANG, ended(&engine, request(&guests::exit(7)))).await;
    assert_eq!(next.expect("the slot is lost"), Outcome::Exited(7));
}

#[tokio::test]
async fn a_run_nested_deeper_than_slots_are_reserved_never_waits() {
    let engine = with_slots(1);
    let until = Arc::<Switch>::default();
    let mut keeper = engine.run(keeping(&until));
    assert!(tokio::time::timeout(Duration::from_millis(200), &mut keeper).await.is_err());
    let inner = RunRequest { depth: 1, ..request(&guests::exit(0)) };
    assert_eq!(engine.run(inner).await.err().unwrap().code(), "saturated");
    until.trip();
    keeper.await.unwrap();
    let inner = RunRequest { depth: 1, ..request(&guests::exit(0)) };
    assert_eq!(ended(&engine, inner).await, Outcome::Exited(0));
}

/// Takes so much memory that it is taken down on another thread.
const LARGE: &str = r#"(module (memory (export "memory") 200) (func (export "_start")))"#;

#[test]
fn a_run_that_is_dropped_while_its_memory_is_taken_down_keeps_its_slot_until_that_is_done() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build();
    runtime.unwrap().block_on(async {
        let engine = with_slots(1);
        for wat in [LARGE, &guests::exit(3)] {
            engine.warm(&request(wat).artifact).await.unwrap();
        }
        // The one thread that could take it down is busy.
        let (go_on, told) = std::sync::mpsc::channel::<()>();
        let busy = tokio::task::spawn_blocking(move || told.recv());
        let ended = tokio::time::timeout(Duration::from_millis(200), engine.run(request(LARGE))).await;
        assert!(ended.is_err(), "nobody took it down");
        let mut next = engine.run(request(&guests::exit(3)));
        assert!(futures_util::poll!(&mut next).is_pending(), "the pool has no room, so it waits");
        go_on.send(()).unwrap();
        busy.await.unwrap().unwrap();
        let (report, _) = tokio::time::timeout(HANG, next).await.expect("the slot is lost").unwrap();
        assert_eq!(report.outcome, Outcome::Exited(3));
    });
}

#[tokio::test]
async fn without_a_pool_runs_are_bounded_too_and_wait() {
    let engine = with_slots(0);
    assert_eq!(engine.facts().unwrap().allocation, drydock_engine::Allocation::OnDemand);
    let until = Arc::<Switch>::default();
    engine.warm(&keeping(&until).artifact).await.unwrap();
    let general = 1024 - 64;
    let mut kept: Vec<_> = (0..general).map(|_| engine.run(keeping(&until))).collect();
    for run in &mut kept {
        assert!(futures_util::poll!(run).is_pending());
    }
    let mut late = request(&guests::exit(0));
    late.limits.wall_max = Duration::from_millis(20);
    assert_eq!(ended(&engine, late).await, Outcome::TimedOut);
    until.trip();
    join_all(kept).await;
    assert_eq!(ended(&engine, request(&guests::exit(0))).await, Outcome::Exited(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn slots_are_neither_lost_nor_given_twice_where_many_threads_take_drop_and_wait() {
    let engine = with_slots(16);
    let all = (0..400u64).map(|number| {
        let engine = Arc::clone(&engine);
        tokio::spawn(async move {
            let session = Arc::default();
            let run = ended(&engine, nested(&engine, 0, &session));
            // Every third gives up somewhere: before, while or after it waits.
            let patience = if number % 3 == 0 { Duration::from_micros(number * 50) } else { HANG };
            tokio::time::timeout(patience, run).await.unwrap_or(Outcome::Exited(0))
        })
    });
    for it in join_all(all).await {
        assert_eq!(it.unwrap(), Outcome::Exited(0));
    }
    // Twelve of the sixteen are for whom nobody waits, and all are there.
    let until = Arc::<Switch>::default();
    let mut kept: Vec<_> = (0..12).map(|_| engine.run(keeping(&until))).collect();
    for run in &mut kept {
        assert!(tokio::time::timeout(Duration::from_millis(20), run).await.is_err());
    }
    let mut late = request(&guests::exit(0));
    late.limits.wall_max = Duration::from_millis(20);
    assert_eq!(ended(&engine, late).await, Outcome::TimedOut);
    until.trip();
    join_all(kept).await;
    // And those that are reserved.
    let session = Arc::default();
    assert_eq!(ended(&engine, nested(&engine, 0, &session)).await, Outcome::Exited(0));
}
