//! What is not a runnable module, and what may be imported.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod common;

use std::sync::Arc;

use common::{ClosedDoor, engine, request, run};
use drydock_contract::{
    Artifact, Cap, CapSet, Entropy, GuestTime, Outcome, RunRequest, Timestamp, port::Runner,
};
use drydock_engine::{Engine, EngineSettings, IMPORTS};
use drydock_store::{CodeCache, Home};
use drydock_testkit::guests;

async fn fault(request: RunRequest) -> String {
    let digest = request.artifact.digest().to_string();
    let fault = run(request).await.map(drop).unwrap_err();
    format!("{}: {}", fault.code(), fault.to_string().replace(&digest, "SHA"))
}

fn bytes(bytes: &[u8]) -> RunRequest {
    RunRequest { artifact: Artifact::hash(bytes.to_vec()), ..request("(module)") }
}

#[tokio::test]
async fn modules_that_cannot_run_say_why() {
    let said = [
        fault(bytes(b"")).await,
        fault(bytes(b"#!/bin/sh\nrm -rf /")).await,
        fault(bytes(b"\0asm\x01\0\0\0\xff")).await,
        fault(request(&guests::no_start())).await,
        fault(request(r#"(module (func (export "_start") (param i32)))"#)).await,
        fault(request(r#"(module (memory (export "_start") 1))"#)).await,
        fault(request(&guests::importing("env", "system", "(param i32)"))).await,
        fault(request(&guests::importing("wasi_snapshot_preview1", "fork", ""))).await,
        fault(request(&guests::importing("wasi_unstable", "fd_write", ""))).await,
        fault(request(&guests::importing("env", "host_exec", "(param i32 i32 i32 i32) (result i32)"))).await,
        fault(request(&guests::importing("env", "host_commands", "(param i32 i32) (result i32)"))).await,
    ];
    insta::assert_snapshot!(said.join("\n"));
}

#[tokio::test]
async fn an_ungranted_capability_cannot_even_be_imported() {
    let signatures = [
        ("host_exec", "(param i32 i32 i32 i32) (result i32)"),
        ("host_status", "(result i32)"),
        ("host_command", "(param i32 i32 i32) (result i32)"),
        ("host_commands", "(param i32 i32) (result i32)"),
        ("host_parallel_map", "(param i32 i32 i32 i32) (result i32)"),
        ("host_parallel_status", "(param i32) (result i32)"),
        ("tool_start", "(param i32 i32) (result i32)"),
        ("tool_next", "(param i32 i32) (result i64)"),
        ("tool_wait", "(param i64) (result i32)"),
        ("http_start", "(param i32 i32) (result i32)"),
        ("http_read", "(param i32 i32 i32) (result i32)"),
        ("http_close", "(param i32)"),
        ("host_kv_put", "(param i32 i32 i32 i32) (result i32)"),
        ("host_kv_get", "(param i32 i32 i32 i32) (result i32)"),
        ("host_kv_call", "(param i32 i32 i32 i32) (result i32)"),
        ("host_publish", "(param i32 i32 i32 i32) (result i32)"),
        ("host_poll", "(param i32 i32 i32 i32) (result i32)"),
        ("host_queue_call", "(param i32 i32 i32 i32) (result i32)"),
        ("host_http_get", "(param i32 i32 i32 i32) (result i32)"),
        ("host_http", "(param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)"),
        ("host_http_get_many", "(param i32 i32 i32 i32) (result i32)"),
        ("host_sign", "(param i32 i32 i32 i32 i32 i32) (result i32)"),
        ("host_tcp", "(param i32 i32 i32 i32 i32 i32 i32) (result i32)"),
        ("host_udp", "(param i32 i32 i32 i32 i32 i32 i32) (result i32)"),
        ("host_tls", "(param i32 i32 i32 i32 i32 i32 i32) (result i32)"),
        ("host_llm_call", "(param i32 i32 i32 i32) (result i32)"),
        ("host_browse_call", "(param i32 i32 i32 i32) (result i32)"),
    ];
    for (_, name, cap) in IMPORTS {
        let signature = signatures.iter().find(|it| it.0 == *name).unwrap().1;
        let wat = guests::importing("env", name, signature);
        for granted in Cap::ALL {
            let it = RunRequest { caps: CapSet::of(&[*granted]), ..request(&wat) };
            assert_eq!(run(it).await.is_ok(), granted == cap, "{name} with {granted}");
        }
    }
}

#[tokio::test]
async fn exec_and_commands_are_two_capabilities() {
    let exec = guests::importing("env", "host_exec", "(param i32 i32 i32 i32) (result i32)");
    let it = RunRequest { caps: CapSet::of(&[Cap::Commands, Cap::Vfs, Cap::Net]), ..request(&exec) };
    assert_eq!(run(it).await.map(drop).unwrap_err().code(), "import_not_granted");
}

#[tokio::test]
async fn a_run_with_a_fixed_clock_and_seed_repeats_bit_for_bit() {
    let at = |seed: u64, second: u64| async move {
        let it = RunRequest {
            entropy: Entropy::Seeded(seed),
            time: GuestTime::Fixed(Timestamp(second * 1_000_000_000)),
            ..request(&guests::clock_and_random())
        };
        let (report, streams) = run(it).await.unwrap();
        (streams.stdout.into_captured(), report.fuel)
    };
    let first = at(7, 1_700_000_000).await;
    assert_eq!(first.0.len(), 48);
    assert_eq!(first, at(7, 1_700_000_000).await);
    assert_ne!(first.0[..32], at(8, 1_700_000_000).await.0[..32]);
    assert_ne!(first.0[32..40], at(7, 1_700_000_001).await.0[32..40]);
    let clock = u64::from_le_bytes(first.0[32..40].try_into().unwrap());
    assert_eq!(clock / 1_000_000_000, 1_700_000_000);
}

#[tokio::test]
async fn a_fixed_clock_sleeps_in_no_time() {
    let it = RunRequest { time: GuestTime::Fixed(Timestamp(0)), ..request(&guests::sleep_ms(3_600_000)) };
    assert_eq!(run(it).await.unwrap().0.outcome, Outcome::Exited(0));
}

#[tokio::test]
async fn code_is_compiled_once_and_loaded_by_the_next_process() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::open(folder.path()).unwrap();
    let compiled = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let fresh = || {
        let counter = Arc::clone(&compiled);
        let cache = Some(Arc::new(CodeCache::open(&home).unwrap()));
        let settings = EngineSettings { slots: Some(4), ..EngineSettings::default() };
        Engine::new(settings, cache).unwrap().on_compile(move |event| {
            if matches!(event, drydock_engine::CompileEvent::Started { .. }) {
                counter.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            }
        })
    };
    let count = || compiled.load(std::sync::atomic::Ordering::SeqCst);
    let exits =
        |engine: Engine| async move { engine.run(request(&guests::exit(5))).await.unwrap().0.outcome };
    assert_eq!((exits(fresh()).await, count()), (Outcome::Exited(5), 1));
    assert_eq!(
        (exits(fresh()).await, count()),
        (Outcome::Exited(5), 1),
        "the second engine compiled nothing"
    );

    let mut entries = std::fs::read_dir(home.cache()).unwrap().map(|it| it.unwrap().path());
    let entry = entries.find(|it| it.extension().is_some_and(|it| it == "cwasm")).unwrap();
    let mut code = std::fs::read(&entry).unwrap();
    let last = code.len() - 1;
    code[last] ^= 1;
    std::fs::write(&entry, &code).unwrap();
    assert_eq!((exits(fresh()).await, count()), (Outcome::Exited(5), 2), "a tampered entry is compiled anew");
    assert_eq!((exits(fresh()).await, count()), (Outcome::Exited(5), 2), "and replaced");

    std::fs::remove_dir_all(home.keys()).unwrap();
    let home = Home::open(folder.path()).unwrap();
    let cache = Some(Arc::new(CodeCache::open(&home).unwrap()));
    let other = Engine::new(EngineSettings { slots: Some(4), ..EngineSettings::default() }, cache).unwrap();
    assert_eq!(exits(other).await, Outcome::Exited(5), "an entry of another installation is not loaded");
}

#[tokio::test]
async fn many_callers_of_a_new_module_compile_it_once() {
    let compiled = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counter = Arc::clone(&compiled);
    let settings = EngineSettings { slots: Some(64), ..EngineSettings::default() };
    let engine = Engine::new(settings, None).unwrap().on_compile(move |event| {
        if matches!(event, drydock_engine::CompileEvent::Started { .. }) {
            counter.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        }
    });
    let engine = Arc::new(engine);
    let callers: Vec<_> = (0..32)
        .map(|_| {
            let engine = Arc::clone(&engine);
            tokio::spawn(async move { engine.run(request(&guests::exit(6))).await.unwrap().0.outcome })
        })
        .collect();
    for it in callers {
        assert_eq!(it.await.unwrap(), Outcome::Exited(6));
    }
    assert_eq!(compiled.load(std::sync::atomic::Ordering::SeqCst), 1);
    let _ = (engine_facts(), ClosedDoor);
}

fn engine_facts() -> drydock_engine::Facts {
    engine().facts().unwrap()
}

/// Compiles as a worker would, in this process.
struct Elsewhere(drydock_engine::Cpu, drydock_engine::Effort);

impl drydock_contract::port::Compiler for Elsewhere {
    fn compile<'a>(
        &'a self,
        wasm: &'a drydock_contract::Artifact,
        lane: drydock_contract::port::LaneSettings,
        _: Option<drydock_contract::port::CompileLimits>,
        threads: drydock_contract::port::CompileThreads,
    ) -> drydock_contract::BoxFuture<'a, Result<Vec<u8>, drydock_contract::port::CompileError>> {
        let code = drydock_engine::precompile(wasm.bytes(), lane, self.0, self.1, threads);
        Box::pin(async move { code.map_err(drydock_contract::port::CompileError::Rejected) })
    }
}

#[tokio::test]
async fn code_that_was_compiled_elsewhere_loads_in_both_lanes_and_both_layouts() {
    use drydock_engine::{Cpu, Effort};
    for (cpu, effort) in
        [(Cpu::Host, Effort::Full), (Cpu::Host, Effort::Quick), (Cpu::Baseline, Effort::Full)]
    {
        for slots in [0, 4] {
            let settings = EngineSettings { slots: Some(slots), ..EngineSettings::default() };
            let worker = Some(Arc::new(Elsewhere(cpu, effort)) as _);
            let apart = drydock_engine::Apart { worker, ..Default::default() };
            let engine = Engine::new(settings, None).unwrap().compiling_apart(apart);
            let counted = engine.run(request(&guests::exit(7))).await.unwrap().0.outcome;
            let timed = engine.timed().unwrap().run(request(&guests::exit(8))).await.unwrap().0.outcome;
            assert_eq!((counted, timed), (Outcome::Exited(7), Outcome::Exited(8)), "{cpu:?} {slots}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn processes_that_share_a_home_compile_a_module_once() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::open(folder.path()).unwrap();
    let compiled = Arc::new(std::sync::atomic::AtomicU32::new(0));
    // Each has a cache of its own, as processes have; locks exclude open files and not processes.
    let all: Vec<_> = (0..4)
        .map(|_| {
            let counter = Arc::clone(&compiled);
            let cache = Some(Arc::new(CodeCache::open(&home).unwrap()));
            let settings = EngineSettings { slots: Some(4), ..EngineSettings::default() };
            let engine = Engine::new(settings, cache).unwrap().on_compile(move |event| {
                if matches!(event, drydock_engine::CompileEvent::Started { .. }) {
                    counter.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                }
            });
            tokio::spawn(async move { engine.run(request(&guests::exit(9))).await.unwrap().0.outcome })
        })
        .collect();
    for it in all {
        assert_eq!(it.await.unwrap(), Outcome::Exited(9));
    }
    assert_eq!(compiled.load(std::sync::atomic::Ordering::SeqCst), 1);
}
