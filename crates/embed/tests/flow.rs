//! The flows of a command, a line, a program and a request for an extension, hop by hop: what the pages of `docs/flows`
//! tell.
#![allow(clippy::unwrap_used)]

use std::{
    cell::RefCell,
    fmt,
    path::Path,
    sync::{Arc, Once},
};

use drydock_embed::{
    CodeInput, Dock, DockSettings, HANDLER_LIMITS, Setup, ShellSetup, WorkerProgram,
    codemode::provider::Providers,
    command_tools,
    contract::{Sink, Source, Streams},
};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

thread_local! {
    /// What was traced on this thread, while somebody wants to know.
    static TRACED: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// One subscriber for the process: of several that come and go with their tests, `tracing` would ask only one about a hop
/// that is met for the first time.
struct Hops;

impl Subscriber for Hops {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "drydock::hop"
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        TRACED.with_borrow_mut(|traced| {
            if let Some(traced) = traced {
                event.record(&mut Words(traced));
            }
        });
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Words<'a>(&'a mut Vec<String>);

impl Visit for Words<'_> {
    fn record_debug(&mut self, _: &Field, value: &dyn fmt::Debug) {
        self.0.push(format!("{value:?}"));
    }
}

/// The hops of some work, on one thread: nothing that is traced happens beside it.
fn hops_of<T>(
    home: &Path,
    prepare: impl AsyncFn(&Arc<Dock>) -> T,
    work: impl AsyncFn(&Arc<Dock>, T),
) -> String {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| tracing::subscriber::set_global_default(Hops).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let worker = Some(WorkerProgram::new(env!("CARGO_BIN_EXE_drydock-compile-worker"), [""; 0]));
    let dock = Dock::open_with(home, DockSettings { worker, ..DockSettings::default() }).unwrap();
    let dock = Arc::new(dock);
    let prepared = runtime.block_on(prepare(&dock));
    TRACED.set(Some(Vec::new()));
    runtime.block_on(work(&dock, prepared));
    TRACED.take().unwrap().join("\n")
}

/// Has commands compiled before: a stage that waits for its code changes the order of hops.
async fn warm(dock: &Dock, names: &[&str]) {
    let session = dock.session("me", Setup::profile("minimal")).unwrap();
    for name in names {
        session.run(name, &[], "").await.unwrap();
    }
}

#[test]
fn a_command_takes_five_hops() {
    let folder = tempfile::tempdir().unwrap();
    let hops = hops_of(
        folder.path(),
        async |dock| dock.session("me", Setup::profile("minimal")).unwrap(),
        async |_, session| {
            session.run("upper", &[], "x").await.unwrap();
        },
    );
    insta::assert_snapshot!(hops, @r"
    embed: a name, a list of arguments and streams become a call
    gate: Call{exec.start} climbs the ladder
    caps/exec: `upper` is an artifact by its hash
    engine: a fresh instance with a deadline and limits of work and memory
    embed: exited(0) and what it cost
    ");
}

#[test]
fn a_line_takes_a_commands_hops_for_each_of_its_stages() {
    let folder = tempfile::tempdir().unwrap();
    let hops = hops_of(
        folder.path(),
        async |dock| warm(dock, &["upper", "sort"]).await,
        async |dock, ()| {
            let setup = Setup::profile("minimal");
            let mut shell = dock.shell("me", setup, ShellSetup::default()).unwrap();
            let streams = Streams {
                stdin: Source::from(b"b\na\n".to_vec()),
                stdout: Sink::capture(),
                ..Streams::default()
            };
            let (report, streams) = shell.run("upper | sort", streams).await.unwrap();
            assert_eq!((report.status, streams.stdout.into_captured()), (0, b"A\nB\n".to_vec()));
        },
    );
    insta::assert_snapshot!(hops, @r"
    embed: a line has a session, a budget and a deadline of its own
    engine: an instance of the shell
    engine: one line of it: the guest parses the text and evaluates it
    engine: the shell names a command; its arguments and streams become a call
    gate: Call{exec.command} climbs the ladder
    caps/exec: `upper` is an artifact by its hash
    engine: a fresh instance with a deadline and limits of work and memory
    engine: the shell names a command; its arguments and streams become a call
    gate: Call{exec.command} climbs the ladder
    caps/exec: `sort` is an artifact by its hash
    engine: a fresh instance with a deadline and limits of work and memory
    embed: the line ended with status 0
    ");
}

#[test]
fn what_flows_between_two_commands_never_enters_the_shell() {
    let hops = |line: &'static str| {
        let folder = tempfile::tempdir().unwrap();
        hops_of(
            folder.path(),
            async |dock| warm(dock, &["upper", "sort"]).await,
            async |dock, ()| {
                let mut shell = dock.shell("me", Setup::profile("minimal"), ShellSetup::default()).unwrap();
                let stdin = Source::from(b"b\na\n".repeat(500));
                let streams = Streams { stdin, stdout: Sink::capture(), ..Streams::default() };
                let (report, streams) = shell.run(line, streams).await.unwrap();
                assert_eq!((report.status, streams.stdout.into_captured().len()), (0, 2_000), "{line}");
            },
        )
    };
    let (enter, go) = ("bytes of a stream enter the shell", "bytes of the shell go to a stream");
    let direct = hops("upper | sort > f; sort < f | upper | sort");
    assert!(!direct.contains(enter) && !direct.contains(go), "{direct}");
    let looped = hops("upper | while read x; do echo $x; done | sort");
    assert!(looped.contains(enter) && looped.contains(go), "{looped}");
}

#[test]
fn a_program_and_each_of_its_tools_pass_the_gate() {
    let folder = tempfile::tempdir().unwrap();
    let hops = hops_of(
        folder.path(),
        async |dock| {
            warm(dock, &["upper"]).await;
            dock.warm_js().await.unwrap();
        },
        async |dock, ()| {
            let setup = Setup::profile("minimal");
            let commands = command_tools(dock, "me", &setup, &ShellSetup::default()).unwrap();
            let code = dock.code("me", setup, Providers::new([commands]).unwrap()).unwrap();
            let text = r#"(await commands.upper({stdin: "ada"})).stdout"#;
            let result = code.execute(text, CodeInput::default()).await;
            assert_eq!(result.outcome.unwrap().unwrap().as_str(), r#""ADA""#);
        },
    );
    insta::assert_snapshot!(hops, @r"
    embed: a program and what runs it become a call
    gate: Call{code.run} climbs the ladder
    caps/code: a program in javascript
    codemode: a program within its limits goes to its guest
    engine: a fresh instance with a deadline and limits of work and memory
    codemode: `commands.upper` becomes a call of the session
    gate: Call{tool.call} climbs the ladder
    caps/tool: `commands.upper` is a tool of the session
    gate: Call{exec.command} climbs the ladder
    caps/exec: `upper` is an artifact by its hash
    engine: a fresh instance with a deadline and limits of work and memory
    embed: exited(0) and what the program left
    ");
}

#[test]
fn a_request_for_an_extension_takes_six_hops() {
    let folder = tempfile::tempdir().unwrap();
    let module = wat::parse_str(
        r#"(module (memory (export "memory") 1)
          (data (i32.const 16) "{\"status\":204}")
          (func (export "alloc") (param i32) (result i32) (i32.const 1024))
          (func (export "handler") (param i32 i32) (param $out i32) (result i32)
            (i32.store (local.get $out) (i32.const 16))
            (i32.store offset=4 (local.get $out) (i32.const 14))
            (i32.const 0)))"#,
    )
    .unwrap();
    let hops = hops_of(
        folder.path(),
        async |dock| dock.session("me", Setup::instances(HANDLER_LIMITS)).unwrap(),
        async |dock, session| {
            let module = dock.hand_over(module.clone()).await;
            let invoked = dock.invoke(&session, &module, "shop", r#"{"http":{"path":"/cart"}}"#).await;
            assert_eq!(invoked.envelope.status, 204);
        },
    );
    insta::assert_snapshot!(hops, @r"
    embed: a request for a module that was handed over becomes a call
    gate: Call{handler.invoke} climbs the ladder
    caps/instance: a request as the guest is shown it, and its limits
    engine: a fresh instance for one request, linked as a handler
    embed: an envelope with status 204
    ");
}
