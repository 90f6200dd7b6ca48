//! What a run does to others of its thread: while the host works for it, or waits for a disk, they go on.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, channel},
    },
    time::Duration,
};

use common::{request, script::Arg, script::Script, synced::Synced};
use drydock_contract::{
    Artifact, Digest, Limits, NotThoseBytes, Outcome, ReadArtifact, RunRequest,
    port::{LoadError, Runner as _},
};
use drydock_engine::{Engine, EngineSettings};
use drydock_testkit::guests;
use parking_lot::Mutex;

const FD: u32 = 1024;

fn engine() -> Engine {
    Engine::new(EngineSettings { slots: Some(4), ..EngineSettings::default() }, None).unwrap()
}

/// Opens a file and calls one function on it for ever: what the host does costs no fuel.
fn calls_for_ever(name: &str, params: &str, arguments: &str) -> String {
    format!(
        r#"(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "{name}" (func $call (param {params}) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 0) "f")
  (func (export "_start")
    (if (call $open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 1)
                    (i64.const 0x1fffffff) (i64.const 0) (i32.const 0) (i32.const 16)) (then unreachable))
    (i32.store (i32.const 32) (i32.const 4096)) (i32.store (i32.const 36) (i32.const 65536))
    (loop $again (if (call $call (i32.load (i32.const 16)) {arguments}) (then unreachable)) (br $again))))"#
    )
}

#[tokio::test]
async fn calls_that_sync_read_and_write_at_a_place_let_others_have_the_thread() {
    let engine = engine();
    let at_place = "(i32.const 32) (i32.const 1) (i64.const 0) (i32.const 8)";
    let cases = [
        ("fd_sync", "i32", ""),
        ("fd_datasync", "i32", ""),
        ("fd_pread", "i32 i32 i32 i64 i32", at_place),
        ("fd_pwrite", "i32 i32 i32 i64 i32", at_place),
    ];
    for (name, params, arguments) in cases {
        let limits = Limits { wall_max: Duration::from_millis(200), fuel_max: u64::MAX, ..Limits::default() };
        let endless = RunRequest { limits, ..request(&calls_for_ever(name, params, arguments)) };
        engine.warm(&endless.artifact).await.unwrap();
        let mut turns = 0;
        let others = async {
            loop {
                tokio::task::yield_now().await;
                turns += 1;
            }
        };
        tokio::select! {
            () = others => {}
            ended = engine.run(endless) => assert_eq!(ended.unwrap().0.outcome, Outcome::TimedOut, "{name}"),
        }
        // By its fuel alone it would let go a handful of times.
        assert!(turns > 40, "{name}: {turns} turns in 200 ms");
    }
}

#[tokio::test]
async fn a_disk_that_is_slow_to_sync_holds_up_nobody_else() {
    let engine = engine();
    let (tell, told) = channel();
    let script = Script::default().open("f", 1, FD, 0).call("fd_sync", [Arg::At(FD)], 0);
    let slow = RunRequest { files: Some(Arc::new(Synced::slowly(told))), ..request(&script.wat()) };
    engine.warm(&slow.artifact).await.unwrap();
    let other = async {
        let outcome = engine.run(request(&guests::exit(3))).await.unwrap().0.outcome;
        // Only now the disk is done: if the sync held this thread, nobody would say so.
        tell.send(()).unwrap();
        outcome
    };
    let (slow, other) = futures_util::future::join(engine.run(slow), other).await;
    assert_eq!((slow.unwrap().0.outcome, other), (Outcome::Exited(0), Outcome::Exited(3)));
}

/// A file that is slow to read, and may have become another one.
struct OnSlowDisk {
    told: Mutex<Receiver<()>>,
    wasm: Vec<u8>,
}

impl ReadArtifact for OnSlowDisk {
    fn read(&self, digest: Digest) -> Result<Artifact, LoadError> {
        let cause = NotThoseBytes { expected: digest, got: Digest::of(b"nobody told") };
        let told = self.told.lock().recv_timeout(Duration::from_secs(10));
        told.map_err(|_| LoadError::Integrity { path: "slow".into(), cause })?;
        let verified = Artifact::verify(self.wasm.clone(), digest);
        verified.map_err(|cause| LoadError::Integrity { path: "slow".into(), cause })
    }
}

#[tokio::test]
async fn an_unverified_artifact_is_hashed_on_another_thread_and_never_run_before() {
    let engine = engine();
    let good = wat::parse_str(guests::exit(4)).unwrap();
    let digest = Digest::of(&good);
    let other = wat::parse_str(guests::exit(5)).unwrap();
    // The third time its code is in memory; the file was swapped all the same.
    for (wasm, want) in [(&other, None), (&good, Some(4)), (&other, None), (&good, Some(4))] {
        let (tell, told) = channel();
        let source = OnSlowDisk { told: Mutex::new(told), wasm: wasm.clone() };
        let artifact = Artifact::unverified(digest, Arc::new(source));
        let run = engine.run(RunRequest { artifact, ..request("(module)") });
        let other = async {
            let outcome = engine.run(request(&guests::exit(3))).await.unwrap().0.outcome;
            tell.send(()).unwrap();
            outcome
        };
        let (ran, other) = futures_util::future::join(run, other).await;
        assert_eq!(other, Outcome::Exited(3));
        match (ran, want) {
            (Ok((report, _)), Some(status)) => assert_eq!(report.outcome, Outcome::Exited(status)),
            (Err(fault), None) => assert_eq!(fault.code(), "artifact_integrity"),
            (ran, want) => panic!("{:?} instead of {want:?}", ran.map(|it| it.0.outcome)),
        }
    }
}
