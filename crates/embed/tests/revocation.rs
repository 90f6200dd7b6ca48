//! A revocation against everything that a tenant may be doing, the lines of its shells included.
#![allow(clippy::unwrap_used)]

use std::{
    future::Future,
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use drydock_embed::{
    Dock, DockSession, DockSettings, DockShell, KERNEL_LIMITS, LineRefused, Setup, ShellSetup, WorkerProgram,
    contract::{
        ArgMode, ByteSource, Kernel, Node, Principal, RunReport, Sink, Source, Streams, Switch, Tenant,
        port::{Files, OpenHow, TreePath},
    },
    empty_tree,
    engine::EngineSettings,
    shell::LineReport,
    store::{Filter, read_audit},
};
use tokio::task::yield_now;

/// Far more than anything here takes: a guard against a hang, and no measure.
const HANG: Duration = Duration::from_secs(120);
const SLOTS: u32 = 4;

/// A kernel whose answer is as long as its input.
const KERNEL: &str = r#"(module (memory (export "memory") 3)
  (func (export "process") (param i32) (result i32) (local.get 0)))"#;
const NOTHING: &str = r#"(module (memory (export "memory") 1) (func (export "_start")))"#;

/// A worker that compiles until there is a file of this name, and then never ends.
fn worker(stuck: &Path) -> WorkerProgram {
    let real = env!("CARGO_BIN_EXE_drydock-compile-worker");
    let script = format!("test -e '{}' && exec sleep 600; exec '{real}' \"$@\"", stuck.display());
    WorkerProgram::new("/bin/sh", ["-c", &script, "sh"])
}

/// An input that is at its end when the switch is thrown, and counts who reads it.
struct EndsWith {
    end: Arc<Switch>,
    readers: Arc<AtomicU32>,
    told: Option<std::pin::Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl ByteSource for EndsWith {
    fn poll_read(&mut self, cx: &mut Context<'_>, _: &mut [u8]) -> Poll<io::Result<usize>> {
        let told = self.told.get_or_insert_with(|| {
            self.readers.fetch_add(1, Ordering::SeqCst);
            let end = Arc::clone(&self.end);
            Box::pin(async move {
                let listener = end.listen();
                if !end.is_tripped() {
                    listener.await;
                }
            })
        });
        told.as_mut().poll(cx).map(|()| Ok(0))
    }
}

fn captured() -> Streams {
    Streams { stdout: Sink::capture(), stderr: Sink::capture(), ..Streams::default() }
}

/// A shell and the files that its lines see.
fn shell(dock: &Dock) -> (DockShell, Arc<dyn Files>) {
    let files = empty_tree(64 << 20);
    let setup = Setup { files: Some(Arc::clone(&files)), ..Setup::profile("minimal") };
    (dock.shell("me", setup, ShellSetup::default()).unwrap(), files)
}

/// What the file `f` of the workspace holds.
fn written(files: &Arc<dyn Files>) -> String {
    let how = OpenHow { read: true, ..OpenHow::default() };
    let path = TreePath::new("workspace/f").unwrap();
    let Ok(file) = files.open(&path, how, drydock_embed::contract::Timestamp(0)) else {
        return String::new();
    };
    let mut bytes = vec![0; usize::try_from(file.stat().unwrap().size).unwrap()];
    let count = file.read_at(0, &mut bytes).unwrap();
    bytes.truncate(count);
    String::from_utf8(bytes).unwrap()
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < HANG, "{what}");
        yield_now().await;
    }
}

/// The records of a tenant: operation, decision and outcome.
fn records(dock: &Dock) -> Vec<String> {
    dock.gate().flush().unwrap();
    let all = read_audit(&dock.home().tenant(dock.tenant()), Filter::default()).unwrap().map(Result::unwrap);
    all.map(|it| format!("{} {:?} {}", it.operation, it.decision, it.outcome.unwrap_or_default())).collect()
}

type Line = (DockShell, Result<(LineReport, Streams), LineRefused>);

fn line(mut shell: DockShell, text: &'static str) -> tokio::task::JoinHandle<Line> {
    tokio::spawn(async move {
        let done = shell.run(text, captured()).await;
        (shell, done)
    })
}

/// Runs that hold every slot until the switch is thrown.
fn holding(
    session: &DockSession,
    end: &Arc<Switch>,
    readers: &Arc<AtomicU32>,
) -> Vec<tokio::task::JoinHandle<RunReport>> {
    let one = |_| {
        let (session, end, readers) = (session.clone(), Arc::clone(end), Arc::clone(readers));
        tokio::spawn(async move {
            let stdin = Source::Stream(Box::new(EndsWith { end, readers, told: None }));
            let none: [&str; 0] = [];
            session.run_with("upper", &none, Streams { stdin, ..captured() }).await.unwrap().0
        })
    };
    (0..SLOTS).map(one).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_tenant_loses_what_it_compiles_waits_for_holds_and_writes_and_its_neighbour_nothing() {
    let home = tempfile::tempdir().unwrap();
    let (stuck, compiling) = (home.path().join("stuck"), Arc::new(AtomicBool::new(false)));
    let told = Arc::clone(&compiling);
    let settings = DockSettings {
        engine: EngineSettings { slots: Some(SLOTS), ..EngineSettings::default() },
        worker: Some(worker(&stuck)),
        on_compile: Some(Arc::new(move |_| told.store(true, Ordering::SeqCst))),
        ..DockSettings::default()
    };
    let dev = Dock::open_with(home.path().join("home"), settings).unwrap();
    let acme = dev.for_tenant("acme".parse::<Tenant>().unwrap());
    dev.warm("upper").await.unwrap();
    let kernel = async |dock: &Dock| {
        let session = dock.session("me", Setup::instances(KERNEL_LIMITS)).unwrap();
        let module = dock.hand_over(wat::parse_str(KERNEL).unwrap()).await;
        dock.open_kernel(&session, &module, Kernel::default()).await.unwrap()
    };
    let (theirs, ours) = (kernel(&acme).await, kernel(&dev).await);
    acme.registry().add("slow", wat::parse_str(NOTHING).unwrap(), ArgMode::Argv, None).unwrap();
    std::fs::write(&stuck, "").unwrap();
    compiling.store(false, Ordering::SeqCst);

    // The neighbour holds every slot and writes a file.
    let session = |dock: &Dock| dock.session("me", Setup::profile("minimal")).unwrap();
    let (end, readers) = (Arc::<Switch>::default(), Arc::<AtomicU32>::default());
    let ours_held = holding(&session(&dev), &end, &readers);
    until("the neighbour has every slot", || readers.load(Ordering::SeqCst) == SLOTS).await;
    let (our_shell, our_files) = shell(&dev);
    let our_line = line(our_shell, "until [ -e /workspace/stop ]; do echo line >> /workspace/f; done");

    // One principal compiles, waits for a slot, holds a kernel and writes a file.
    let run = |name: &'static str| {
        let session = session(&acme);
        tokio::spawn(async move {
            let done = session.run(name, &[], "x").await;
            done.map(|it| it.outcome.code()).map_err(|error| error.code())
        })
    };
    let compiles = run("slow");
    until("it compiles", || compiling.load(Ordering::SeqCst)).await;
    let waits = run("upper");
    let (their_shell, their_files) = shell(&acme);
    let writes = line(their_shell, "while :; do echo line >> /workspace/f; done");
    let in_flight = session(&acme);
    until("both runs began", || in_flight.inner().in_flight() == 2).await;
    until("both lines write", || written(&their_files).len() > 50 && !written(&our_files).is_empty()).await;
    assert!(!compiles.is_finished() && !waits.is_finished() && !writes.is_finished());

    let tenant = Node::Tenant(acme.tenant().clone());
    dev.gate().revoke(&tenant).unwrap();
    let ended = async { (compiles.await.unwrap(), waits.await.unwrap(), writes.await.unwrap()) };
    let (compiled, waited, (mut their_shell, wrote)) =
        tokio::time::timeout(HANG, ended).await.expect("something of the revoked tenant goes on");
    assert_eq!((compiled, waited), (Ok("cancelled"), Ok("cancelled")));
    let report = wrote.unwrap().0;
    assert_eq!((report.limit.as_deref(), report.status), (Some("cancelled"), 130));
    let whole = written(&their_files);
    assert!(whole.lines().all(|it| it == "line") && whole.ends_with('\n'), "every line of the file is whole");
    assert_eq!(theirs.call(b"abc", HANG).await.unwrap_err().code(), "revoked");
    let refused = their_shell.run("echo more >> /workspace/f", captured()).await.map(drop).unwrap_err();
    assert_eq!(refused.code(), "revoked");

    // The neighbour's line goes on for a while, and nothing of the others' is written meanwhile.
    let before = written(&our_files).len();
    until("the neighbour goes on writing", || written(&our_files).len() > before).await;
    assert_eq!(written(&their_files), whole);
    let stop = OpenHow { write: true, create: true, ..OpenHow::default() };
    drop(our_files.open(&TreePath::new("workspace/stop").unwrap(), stop, dev.gate().now()).unwrap());
    assert_eq!(our_line.await.unwrap().1.unwrap().0.status, 0);
    end.trip();
    for held in ours_held {
        assert_eq!(held.await.unwrap().outcome.code(), "exited");
    }
    assert_eq!(ours.call(b"abc", HANG).await.unwrap().bytes.len(), 3);
    assert_eq!(session(&dev).run("upper", &[], "x").await.unwrap().stdout, b"X");

    let of = |dock: &Dock, operation: &str| -> Vec<String> {
        records(dock).into_iter().filter(|it| it.starts_with(operation)).collect()
    };
    assert_eq!(
        of(&acme, "line.run"),
        ["line.run Allowed ", "line.run Denied(\"revoked\") ", "line.run Denied(\"revoked\") "]
    );
    let all = read_audit(&acme.home().tenant(acme.tenant()), Filter::default()).unwrap().map(Result::unwrap);
    let calls: Vec<_> = all.filter(|it| it.operation == "line.run").map(|it| it.call).collect();
    assert!(calls[0] == calls[1] && calls[1] != calls[2], "the second is the first one's end: {calls:?}");
    let runs = of(&acme, "exec.start");
    assert_eq!(runs.iter().filter(|it| it.contains("Allowed")).count(), 2, "{runs:?}");
    assert_eq!(runs.iter().filter(|it| it.contains("Ended(None) cancelled")).count(), 2, "{runs:?}");
    assert!(records(&dev).iter().all(|it| !it.contains("revoked") && !it.contains("Denied")));

    // What was ended stays ended, and whoever asks anew may.
    dev.gate().unrevoke(&tenant).unwrap();
    assert!(theirs.call(b"abc", HANG).await.is_err());
    let again = their_shell.run("echo more >> /workspace/f", captured()).await.unwrap().0;
    assert_eq!((again.status, written(&their_files)), (0, whole + "more\n"));
}

#[tokio::test]
async fn whoever_is_revoked_begins_no_line_also_where_it_would_call_nothing() {
    let home = tempfile::tempdir().unwrap();
    let dock = Dock::open(home.path()).unwrap();
    let (mut shell, files) = shell(&dock);
    dock.revoke("me").unwrap();
    let text = "echo one > /workspace/f; for i in 1 2 3; do echo $i >> /workspace/f; done";
    for whole in [true, false] {
        let refused = match whole {
            true => shell.run(text, captured()).await,
            false => shell.run_line(text, captured()).await,
        };
        assert_eq!(refused.map(drop).unwrap_err().code(), "revoked");
    }
    assert_eq!(written(&files), "");
    assert_eq!(records(&dock), ["line.run Denied(\"revoked\") ", "line.run Denied(\"revoked\") "]);
    let me = "me".parse::<Principal>().unwrap();
    dock.gate().unrevoke(&Node::Principal(Tenant::default(), me)).unwrap();
    assert_eq!(shell.run(text, captured()).await.unwrap().0.status, 0);
    assert_eq!(written(&files), "one\n1\n2\n3\n");
    let records = records(&dock);
    assert_eq!(records[2..], ["line.run Allowed ", "line.run Ended(None) exited"], "{records:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_ends_with_a_revocation_that_is_taken_back_at_once_and_with_its_shells_session() {
    let home = tempfile::tempdir().unwrap();
    let dock = Dock::open(home.path()).unwrap();
    let (shell, files) = shell(&dock);
    let session = shell.session().clone();
    let text = "while :; do echo line >> /workspace/f; done";
    let writes = line(shell, text);
    until("it writes", || !written(&files).is_empty()).await;
    let me = Node::Principal(Tenant::default(), "me".parse::<Principal>().unwrap());
    dock.gate().revoke(&me).unwrap();
    dock.gate().unrevoke(&me).unwrap();
    let (shell, done) = tokio::time::timeout(HANG, writes).await.unwrap().unwrap();
    assert_eq!(done.unwrap().0.limit.as_deref(), Some("cancelled"));

    let before = written(&files).len();
    let writes = line(shell, text);
    until("it writes again", || written(&files).len() > before).await;
    session.cancel();
    let (mut shell, done) = tokio::time::timeout(HANG, writes).await.unwrap().unwrap();
    assert_eq!(done.unwrap().0.limit.as_deref(), Some("cancelled"));
    let refused = shell.run("echo more", captured()).await.map(drop).unwrap_err();
    assert_eq!(refused.code(), "cancelled", "a cancelled session performs nothing more");
    let ends: Vec<_> = records(&dock).into_iter().filter(|it| !it.contains("Allowed")).collect();
    assert_eq!(
        ends,
        [
            "line.run Denied(\"revoked\") ",
            "line.run Ended(None) cancelled",
            "line.run Denied(\"cancelled\") "
        ]
    );
}
