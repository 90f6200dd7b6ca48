//! The same seed, time and inputs give the same bytes, records and files, whatever the machine does meanwhile: each
//! line and program of the corpus runs on two worker threads with nobody beside it, and on one beside a busy
//! neighbour. What the world may still change is listed in docs/specs/tape.md.
#![allow(clippy::unwrap_used)]

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use drydock_codemode::{executor::ExecuteOptions, provider::Providers};
use drydock_embed::{
    CodeInput, Dock, Setup, ShellSetup, command_tools,
    contract::{
        Entropy, GuestTime, Limits, Timestamp,
        port::{FileKind, Files, Follow, OpenHow, TreePath},
    },
    empty_tree, file_tools, line_limits,
    shell::Mode,
    store::{Filter, read_audit},
};
use serde_json::Value;

/// Whoever takes longer hangs.
const HANGS: Duration = Duration::from_secs(300);

/// What is compared of one case.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    told: String,
    records: Vec<String>,
    files: Vec<String>,
}

/// The cases of one file: a line `=== name` begins each.
fn cases(text: &'static str) -> Vec<(&'static str, &'static str)> {
    let of = |case: &'static str| case.split_once('\n').unwrap();
    text.split("\n=== ").skip(1).map(of).collect()
}

fn lines() -> Vec<(&'static str, &'static str)> {
    let files = [
        include_str!("determinism/beside.txt"),
        include_str!("determinism/time.txt"),
        include_str!("determinism/random.txt"),
        include_str!("determinism/plain.txt"),
    ];
    files.into_iter().flat_map(cases).collect()
}

fn setup(tree: &Arc<dyn Files>) -> Setup {
    let mut setup = Setup::profile("minimal");
    let memory_bytes_max = setup.profile.memory_bytes_max;
    // A real deadline is the machine's, so there is one for who hangs and no other.
    setup.limits = Some(Limits { memory_bytes_max, wall_max: HANGS, ..line_limits() });
    setup.time = GuestTime::Fixed(Timestamp(1_700_000_000_000_000_000));
    setup.entropy = Entropy::Seeded(7);
    setup.files = Some(Arc::clone(tree));
    setup
}

/// Shells inside the shell are part of what runs beside one another.
fn shells_allowed() -> ShellSetup {
    ShellSetup { mode: Mode { eval_allowed: true, ..Mode::default() }, ..ShellSetup::default() }
}

async fn line(dock: &Dock, principal: &str, script: &str) -> Seen {
    let tree = empty_tree(64 << 20);
    let exec = dock.exec(script).with(principal, setup(&tree)).shell(shells_allowed());
    let ran = exec.stdin("some\nwords\n").await.unwrap();
    let mut told = format!("status {} limit {:?}\n", ran.status, ran.limit);
    write!(told, "--- stdout\n{}", String::from_utf8_lossy(&ran.stdout)).unwrap();
    write!(told, "--- stderr\n{}", String::from_utf8_lossy(&ran.stderr)).unwrap();
    // Durations are the machine's; what a stage burnt and what went through it are not.
    for it in ran.report.stages {
        let bytes = (it.stdin_bytes, it.stdout_bytes, it.stderr_bytes);
        writeln!(told, "--- {} {} {} {bytes:?} {}", it.command, it.status, it.outcome, it.fuel).unwrap();
    }
    Seen { told, records: records(dock, principal), files: files(&*tree) }
}

async fn program(dock: &Arc<Dock>, principal: &str, code: &str) -> Seen {
    let tree = empty_tree(64 << 20);
    let mut setup = setup(&tree);
    let clock = setup.one_clock();
    let shell = ShellSetup::default();
    let commands = command_tools(dock, principal, &setup, &shell).unwrap();
    let kept = file_tools(&tree, &shell.cwd, &clock).unwrap();
    let providers = Providers::new([commands, kept]).unwrap();
    let programs = dock.code(principal, setup, providers).unwrap();
    let options = ExecuteOptions { timeout_ms: Some(HANGS.as_secs_f64() * 1e3), ..ExecuteOptions::default() };
    let result = programs.execute(code, CodeInput { options, ..CodeInput::default() }).await;
    let told = format!("{:?}\nlogs {:?}", result.outcome, result.logs);
    Seen { told, records: records(dock, principal), files: files(&*tree) }
}

/// What the audit has of a principal, times left out.
fn records(dock: &Dock, principal: &str) -> Vec<String> {
    dock.gate().flush().unwrap();
    let all = read_audit(&dock.home().tenant(dock.tenant()), Filter::default()).unwrap().map(Result::unwrap);
    let own = all.filter(|it| it.principal == principal);
    own.map(|it| {
        let ids = format!("{} {} {}", it.trace, it.call, it.parent);
        let end = (it.decision, it.outcome, it.status);
        format!("{ids} {} {} {:?} {end:?}", it.operation, it.subject, it.more_subjects)
    })
    .collect()
}

/// What one call has on record, member by member.
type Facts = BTreeMap<String, Value>;

/// All that the journal has of each call of each principal, digests and grants included: only moments, and how the
/// lines were put together, are the machine's.
fn kept(dock: &Dock) -> BTreeMap<String, BTreeMap<String, Facts>> {
    dock.gate().flush().unwrap();
    let folder = dock.home().tenant(dock.tenant()).audit();
    let mut all: BTreeMap<String, BTreeMap<String, Facts>> = BTreeMap::new();
    for segment in std::fs::read_dir(folder).unwrap() {
        for line in std::fs::read_to_string(segment.unwrap().path()).unwrap().lines() {
            let mut facts: Facts = serde_json::from_str(line).unwrap();
            let text = |it: Option<Value>| it.unwrap().as_str().unwrap().to_owned();
            let (principal, call) = (text(facts.remove("principal")), text(facts.remove("call")));
            for machines in ["at", "ended", "first", "count", "decision"] {
                facts.remove(machines);
            }
            all.entry(principal).or_default().entry(call).or_default().extend(facts);
        }
    }
    all
}

/// Whether a case has parts that run beside one another, draws numbers or waits.
fn is_delicate(text: &str) -> bool {
    let signs = ["|", "&\n", "& ", "$RANDOM", "sleep", "timeout", "Promise.all", "Math.random", "shuf"];
    signs.iter().any(|it| text.replace("||", "").replace("&&", "").contains(it))
}

/// Every name of a tree with all that is known of it.
fn files(tree: &dyn Files) -> Vec<String> {
    let mut all = Vec::new();
    let mut left = vec![TreePath::root()];
    while let Some(path) = left.pop() {
        let stat = tree.stat(&path, Follow::No).unwrap();
        let content = match stat.kind {
            FileKind::Directory => {
                let entries = tree.read_dir(&path).unwrap();
                left.extend(entries.iter().rev().map(|it| path.join(&it.name).unwrap()));
                format!("{:?}", entries.iter().map(|it| &it.name).collect::<Vec<_>>())
            }
            FileKind::Symlink => tree.read_link(&path).unwrap(),
            FileKind::File => content(tree, &path, stat.size),
        };
        all.push(format!("{} {stat:?} {content}", path.as_str()));
    }
    all
}

fn content(tree: &dyn Files, path: &TreePath, size: u64) -> String {
    let how = OpenHow { read: true, ..OpenHow::default() };
    let file = tree.open(path, how, Timestamp(0)).unwrap();
    let mut bytes = vec![0; usize::try_from(size).unwrap()];
    let mut at = 0;
    while at < bytes.len() {
        at += file.read_at(at as u64, &mut bytes[at..]).unwrap();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Keeps the executor busy for as long as the flag says: computing, flooding pipes, calling commands.
async fn busy(dock: Arc<Dock>, is_over: Arc<AtomicBool>) {
    while !is_over.load(Ordering::Relaxed) {
        let line =
            "seq 30000 | sort -r | tail -1; for i in 1 2 3; do yes | head -c 200000 | wc -c & done; wait";
        dock.exec(line).await.unwrap();
        tokio::task::yield_now().await;
    }
}

async fn all(dock: &Arc<Dock>, run: &str) -> Vec<(String, &'static str, Seen)> {
    let mut seen = Vec::new();
    for (name, script) in lines() {
        let principal = format!("{run}-{name}");
        let own = line(dock, &principal, script).await;
        seen.push((name.to_owned(), script, own));
    }
    for (name, code) in cases(include_str!("determinism/programs.txt")) {
        let own = program(dock, &format!("{run}-{name}"), code).await;
        seen.push((name.to_owned(), code, own));
    }
    seen
}

#[test]
fn two_runs_with_the_same_seed_time_and_inputs_are_the_same_to_the_byte() {
    let home = tempfile::tempdir().unwrap();
    let dock = Arc::new(Dock::open(home.path()).unwrap());
    let two = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    let first = two.block_on({
        let dock = Arc::clone(&dock);
        async move { tokio::spawn(async move { all(&dock, "a").await }).await.unwrap() }
    });
    drop(two);

    let one = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let second = one.block_on(async {
        let is_over = Arc::new(AtomicBool::new(false));
        let neighbour = tokio::spawn(busy(Arc::clone(&dock), Arc::clone(&is_over)));
        let seen = all(&dock, "b").await;
        is_over.store(true, Ordering::Relaxed);
        tokio::time::timeout(HANGS, neighbour).await.unwrap().unwrap();
        seen
    });

    assert!(first.len() >= 200, "{}", first.len());
    let delicate = first.iter().filter(|(_, text, _)| is_delicate(text)).count();
    assert!(delicate >= 60, "{delicate}");
    let kept = kept(&dock);
    for (name, ..) in &first {
        let of = |run: &str| kept.get(&format!("{run}-{name}"));
        assert_eq!(of("a"), of("b"), "{name}: every member of every record");
    }
    let members: Vec<&Facts> = kept.values().flat_map(BTreeMap::values).collect();
    assert!(members.iter().any(|it| it.contains_key("request")), "digests are among them");
    let mut differ = String::new();
    for ((name, script, one), (_, _, other)) in first.iter().zip(&second) {
        if one != other {
            write!(
                differ,
                "=== {name}\n{script}\n--- on two threads\n{}\n{:#?}\n{:#?}\n",
                one.told, one.records, one.files
            )
            .unwrap();
            write!(
                differ,
                "--- beside a neighbour\n{}\n{:#?}\n{:#?}\n",
                other.told, other.records, other.files
            )
            .unwrap();
        }
    }
    assert!(differ.is_empty(), "{differ}");
}

/// A line of its own tree by a clock that is not the real one.
async fn told(dock: &Dock, script: &str) -> String {
    let tree = empty_tree(64 << 20);
    let ran = dock.exec(script).with("me", setup(&tree)).shell(shells_allowed()).await.unwrap();
    format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr))
}

#[tokio::test]
async fn by_a_clock_that_is_not_the_real_one_waiting_is_as_by_a_real_one_and_takes_no_time() {
    let home = tempfile::tempdir().unwrap();
    let dock = Dock::open(home.path()).unwrap();
    let cases = [
        ("timeout 1 sleep 5; echo $? $SECONDS", "124 1\n"),
        ("timeout 5 sleep 1; echo $? $SECONDS", "0 1\n"),
        ("timeout 1 env sleep 5; echo $? $SECONDS", "124 1\n"),
        ("timeout 1 sh -c 'echo begun; sleep 4; echo never'; echo $? $SECONDS", "begun\n124 1\n"),
        ("timeout 0.05 yes > /dev/null; echo $?", "124\n"),
        ("(sleep 3; echo c) & (sleep 1; echo a) & (sleep 2; echo b) & wait; echo $SECONDS", "a\nb\nc\n3\n"),
        ("sleep 3 & sleep 1 & wait -n; echo $SECONDS; wait; echo $SECONDS", "1\n3\n"),
        ("{ echo a; sleep 1; echo b; } | while read -r x; do echo $x $SECONDS; done", "a 0\nb 1\n"),
        ("while :; do :; done & sleep 0.5; kill $!; wait $!; echo $?", "143\n"),
        ("yes > /dev/null & sleep 0.01; kill $!; wait $!; echo $?", "143\n"),
        ("(sleep 1; touch done) & until [ -e done ]; do sleep 0.3; done; echo $SECONDS", "1\n"),
        ("sleep 1d; date +%F", "2023-11-15\n"),
    ];
    let began = std::time::Instant::now();
    for (script, want) in cases {
        assert_eq!(told(&dock, script).await, want, "{script}");
    }
    assert!(began.elapsed() < Duration::from_secs(600), "nobody slept a day");
}

#[tokio::test]
async fn each_call_of_a_seeded_session_draws_numbers_of_its_own_also_by_the_real_clock() {
    let home = tempfile::tempdir().unwrap();
    let dock = Dock::open(home.path()).unwrap();
    let script = "for i in 1 2; do shuf -i 1-99 | head -5 | paste -sd,; done
        for i in 1 2; do (shuf -i 1-99 | head -5 | paste -sd, > job$i) & done; wait; cat job1 job2
        echo 1 2 | xargs -n1 sh -c 'echo $RANDOM$RANDOM'; (echo $RANDOM$RANDOM); echo $(echo $RANDOM$RANDOM)";
    let run = async || {
        let tree = empty_tree(64 << 20);
        let setup = Setup { time: GuestTime::Real, ..setup(&tree) };
        dock.exec(script).with("me", setup).shell(shells_allowed()).await.unwrap().text().into_owned()
    };
    let (one, other) = (run().await, run().await);
    assert_eq!(one, other);
    let all: std::collections::BTreeSet<&str> = one.lines().collect();
    assert_eq!((all.len(), one.lines().count()), (8, 8), "{one}");
}
