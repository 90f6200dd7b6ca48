//! Code mode in process: the suite, and what only the whole path shows.
#![allow(clippy::unwrap_used)]

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use drydock_codemode::{
    executor::{ExecuteOptions, InProcess},
    provider::{Provider, Providers, Tool},
    suite,
};
use drydock_embed::{
    CodeInput, Dock, DockSettings, PyInput, Setup, ShellSetup, TokioTime, WorkerProgram, command_tools,
    contract::{ArgMode, Cap, Entropy, GuestTime, Terms},
    empty_tree, file_tools,
    gate::Grant,
    store::{Filter, read_audit},
};
use serde_json::{Value, json};

fn dock() -> (Dock, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    (Dock::open(home.path()).unwrap(), home)
}

fn tools(calls: &Arc<AtomicU32>) -> Providers {
    let counted = Arc::clone(calls);
    let echo = Tool::new("echo", move |input, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        async move { Ok(input) }
    });
    Providers::new([Provider::new("t", vec![echo]).unwrap()]).unwrap()
}

fn text(result: &drydock_codemode::ExecuteResult) -> String {
    match &result.outcome {
        Ok(value) => value.as_ref().map_or("undefined".into(), |it| it.as_str().to_owned()),
        Err(failure) => format!("{}: {}", failure.code, failure.message),
    }
}

#[tokio::test]
async fn the_suite_holds_in_process() {
    let (dock, _home) = dock();
    dock.warm_js().await.unwrap();
    let time = Arc::new(TokioTime::default());
    let guest = Arc::new(dock.js_guest(GuestTime::Real, Entropy::System).unwrap());
    let executor = InProcess::new(guest, Arc::clone(&time) as _);
    for (title, case) in suite::CASES {
        println!("{title}");
        case(&suite::Setup { executor: &executor, time: &*time }).await;
    }
}

#[tokio::test]
async fn every_tool_call_passes_the_gate() {
    let (dock, _home) = dock();
    dock.warm_js().await.unwrap();
    let calls = Arc::new(AtomicU32::new(0));
    let code = dock.code("me", Setup::default(), tools(&calls)).unwrap();
    let before = dock.gate().counts().allowed;
    let result = code
        .execute("const all = await Promise.all([1, 2, 3].map(n => t.echo({n}))); all", CodeInput::default())
        .await;
    assert_eq!(text(&result), r#"[{"n":1},{"n":2},{"n":3}]"#);
    // Starting the program is a call too.
    assert_eq!((calls.load(Ordering::Relaxed), dock.gate().counts().allowed - before), (3, 4));
}

#[tokio::test]
async fn grants_name_tools_constrain_arguments_and_count_uses() {
    let (dock, _home) = dock();
    dock.warm_js().await.unwrap();
    let calls = Arc::new(AtomicU32::new(0));
    let terms = Terms::of(["t.echo".parse().unwrap()]);
    let grant = Arc::new(Grant::of(Cap::Tool).within(terms).times(2));
    let setup = Setup { grants: vec![grant], ..Setup::default() };
    let code = dock.code("me", setup, tools(&calls)).unwrap();
    let program = "const out = []; for (const n of [1, 2, 3]) { try { out.push(await t.echo(n)) } catch (e) { out.push(e.code) } } out";
    let result = code.execute(program, CodeInput::default()).await;
    assert_eq!(text(&result), r#"[1,2,"tool_error"]"#);
    assert_eq!(calls.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn hostile_results_and_programs_end_by_name() {
    let (dock, _home) = dock();
    dock.warm_js().await.unwrap();
    let deep = Tool::raw("deep", |_, _| async {
        Ok(format!("{}{}", "[".repeat(10_000), "]".repeat(10_000)).into())
    });
    let odd =
        Tool::new("odd", |_, _| async { Ok(json!({"__proto__": {"polluted": true}, "😀": "\u{10FFFF}"})) });
    let big = Tool::new("big", |_, _| async { Ok(Value::from("x".repeat(100 << 20))) });
    let never = Tool::new("never", |_, _| std::future::pending());
    let providers = Providers::new([Provider::new("t", vec![deep, odd, big, never]).unwrap()]).unwrap();
    let code = dock.code("me", Setup::default(), providers).unwrap();
    // Only what waits for ever is to meet its time: the others have enough on a machine that is busy.
    let within = |timeout_ms| ExecuteOptions { timeout_ms: Some(timeout_ms), ..ExecuteOptions::default() };
    for (program, want) in [
        (
            "const o = await t.odd(); [o.polluted === undefined, Object.keys(o).length, o['😀']]",
            "[true,2,\"\u{10FFFF}\"]",
        ),
        ("await t.deep()", "serialization_error"),
        ("(await t.big()).length", "serialization_error"),
        ("await t.never()", "timeout: Execution timed out"),
        ("for (let i = 0; i < 100000; i++) t.never(); 'begun'", ""),
        (
            "Promise.prototype.then = Object.prototype.toJSON = JSON.stringify = () => 'forged'; 'kept'",
            "\"kept\"",
        ),
        ("const e = new Error('x'); e.code = 'timeout'; throw e", "runtime_error: x"),
        ("'\\ud800'", "\"\u{fffd}\""),
    ] {
        let options = within(if program.contains("never") { 500.0 } else { 60_000.0 });
        let result = code.execute(program, CodeInput { options, ..CodeInput::default() }).await;
        assert!(text(&result).starts_with(want), "{program}: {}", text(&result));
    }
    let long = "1;".repeat(5 << 20);
    let options = within(60_000.0);
    let result = code.execute(&long, CodeInput { options, ..CodeInput::default() }).await;
    assert!(text(&result).contains("exceeds the limit") || text(&result) == "1", "{}", text(&result));
}

#[test]
fn the_schemas_of_our_own_tools_can_be_used() {
    let (dock, _home) = dock();
    let dock = Arc::new(dock);
    let setup = Setup { grants: vec![Arc::new(Grant::of(Cap::Exec))], ..Setup::default() };
    let commands = command_tools(&dock, "me", &setup, &ShellSetup::default()).unwrap();
    commands.compile().unwrap();
    assert!(commands.manifest().tools.len() > 50);
    file_tools(&empty_tree(1 << 20), "/", &Setup::default().one_clock()).unwrap().compile().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_that_compute_or_wait_end_by_name_together_and_after_their_dock_is_gone() {
    let (dock, _home) = dock();
    dock.warm_js().await.unwrap();
    let never = Tool::new("never", |_, _| std::future::pending());
    let echo = Tool::new("echo", |input, _| async move { Ok(input) });
    let providers = Providers::new([Provider::new("t", vec![never, echo]).unwrap()]).unwrap();
    let code = Arc::new(dock.code("me", Setup::default(), providers).unwrap());
    let programs = [
        ("for (;;) {}", 100.0, "timeout: Execution timed out"),
        ("for (;;) {}", 1.0, "timeout: Execution timed out"),
        ("await t.never()", 100.0, "timeout: Execution timed out"),
        ("for (;;) await t.echo(1)", 100.0, "timeout: Execution timed out"),
        ("await t.echo([1])", 60_000.0, "[1]"),
    ];
    let begin = |(program, timeout_ms, want)| {
        let code = Arc::clone(&code);
        let options = ExecuteOptions { timeout_ms: Some(timeout_ms), ..ExecuteOptions::default() };
        let ended = tokio::spawn(async move {
            text(&code.execute(program, CodeInput { options, ..CodeInput::default() }).await)
        });
        (program, ended, want)
    };
    let begun: Vec<_> = programs.into_iter().cycle().take(60).map(begin).collect();
    drop((dock, code));
    for (program, ended, want) in begun {
        assert_eq!(ended.await.unwrap(), want, "{program}");
    }
}

#[tokio::test]
async fn a_context_that_stays_is_the_programs_own_and_not_another_versions() {
    let (dock, home) = dock();
    dock.warm_js().await.unwrap();
    let name = "notes".parse().unwrap();
    let open = || dock.code_staying("me", Setup::default(), tools(&Arc::default()), &name).unwrap();
    for want in ["1", "2", "3"] {
        let result = open().execute("globalThis.n = (globalThis.n ?? 0) + 1", CodeInput::default()).await;
        assert_eq!(text(&result), want);
    }
    let kept = std::fs::read_dir(home.path().join("tenants/dev/contexts")).unwrap();
    let file = kept.map(|it| it.unwrap().path()).next().unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[8] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    let refused = text(&open().execute("n", CodeInput::default()).await);
    assert!(refused.starts_with("internal_error") && refused.contains(&*file.to_string_lossy()), "{refused}");
    assert_eq!(std::fs::read(&file).unwrap(), bytes, "what cannot be read is not overwritten");
}

/// An interpreter of Python is a registered module; what revocation does to one does not depend on which.
const ENDLESS: &str = r#"(module (memory (export "memory") 1) (func (export "_start") (loop (br 0))))"#;

#[tokio::test]
async fn a_revoked_principal_loses_its_python_program_in_flight_and_both_ends_are_on_record() {
    let home = tempfile::tempdir().unwrap();
    let worker = WorkerProgram::new(env!("CARGO_BIN_EXE_drydock-compile-worker"), [""; 0]);
    let settings = DockSettings { worker: Some(worker), ..DockSettings::default() };
    let dock = Dock::open_with(home.path(), settings).unwrap();
    dock.registry().add("python", wat::parse_str(ENDLESS).unwrap(), ArgMode::Argv, None).unwrap();
    let calls = Arc::new(AtomicU32::new(0));
    let py = dock.py("me", Setup::default(), &ShellSetup::default(), tools(&calls), None).unwrap();
    py.warm().await.unwrap();
    let options = ExecuteOptions { timeout_ms: Some(60_000.0), ..ExecuteOptions::default() };
    let endless = py.execute("while True: pass", PyInput { options, ..PyInput::default() });
    let (done, ()) = tokio::join!(endless, async {
        begun(&dock).await;
        dock.revoke("me").unwrap();
    });
    assert!(text(&done.execute).starts_with("timeout"), "{}", text(&done.execute));
    let after = py.execute("1", PyInput::default()).await;
    assert_eq!(after.status, 126, "{}", text(&after.execute));
    assert_eq!(starts(&dock), ["python Allowed ", "python Ended(None) cancelled", " Denied(\"revoked\") "]);
}

/// Waits until the principal has a program in flight.
async fn begun(dock: &Dock) {
    let session = dock.session("me", Setup::default()).unwrap();
    while session.inner().in_flight() == 0 {
        tokio::task::yield_now().await;
    }
}

/// What the audit has of `code.run`, in order.
fn starts(dock: &Dock) -> Vec<String> {
    dock.gate().flush().unwrap();
    let all = read_audit(&dock.home().tenant(dock.tenant()), Filter::default()).unwrap();
    let all = all.map(Result::unwrap).filter(|it| it.operation == "code.run");
    all.map(|it| format!("{} {:?} {}", it.subject, it.decision, it.outcome.unwrap_or_default())).collect()
}

#[tokio::test]
async fn a_revoked_principal_loses_its_javascript_program_in_flight_and_both_ends_are_on_record() {
    let (dock, _home) = dock();
    dock.warm_js().await.unwrap();
    let calls = Arc::new(AtomicU32::new(0));
    let code = dock.code("me", Setup::default(), tools(&calls)).unwrap();
    let other = dock.code("other", Setup::default(), tools(&calls)).unwrap();
    let options = ExecuteOptions { timeout_ms: Some(60_000.0), ..ExecuteOptions::default() };
    let endless = code.execute("for (;;) {}", CodeInput { options, ..CodeInput::default() });
    let (done, ()) = tokio::join!(endless, async {
        begun(&dock).await;
        dock.revoke("me").unwrap();
    });
    assert!(text(&done).starts_with("timeout"), "{}", text(&done));
    let after = code.execute_whole("1", CodeInput::default()).await;
    assert_eq!(after.refused.map(|it| it.code()), Some("revoked"));
    assert_eq!(text(&other.execute("1 + 1", CodeInput::default()).await), "2", "a neighbour goes on");
    assert_eq!(
        starts(&dock)[..3],
        ["javascript Allowed ", "javascript Ended(None) cancelled", " Denied(\"revoked\") "]
    );
}

#[tokio::test]
async fn what_is_said_of_programs_that_fail_side_by_side_is_each_ones_own() {
    let (dock, _home) = dock();
    dock.warm_js().await.unwrap();
    let calls = Arc::new(AtomicU32::new(0));
    let code = Arc::new(dock.code("me", Setup::default(), tools(&calls)).unwrap());
    let mut all = tokio::task::JoinSet::new();
    for line in 0..20 {
        let code = Arc::clone(&code);
        all.spawn(async move {
            let text = format!("{}await t.echo(1);\nthrow new Error('x')", "\n".repeat(line));
            (line, code.execute_whole(&text, CodeInput::default()).await.position)
        });
    }
    while let Some(done) = all.join_next().await {
        let (line, position) = done.unwrap();
        assert_eq!(position.map(|it| it.line as usize), Some(line + 2), "{line}");
    }
    let fine = code.execute_whole("1", CodeInput::default()).await;
    assert!(fine.position.is_none() && fine.hint.is_none());
}

#[tokio::test]
async fn limits_of_the_session_bound_a_program() {
    let (dock, _home) = dock();
    dock.warm_js().await.unwrap();
    let limits = drydock_embed::contract::Limits {
        wall_max: std::time::Duration::from_millis(100),
        ..Default::default()
    };
    let calls = Arc::new(AtomicU32::new(0));
    let setup = Setup { limits: Some(limits), ..Setup::default() };
    let code = dock.code("me", setup, tools(&calls)).unwrap();
    let options = ExecuteOptions { timeout_ms: Some(60_000.0), ..ExecuteOptions::default() };
    let done = code.execute("for (;;) {}", CodeInput { options, ..CodeInput::default() }).await;
    assert!(text(&done).starts_with("timeout"), "{}", text(&done));
}

#[tokio::test]
async fn the_depth_of_a_programs_tools_does_not_start_again() {
    let (dock, _home) = dock();
    dock.warm_js().await.unwrap();
    let (dock, setup) = (Arc::new(dock), Setup::profile("minimal"));
    let nested = |levels: usize| [&vec!["nice"; levels][..], &["upper"]].concat();
    let direct = dock.session("me", setup.clone()).unwrap();
    let run = async |levels: usize| {
        let words = nested(levels);
        direct.run(words[0], &words[1..], "x").await.unwrap().success()
    };
    assert_eq!((run(8).await, run(9).await), (true, false), "eight levels below the host");
    let commands = command_tools(&dock, "me", &setup, &ShellSetup::default()).unwrap();
    let code = dock.code("me", setup, Providers::new([commands]).unwrap()).unwrap();
    for tool in ["nice", "sh"] {
        let run = async |levels: usize| {
            let words = nested(levels);
            let input = match tool {
                "sh" => json!({ "line": format!("echo x | {}", words.join(" ")) }),
                _ => json!({ "args": words[1..], "stdin": "x" }),
            };
            let text_of = format!("(await commands.{tool}({input})).status");
            text(&code.execute(&text_of, CodeInput::default()).await)
        };
        assert_eq!(run(7).await, "0", "{tool}");
        assert_ne!(run(8).await, "0", "{tool}: the program is a level of its own");
    }
    dock.gate().flush().unwrap();
    let all = read_audit(&dock.home().tenant(dock.tenant()), Filter::default()).unwrap();
    let refused = all.map(Result::unwrap).filter(|it| format!("{:?}", it.decision).contains("max_depth"));
    assert_eq!(refused.map(|it| it.count).sum::<u64>(), 3, "one a caller");
}
