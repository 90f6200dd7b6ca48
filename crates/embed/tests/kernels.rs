//! Kernels of the seed through the whole path: opened once, called often, and never in the way of commands.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use drydock_embed::{
    Dock, DockSession, DockSettings, KERNEL_LIMITS, Setup, WorkerProgram,
    contract::{Kernel, Node, Tenant},
    engine::EngineSettings,
};

const HANG: Duration = Duration::from_secs(60);

/// Reverses its input; `!` traps, `?` loops. Counts its calls in the byte before the output.
const REVERSE: &str = r#"(module (memory (export "memory") 3)
  (func (export "process") (param $len i32) (result i32) (local $i i32) (local $first i32)
    (local.set $first (i32.load8_u (i32.const 1024)))
    (if (i32.eq (local.get $first) (i32.const 33)) (then unreachable))
    (if (i32.eq (local.get $first) (i32.const 63)) (then (loop $l (br $l))))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $i) (local.get $len)))
      (i32.store8
        (i32.add (i32.const 65536) (local.get $i))
        (i32.load8_u (i32.sub (i32.add (i32.const 1023) (local.get $len)) (local.get $i))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br $next)))
    (local.get $len)))"#;

fn dock(home: &std::path::Path) -> Dock {
    let settings = DockSettings {
        worker: Some(WorkerProgram::new(env!("CARGO_BIN_EXE_drydock-compile-worker"), [""; 0])),
        engine: EngineSettings { slots: Some(8), ..EngineSettings::default() },
        ..DockSettings::default()
    };
    Dock::open_with(home, settings).unwrap()
}

fn session(dock: &Dock) -> DockSession {
    dock.session("me", Setup::instances(KERNEL_LIMITS)).unwrap()
}

#[tokio::test]
async fn a_kernel_answers_bytes_with_bytes_until_it_dies_and_says_why_afterwards() {
    let home = tempfile::tempdir().unwrap();
    let dock = dock(home.path());
    let session = session(&dock);
    let module = dock.hand_over(wat::parse_str(REVERSE).unwrap()).await;
    let kernel = dock.open_kernel(&session, &module, Kernel::default()).await.unwrap();
    for (input, want) in [(&b"abc"[..], &b"cba"[..]), (b"", b""), (b"\0\xff", b"\xff\0")] {
        let output = kernel.call(input, HANG).await.unwrap();
        assert_eq!(output.bytes, want);
        assert!(output.memory_bytes >= 3 << 16);
    }
    assert_eq!(kernel.call(&[0; 64_513], HANG).await.unwrap_err().code(), "too_large");
    assert_eq!(kernel.call(b"?", Duration::from_millis(50)).await.unwrap_err().code(), "timed_out");
    let error = kernel.call(b"abc", HANG).await.unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("dead", "the instance is dead: an earlier call ended it (the call took longer than it may)")
    );
    let other = dock.open_kernel(&session, &module, Kernel::default()).await.unwrap();
    assert_eq!(other.call(b"!", HANG).await.unwrap_err().code(), "trapped");
    assert_eq!(other.call(b"abc", HANG).await.unwrap_err().code(), "dead");
}

#[tokio::test]
async fn a_thousand_idle_kernels_leave_a_dock_of_eight_slots_to_its_commands() {
    let home = tempfile::tempdir().unwrap();
    let dock = dock(home.path());
    let module = dock.hand_over(wat::parse_str(REVERSE).unwrap()).await;
    let session = session(&dock);
    let mut idle = Vec::new();
    for _ in 0..1_000 {
        idle.push(dock.open_kernel(&session, &module, Kernel::default()).await.unwrap());
    }
    let commands = dock.session("others", Setup::profile("minimal")).unwrap();
    for _ in 0..20 {
        let run = commands.run("upper", &[], "abc").await.unwrap();
        assert_eq!(run.stdout, b"ABC");
    }
    assert_eq!(idle[999].call(b"abc", HANG).await.unwrap().bytes, b"cba");
    drop(idle);
    let last = dock.open_kernel(&session, &module, Kernel::default()).await.unwrap();
    assert_eq!(last.call(b"abc", HANG).await.unwrap().bytes, b"cba");
}

#[test]
fn a_session_of_a_profile_has_its_time_for_calls_unless_limits_are_chosen() {
    let home = tempfile::tempdir().unwrap();
    let dock = dock(home.path());
    let time = |setup: Setup| dock.session("me", setup).unwrap().inner().spec().call_wall_max;
    for (profile, seconds) in [("compute", 5), ("minimal", 5), ("network", 30), ("posix", 60)] {
        assert_eq!(time(Setup::profile(profile)), Duration::from_secs(seconds), "{profile}");
    }
    assert_eq!(time(Setup::instances(KERNEL_LIMITS)), KERNEL_LIMITS.wall_max);
}

#[tokio::test]
async fn revocation_ends_a_call_of_a_kernel_and_whoever_is_revoked_opens_none() {
    let home = tempfile::tempdir().unwrap();
    let dock = dock(home.path());
    let session = session(&dock);
    let module = dock.hand_over(wat::parse_str(REVERSE).unwrap()).await;
    let kernel = dock.open_kernel(&session, &module, Kernel::default()).await.unwrap();
    let revoking = async {
        while session.inner().in_flight() == 0 {
            tokio::task::yield_now().await;
        }
        dock.revoke("me").unwrap();
    };
    let (call, ()) = tokio::join!(kernel.call(b"?", HANG), revoking);
    assert_eq!(call.unwrap_err().code(), "cancelled");
    assert_eq!(kernel.call(b"abc", HANG).await.unwrap_err().code(), "revoked");
    let idle = Node::Principal(Tenant::default(), "idle".parse().unwrap());
    let theirs = dock.session("idle", Setup::instances(KERNEL_LIMITS)).unwrap();
    let kernel = dock.open_kernel(&theirs, &module, Kernel::default()).await.unwrap();
    dock.gate().revoke(&idle).unwrap();
    dock.gate().unrevoke(&idle).unwrap();
    assert!(kernel.call(b"abc", HANG).await.is_err(), "an idle one is ended too, and stays so");
    let opened = dock.open_kernel(&session, &module, Kernel::default()).await;
    assert_eq!(opened.err().unwrap().code(), "revoked");
}
