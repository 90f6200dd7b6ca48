//! Processes over a whole dock: real guests, a real disk, ends of every kind, and nothing left behind.
//!
//! `DRYDOCK_PROCESSES=10000 cargo test -p drydock-embed --test processes nothing` runs the large form of the count.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![allow(unsafe_code)] // An allocator is one of the things that Rust has no safe form for.

mod web_room;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use drydock_embed::{
    Dock, DockProcesses, DockSession, DockSettings, Network, NewProcess, ProcessError, Sandbox, SandboxSetup,
    Setup, ShellSetup, Watch,
    codemode::provider::Providers,
    contract::{Limits, Node, Tenant},
    egress::{QuotaLimits, Rules},
    gate::Class,
    process_limits, process_tools,
    store::{ProcessId, ProcessOutput, ProcessRecord, ProcessStage, SpoolBounds},
};
use serde_json::json;

/// Counts the bytes that are allocated and not freed, and leaves the rest to the system.
struct Counting;

static LIVE_BYTES: AtomicI64 = AtomicI64::new(0);

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: each call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE_BYTES.fetch_add(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LIVE_BYTES.fetch_add(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE_BYTES.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`, and `alloc` above took it from there.
        unsafe { System.dealloc(at, layout) }
    }
}

struct Yard {
    dock: Dock,
    folder: tempfile::TempDir,
}

fn yard() -> Yard {
    let folder = tempfile::tempdir().unwrap();
    Yard { dock: Dock::open(folder.path()).unwrap(), folder }
}

/// A guard against a test that hangs; nothing is measured by it.
const HANG: Duration = Duration::from_secs(300);

impl Yard {
    fn processes(&self) -> DockProcesses {
        self.dock.processes(SpoolBounds::default())
    }

    fn session(&self, limits: Limits) -> DockSession {
        let setup = Setup { limits: Some(limits), ..Setup::profile("minimal") }.with_processes();
        self.dock.session("me", setup).unwrap()
    }

    async fn spawn(&self, command: &str, args: &[&str], more_stdin: bool) -> ProcessRecord {
        let session = self.session(process_limits(64 << 20));
        self.processes().spawn(session, new(command, args, more_stdin)).await.unwrap()
    }
}

fn new(command: &str, args: &[&str], more_stdin: bool) -> NewProcess {
    let args = args.iter().map(|it| it.as_bytes().to_vec()).collect();
    NewProcess { command: command.into(), args, more_stdin, ..NewProcess::default() }
}

async fn ended(all: &DockProcesses, id: &ProcessId) -> ProcessRecord {
    let waiting = async {
        let mut from = 0;
        loop {
            let chunk =
                all.read(id, ProcessOutput::Stderr, from, 1 << 20, Duration::from_secs(5)).await.unwrap();
            from = chunk.next;
            if chunk.is_end {
                return all.find(id).await.unwrap();
            }
        }
    };
    tokio::time::timeout(HANG, waiting).await.expect("it ends")
}

/// Until none runs here: how one ended is on disk a moment before its task is done.
async fn none_runs(all: &DockProcesses) {
    let began = std::time::Instant::now();
    while all.running() > 0 {
        assert!(began.elapsed() < HANG, "{} run", all.running());
        tokio::task::yield_now().await;
    }
}

async fn read_from(all: &DockProcesses, id: &ProcessId, output: ProcessOutput, mut from: u64) -> Vec<u8> {
    let reading = async {
        let mut text = Vec::new();
        loop {
            let chunk = all.read(id, output, from, 1 << 20, Duration::from_secs(5)).await.unwrap();
            text.extend(chunk.bytes);
            from = chunk.next;
            if chunk.is_end {
                return text;
            }
        }
    };
    tokio::time::timeout(HANG, reading).await.expect("it ends")
}

#[tokio::test]
async fn a_process_is_fed_piece_by_piece_and_read_again_from_each_cursor() {
    let yard = yard();
    let all = yard.processes();
    let id = yard.spawn("cat", &[], true).await.id;
    let wait = Duration::from_secs(30);
    assert_eq!(all.write_stdin(&id, b"hello ", false, wait).await.unwrap(), 6);
    let first = all.read(&id, ProcessOutput::Stdout, 0, 99, HANG).await.unwrap();
    assert_eq!((first.bytes.as_slice(), first.is_end), (&b"hello "[..], false));
    assert_eq!(all.find(&id).await.unwrap().stage, ProcessStage::Running);
    assert_eq!(all.write_stdin(&id, b"world", true, wait).await.unwrap(), 5);
    let record = ended(&all, &id).await;
    assert_eq!(
        (record.stage, record.exit_code, record.code.as_deref()),
        (ProcessStage::Exited, Some(0), Some("exited"))
    );
    assert_eq!((record.stdout_bytes, record.stderr_bytes), (11, 0));
    for from in 0..=11_u64 {
        let text = read_from(&all, &id, ProcessOutput::Stdout, from).await;
        assert_eq!(text, &b"hello world"[usize::try_from(from).unwrap()..]);
    }
    assert!(matches!(all.write_stdin(&id, b"x", false, wait).await, Err(ProcessError::NoInput(_))));
    let beyond = all.read(&id, ProcessOutput::Stdout, 12, 1, wait).await.unwrap_err();
    assert_eq!(beyond.code(), "bad_cursor");
    assert_eq!(all.remove(&id).await.unwrap(), record);
    assert_eq!(all.find(&id).await.unwrap_err().code(), "not_found");
}

#[tokio::test]
async fn a_killed_process_is_gone_when_the_kill_is_answered_and_keeps_what_it_wrote() {
    let yard = yard();
    let all = yard.processes();
    let session = yard.session(process_limits(1 << 40));
    let bounds = SpoolBounds { bytes_max: 1 << 40, ..SpoolBounds::default() };
    let loud = yard.dock.processes(bounds).spawn(session.clone(), new("yes", &[], false)).await.unwrap().id;
    let chunk = all.read(&loud, ProcessOutput::Stdout, 0, 4, HANG).await.unwrap();
    assert_eq!(chunk.bytes, b"y\ny\n");
    let record = all.kill(&loud).await.unwrap();
    assert_eq!((record.stage, record.exit_code), (ProcessStage::Killed, Some(137)));
    assert_eq!(session.inner().own_in_flight(Class::Process), 0);
    assert_eq!(session.inner().own_in_flight(Class::Run), 0);
    assert_eq!(all.find(&loud).await.unwrap(), record, "nothing is written after it was killed");
    assert_eq!(all.kill(&loud).await.unwrap(), record, "and a second kill changes nothing");
    // One that waits, and one that computes and asks for nothing.
    for (command, args) in [("sleep", vec!["1000"]), ("awk", vec!["BEGIN { while (1) x++ }"])] {
        let id = yard.spawn(command, &args, false).await.id;
        let killed = tokio::time::timeout(HANG, all.kill(&id)).await.unwrap().unwrap();
        assert_eq!(killed.stage, ProcessStage::Killed, "{command}");
    }
    none_runs(&all).await;
}

#[tokio::test]
async fn a_kill_ends_what_a_process_started_and_waits_for() {
    let yard = yard();
    let all = yard.processes();
    let session = yard.session(process_limits(1 << 20));
    let runs = || session.inner().own_in_flight(Class::Run);
    let wanted = NewProcess { stdin: "1000\n1000\n".into(), ..new("xargs", &["-n1", "sleep"], false) };
    let id = all.spawn(session.clone(), wanted).await.unwrap().id;
    let began = std::time::Instant::now();
    // `xargs`, and the first `sleep`, which it waits for.
    while runs() < 2 {
        assert!(began.elapsed() < HANG, "{} in flight", runs());
        tokio::task::yield_now().await;
    }
    let killed = tokio::time::timeout(HANG, all.kill(&id)).await.unwrap().unwrap();
    assert_eq!((killed.stage, killed.exit_code), (ProcessStage::Killed, Some(137)));
    assert_eq!((runs(), session.inner().own_in_flight(Class::Process)), (0, 0));
    assert_eq!(session.inner().in_flight(), 0);
}

#[tokio::test]
async fn a_kill_closes_the_connection_that_a_process_waits_at() {
    use tokio::io::AsyncReadExt as _;
    let folder = tempfile::tempdir().unwrap();
    let settings =
        DockSettings { egress: Some(web_room::local(QuotaLimits::default()).0), ..DockSettings::default() };
    let dock = Dock::open_with(folder.path(), settings).unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = listener.local_addr().unwrap().to_string();
    let rules = Rules::parse(&[], &[], std::slice::from_ref(&place)).unwrap();
    let setup = Setup {
        limits: Some(process_limits(1 << 20)),
        network: Network { rules, injected: Vec::new() },
        ..Setup::profile("minimal")
    };
    let session = dock.session("me", setup.with_processes()).unwrap();
    let all = dock.processes(SpoolBounds::default());
    let id = all.spawn(session, new("curl", &["-s", &format!("http://{place}/")], false)).await.unwrap().id;
    let (mut stream, _) = tokio::time::timeout(HANG, listener.accept()).await.unwrap().unwrap();
    let mut request = [0; 4096];
    assert!(stream.read(&mut request).await.unwrap() > 0, "it asks, and is told nothing");
    let killed = tokio::time::timeout(HANG, all.kill(&id)).await.unwrap().unwrap();
    assert_eq!(killed.stage, ProcessStage::Killed);
    let closing = async { while stream.read(&mut request).await.is_ok_and(|count| count > 0) {} };
    tokio::time::timeout(HANG, closing).await.expect("the other side sees the end");
}

#[tokio::test]
async fn a_process_that_writes_without_end_ends_by_the_name_of_its_quota() {
    let yard = yard();
    let session = yard.session(process_limits(300_000));
    let all = yard.processes();
    let id = all.spawn(session, new("yes", &[], false)).await.unwrap().id;
    let record = ended(&all, &id).await;
    assert_eq!((record.stage, record.code.as_deref()), (ProcessStage::Exited, Some("output_limit")));
    assert_eq!(record.exit_code, Some(125));
    assert!(record.message.unwrap().contains("--process-output"));
    assert!(record.stdout_bytes <= 300_000, "{}", record.stdout_bytes);
    // All of a tenant's together, however much each may write.
    let small = yard.dock.processes(SpoolBounds { bytes_max: 400_000, ..SpoolBounds::default() });
    let session = yard.session(process_limits(10 << 30));
    let id = small.spawn(session, new("yes", &[], false)).await.unwrap().id;
    let record = ended(&small, &id).await;
    assert_eq!((record.stage, record.code.as_deref()), (ProcessStage::Failed, Some("output_limit")));
    assert!(record.message.unwrap().contains("--process-spool"));
    let kept: u64 = small.list().await.unwrap().iter().map(ProcessRecord::output_bytes).sum();
    assert!(kept <= 400_000, "{kept}");
}

#[tokio::test]
async fn what_is_refused_fails_by_its_code_and_what_is_too_many_is_not_started() {
    let yard = yard();
    let all = yard.processes();
    let setup = Setup { allow: Some(vec!["cat".parse().unwrap()]), ..Setup::profile("minimal") };
    let narrow = yard.dock.session("me", setup.clone().with_processes()).unwrap();
    let id = all.spawn(narrow.clone(), new("yes", &[], false)).await.unwrap().id;
    let record = ended(&all, &id).await;
    assert_eq!((record.stage, record.code.as_deref()), (ProcessStage::Failed, Some("command_not_granted")));
    let without = yard.dock.session("me", setup).unwrap();
    let kept = all.list().await.unwrap().len();
    assert_eq!(all.spawn(without, new("cat", &[], false)).await.unwrap_err().code(), "denied");
    assert_eq!(all.list().await.unwrap().len(), kept, "what was refused leaves nothing");
    let mut held = Vec::new();
    for _ in 0..32 {
        held.push(all.spawn(narrow.clone(), new("cat", &[], true)).await.unwrap().id);
    }
    let refused = all.spawn(narrow.clone(), new("cat", &[], true)).await.unwrap_err();
    assert_eq!(refused.code(), "too_many_processes");
    assert_eq!(all.running(), 32);
    let who = Node::Principal(Tenant::default(), "me".parse().unwrap());
    yard.dock.gate().revoke(&who).unwrap();
    for id in &held {
        let record = ended(&all, id).await;
        assert!(record.stage.is_over(), "{record:?}");
    }
    none_runs(&all).await;
}

#[tokio::test]
async fn processes_are_their_tenants_own_and_outlive_the_dock_on_disk() {
    let yard = yard();
    let id = yard.spawn("cat", &[], true).await.id;
    let other = yard.dock.for_tenant("acme".parse().unwrap()).processes(SpoolBounds::default());
    let wait = Duration::ZERO;
    let never: ProcessId = "0123456789abcdef0123456789abcdef".parse().unwrap();
    for id in [&id, &never] {
        let told = [
            other.find(id).await.unwrap_err(),
            other.kill(id).await.unwrap_err(),
            other.remove(id).await.unwrap_err(),
            other.read(id, ProcessOutput::Stdout, 0, 9, wait).await.unwrap_err(),
            other.write_stdin(id, b"x", true, wait).await.unwrap_err(),
        ];
        assert!(told.iter().all(|it| matches!(it, ProcessError::Absent(_))), "{told:?}");
    }
    assert!(other.list().await.unwrap().is_empty());
    // Another process of the home sees it, reads it, and cannot end it.
    let second = Dock::open(yard.folder.path()).unwrap().processes(SpoolBounds::default());
    assert!(!second.find(&id).await.unwrap().stage.is_over());
    assert_eq!(second.kill(&id).await.unwrap_err().code(), "elsewhere");
    assert_eq!(second.write_stdin(&id, b"x", true, wait).await.unwrap_err().code(), "elsewhere");
    assert!(yard.processes().kill(&id).await.unwrap().stage.is_over());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operations_and_programs_have_processes_where_they_are_granted() {
    let yard = yard();
    let dock = Arc::new(yard.dock.clone());
    let open = |setup: Setup| {
        let wanted = SandboxSetup {
            principal: "me".into(),
            setup,
            shell: ShellSetup::default(),
            bases: Vec::new(),
            program: Limits { wall_max: HANG, ..Limits::default() },
            allow_commit: false,
        };
        Sandbox::open(Arc::clone(&dock), wanted).unwrap()
    };
    let watch = Watch::default();
    let plain = open(Setup::profile("minimal"));
    assert!(!plain.operations().any(|it| it.name.starts_with("process")));
    let refused = plain.call("process_start", json!({ "command": "cat" }), &watch).await.unwrap_err();
    assert_eq!(refused.code, "unknown_operation");
    let none = plain.call("js", json!({ "code": "typeof processes" }), &watch).await.unwrap();
    assert_eq!(none["result"], "undefined", "{none}");

    let sandbox = open(Setup::profile("minimal").with_processes());
    let started =
        sandbox.call("process_start", json!({ "command": "cat", "stdin_open": true }), &watch).await.unwrap();
    let id = started["id"].as_str().unwrap();
    let written =
        sandbox.call("process_write", json!({ "id": id, "text": "hi", "end": true }), &watch).await.unwrap();
    assert_eq!(written, json!({ "taken": 2, "ended": true }));
    let program = r#"
        const text = async (id) => {
            let all = "", from = 0;
            for (;;) {
                const piece = await processes.read({ id, from, wait_ms: 60000 });
                all += piece.text;
                from = piece.next;
                if (piece.end) return all;
            }
        };
        const own = await processes.start({ command: "tr", args: ["a-z", "A-Z"], stdin: "loud" });
        const other = await text(args.id);
        const mine = await text(own.id);
        const ended = (await processes.list({})).processes.find((it) => it.id === own.id);
        const forgotten = await processes.kill({ id: own.id, remove: true });
        let gone = "";
        try { await processes.read({ id: own.id }); } catch (error) { gone = error.message; }
        return [other, mine, ended.state, forgotten.exit_code, gone];
    "#;
    let done = sandbox.call("js", json!({ "code": program, "args": { "id": id } }), &watch).await.unwrap();
    assert_eq!(done["result"], json!(["hi", "LOUD", "exited", 0, "there is no such process"]), "{done}");
    let killed = sandbox.call("process_kill", json!({ "id": id }), &watch).await.unwrap();
    assert_eq!(killed["state"], "exited");
    let absent = sandbox.call("process_kill", json!({ "id": "../x" }), &watch).await.unwrap_err();
    assert_eq!(absent.code, "not_found");
    let tools =
        process_tools(&dock, "me", &Setup::profile("minimal").with_processes(), &ShellSetup::default());
    let providers = Providers::new(tools.unwrap()).unwrap();
    let types = providers.types();
    assert!(types.contains("processes") && types.contains("stdin_open?: boolean"), "{types}");
}

/// A small generator: the moments of a run can be had again by its seed.
fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

/// Bytes of this process that are in memory.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|it| it.parse::<u64>().ok()).unwrap_or_default();
    pages * 4096
}

/// What is allocated may grow by once a quarter of them is through, however many there are: buffers that are kept, and
/// records that were not written yet.
const LIVE_GROWTH_BYTES_MAX: i64 = 256 << 10;

/// What memory may grow by once a quarter of them is through: what an allocator keeps, and nothing for each process.
const GROWTH_BYTES_MAX: u64 = 24 << 20;

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, |all| all.count())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_processes_of_which_half_are_killed_at_any_moment_nothing_is_left() {
    let count: u64 = std::env::var("DRYDOCK_PROCESSES").ok().and_then(|it| it.parse().ok()).unwrap_or(300);
    let mut seed = std::env::var("DRYDOCK_SEED").ok().and_then(|it| it.parse().ok()).unwrap_or(7);
    eprintln!("{count} processes, seed {seed}");
    let yard = Arc::new(yard());
    let all = yard.processes();
    // Whatever is made once is made by the first.
    let warm = yard.spawn("cat", &[], false).await.id;
    ended(&all, &warm).await;
    let session = yard.session(process_limits(1 << 20));
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let files = open_files();
    let (mut started, mut before) = (0, None);
    while started < count {
        if started >= count / 4 {
            before.get_or_insert_with(|| {
                yard.dock.gate().flush().unwrap();
                (resident(), LIVE_BYTES.load(Ordering::Relaxed))
            });
        }
        let mut round = tokio::task::JoinSet::new();
        for _ in 0..16.min(count - started) {
            started += 1;
            let (kills, spins, kind) =
                (next(&mut seed).is_multiple_of(2), next(&mut seed) % 200, next(&mut seed) % 4);
            let (all, session) = (all.clone(), session.clone());
            round.spawn(async move {
                let wanted = match kind {
                    0 => new("cat", &[], true),
                    1 => new("yes", &[], false),
                    2 => new("sleep", &["0.01"], false),
                    _ => new("awk", &["BEGIN { for (i = 0; i < 100000; i++) x += i; print x }"], false),
                };
                let id = all.spawn(session, wanted).await.unwrap().id;
                // Of those that would go on for ever every one is killed in the end.
                if kills || kind == 0 {
                    for _ in 0..spins {
                        tokio::task::yield_now().await;
                    }
                    all.kill(&id).await.unwrap()
                } else {
                    ended(&all, &id).await
                }
            });
        }
        while let Some(record) = round.join_next().await {
            let record = record.unwrap();
            assert!(record.stage.is_over(), "{record:?}");
        }
    }
    none_runs(&all).await;
    assert_eq!([Class::Process, Class::Run].map(|it| session.inner().own_in_flight(it)), [0, 0]);
    assert_eq!(session.inner().in_flight(), 0);
    let began = std::time::Instant::now();
    while tokio::runtime::Handle::current().metrics().num_alive_tasks() > tasks {
        assert!(began.elapsed() < HANG, "tasks are left");
        tokio::task::yield_now().await;
    }
    yard.dock.gate().flush().unwrap();
    let ((before, live_before), after) = (before.unwrap_or_default(), resident());
    let live = LIVE_BYTES.load(Ordering::Relaxed);
    eprintln!("{live_before} bytes allocated after a quarter, {live} at the end");
    assert!(
        live <= live_before + LIVE_GROWTH_BYTES_MAX,
        "{live_before} bytes allocated after a quarter, {live} at the end"
    );
    eprintln!("{} KiB in memory after a quarter, {} KiB at the end", before >> 10, after >> 10);
    assert!(
        after <= before + GROWTH_BYTES_MAX,
        "{before} bytes in memory after a quarter, {after} at the end"
    );
    // Threads of the audit and of the store may have opened what they keep open.
    assert!(open_files() <= files + 8, "{} files before, {} after", files, open_files());
    let kept = all.list().await.unwrap();
    // What is too much goes when the next one is started; those that ran then may have ended since.
    assert!(kept.len() <= 256 + 32, "{}", kept.len());
    assert!(kept.iter().all(|it| it.stage.is_over()));
}
