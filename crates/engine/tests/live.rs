//! Instances that live: what they keep, how they die, and what they cost while they do nothing.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use common::{ClosedDoor, engine, request};
use drydock_contract::{
    Artifact, Budget, CallLimits, CapSet, Kernel, LiveError, LiveKind, LiveSpec, Meter, NoLog, Outcome,
    RunRequest, Switch, Tenant, Unit,
    port::{Interruption, LaneChoice, LiveInstance, Runner as _},
};
use drydock_engine::{CompileEvent, Engine, EngineSettings};
use drydock_store::{CodeCache, Home};

/// Nothing here takes a minute unless it hangs.
const HANG: Duration = Duration::from_secs(60);

fn limits(wall_max: Duration) -> CallLimits {
    CallLimits { wall_max, fuel_max: u64::MAX, reply_bytes_max: 1 << 20, budget: None }
}

fn spec(wat: &str) -> LiveSpec {
    LiveSpec {
        artifact: Artifact::hash(wat::parse_str(wat).unwrap()),
        kind: LiveKind::Kernel(Kernel::default()),
        memory_bytes_max: 8 << 20,
        memory: None,
        opening: limits(HANG),
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

async fn open(wat: &str) -> Result<Box<dyn LiveInstance>, LiveError> {
    engine().open(spec(wat)).await
}

/// What a kernel does is told by the first byte of its input: `u` traps, `l` loops, `g` grows until it is told no and
/// answers with its pages, `n` says -7, `o` points outside, everything else is counted and the count answered.
const MANY: &str = r#"(module
  (memory (export "memory") 2)
  (global $count (mut i32) (i32.const 0))
  (func (export "process") (param $len i32) (result i32)
    (local $what i32)
    (local.set $what (i32.load8_u (i32.const 1024)))
    (if (i32.eq (local.get $what) (i32.const 117)) (then unreachable))
    (if (i32.eq (local.get $what) (i32.const 108)) (then (loop $again (br $again))))
    (if (i32.eq (local.get $what) (i32.const 110)) (then (return (i32.const -7))))
    (if (i32.eq (local.get $what) (i32.const 111)) (then (return (i32.const 0x7fffffff))))
    (if (i32.eq (local.get $what) (i32.const 103))
      (then
        (loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
        (i32.store (i32.const 65536) (memory.size))
        (return (i32.const 4))))
    (global.set $count (i32.add (global.get $count) (i32.const 1)))
    (i32.store (i32.const 65536) (global.get $count))
    (i32.const 4)))"#;

fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().unwrap())
}

#[tokio::test]
async fn an_instance_keeps_its_state_from_call_to_call_in_both_ways_of_interrupting() {
    for interrupt in [Interruption::Fuel, Interruption::Tick] {
        let lane = Some(LaneChoice { interrupt, ..LaneChoice::USUAL });
        let live = engine().open(LiveSpec { lane, ..spec(MANY) }).await.unwrap();
        for want in 1..=3 {
            let reply = live.call(b"x", limits(HANG)).await.unwrap();
            assert_eq!(number(&reply.bytes), want, "{interrupt:?}");
            assert_eq!(reply.fuel > 0, interrupt == Interruption::Fuel);
            assert_eq!(reply.memory_bytes, 2 << 16);
        }
    }
}

#[tokio::test]
async fn memory_that_a_module_begins_with_is_refused_with_the_limit_that_it_broke() {
    let memory = Arc::new(Meter::new(3 << 16));
    assert!(memory.try_hold(2 << 16));
    let shared = LiveSpec { memory: Some(Arc::clone(&memory)), ..spec(MANY) };
    let error = engine().open(shared).await.err().unwrap().to_string();
    assert_eq!(error, "the module begins with 131072 bytes of memory, and the limit is 65536");
    let own = LiveSpec { memory_bytes_max: 1 << 16, ..spec(MANY) };
    let error = engine().open(own).await.err().unwrap().to_string();
    assert_eq!(error, "the module begins with 131072 bytes of memory, and the limit is 65536");
    assert_eq!(memory.held(), 2 << 16);
}

#[tokio::test]
async fn growth_that_the_shared_memory_has_no_room_for_is_answered_with_no_and_the_instance_lives() {
    let memory = Arc::new(Meter::new(5 << 16));
    assert!(memory.try_hold(1 << 16));
    let shared = LiveSpec { memory: Some(Arc::clone(&memory)), ..spec(MANY) };
    let live = engine().open(shared).await.unwrap();
    let pages = live.call(b"g", limits(HANG)).await.unwrap();
    assert_eq!(number(&pages.bytes), 4, "one page is held by another, of five");
    assert_eq!(number(&live.call(b"x", limits(HANG)).await.unwrap().bytes), 1);
    drop(live);
    assert_eq!(memory.held(), 1 << 16, "all of it is given back");
}

#[tokio::test]
async fn a_trap_kills_the_instance_and_every_later_call_is_told_so() {
    let live = open(MANY).await.unwrap();
    live.call(b"x", limits(HANG)).await.unwrap();
    let error = live.call(b"u", limits(HANG)).await.unwrap_err();
    assert!(matches!(&error, LiveError::Ended(Outcome::Trapped(_))), "{error}");
    for _ in 0..2 {
        let error = live.call(b"x", limits(HANG)).await.unwrap_err();
        assert_eq!(error.code(), "dead");
        assert!(error.to_string().contains("an earlier call ended it (trapped"), "{error}");
    }
}

#[tokio::test]
async fn a_loop_is_ended_at_its_deadline_or_by_its_fuel_and_the_instance_with_it() {
    for interrupt in [Interruption::Fuel, Interruption::Tick] {
        let lane = Some(LaneChoice { interrupt, ..LaneChoice::USUAL });
        let live = engine().open(LiveSpec { lane, ..spec(MANY) }).await.unwrap();
        let error = live.call(b"l", limits(Duration::from_millis(30))).await.unwrap_err();
        assert!(matches!(error, LiveError::Ended(Outcome::TimedOut)), "{error}");
        assert_eq!(live.call(b"x", limits(HANG)).await.unwrap_err().code(), "dead");
    }
    let live = open(MANY).await.unwrap();
    let budget = Arc::new(Budget::of([(Unit::Fuel, 1 << 40)]));
    let frugal = CallLimits { fuel_max: 100_000, budget: Some(Arc::clone(&budget)), ..limits(HANG) };
    let error = live.call(b"l", frugal).await.unwrap_err();
    assert!(matches!(error, LiveError::Ended(Outcome::OutOfFuel)), "{error}");
    assert_eq!(budget.left(Unit::Fuel), Some((1 << 40) - 100_000));
}

#[tokio::test]
async fn growing_past_the_limit_is_answered_with_minus_one_and_the_instance_carries_on() {
    let live = open(MANY).await.unwrap();
    let reply = live.call(b"g", limits(HANG)).await.unwrap();
    assert_eq!(number(&reply.bytes), 128, "8 MiB are 128 pages");
    assert_eq!(reply.memory_bytes, 8 << 20);
    assert_eq!(number(&live.call(b"x", limits(HANG)).await.unwrap().bytes), 1);
}

#[tokio::test]
async fn called_twice_at_once_the_second_is_told_that_it_is_busy() {
    let live = open(MANY).await.unwrap();
    let long = live.call(b"l", limits(Duration::from_millis(200)));
    let short = async {
        tokio::task::yield_now().await;
        live.call(b"x", limits(HANG)).await
    };
    let (long, short) = tokio::join!(long, short);
    assert!(matches!(long, Err(LiveError::Ended(Outcome::TimedOut))));
    assert!(matches!(short, Err(LiveError::Busy)), "{short:?}");
}

#[tokio::test]
async fn a_call_that_is_dropped_kills_the_instance_and_says_what_it_burnt() {
    let live = open(MANY).await.unwrap();
    let budget = Arc::new(Budget::of([(Unit::Fuel, 1 << 40)]));
    let paid = CallLimits { budget: Some(Arc::clone(&budget)), ..limits(HANG) };
    let endless = live.call(b"l", paid);
    assert!(tokio::time::timeout(Duration::from_millis(20), endless).await.is_err());
    assert!(budget.left(Unit::Fuel).unwrap() < 1 << 40);
    let error = live.call(b"x", limits(HANG)).await.unwrap_err();
    assert_eq!(error.to_string(), "the instance is dead: a call was dropped before its end");
}

#[tokio::test]
async fn a_switch_ends_a_call_in_flight_and_no_other_begins() {
    let made = spec(MANY);
    let switch: Arc<Switch> = Arc::clone(&made.switches[0]);
    let live = engine().open(made).await.unwrap();
    let ending = async {
        tokio::task::yield_now().await;
        switch.trip();
    };
    let (call, ()) = tokio::join!(live.call(b"l", limits(HANG)), ending);
    assert!(matches!(call, Err(LiveError::Ended(Outcome::Cancelled))), "{call:?}");
    assert_eq!(live.call(b"x", limits(HANG)).await.unwrap_err().code(), "dead");

    let made = spec(MANY);
    made.switches[1].trip();
    assert!(matches!(engine().open(made).await.err(), Some(LiveError::Ended(Outcome::Cancelled))));
}

#[tokio::test]
async fn a_closed_instance_is_dead_and_closing_twice_is_nothing() {
    let live = open(MANY).await.unwrap();
    live.close();
    live.close();
    let error = live.call(b"x", limits(HANG)).await.unwrap_err();
    assert_eq!(error.to_string(), "the instance is dead: it was closed");

    let live = open(MANY).await.unwrap();
    let closing = async {
        tokio::task::yield_now().await;
        live.close();
    };
    let (call, ()) = tokio::join!(live.call(b"l", limits(Duration::from_millis(50))), closing);
    assert!(matches!(call, Err(LiveError::Ended(Outcome::TimedOut))), "the call in flight has its own end");
    assert_eq!(live.call(b"x", limits(HANG)).await.unwrap_err().code(), "dead");
}

#[tokio::test]
async fn a_kernels_own_failures_leave_it_alive_and_a_broken_promise_does_not() {
    let live = open(MANY).await.unwrap();
    let error = live.call(b"n", limits(HANG)).await.unwrap_err();
    assert!(matches!(error, LiveError::Failed { code: -7, .. }), "{error}");
    let full = vec![b'x'; 64_512];
    live.call(&full, limits(HANG)).await.unwrap();
    let error = live.call(&[full, vec![0]].concat(), limits(HANG)).await.unwrap_err();
    assert_eq!(error.to_string(), "input of 64513 bytes exceeds the limit of 64512");
    let error = live.call(b"x", CallLimits { reply_bytes_max: 3, ..limits(HANG) }).await.unwrap_err();
    assert_eq!(error.to_string(), "output of 4 bytes exceeds the limit of 3");
    assert_eq!(number(&live.call(b"x", limits(HANG)).await.unwrap().bytes), 3);
    let error = live.call(b"o", limits(HANG)).await.unwrap_err();
    assert_eq!(error.code(), "out_of_range");
    assert_eq!(live.call(b"x", limits(HANG)).await.unwrap_err().code(), "dead");

    let small = r#"(module (memory (export "memory") 0) (func (export "process") (param i32) (result i32) (i32.const 0)))"#;
    let error = open(small).await.unwrap().call(b"", limits(HANG)).await.unwrap_err();
    assert_eq!(error.code(), "too_large", "there is no memory where the input should lie: {error}");
}

#[tokio::test]
async fn entry_and_offsets_of_a_kernel_are_the_callers_choice() {
    let wat = r#"(module (memory (export "memory") 1)
      (func (export "twice") (param i32) (result i32)
        (memory.copy (i32.const 200) (i32.const 16) (local.get 0))
        (memory.copy (i32.add (i32.const 200) (local.get 0)) (i32.const 16) (local.get 0))
        (i32.mul (local.get 0) (i32.const 2))))"#;
    let kernel = Kernel { entry: "twice".into(), in_offset: 16, out_offset: 200 };
    let live = engine().open(LiveSpec { kind: LiveKind::Kernel(kernel), ..spec(wat) }).await.unwrap();
    assert_eq!(live.call(b"ab", limits(HANG)).await.unwrap().bytes, b"abab");
}

#[tokio::test]
async fn a_module_that_is_no_kernel_or_begins_too_large_is_refused_by_name() {
    let process = r#"(func (export "process") (param i32) (result i32) (i32.const 0))"#;
    let cases = [
        (process.to_owned(), "it does not export `memory`"),
        (
            r#"(memory (export "memory") 1)"#.into(),
            "it does not export `process`, a function of type (i32) -> (i32)",
        ),
        (r#"(memory (export "memory") 1) (func (export "process"))"#.into(), "`process` has another type"),
        (
            r#"(memory (export "memory") 1) (global (export "process") i32 (i32.const 0))"#.into(),
            "is not a function",
        ),
        (format!(r#"(global (export "memory") i32 (i32.const 0)) {process}"#), "`memory` is not a memory"),
        (
            format!(
                r#"(import "wasi_snapshot_preview1" "fd_close" (func (param i32) (result i32))) (memory (export "memory") 1) {process}"#
            ),
            "`wasi_snapshot_preview1.fd_close`, which is not offered here; a kernel may import nothing",
        ),
        (
            format!(
                r#"(import "env" "host_exec" (func (param i32 i32 i32 i32) (result i32))) (memory (export "memory") 1) {process}"#
            ),
            "`env.host_exec`, which is not offered here",
        ),
        (
            format!(r#"(memory (export "memory") 129) {process}"#),
            "the module begins with 8454144 bytes of memory, and the limit is 8388608",
        ),
        (
            format!(r#"(memory (export "memory") 1) (table 3000000 funcref) {process}"#),
            "the module begins with 24000000 bytes of memory",
        ),
        (format!(r#"(memory (export "memory") 1) (func $s unreachable) (start $s) {process}"#), "trapped"),
    ];
    for (body, want) in cases {
        let error = open(&format!("(module {body})")).await.err().expect(want);
        assert!(error.to_string().contains(want), "{error}");
    }
    let loops =
        format!(r#"(module (memory (export "memory") 1) (func $s (loop $l (br $l))) (start $s) {process})"#);
    let hurried = LiveSpec { opening: limits(Duration::from_millis(30)), ..spec(&loops) };
    let error = engine().open(hurried).await.err().unwrap();
    assert!(matches!(error, LiveError::Ended(Outcome::TimedOut)), "{error}");
}

#[tokio::test]
async fn without_a_pool_instances_live_all_the_same() {
    let engine = Engine::new(EngineSettings { slots: Some(0), ..EngineSettings::default() }, None).unwrap();
    let live = engine.open(spec(MANY)).await.unwrap();
    for want in 1..=2 {
        assert_eq!(number(&live.call(b"x", limits(HANG)).await.unwrap().bytes), want);
    }
    assert_eq!(number(&live.call(b"g", limits(HANG)).await.unwrap().bytes), 128);
}

/// Resident memory of this process.
#[allow(clippy::disallowed_methods, reason = "the kernel's own figures are in a file")]
fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[tokio::test]
async fn an_instance_loads_the_code_that_a_run_of_the_same_module_had_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CodeCache::open(&Home::open(folder.path()).unwrap()).unwrap();
    let compiled = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&compiled);
    let engine =
        Engine::new(EngineSettings::default(), Some(Arc::new(cache))).unwrap().on_compile(move |event| {
            if matches!(event, CompileEvent::Started { .. }) {
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
    let both = r#"(module (memory (export "memory") 2) (func (export "_start"))
      (func (export "process") (param i32) (result i32) (i32.const 0)))"#;
    for interrupt in [Interruption::Fuel, Interruption::Tick] {
        let lane = Some(LaneChoice { interrupt, ..LaneChoice::USUAL });
        engine.run(RunRequest { lane, ..request(both) }).await.unwrap();
        let live = engine.open(LiveSpec { lane, ..spec(both) }).await.unwrap();
        assert_eq!(live.call(b"", limits(HANG)).await.unwrap().bytes, b"");
    }
    assert_eq!(compiled.load(Ordering::Relaxed), 2, "once for each way of interrupting");
}

#[tokio::test]
async fn a_thousand_idle_instances_take_no_slot_of_the_pool_and_slow_no_fresh_run() {
    let engine = Engine::new(EngineSettings { slots: Some(8), ..EngineSettings::default() }, None).unwrap();
    engine.open(spec(MANY)).await.unwrap();
    let time_fresh = async || {
        let mut best = Duration::MAX;
        for _ in 0..500 {
            let began = std::time::Instant::now();
            engine.run(request(&drydock_testkit::guests::exit(3))).await.unwrap();
            best = best.min(began.elapsed());
        }
        best
    };
    time_fresh().await;
    let alone = time_fresh().await;
    let before = resident_bytes();
    let mut idle = Vec::new();
    for _ in 0..1_000 {
        let live = engine.open(spec(MANY)).await.unwrap();
        live.call(b"x", limits(HANG)).await.unwrap();
        idle.push(live);
    }
    let each = resident_bytes().saturating_sub(before) / 1_000;
    // The best of five hundred, and of more where the machine was busy meanwhile: what idle instances cost, all pay.
    let mut beside = Duration::MAX;
    for _ in 0..10 {
        beside = beside.min(time_fresh().await);
        if beside <= alone.mul_f64(1.5) {
            break;
        }
    }
    println!("{} KiB each; a fresh run takes {alone:?} alone, {beside:?} beside them", each / 1024);
    assert!(beside <= alone.mul_f64(1.5), "{beside:?} beside idle instances, {alone:?} alone");
    assert!(each < 256 << 10, "an idle instance holds {each} bytes");
    assert!(!engine.is_occupied(), "who is idle is not in flight");
    let fresh = (0..8).map(|_| engine.run(request(&drydock_testkit::guests::exit(3))));
    for done in futures_util::future::join_all(fresh).await {
        assert_eq!(done.unwrap().0.outcome, Outcome::Exited(3));
    }
    for live in &idle {
        assert_eq!(number(&live.call(b"x", limits(HANG)).await.unwrap().bytes), 2);
    }
}
