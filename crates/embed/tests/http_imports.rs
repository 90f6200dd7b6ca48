//! The imports that lead to the network, from a module of somebody's own that uses them as nobody should.
#![allow(clippy::unwrap_used)]

mod web_room;

use std::sync::atomic::{AtomicUsize, Ordering};

use drydock_embed::{
    Dock, DockSettings, Network, Setup, WorkerProgram,
    contract::{ArgMode, Limits, Outcome},
    egress::{QuotaLimits, Rules},
};
use web_room::{Server, local, serve, serving};

/// Modules that were added, each under a name of its own.
static ADDED: AtomicUsize = AtomicUsize::new(0);

struct Yard {
    dock: Dock,
    _home: tempfile::TempDir,
}

fn yard() -> Yard {
    let home = tempfile::tempdir().unwrap();
    let worker = Some(WorkerProgram::new(env!("CARGO_BIN_EXE_drydock-compile-worker"), [""; 0]));
    let egress = Some(local(QuotaLimits::default()).0);
    let dock =
        Dock::open_with(home.path(), DockSettings { worker, egress, ..DockSettings::default() }).unwrap();
    Yard { dock, _home: home }
}

impl Yard {
    /// How a module with this `_start` ends; `$n` is a local, and its exit status.
    async fn run(&self, profile: &str, server: &Server, body: &str) -> Result<Outcome, String> {
        let request = format!(r#"{{"url":"{}"}}"#, server.url("/"));
        let data: String = request.bytes().map(|byte| format!("\\{byte:02x}")).collect();
        let wat = format!(
            r#"(module
              (import "env" "http_start" (func $start (param i32 i32) (result i32)))
              (import "env" "http_read" (func $read (param i32 i32 i32) (result i32)))
              (import "env" "http_close" (func $close (param i32)))
              (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
              (memory (export "memory") 2) (data (i32.const 1024) "{data}")
              (func $ask (result i32) (call $start (i32.const 1024) (i32.const {})))
              (func (export "_start") (local $n i32) (local $i i32) {body} (call $exit (local.get $n))))"#,
            request.len()
        );
        let name = format!("m{}", ADDED.fetch_add(1, Ordering::Relaxed));
        self.dock.registry().add(&name, wat::parse_str(&wat).unwrap(), ArgMode::Argv, None).unwrap();
        let rules = Rules::parse(&[], &[], &[server.address.to_string()]).unwrap();
        let network =
            if profile == "minimal" { Network { rules, injected: Vec::new() } } else { Network::default() };
        let setup = Setup { network, limits: Some(Limits::default()), ..Setup::profile(profile) };
        let session = self
            .dock
            .session("attacker", Setup { allow: Some(vec![name.parse().unwrap()]), ..setup })
            .unwrap();
        session.run(&name, &[], "").await.map(|run| run.outcome).map_err(|error| error.code().to_owned())
    }
}

#[tokio::test]
async fn numbers_and_pointers_that_are_wrong_are_refused_and_end_nobody() {
    let (yard, server) = (yard(), serving("200 OK", "", "fetched"));
    for (body, want) in [
        // Frames of a head and a body, and an end.
        ("(local.set $n (call $read (call $ask) (i32.const 8192) (i32.const 1)))", 1),
        ("(local.set $n (i32.add (i32.const 2) (call $read (i32.const 7) (i32.const 0) (i32.const 8))))", 1),
        ("(local.set $n (i32.add (i32.const 2) (call $read (i32.const -1) (i32.const 0) (i32.const 8))))", 1),
        ("(local.set $n (i32.add (i32.const 2) (call $read (call $ask) (i32.const -4) (i32.const 8))))", 1),
        ("(local.set $n (i32.add (i32.const 2) (call $read (call $ask) (i32.const 0) (i32.const 0))))", 1),
        ("(local.set $n (i32.add (i32.const 2) (call $start (i32.const -4) (i32.const 8))))", 1),
        ("(local.set $n (i32.add (i32.const 2) (call $start (i32.const 0) (i32.const -1))))", 1),
        ("(call $close (i32.const 99)) (call $close (i32.const -1)) (call $close (call $ask))", 0),
        // The seventeenth that is open is one too many; one that was closed is a place again.
        (
            "(loop $l (local.set $n (call $ask)) (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 17)))) (local.set $n (i32.add (local.get $n) (i32.const 2)))",
            1,
        ),
        (
            "(loop $l (call $close (call $ask)) (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 40)))) (local.set $n (call $ask))",
            0,
        ),
    ] {
        assert_eq!(yard.run("minimal", &server, body).await, Ok(Outcome::Exited(want)), "{body}");
    }
}

#[tokio::test]
async fn nothing_is_sent_before_somebody_reads_and_a_profile_without_sockets_cannot_import_it() {
    let (yard, server) = (yard(), serving("200 OK", "", "fetched"));
    assert_eq!(yard.run("minimal", &server, "(drop (call $ask))").await, Ok(Outcome::Exited(0)));
    assert!(server.heads().is_empty());
    assert_eq!(yard.run("compute", &server, "(drop (call $ask)) ").await, Err("import_not_granted".into()));
}

#[tokio::test]
async fn an_answer_that_never_comes_ends_with_the_run() {
    let (yard, server) = (yard(), serve(|_, _| std::thread::sleep(std::time::Duration::from_secs(60))));
    let reads = "(local.set $n (call $read (call $ask) (i32.const 8192) (i32.const 64)))";
    let began = std::time::Instant::now();
    let dock = &yard.dock;
    let run = yard.run("minimal", &server, reads);
    let ended = tokio::time::timeout(std::time::Duration::from_millis(500), run).await;
    assert!(
        ended.is_err() && began.elapsed() < std::time::Duration::from_secs(5),
        "dropped with whoever waited"
    );
    dock.gate().flush().unwrap();
}
