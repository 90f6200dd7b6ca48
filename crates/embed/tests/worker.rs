//! The compile worker: modules of strangers are compiled in a process that has limits and no rights.
#![allow(clippy::unwrap_used)]

use std::{fmt::Write as _, path::Path, process::Command, sync::Arc, time::Duration};

use drydock_codemode::{executor::ExecuteOptions, provider::Providers};
use drydock_embed::{
    CodeInput, CompileLimits, Dock, DockSettings, Setup, ShellSetup, WorkerProgram, command_tools,
    contract::{ArgMode, CallError, Limits, Outcome, Sink, Source, Streams},
};
use drydock_testkit::guests;

const WORKER: &str = env!("CARGO_BIN_EXE_drydock-compile-worker");

fn worker() -> WorkerProgram {
    WorkerProgram::new(WORKER, [""; 0])
}

/// A worker that does something first.
fn worker_after(script: &str) -> WorkerProgram {
    WorkerProgram::new("/bin/sh", ["-c", &format!("{script}; exec \"$0\" \"$@\""), WORKER])
}

fn dock(home: &Path, worker: Option<WorkerProgram>, compile: CompileLimits) -> Dock {
    Dock::open_with(home, DockSettings { worker, compile, ..DockSettings::default() }).unwrap()
}

fn add(dock: &Dock, name: &str, wat: &str) {
    dock.registry().add(name, wat::parse_str(wat).unwrap(), ArgMode::Argv, None).unwrap();
}

async fn run(dock: &Dock, name: &str) -> Result<Outcome, CallError> {
    dock.session("me", Setup::profile("minimal")).unwrap().run(name, &[], "").await.map(|run| run.outcome)
}

/// A small module whose compilation takes far more memory than its size suggests: every block is reached from
/// every branch table with every local in hand.
fn bomb(blocks: usize, locals: usize) -> String {
    let mut text = String::from("(module (memory (export \"memory\") 1) (func (export \"_start\")");
    text.push_str(&"(local i32)".repeat(locals));
    text.push_str("(loop $top ");
    text.push_str(&"block ".repeat(blocks));
    let targets: Vec<String> = (0..=blocks).map(|it| it.to_string()).collect();
    for at in 0..blocks {
        // One level is gone after each `end`, so that there are fewer targets left.
        let left = &targets[..=blocks - at];
        for local in 0..locals {
            write!(
                text,
                "(local.set {local} (i32.add (local.get {local}) (local.get {})))",
                (local + at) % locals
            )
            .unwrap();
        }
        write!(text, "(br_table {} (i32.load (local.get {}))) end ", left.join(" "), at % locals).unwrap();
    }
    text.push_str(")))");
    text
}

#[tokio::test]
async fn without_a_worker_only_built_ins_compile_and_others_are_refused_by_name() {
    let home = tempfile::tempdir().unwrap();
    let plain = dock(home.path(), None, CompileLimits::default());
    add(&plain, "seven", &guests::exit(7));
    let refused = run(&plain, "seven").await.unwrap_err();
    assert_eq!(refused.code(), "no_compile_worker");
    assert!(refused.to_string().contains("names no compile worker"), "{refused}");
    assert_eq!(run(&plain, "true").await.unwrap(), Outcome::Exited(0));

    let able = dock(home.path(), Some(worker()), CompileLimits::default());
    assert_eq!(run(&able, "seven").await.unwrap(), Outcome::Exited(7));
    // What somebody who may has compiled is in the cache for all.
    let plain = dock(home.path(), None, CompileLimits::default());
    assert_eq!(run(&plain, "seven").await.unwrap(), Outcome::Exited(7));
}

#[tokio::test]
async fn a_runtime_without_io_can_compile_too_and_bad_modules_say_why() {
    let home = tempfile::tempdir().unwrap();
    let dock = dock(home.path(), Some(worker()), CompileLimits::default());
    // Passes the parser of text, and fails the validation of the compiler.
    let wrong = dock.check(wat::parse_str("(module (func (export \"_start\") i32.add drop))").unwrap()).await;
    let wrong = wrong.unwrap_err();
    assert_eq!(wrong.code(), "bad_module");
    assert!(wrong.to_string().contains("does not compile"), "{wrong}");
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        add(&dock, "seven", &guests::exit(7));
        assert_eq!(runtime.block_on(run(&dock, "seven")).unwrap(), Outcome::Exited(7));
    })
    .join()
    .unwrap();
}

#[tokio::test]
async fn a_module_that_explodes_ends_at_the_memory_limit_and_the_next_is_fine() {
    let home = tempfile::tempdir().unwrap();
    let limits = CompileLimits { memory_bytes_max: 96 << 20, ..CompileLimits::default() };
    let dock = dock(home.path(), Some(worker()), limits);
    add(&dock, "bomb", &bomb(300, 60));
    let ended = run(&dock, "bomb").await.unwrap_err();
    assert_eq!(ended.code(), "bad_module");
    let text = ended.to_string();
    assert!(text.contains("more than 96 MiB") && text.contains("--compile-memory"), "{text}");
    add(&dock, "seven", &guests::exit(7));
    assert_eq!(run(&dock, "seven").await.unwrap(), Outcome::Exited(7));
}

#[tokio::test]
async fn a_worker_that_is_late_killed_or_missing_is_told_apart_and_the_next_call_is_fine() {
    let home = tempfile::tempdir().unwrap();
    let late = CompileLimits { wall_max: Duration::from_millis(50), ..CompileLimits::default() };
    let cases = [
        (worker_after("/bin/sleep 60"), late, "bad_module", "--compile-timeout"),
        (worker_after("kill -9 $$"), CompileLimits::default(), "internal_error", "signal 9"),
        (
            WorkerProgram::new("/no/such/program", [""; 0]),
            CompileLimits::default(),
            "internal_error",
            "/no/such",
        ),
    ];
    for (worker, limits, code, word) in cases {
        let dock = dock(home.path(), Some(worker), limits);
        add(&dock, "seven", &guests::exit(7));
        let ended = run(&dock, "seven").await.unwrap_err();
        assert_eq!(ended.code(), code, "{ended}");
        assert!(ended.to_string().contains(word), "{ended}");
        assert_eq!(run(&dock, "true").await.unwrap(), Outcome::Exited(0));
    }
    let good = dock(home.path(), Some(worker()), CompileLimits::default());
    assert_eq!(run(&good, "seven").await.unwrap(), Outcome::Exited(7));
}

#[tokio::test]
async fn compiling_is_not_the_time_of_a_line() {
    let home = tempfile::tempdir().unwrap();
    let dock = dock(home.path(), Some(worker_after("/bin/sleep 2")), CompileLimits::default());
    add(&dock, "seven", &guests::exit(7));
    let limits = Limits { wall_max: Duration::from_millis(1500), ..Limits::default() };
    let setup = Setup { limits: Some(limits), ..Setup::profile("minimal") };
    let mut shell = dock.shell("me", setup, ShellSetup::default()).unwrap();
    let streams = Streams {
        stdin: Source::Empty,
        stdout: Sink::capture(),
        stderr: Sink::capture(),
        ..Streams::default()
    };
    let (report, _) = shell.run("seven", streams).await.unwrap();
    assert_eq!((report.status, report.limit), (7, None));
}

/// What a line, or a program, may take in the tests below, and what compiling takes at least.
const WALL_MAX: Duration = Duration::from_secs(3);
const COMPILES: &str = "/bin/sleep 4";

fn impatient() -> Setup {
    let limits = Limits { wall_max: WALL_MAX, ..Limits::default() };
    Setup { limits: Some(limits), ..Setup::profile("minimal") }
}

#[tokio::test]
async fn compiling_is_not_the_time_of_whoever_runs_meanwhile() {
    let home = tempfile::tempdir().unwrap();
    let dock = dock(home.path(), Some(worker_after(COMPILES)), CompileLimits::default());
    for status in 1..=5 {
        add(&dock, &format!("cold{status}"), &guests::exit(status));
    }
    // A stage beside the one that compiles; and what starts it, by itself and with a shell between them.
    let lines = [
        ("yes | cold1", 1),
        ("env cold2", 2),
        ("echo x | xargs cold3", 123),
        ("timeout 3 cold4", 4),
        ("timeout 3 sh -c 'cold5'", 5),
    ];
    let ended = lines.map(|(line, status)| {
        let dock = dock.clone();
        tokio::spawn(async move {
            let mut shell = ShellSetup::default();
            shell.mode.eval_allowed = true;
            let mut shell = dock.shell("me", impatient(), shell).unwrap();
            let streams = Streams {
                stdin: Source::Empty,
                stdout: Sink::capture(),
                stderr: Sink::capture(),
                ..Streams::default()
            };
            let (report, streams) = shell.run(line, streams).await.unwrap();
            let said = String::from_utf8(streams.stderr.into_captured()).unwrap();
            assert_eq!((report.status, report.limit, said.as_str()), (status, None, ""), "{line}");
        })
    });
    for it in ended {
        it.await.unwrap();
    }
}

#[tokio::test]
async fn a_cold_tool_does_not_end_the_program_that_calls_it() {
    let home = tempfile::tempdir().unwrap();
    let dock = Arc::new(dock(home.path(), Some(worker_after(COMPILES)), CompileLimits::default()));
    add(&dock, "cold6", &guests::exit(6));
    add(&dock, "cold7", &guests::exit(7));
    dock.warm_js().await.unwrap();
    let setup = impatient();
    let tools = command_tools(&dock, "me", &setup, &ShellSetup::default()).unwrap();
    let code = dock.code("me", setup, Providers::new([tools]).unwrap()).unwrap();
    let program = "const one = await commands.cold6({});
        const two = await commands.sh({line: 'cold7'}); [one.status, two.status]";
    let options = ExecuteOptions { timeout_ms: Some(WALL_MAX.as_millis() as f64), ..Default::default() };
    let result = code.execute(program, CodeInput { options, ..CodeInput::default() }).await;
    assert_eq!(result.outcome.unwrap().unwrap().as_str(), "[6,7]");
}

#[test]
fn the_worker_can_open_no_file_and_no_socket() {
    let told = |walls: &[&str]| {
        let said = Command::new(WORKER).arg("probe").args(walls).env_clear().output().unwrap();
        assert!(said.status.success(), "{said:?}");
        let text = String::from_utf8(said.stdout).unwrap();
        let value = |key: &str| text.lines().find_map(|it| it.strip_prefix(key)).unwrap().to_owned();
        (value("seccomp="), value("landlock="), value("open="))
    };
    let (_, _, open) = told(&["none"]);
    assert_eq!(open, "read list write tcp udp unix process", "without walls it could do all this");
    let (seccomp, landlock, open) = told(&[]);
    if seccomp == "true" {
        assert_eq!(open, "", "behind both walls");
        assert_eq!(told(&["seccomp"]).2, "", "behind seccomp alone");
    }
    if landlock == "true" {
        let (_, _, open) = told(&["landlock"]);
        for what in ["read", "list", "write", "process"] {
            assert!(!open.split(' ').any(|it| it == what), "behind landlock alone: {open}");
        }
    }
    let confinement = worker().confinement().unwrap();
    assert_eq!(confinement.seccomp.to_string(), seccomp);
    assert_eq!(confinement.landlock.to_string(), landlock);
}

#[test]
fn a_worker_that_is_started_by_hand_says_what_it_is() {
    for args in [&[][..], &["compile", "x", "1", "1", "all"], &["hello"]] {
        let said = Command::new(WORKER).args(args).output().unwrap();
        assert_eq!(said.status.code(), Some(2), "{args:?}");
        assert!(String::from_utf8_lossy(&said.stderr).contains("started by Drydock"), "{args:?}");
    }
}
