//! Modules that take long to compile: how long anybody waits for one, what it is told, and who does not wait at all.
#![allow(clippy::unwrap_used)]

mod common;

use std::{sync::Arc, time::Duration};

use common::request;
use drydock_contract::{
    Artifact, BoxFuture, CallLimits, CapSet, Kernel, Limits, LiveError, LiveKind, LiveSpec, NoLog, Outcome,
    RunRequest, Switch, WAITED_MAX,
    port::{CompileError, CompileLimits, CompileThreads, Compiler, LaneSettings, Runner as _},
};
use drydock_engine::{Apart, Cpu, Effort, Engine, EngineSettings, precompile};
use drydock_testkit::guests;
use parking_lot::Mutex;

/// Compiles when the function says so, or fails as it says.
struct Worker<F>(F);

impl<F, Done> Compiler for Worker<F>
where
    F: Fn(Artifact, CompileLimits) -> Done + Send + Sync,
    Done: Future<Output = Result<(), CompileError>> + Send,
{
    fn compile<'a>(
        &'a self,
        artifact: &'a Artifact,
        lane: LaneSettings,
        limits: Option<CompileLimits>,
        threads: CompileThreads,
    ) -> BoxFuture<'a, Result<Vec<u8>, CompileError>> {
        Box::pin(async move {
            (self.0)(artifact.clone(), limits.unwrap_or_default()).await?;
            Ok(precompile(artifact.bytes(), lane, Cpu::Host, Effort::Quick, threads).unwrap())
        })
    }
}

fn engine_with(worker: impl Compiler + 'static) -> Engine {
    let apart = Apart { worker: Some(Arc::new(worker)), ..Apart::default() };
    let settings = EngineSettings { slots: Some(4), ..EngineSettings::default() };
    Engine::new(settings, None).unwrap().compiling_apart(apart)
}

const KERNEL: &str = r#"(module (memory (export "memory") 1)
  (func (export "process") (param i32) (result i32) (i32.const 0)))"#;

fn live(wat: &str) -> LiveSpec {
    let RunRequest { artifact, door, switches, tenant, .. } = request(wat);
    let wall_max = Duration::from_secs(5);
    LiveSpec {
        artifact,
        kind: LiveKind::Kernel(Kernel::default()),
        memory_bytes_max: 8 << 20,
        memory: None,
        opening: CallLimits { wall_max, fuel_max: u64::MAX, reply_bytes_max: 0, budget: None },
        lane: None,
        compile: None,
        caps: CapSet::EMPTY,
        door,
        switches,
        preparing: None,
        depth: 0,
        tenant,
        log: Arc::new(NoLog),
    }
}

/// Done when the switch is thrown.
async fn thrown(switch: Arc<Switch>) -> Result<(), CompileError> {
    while !switch.is_tripped() {
        tokio::task::yield_now().await;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_code_that_is_never_made_ends_when_its_time_cannot_move_further() {
    let engine = engine_with(Worker(|_, _| std::future::pending()));
    let limits = Limits { wall_max: Duration::from_secs(5), ..Limits::default() };
    let began = tokio::time::Instant::now();
    let run = engine.run(RunRequest { limits, ..request(&guests::exit(0)) });
    let (run, opened) = futures_util::future::join(run, engine.open(live(KERNEL))).await;
    assert_eq!(run.unwrap().0.outcome, Outcome::TimedOut);
    assert!(matches!(opened.err(), Some(LiveError::Ended(Outcome::TimedOut))));
    assert_eq!(began.elapsed().as_secs(), (WAITED_MAX + limits.wall_max).as_secs());
}

#[tokio::test]
async fn an_instance_is_not_opened_for_who_was_cancelled_while_it_was_compiled() {
    let (go_on, asked) = (Arc::<Switch>::default(), Arc::new(Mutex::new(0)));
    let (until, count) = (Arc::clone(&go_on), Arc::clone(&asked));
    let engine = engine_with(Worker(move |_, _| {
        *count.lock() += 1;
        thrown(Arc::clone(&until))
    }));
    let (cancelled, patient) = (live(KERNEL), live(KERNEL));
    let switch = Arc::clone(&cancelled.switches[1]);
    let (mut cancelled, mut patient) = (engine.open(cancelled), engine.open(patient));
    assert!(
        futures_util::poll!(&mut cancelled).is_pending() && futures_util::poll!(&mut patient).is_pending()
    );
    switch.trip();
    assert!(matches!(cancelled.await.err(), Some(LiveError::Ended(Outcome::Cancelled))));
    go_on.trip();
    assert!(patient.await.is_ok());
    assert_eq!(*asked.lock(), 1, "it was compiled once");
}

#[tokio::test]
async fn a_module_that_takes_too_long_to_compile_is_refused_by_name_to_runs_and_to_instances() {
    let engine =
        engine_with(Worker(
            |_, limits: CompileLimits| async move { Err(CompileError::TooLate(limits.wall_max)) },
        ));
    let more = Some(CompileLimits { wall_max: Duration::from_secs(90), ..CompileLimits::default() });
    for (compile, said) in [(None, "longer than 60 s"), (more, "longer than 90 s")] {
        let ran = engine.run(RunRequest { compile, ..request(&guests::exit(0)) }).await.err().unwrap();
        let opened = engine.open(LiveSpec { compile, ..live(KERNEL) }).await.err().unwrap();
        for (code, text) in [(ran.code(), ran.to_string()), (opened.code(), opened.to_string())] {
            assert_eq!(code, "bad_module");
            assert!(text.contains(said) && text.contains("--compile-timeout allows more"), "{text}");
        }
    }
}

#[tokio::test]
async fn modules_of_one_tenant_that_take_ten_minutes_to_compile_hold_up_no_other_tenant() {
    let quick = request(&guests::exit(0)).artifact.digest();
    let engine = engine_with(Worker(move |artifact: Artifact, _| async move {
        match artifact.digest() == quick {
            true => Ok(()),
            false => std::future::pending().await,
        }
    }));
    let mut slow: Vec<_> = (1..50).map(|status| engine.run(request(&guests::exit(status)))).collect();
    // The very module that the other one wants is in this tenant's queue too.
    slow.push(engine.run(request(&guests::exit(0))));
    for _ in 0..100 {
        for run in &mut slow {
            assert!(futures_util::poll!(run).is_pending());
        }
        tokio::task::yield_now().await;
    }
    let other = RunRequest { tenant: "acme".parse().unwrap(), ..request(&guests::exit(0)) };
    let ran = tokio::time::timeout(Duration::from_secs(60), engine.run(other)).await.expect("it waits");
    assert_eq!(ran.unwrap().0.outcome, Outcome::Exited(0));
    // What the other one had compiled, this one has too.
    let ran = tokio::time::timeout(Duration::from_secs(60), engine.run(request(&guests::exit(0)))).await;
    assert_eq!(ran.expect("it waits").unwrap().0.outcome, Outcome::Exited(0));
}

#[tokio::test]
async fn nobody_is_bound_by_the_limits_of_who_asked_for_the_same_module_before() {
    let (go_on, seen) = (Arc::<Switch>::default(), Arc::new(Mutex::new(Vec::new())));
    let (until, noted) = (Arc::clone(&go_on), Arc::clone(&seen));
    let engine = engine_with(Worker(move |_, limits: CompileLimits| {
        noted.lock().push(limits.wall_max.as_secs());
        thrown(Arc::clone(&until))
    }));
    let more = Some(CompileLimits { wall_max: Duration::from_secs(600), ..CompileLimits::default() });
    let mut first = engine.run(request(&guests::exit(0)));
    let mut second = engine.run(RunRequest { compile: more, ..request(&guests::exit(0)) });
    for run in [&mut first, &mut second] {
        let before = seen.lock().len();
        while seen.lock().len() == before {
            assert!(futures_util::poll!(&mut *run).is_pending());
            tokio::task::yield_now().await;
        }
    }
    go_on.trip();
    let (first, second) = futures_util::future::join(first, second).await;
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(*seen.lock(), [60, 600]);
}
