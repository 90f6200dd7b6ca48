//! What goes on while code is compiled: whose time it is, how many cores it takes, and what is compiled although
//! code came along.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use common::request;
use drydock_contract::{
    Artifact, BoxFuture, Limits, Outcome, Preparing, RunRequest,
    port::{
        CompileError, CompileLimits, CompileThreads, Compiler, Interruption, LaneChoice, LaneSettings,
        MemoryLayout, Runner as _,
    },
};
use drydock_engine::{Apart, CompileEvent, Cpu, Effort, Engine, EngineSettings, precompile};
use drydock_store::{Shipped, ShippedCode, shipped_hash};
use drydock_testkit::guests;
use parking_lot::Mutex;

fn small() -> EngineSettings {
    EngineSettings { slots: Some(4), ..EngineSettings::default() }
}

const TICKS: LaneChoice = LaneChoice { interrupt: Interruption::Tick, ..LaneChoice::USUAL };

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_end_of_a_run_moves_while_its_session_waits_for_code() {
    let engine = Arc::new(Engine::new(small(), None).unwrap());
    // One that computes, counted and timed, and one that waits in a call of the host's.
    let cases = [
        (guests::infinite_loop(), None),
        (guests::infinite_loop(), Some(TICKS)),
        (guests::sleep_ms(3_600_000), None),
    ];
    for (wat, lane) in cases {
        let preparing = Arc::new(Preparing::default());
        let limits = Limits { wall_max: Duration::from_millis(100), fuel_max: u64::MAX, ..Limits::default() };
        let request = RunRequest { limits, lane, preparing: Some(Arc::clone(&preparing)), ..request(&wat) };
        // Compiled before, so that the run itself waits for nothing.
        engine.lane(lane.unwrap_or_default()).unwrap().warm(&request.artifact, None).await.unwrap();
        let somebody = preparing.begin();
        let runner = Arc::clone(&engine);
        let mut run = tokio::spawn(async move { runner.run(request).await.unwrap().0 });
        let early = tokio::time::timeout(Duration::from_millis(500), &mut run).await;
        assert!(early.is_err(), "it goes on as long as somebody waits: {early:?}");
        drop(somebody);
        let report = run.await.unwrap();
        assert_eq!(report.outcome, Outcome::TimedOut);
        assert!(report.duration >= Duration::from_millis(500), "{:?}", report.duration);
    }
}

#[tokio::test]
async fn compiling_a_program_that_a_guest_wrote_is_somebodys_time() {
    for (pays_for_code, free) in [(true, false), (false, true)] {
        let engine = Engine::new(small(), None).unwrap();
        let preparing = Arc::new(Preparing::default());
        let preparing_too = Some(Arc::clone(&preparing));
        let request = RunRequest { preparing: preparing_too, pays_for_code, ..request(&guests::exit(3)) };
        assert_eq!(engine.run(request).await.unwrap().0.outcome, Outcome::Exited(3));
        assert_eq!(preparing.total() > Duration::ZERO, free);
    }
}

/// Never done.
struct Endless;

impl Compiler for Endless {
    fn compile<'a>(
        &'a self,
        _: &'a Artifact,
        _: LaneSettings,
        _: Option<CompileLimits>,
        _: CompileThreads,
    ) -> BoxFuture<'a, Result<Vec<u8>, CompileError>> {
        Box::pin(std::future::pending())
    }
}

/// Done when it is told, and counts how often it was asked.
#[derive(Default)]
struct Slow {
    asked: AtomicU32,
    go_on: tokio::sync::Notify,
}

impl Compiler for Slow {
    fn compile<'a>(
        &'a self,
        artifact: &'a Artifact,
        lane: LaneSettings,
        _: Option<CompileLimits>,
        threads: CompileThreads,
    ) -> BoxFuture<'a, Result<Vec<u8>, CompileError>> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            self.go_on.notified().await;
            Ok(precompile(artifact.bytes(), lane, Cpu::Host, Effort::Quick, threads).unwrap())
        })
    }
}

#[tokio::test]
async fn a_module_that_takes_ten_minutes_ends_the_impatient_by_name_and_is_there_for_the_others() {
    let slow = Arc::new(Slow::default());
    let apart = Apart { worker: Some(Arc::clone(&slow) as _), ..Apart::default() };
    let engine = Arc::new(Engine::new(small(), None).unwrap().compiling_apart(apart));
    // First the impatient ones: the compilation was begun for them, and goes on without them.
    let mut impatient = RunRequest { pays_for_code: true, ..request(&guests::exit(4)) };
    impatient.limits.wall_max = Duration::from_millis(50);
    let cancelled = request(&guests::exit(4));
    let switch = Arc::clone(&cancelled.switches[0]);
    let (mut impatient, mut cancelled) = (engine.run(impatient), engine.run(cancelled));
    let mut patient = engine.run(request(&guests::exit(4)));
    for run in [&mut impatient, &mut cancelled, &mut patient] {
        assert!(futures_util::poll!(run).is_pending());
    }
    assert_eq!(impatient.await.unwrap().0.outcome, Outcome::TimedOut);
    switch.trip();
    assert_eq!(cancelled.await.unwrap().0.outcome, Outcome::Cancelled);
    assert!(tokio::time::timeout(Duration::from_millis(20), &mut patient).await.is_err());
    slow.go_on.notify_one();
    assert_eq!(patient.await.unwrap().0.outcome, Outcome::Exited(4));
    assert_eq!(slow.asked.load(Ordering::SeqCst), 1, "it was compiled once");
}

#[tokio::test]
async fn a_cancelled_load_is_ended_with_its_worker_and_begun_anew_by_the_next() {
    let slow = Arc::new(Slow::default());
    let apart = Apart { worker: Some(Arc::clone(&slow) as _), ..Apart::default() };
    let engine = Arc::new(Engine::new(small(), None).unwrap().compiling_apart(apart));
    let begun = |count| {
        let slow = Arc::clone(&slow);
        async move {
            while slow.asked.load(Ordering::SeqCst) < count {
                tokio::task::yield_now().await;
            }
        }
    };
    let first = engine.run(request(&guests::exit(4)));
    // Dropped with whoever waits for it: nobody else does.
    futures_util::future::select(first, Box::pin(begun(1))).await;
    let second = engine.run(request(&guests::exit(4)));
    let second = futures_util::future::select(second, Box::pin(begun(2))).await;
    let futures_util::future::Either::Right(((), second)) = second else { panic!("nobody compiled it") };
    slow.go_on.notify_one();
    assert_eq!(second.await.unwrap().0.outcome, Outcome::Exited(4));
}

#[tokio::test]
async fn code_in_memory_is_limited_by_its_bytes_and_not_by_the_number_of_modules() {
    for (code_bytes_max, compilations) in [(1 << 30, 20), (1, 40)] {
        let compiled = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&compiled);
        let engine = Engine::new(EngineSettings { code_bytes_max, ..small() }, None).unwrap();
        let engine = engine.on_compile(move |event| {
            counted.fetch_add(u32::from(matches!(event, CompileEvent::Started { .. })), Ordering::SeqCst);
        });
        for status in (0..20).chain(0..20) {
            let outcome = engine.run(request(&guests::exit(status))).await.unwrap().0.outcome;
            assert_eq!(outcome, Outcome::Exited(status));
        }
        assert_eq!(compiled.load(Ordering::SeqCst), compilations);
        // The newest one stays, although it alone is more than all may be.
        engine.run(request(&guests::exit(19))).await.unwrap();
        assert_eq!(compiled.load(Ordering::SeqCst), compilations);
    }
}

#[tokio::test]
async fn who_pays_for_compiling_is_timed_out_while_it_is_compiled() {
    let apart = Apart { worker: Some(Arc::new(Endless)), ..Apart::default() };
    let engine = Engine::new(small(), None).unwrap().compiling_apart(apart);
    let mut request = RunRequest { pays_for_code: true, ..request(&guests::exit(0)) };
    request.limits.wall_max = Duration::from_millis(50);
    assert_eq!(engine.run(request).await.unwrap().0.outcome, Outcome::TimedOut);
}

/// Compiles as a worker would, in this process, and notes how many cores it was to take.
#[derive(Default)]
struct Noting(Mutex<Vec<CompileThreads>>);

impl Compiler for Noting {
    fn compile<'a>(
        &'a self,
        wasm: &'a Artifact,
        lane: LaneSettings,
        _: Option<CompileLimits>,
        threads: CompileThreads,
    ) -> BoxFuture<'a, Result<Vec<u8>, CompileError>> {
        self.0.lock().push(threads);
        let code = precompile(wasm.bytes(), lane, Cpu::Host, Effort::Full, threads);
        Box::pin(async move { code.map_err(CompileError::Rejected) })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_compilation_takes_all_cores_only_where_nothing_else_goes_on() {
    let noting = Arc::new(Noting::default());
    let apart = Apart { worker: Some(Arc::clone(&noting) as _), ..Apart::default() };
    let engine = Arc::new(Engine::new(small(), None).unwrap().compiling_apart(apart));
    let looping = request(&guests::infinite_loop());
    let switch = Arc::clone(&looping.switches[0]);
    let runner = Arc::clone(&engine);
    let other = tokio::spawn(async move { runner.run(looping).await.unwrap().0.outcome });
    // The first is noted before it runs, and the second comes while it does.
    while noting.0.lock().is_empty() || !engine.is_occupied() {
        tokio::task::yield_now().await;
    }
    engine.run(request(&guests::exit(1))).await.unwrap();
    switch.trip();
    assert_eq!(other.await.unwrap(), Outcome::Cancelled);
    engine.run(request(&guests::exit(2))).await.unwrap();
    engine.serve();
    engine.run(request(&guests::exit(3))).await.unwrap();
    let (one, all) = (CompileThreads::One, CompileThreads::All);
    assert_eq!(*noting.0.lock(), [all, one, all, one]);
}

#[test]
fn code_is_the_same_from_one_core_and_from_all() {
    let many = (0..64).map(|at| format!("(func (export \"f{at}\") (result i32) (i32.const {at}))"));
    let wasm = wat::parse_str(format!("(module {})", many.collect::<String>())).unwrap();
    let lane = LaneSettings::of(LaneChoice::default(), MemoryLayout::Reserved);
    let made = |threads| precompile(&wasm, lane, Cpu::Host, Effort::Full, threads).unwrap();
    assert_eq!(made(CompileThreads::One), made(CompileThreads::All));
}

/// An engine that came with this code for this module, and how often it compiled.
fn shipping(dir: &std::path::Path, wasm: &[u8], lane: LaneSettings, code: &[u8]) -> (Engine, Arc<AtomicU32>) {
    std::fs::write(dir.join("code"), code).unwrap();
    let hash = shipped_hash(code);
    let blake3 = std::array::from_fn(|at| u8::from_str_radix(&hash[at * 2..at * 2 + 2], 16).unwrap());
    let module = *Artifact::hash(wasm.to_vec()).digest().as_bytes();
    let codes: &'static [ShippedCode] =
        Box::leak(Box::new([ShippedCode { file: "code", module, lane: lane.to_string().leak(), blake3 }]));
    let shipped = Some(Shipped { dir: dir.to_owned(), codes });
    let worker = Some(Arc::new(Noting::default()) as _);
    let compiled = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&compiled);
    let engine = Engine::new(small(), None).unwrap().on_compile(move |event| {
        if matches!(event, CompileEvent::Started { .. }) {
            counter.fetch_add(1, Ordering::SeqCst);
        }
    });
    (engine.compiling_apart(Apart { worker, shipped, ..Apart::default() }), compiled)
}

/// The code with another word in the place of one.
#[cfg(target_arch = "x86_64")]
fn replaced(code: &[u8], word: &str, other: &str) -> Vec<u8> {
    let at = code.windows(word.len()).position(|it| it == word.as_bytes()).unwrap();
    [&code[..at], other.as_bytes(), &code[at + word.len()..]].concat()
}

#[tokio::test]
async fn shipped_code_that_is_not_for_this_machine_is_compiled_instead() {
    let folder = tempfile::tempdir().unwrap();
    let wasm = wat::parse_str(guests::exit(9)).unwrap();
    let lane = LaneSettings::of(LaneChoice::default(), MemoryLayout::Reserved);
    let made = |lane| precompile(&wasm, lane, Cpu::Baseline, Effort::Full, CompileThreads::All).unwrap();
    let good = made(lane);
    let mut cases = vec![
        ("ours", good.clone(), 0),
        ("of another lane", made(LaneSettings::of(TICKS, MemoryLayout::Reserved)), 1),
        ("cut in half", good[..good.len() / 2].to_vec(), 1),
        ("no code", b"no code".to_vec(), 1),
    ];
    // For a processor that can do something of which this one does not know that it can.
    #[cfg(target_arch = "x86_64")]
    cases.push(("of another processor", replaced(&good, "has_sse42", "has_sse99"), 1));
    for (what, code, compilations) in cases {
        let (engine, compiled) = shipping(folder.path(), &wasm, lane, &code);
        let outcome = engine.run(request(&guests::exit(9))).await.unwrap().0.outcome;
        assert_eq!((outcome, compiled.load(Ordering::SeqCst)), (Outcome::Exited(9), compilations), "{what}");
    }
}
