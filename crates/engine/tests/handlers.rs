//! Handlers as the engine drives them: memory that moves, hostile places, what a start function may do, and what happens
//! where more of them are in flight than there are slots.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use common::{ClosedDoor, engine};
use drydock_contract::{
    Artifact, BoxFuture, Call, CallError, CallLimits, Cap, CapSet, Denial, Dispatch, GuestLog, LiveError,
    LiveKind, LiveReply, LiveSpec, LogLevel, Meter, NoLog, Outcome, Reply, Switch, Tenant, port::Runner as _,
};
use drydock_engine::{Engine, EngineSettings};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use parking_lot::Mutex;

/// Nothing here takes a minute unless it hangs.
const HANG: Duration = Duration::from_secs(60);

fn limits() -> CallLimits {
    CallLimits { wall_max: HANG, fuel_max: u64::MAX, reply_bytes_max: 64 << 20, budget: None }
}

fn spec(wat: &str) -> LiveSpec {
    LiveSpec {
        artifact: Artifact::hash(wat::parse_str(wat).unwrap()),
        kind: LiveKind::Handler,
        memory_bytes_max: 64 << 20,
        memory: None,
        opening: limits(),
        lane: None,
        compile: None,
        caps: CapSet::EMPTY,
        door: Arc::new(ClosedDoor),
        switches: [Arc::default(), Arc::default()],
        preparing: None,
        depth: 0,
        tenant: Tenant::default(),
        log: Arc::new(NoLog),
    }
}

async fn answer(engine: &Engine, spec: LiveSpec, input: &[u8]) -> Result<LiveReply, LiveError> {
    let limits = spec.opening.clone();
    engine.open(spec).await?.call(input, limits).await
}

/// A handler whose `alloc` answers with this, and that answers with its request.
fn echoing(more: &str, alloc: &str) -> String {
    format!(
        r#"(module {more} (memory (export "memory") 2) (global $next (mut i32) (i32.const 1024))
          (func (export "alloc") (param $n i32) (result i32) (local $at i32) {alloc})
          (func (export "handler") (param $req i32) (param $len i32) (param $out i32) (result i32)
            (i32.store (local.get $out) (local.get $req))
            (i32.store offset=4 (local.get $out) (local.get $len))
            (i32.const 0)))"#
    )
}

/// Each allocation lies at the end of memory, which was grown by fifty pages for it.
const GROWS: &str = r#"
  (local.set $at (i32.mul (memory.size) (i32.const 65536)))
  (if (i32.eq (memory.grow (i32.const 50)) (i32.const -1)) (then (return (i32.const 0))))
  (local.get $at)"#;

/// Each allocation lies behind the one before.
const BUMPS: &str = r#"
  (local.set $at (global.get $next))
  (global.set $next (i32.add (local.get $at) (local.get $n)))
  (local.get $at)"#;

#[tokio::test]
async fn a_request_is_whole_where_each_allocation_grows_the_memory_and_growing_moves_it() {
    let moving = Engine::new(EngineSettings { slots: Some(0), ..EngineSettings::default() }, None).unwrap();
    let input: Vec<u8> = (0..100_000u32).map(|at| (at % 251) as u8).collect();
    for engine in [engine(), &moving] {
        let reply = answer(engine, spec(&echoing("", GROWS)), &input).await.unwrap();
        assert!(reply.bytes == input, "other bytes came back");
        assert_eq!(reply.memory_bytes, 102 << 16, "both allocations grew it");
    }
}

#[tokio::test]
async fn growth_that_the_sessions_meter_refuses_is_answered_and_the_limit_that_is_named_is_the_one_met() {
    // Two pages to begin with, and fifty more once: not twice.
    let shared =
        |pages: u64| LiveSpec { memory: Some(Arc::new(Meter::new(pages << 16))), ..spec("(module)") };
    let with = |pages| LiveSpec { artifact: spec(&echoing("", GROWS)).artifact, ..shared(pages) };
    let error = answer(engine(), with(60), b"x").await.unwrap_err();
    assert_eq!(error.code(), "out_of_range");
    assert!(error.to_string().contains("`alloc` answered 0 for 8 bytes"), "{error}");
    assert_eq!(answer(engine(), with(102), b"x").await.unwrap().bytes, b"x");
    let error = answer(engine(), with(1), b"x").await.unwrap_err();
    assert_eq!(error.to_string(), "the module begins with 131072 bytes of memory, and the limit is 65536");
}

#[tokio::test]
async fn places_near_the_end_of_the_address_space_break_the_contract_and_wrap_nowhere() {
    let cases = [
        // where the request lies, where the tuple lies
        ("0xfffffff0", "1024"),
        ("0xffffffff", "1024"),
        ("1024", "0xfffffff8"),
        ("1024", "0xfffffffc"),
        ("1024", "0xffffffff"),
    ];
    for (request, tuple) in cases {
        let alloc = format!(
            "(select (i32.const {tuple}) (i32.const {request}) (i32.eq (local.get $n) (i32.const 8)))"
        );
        let error = answer(engine(), spec(&echoing("", &alloc)), b"sixteen bytes ..").await.unwrap_err();
        assert_eq!(error.code(), "out_of_range", "{request} {tuple}");
    }
    for (at, len) in [("0xffffffff", "1"), ("0xfffffff0", "0x20"), ("16", "0xffffffff"), ("0x20000", "1")] {
        let answers = format!(
            r#"(module (memory (export "memory") 2)
              (func (export "alloc") (param i32) (result i32) (i32.const 64))
              (func (export "handler") (param i32 i32 i32) (result i32)
                (i32.store (local.get 2) (i32.const {at}))
                (i32.store offset=4 (local.get 2) (i32.const {len}))
                (i32.const 0)))"#
        );
        let error = answer(engine(), spec(&answers), b"").await.unwrap_err();
        assert_eq!(error.code(), "out_of_range", "{at} {len}");
    }
}

#[tokio::test]
async fn a_module_that_cannot_be_made_because_its_data_lies_outside_has_trapped() {
    // Wasm's own word for it, although nothing of the guest has run.
    let outside = echoing(r#"(data (i32.const 0x1ffff) "ab")"#, BUMPS);
    let error = answer(engine(), spec(&outside), b"").await.unwrap_err();
    assert!(matches!(&error, LiveError::Ended(Outcome::Trapped(_))), "{error}");
}

#[tokio::test]
async fn no_time_and_no_memory_are_limits_like_others() {
    let fine = echoing("", BUMPS);
    let hurried = CallLimits { wall_max: Duration::ZERO, ..limits() };
    let error = answer(engine(), LiveSpec { opening: hurried, ..spec(&fine) }, b"").await.unwrap_err();
    assert!(matches!(error, LiveError::Ended(Outcome::TimedOut)), "{error}");
    let error = answer(engine(), LiveSpec { memory_bytes_max: 0, ..spec(&fine) }, b"").await.unwrap_err();
    assert_eq!(error.to_string(), "the module begins with 131072 bytes of memory, and the limit is 0");
}

/// Keeps the lines.
#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl GuestLog for Lines {
    fn line(&self, _: LogLevel, text: &str) {
        self.0.lock().push(text.to_owned());
    }
}

/// A start function that logs so often, and a handler that logs so often.
fn logging(start: u32, handler: u32) -> String {
    let times = |count: u32| {
        format!(
            r#"(local $i i32) (local.set $i (i32.const {count}))
               (block $done (loop $again
                 (br_if $done (i32.eqz (local.get $i)))
                 (call $info (i32.const 16) (i32.const 2))
                 (local.set $i (i32.sub (local.get $i) (i32.const 1)))
                 (br $again)))"#
        )
    };
    format!(
        r#"(module (import "alga" "log_info" (func $info (param i32 i32)))
          (memory (export "memory") 1) (data (i32.const 16) "hi")
          (func $start {}) (start $start)
          (func (export "alloc") (param i32) (result i32) (i32.const 64))
          (func (export "handler") (param i32 i32 i32) (result i32) {} (i32.const 0)))"#,
        times(start),
        times(handler)
    )
}

#[tokio::test]
async fn a_start_function_may_log_and_shares_its_lines_with_the_request() {
    for (start, handler) in [(150, 150), (300, 300), (0, 201), (201, 0)] {
        let log = Arc::new(Lines::default());
        let made = LiveSpec { log: Arc::clone(&log) as _, ..spec(&logging(start, handler)) };
        answer(engine(), made, b"").await.unwrap();
        let lines = std::mem::take(&mut *log.0.lock());
        assert_eq!(lines.len(), 201, "{start} and {handler}");
        assert!(lines[..200].iter().all(|it| it == "hi"));
        assert_eq!(lines[200], "[more than 200 lines: the rest is dropped]");
    }
}

#[tokio::test]
async fn a_handler_does_not_live_between_two_requests() {
    let handler = engine().open(spec(&echoing("", BUMPS))).await.unwrap();
    assert_eq!(handler.call(b"x", limits()).await.unwrap().bytes, b"x");
    let error = handler.call(b"x", limits()).await.unwrap_err();
    assert!(error.to_string().contains("answers one request"), "{error}");
    let closed = engine().open(spec(&echoing("", BUMPS))).await.unwrap();
    closed.close();
    assert_eq!(closed.call(b"x", limits()).await.unwrap_err().code(), error.code());
}

#[tokio::test]
async fn one_deadline_and_one_measure_of_fuel_hold_for_its_start_function_and_its_answer() {
    // Each of the two takes about half of what both may.
    let turns = |count: u32| {
        format!(
            "(local $i i32) (local.set $i (i32.const {count}))
             (loop $on (local.set $i (i32.sub (local.get $i) (i32.const 1))) (br_if $on (local.get $i)))"
        )
    };
    let module = |start: u32, handler: u32| {
        format!(
            r#"(module (memory (export "memory") 1) (func $start {}) (start $start)
              (func (export "alloc") (param i32) (result i32) (i32.const 64))
              (func (export "handler") (param i32 i32 i32) (result i32) {} (i32.const 0)))"#,
            turns(start),
            turns(handler)
        )
    };
    let within = |fuel_max| CallLimits { fuel_max, ..limits() };
    for (start, handler, is_enough) in [(1_000, 1_000, true), (60_000, 1, true), (60_000, 60_000, false)] {
        let made = LiveSpec { opening: within(400_000), ..spec(&module(start, handler)) };
        let done = answer(engine(), made, b"").await;
        match is_enough {
            true => assert!((4_000..400_000).contains(&done.unwrap().fuel), "{start} and {handler}"),
            false => assert!(matches!(done, Err(LiveError::Ended(Outcome::OutOfFuel)))),
        }
    }
}

/// Refuses a fetch when the switch is thrown.
struct Until(Arc<Switch>);

impl Dispatch for Until {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move {
            let heard = self.0.listen();
            if !self.0.is_tripped() {
                heard.await;
            }
            Err(Denial::UnknownOperation(call.operation.into()).into())
        })
    }
}

/// Fetches in its start function and traps unless it is told no; answers with its request.
fn fetching() -> String {
    let fetch = r#"(import "alga" "http.fetch" (func $fetch (param i32 i32 i32) (result i32)))
      (func $start (if (i32.ne (call $fetch (i32.const 0) (i32.const 0) (i32.const 16)) (i32.const 1)) (then unreachable)))
      (start $start)"#;
    echoing(fetch, BUMPS)
}

/// Slots of a pool, and those of them that are for instances nobody waits for.
const SLOTS: u32 = 4;
const GENERAL: usize = 3;

#[tokio::test]
async fn more_handlers_than_slots_wait_tenants_in_turn_and_a_full_queue_is_told_so() {
    let engine =
        Engine::new(EngineSettings { slots: Some(SLOTS), ..EngineSettings::default() }, None).unwrap();
    let until = Arc::<Switch>::default();
    let made = |tenant: &str, until: &Arc<Switch>| LiveSpec {
        door: Arc::new(Until(Arc::clone(until))),
        tenant: tenant.parse().unwrap(),
        ..spec(&fetching())
    };
    let open_door = Arc::<Switch>::default();
    open_door.trip();
    answer(&engine, made("a", &open_door), b"warm").await.unwrap();

    let order = Mutex::new(Vec::new());
    let invoke = |tenant: &'static str, until: &Arc<Switch>| {
        let (engine, order, made) = (&engine, &order, made(tenant, until));
        Box::pin(async move {
            let reply = answer(engine, made, b"x").await?;
            order.lock().push(tenant);
            Ok::<_, LiveError>(reply.bytes)
        })
    };
    // All slots are taken, one of them for less long; then come those who wait.
    let one = Arc::<Switch>::default();
    let keep = std::iter::repeat_n(&until, GENERAL - 1).chain([&one]).map(|until| ("a", until));
    let wait = std::iter::repeat_n("a", 512).chain(["b", "b"]).map(|tenant| (tenant, &open_door));
    let all = FuturesUnordered::new();
    for (tenant, until) in keep.chain(wait) {
        let mut call = invoke(tenant, until);
        assert!(futures_util::poll!(&mut call).is_pending());
        all.push(call);
    }
    let error = invoke("a", &open_door).await.unwrap_err();
    assert_eq!(error.code(), "saturated");
    assert!(error.to_string().contains("512 of them of tenant a"), "{error}");
    one.trip();
    let release = async {
        while order.lock().len() < 515 {
            tokio::task::yield_now().await;
        }
        until.trip();
    };
    let done = futures_util::future::join(all.collect::<Vec<_>>(), release);
    let (done, ()) = tokio::time::timeout(HANG, done).await.expect("they wait for each other");
    assert!(done.len() == GENERAL + 514 && done.iter().all(|it| it.as_ref().is_ok_and(|it| it == b"x")));
    assert_eq!(order.lock()[..7], ["a", "a", "b", "a", "b", "a", "a"], "one slot goes round the tenants");
}

/// Answers so many calls, each after the others had a turn, and those behind them when the switch is thrown.
struct Answers {
    calls: AtomicUsize,
    at_once: usize,
    until: Arc<Switch>,
}

impl Answers {
    fn these(at_once: usize, until: &Arc<Switch>) -> Arc<Self> {
        Arc::new(Self { calls: AtomicUsize::new(0), at_once, until: Arc::clone(until) })
    }
}

impl Dispatch for Answers {
    fn dispatch<'a>(&'a self, _: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            let heard = self.until.listen();
            if self.calls.fetch_add(1, Ordering::Relaxed) >= self.at_once && !self.until.is_tripped() {
                heard.await;
            }
            Ok(Reply { payload: br#"{"value":"v","version":1}"#.to_vec(), ..Reply::default() })
        })
    }
}

const GET: &str = r#"(import "alga" "storage_get" (func $get (param i32 i32 i32) (result i32)))"#;
const ASKS: &str = "(drop (call $get (i32.const 0) (i32.const 2) (i32.const 16)))";

fn storing(tenant: &str, door: Arc<Answers>, wat: &str) -> LiveSpec {
    let tenant = tenant.parse().unwrap();
    LiveSpec { caps: CapSet::of(&[Cap::Kv]), door, tenant, ..spec(wat) }
}

fn pool() -> Engine {
    Engine::new(EngineSettings { slots: Some(SLOTS), ..EngineSettings::default() }, None).unwrap()
}

#[tokio::test]
async fn an_alloc_that_asks_for_more_while_it_is_asked_for_a_place_is_a_breach_and_hurts_nobody_else() {
    let engine = pool();
    let never = Arc::<Switch>::default();
    let fetch = r#"(import "alga" "http.fetch" (func $get (param i32 i32 i32) (result i32)))"#;
    let placed = format!(
        r#"(module {fetch} {} (memory (export "memory") 2)
          (func (export "alloc") (param i32) (result i32)
            (drop (call $get (i32.const 0) (i32.const 2) (i32.const 16))) (i32.const 1024))
          (func (export "handler") (param i32 i32 i32) (result i32)
            (drop (call $keep (i32.const 0) (i32.const 2) (i32.const 16))) (i32.const 0)))"#,
        GET.replace("$get", "$keep")
    );
    // What asks before it is asked by a call of its own, and what asks again from there.
    let asking = echoing(GET, &format!("{ASKS} (i32.const 1024)"));
    for (wat, want) in [(asking, "storage: called from `alloc`"), (placed, "http.fetch: called from `alloc`")]
    {
        let hostile = (0..2).map(|_| ("a", wat.clone())).chain((0..6).map(|_| ("b", echoing("", BUMPS))));
        let all = FuturesUnordered::new();
        for (tenant, wat) in hostile {
            let spec = storing(tenant, Answers::these(usize::MAX, &never), &wat);
            let engine = &engine;
            all.push(async move { (tenant, answer(engine, spec, b"x").await) });
        }
        let done: Vec<_> = tokio::time::timeout(HANG, all.collect()).await.unwrap();
        for (tenant, done) in done {
            match (tenant, done) {
                ("b", done) => assert_eq!(done.unwrap().bytes, b"x"),
                (_, Err(LiveError::Ended(Outcome::Trapped(why)))) => assert!(why.starts_with(want), "{why}"),
                (_, done) => panic!("{:?}", done.map(|it| it.bytes)),
            }
        }
    }
}

#[tokio::test]
async fn a_handler_whose_answers_were_placed_leaves_the_stack_of_every_other_slot() {
    let engine = pool();
    let until = Arc::<Switch>::default();
    let twice = format!(
        r#"(module {GET} (memory (export "memory") 2)
          (func (export "alloc") (param i32) (result i32) (i32.const 1024))
          (func (export "handler") (param i32 i32 i32) (result i32) {ASKS} {ASKS}
            (i64.store (local.get 2) (i64.const 0)) (i32.const 0)))"#
    );
    let mut waiting = Vec::new();
    for _ in 0..GENERAL {
        let door = Answers::these(1, &until);
        let spec = storing("a", Arc::clone(&door), &twice);
        let mut call = Box::pin(answer(&engine, spec, b""));
        while door.calls.load(Ordering::Relaxed) < 2 {
            assert!(futures_util::poll!(&mut call).is_pending());
            tokio::task::yield_now().await;
        }
        waiting.push(call);
    }
    // The slot that is left is one for whoever is nested.
    let other = LiveSpec { depth: 1, ..storing("b", Answers::these(0, &until), &echoing("", BUMPS)) };
    assert_eq!(answer(&engine, other, b"x").await.unwrap().bytes, b"x");
    until.trip();
    for call in waiting {
        assert_eq!(tokio::time::timeout(HANG, call).await.unwrap().unwrap().bytes, b"");
    }
}
