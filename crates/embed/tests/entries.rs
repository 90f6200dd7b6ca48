//! What an entry was registered with reaches its runs, and nobody else.
#![allow(clippy::unwrap_used)]

use std::{sync::Arc, time::Duration};

use drydock_embed::{
    Dock, DockSettings, Setup, WorkerProgram,
    contract::{
        Digest, Limits, Outcome,
        port::{EntryDir, EntryLimits, EntryOptions, Follow, Interruption, TreePath},
    },
    line_limits,
    store::{Registration, TreeBounds},
};

/// A built-in module once more, under a name of its own: it needs no compile worker.
fn register(dock: &Dock, name: &str, applet: &str, options: EntryOptions) {
    use drydock_embed::contract::port::Registry as _;
    let entry = dock.registry().lookup(applet, None).unwrap();
    let bytes = dock.registry().load(&entry).unwrap().bytes().to_vec();
    let options = EntryOptions { argv0: Some(applet.into()), starts_in_pwd: true, ..options };
    dock.registry().register(name, bytes, Registration { options, ..Registration::default() }).unwrap();
}

fn tree(dock: &Dock) -> EntryDir {
    let digest = Digest::of(b"an archive");
    let mut tree = dock.registry().trees().begin(digest, TreeBounds::default()).unwrap();
    tree.file("include/a.h", b"int a;\n", 0o644).unwrap();
    tree.finish().unwrap();
    EntryDir { tree: digest, path: "/usr".into() }
}

fn setup() -> Setup {
    Setup::profile("minimal").with_files([("/workspace/f", "f\n")]).unwrap()
}

#[tokio::test]
async fn an_entry_has_its_own_name_arguments_variables_and_directories() {
    let home = tempfile::tempdir().unwrap();
    let dock = Dock::open(home.path()).unwrap();
    let dirs = vec![tree(&dock)];
    register(
        &dock,
        "show",
        "cat",
        EntryOptions { argv: vec!["-n".into()], dirs: dirs.clone(), ..EntryOptions::default() },
    );
    register(
        &dock,
        "vars",
        "printenv",
        EntryOptions { env: vec!["KIT=entry".into()], ..EntryOptions::default() },
    );
    register(&dock, "mark", "touch", EntryOptions { dirs, ..EntryOptions::default() });
    let setup = setup();
    let files = Arc::clone(setup.files.as_ref().unwrap());
    let session = dock.session("me", setup.clone()).unwrap();
    let run = session.run("show", &["/usr/include/a.h", "/workspace/f"], "").await.unwrap();
    assert_eq!(String::from_utf8_lossy(&run.stdout), "     1\tint a;\n     2\tf\n");
    assert_eq!(session.run("vars", &["KIT"], "").await.unwrap().stdout, b"entry\n");
    let own = Setup { env: vec![("KIT".into(), "caller".into())], ..setup };
    assert_eq!(dock.session("me", own).unwrap().run("vars", &["KIT"], "").await.unwrap().stdout, b"caller\n");

    let refused = session.run("mark", &["/usr/include/a.h", "/usr/new"], "").await.unwrap();
    assert_eq!(refused.outcome, Outcome::Exited(1), "{}", String::from_utf8_lossy(&refused.stderr));
    assert!(session.run("mark", &["/workspace/new"], "").await.unwrap().success());
    let there = |path: &str| files.stat(&TreePath::new(path).unwrap(), Follow::No).is_ok();
    assert!(there("workspace/new") && !there("usr"), "what the entry sees is no part of the session's tree");
    // Another command of the same session sees none of it.
    assert_eq!(session.run("cat", &["/usr/include/a.h"], "").await.unwrap().outcome, Outcome::Exited(1));
}

#[tokio::test]
async fn an_entry_in_the_tick_lane_burns_no_fuel_of_a_line_and_dies_by_the_clock() {
    let home = tempfile::tempdir().unwrap();
    let dock = Dock::open(home.path()).unwrap();
    let tick = EntryOptions { lane: Interruption::Tick, ..EntryOptions::default() };
    register(&dock, "tcat", "cat", tick.clone());
    register(&dock, "tyes", "yes", tick);
    let done = dock.exec("echo a | tcat; tcat").stdin("b\n").await.unwrap();
    assert_eq!(done.text(), "a\nb\n");
    let own: Vec<_> = done.report.stages.iter().filter(|it| it.command == "tcat").map(|it| it.fuel).collect();
    assert_eq!(own, [0, 0], "instructions of this lane are not counted");
    let late = dock.exec("tyes > /dev/null").timeout(Duration::from_millis(200)).await.unwrap();
    assert_eq!((late.status, late.limit.as_deref()), (124, Some("timed_out")));
}

/// Takes 500 MiB and exits with 0.
const TAKES_MUCH: &str = r#"(module (memory (export "memory") 1)
  (func (export "_start") (if (i32.eq (memory.grow (i32.const 8000)) (i32.const -1)) (then unreachable))))"#;

#[tokio::test]
async fn an_entrys_memory_counts_where_nobody_chose_and_its_line_makes_room() {
    let home = tempfile::tempdir().unwrap();
    let worker = Some(WorkerProgram::new(env!("CARGO_BIN_EXE_drydock-compile-worker"), [""; 0]));
    let dock = Dock::open_with(home.path(), DockSettings { worker, ..DockSettings::default() }).unwrap();
    for (name, memory) in [("plain", None), ("large", Some(1 << 30)), ("small", Some(100 << 20))] {
        let limits = EntryLimits { memory_bytes_max: memory, ..EntryLimits::default() };
        let options = EntryOptions { limits, ..EntryOptions::default() };
        let how = Registration { options, ..Registration::default() };
        dock.registry().register(name, wat::parse_str(TAKES_MUCH).unwrap(), how).unwrap();
    }
    let chosen = Limits { memory_bytes_max: 400 << 20, ..Limits::default() };
    for (name, limits, want) in [
        ("plain", None, Outcome::OutOfMemory),
        ("large", None, Outcome::Exited(0)),
        ("large", Some(chosen), Outcome::OutOfMemory),
        ("small", None, Outcome::OutOfMemory),
    ] {
        let session = dock.session("me", Setup { limits, ..setup() }).unwrap();
        assert_eq!(session.run(name, &[], "").await.unwrap().outcome, want, "{name} {limits:?}");
    }
    // A line has 384 MiB, and what its largest entry may have besides.
    let line = dock.exec("large && large | large; plain; echo $?").await.unwrap();
    assert_eq!(
        (line.status, line.text().as_ref()),
        (0, "125\n"),
        "{}",
        String::from_utf8_lossy(&line.stderr)
    );
    let line =
        dock.exec("large").limits(Limits { memory_bytes_max: 400 << 20, ..line_limits() }).await.unwrap();
    assert_eq!(line.status, 125);
}
