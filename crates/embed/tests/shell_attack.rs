//! A shell against lines that were written to break it: each is ended by a limit of its own or by its time, the process
//! stays small, and the next line of the same shell runs.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "shell_attack/lines.rs"]
mod lines;

use std::{
    io,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use drydock_embed::{
    Dock, DockSettings, DockShell, HostOutput, Provider, Setup, ShellSetup, StandIn, WorkerProgram,
    contract::{BoxFuture, ByteSink, ByteSource, Limits, Sink, Source, Streams},
    empty_tree,
    engine::EngineSettings,
    shell::{LineReport, Mode, ShellLimits, WordRole},
};
use lines::Attack;
use tempfile::TempDir;
use tokio::sync::Mutex;

/// What a line may take.
const WALL_MAX: Duration = Duration::from_secs(2);
/// How long after that it is over at the latest.
const LATE_MAX: Duration = Duration::from_millis(500);
/// How often a line is tried: a machine that others use may be late by itself, and not three times.
const TRIES: u32 = 3;
/// The whole process, whatever a line does: its memory is 384 MiB at most, and what the host has beside that.
const PROCESS_KIB_MAX: u64 = 700_000_000 / 1_024;
/// Far more than anything here takes: a guard against a hang, and no measure.
const HANG: Duration = Duration::from_secs(60);

/// One at a time: what the process takes is measured.
static ALONE: Mutex<()> = Mutex::const_new(());

struct Yard {
    dock: Dock,
    _home: TempDir,
}

fn yard(slots: Option<u32>) -> Yard {
    let home = tempfile::tempdir().unwrap();
    let worker = WorkerProgram::new(env!("CARGO_BIN_EXE_drydock-compile-worker"), [""; 0]);
    let engine = EngineSettings { slots, ..EngineSettings::default() };
    let settings = DockSettings { worker: Some(worker), engine, ..DockSettings::default() };
    Yard { dock: Dock::open_with(home.path(), settings).unwrap(), _home: home }
}

impl Yard {
    /// A shell whose commands are compiled already: compiling is nobody's time, and would be measured here.
    async fn shell(&self, wall_max: Duration) -> DockShell {
        let limits = Limits { wall_max, fuel_max: u64::MAX, ..Limits::default() };
        let setup =
            Setup { limits: Some(limits), files: Some(empty_tree(64 << 20)), ..Setup::profile("minimal") };
        let mode = Mode { eval_allowed: true, ..Mode::default() };
        let mut shell =
            self.dock.shell("attacker", setup, ShellSetup { mode, ..ShellSetup::default() }).unwrap();
        let warm =
            "sleep 0; yes | head -1; seq 1 | tail -1 | tr 1 2 | cat; env; mkdir -p /tmp/d; echo | xargs echo";
        run(&mut shell, warm).await;
        shell
    }
}

fn captured(stdin: Source) -> Streams {
    Streams { stdin, stdout: Sink::capture(), stderr: Sink::capture(), ..Streams::default() }
}

async fn run(shell: &mut DockShell, text: &str) -> (LineReport, String, String) {
    let (report, streams) = shell.run_line(text, captured(Source::Empty)).await.unwrap();
    let told = |sink: Sink| String::from_utf8_lossy(&sink.into_captured()).into_owned();
    (report, told(streams.stdout), told(streams.stderr))
}

/// The next line runs as if nothing had been.
async fn is_fine(shell: &mut DockShell, after: &str) {
    let (report, said, complained) = run(shell, "echo $((40 + 2)) | cat").await;
    assert_eq!((report.status, said.as_str()), (0, "42\n"), "after {after}: {complained}");
}

/// A line of `/proc/self/status`.
fn status(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

async fn each_is_ended(attacks: &[Attack]) {
    let _alone = ALONE.lock().await;
    let yard = yard(None);
    let mut shell = yard.shell(WALL_MAX).await;
    for (name, line) in attacks {
        for left in (0..TRIES).rev() {
            let began = Instant::now();
            let ran = tokio::time::timeout(HANG, run(&mut shell, line)).await;
            let (took, peak) = (began.elapsed(), status("VmHWM"));
            let Ok((report, _, said)) = ran else { panic!("{name} hangs") };
            let last = said.lines().last().unwrap_or_default();
            println!("{took:>8.2?} {:>4} MiB {:>4} {name}: {last}", peak >> 10, report.status);
            assert!(peak < PROCESS_KIB_MAX, "{name} took {peak} KiB");
            is_fine(&mut shell, name).await;
            if is_in_time(took, WALL_MAX, left, name) {
                break;
            }
        }
    }
}

/// Whether something ended soon after its time, so that it need not be tried again.
fn is_in_time(took: Duration, wall_max: Duration, tries_left: u32, name: &str) -> bool {
    let is_in_time = took < wall_max + LATE_MAX;
    assert!(is_in_time || tries_left > 0, "{name} took {took:?}, and was late {TRIES} times");
    is_in_time
}

#[tokio::test]
async fn work_that_doubles_inside_a_word_ends_with_the_line() {
    each_is_ended(lines::SUMS_AND_PATTERNS).await;
}

#[tokio::test]
async fn words_texts_and_depth_that_grow_are_stopped() {
    each_is_ended(lines::WORDS_AND_TEXTS).await;
}

#[tokio::test]
async fn jobs_pipes_and_files_without_end_are_stopped() {
    each_is_ended(lines::JOBS_AND_STREAMS).await;
}

/// What somebody types or pastes is read while they type, by a guest too.
#[tokio::test]
async fn a_hostile_text_that_is_typed_is_read_soon_or_not_at_all() {
    let _alone = ALONE.lock().await;
    let yard = yard(None);
    let mut reader = yard.dock.word_reader();
    let limits = ShellLimits::default();
    reader.read("warm", &limits).await.unwrap();
    for part in [
        "$(", "`", "$((", "\"$(", "{", "{a,", "{a,b}", "[[ (", "a|", "a=(", "${a:-", "<<a\n", "((", "x() ",
        "!",
    ] {
        let text = part.repeat((64 << 10) / part.len());
        for left in (0..TRIES).rev() {
            let began = Instant::now();
            let told = tokio::time::timeout(HANG, reader.read(&text, &limits)).await;
            let (took, peak) = (began.elapsed(), status("VmHWM"));
            println!(
                "{took:>8.2?} {:>4} MiB {part:?} {}",
                peak >> 10,
                told.unwrap().map_or(0, |it| it.words.len())
            );
            assert!(peak < PROCESS_KIB_MAX, "{part} took {peak} KiB");
            if is_in_time(took, Duration::from_millis(500), left, part) {
                break;
            }
        }
        let next = reader.read("if ls -l", &limits).await.unwrap();
        let roles: Vec<_> = next.words.iter().map(|it| (it.start, it.role)).collect();
        assert_eq!(roles, [(0, WordRole::Keyword), (3, WordRole::Command), (6, WordRole::Argument)]);
        assert_eq!(next.last, Some((6, WordRole::Argument)));
    }
}

/// Offers `php`, which takes a moment of waiting to find out that it cannot be had.
struct Slow;

impl Provider for Slow {
    fn remedy(&self, _: &str) -> Option<String> {
        None
    }

    fn knows(&self, name: &str) -> bool {
        name == "php"
    }

    fn names(&self) -> Vec<String> {
        vec!["php".into()]
    }

    fn install(&self, _: Dock, _: String) -> BoxFuture<'static, Result<(), String>> {
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            Err("there is none".into())
        })
    }

    fn stands_in(&self, _: &str) -> bool {
        false
    }

    fn stand_in(&self, _: Dock, _: StandIn) -> BoxFuture<'static, HostOutput> {
        Box::pin(async { HostOutput::from(String::new()) })
    }
}

/// The installation could go on, and the line computes instead of letting it: that is the line's time.
#[tokio::test]
async fn an_installation_that_nobody_looks_at_gives_a_line_no_time() {
    let _alone = ALONE.lock().await;
    let home = tempfile::tempdir().unwrap();
    let settings = DockSettings { provider: Some(Arc::new(Slow)), ..DockSettings::default() };
    let dock = Dock::open_with(home.path(), settings).unwrap();
    let limits = Limits { wall_max: WALL_MAX, fuel_max: u64::MAX, ..Limits::default() };
    let setup = Setup { limits: Some(limits), install_missing: true, ..Setup::profile("minimal") };
    let mut shell = dock.shell("attacker", setup, ShellSetup::default()).unwrap();
    is_fine(&mut shell, "nothing").await;
    let line = r#"x0=1; for i in {1..60}; do declare x$i="x$((i-1))+x$((i-1))"; done; php & echo $((x60))"#;
    for left in (0..TRIES).rev() {
        let began = Instant::now();
        let (report, ..) = tokio::time::timeout(HANG, run(&mut shell, line)).await.unwrap();
        let took = began.elapsed();
        assert_eq!(report.limit.as_deref(), Some("timed_out"));
        is_fine(&mut shell, line).await;
        if is_in_time(took, WALL_MAX, left, line) {
            break;
        }
    }
}

/// What a shell keeps has room in its memory or is told as lost; the line that made it large has done its work.
#[tokio::test]
async fn a_state_too_large_to_keep_is_lost_and_its_line_is_not() {
    let _alone = ALONE.lock().await;
    let yard = yard(None);
    let mut shell = yard.shell(HANG).await;
    run(&mut shell, "p=$(printf %500000s x); for i in {1..30}; do a+=$p; done").await;
    for line in ["b=$a", "c=$a", "d=$a", "echo ${#d}; f=1"] {
        let (report, said, complained) = run(&mut shell, line).await;
        assert!(report.status == 0 && !report.was_reset, "{line}: {report:?} {complained}");
        assert_eq!(said, if line.starts_with("echo") { "15000000\n" } else { "" });
        let is_large = !matches!(line, "b=$a" | "c=$a");
        assert_eq!(
            report.lost.iter().any(|it| it.contains("not kept")),
            is_large,
            "{line}: {:?}",
            report.lost
        );
    }
    is_fine(&mut shell, "a large state").await;
}

/// Somebody who read once and left.
struct Gone(u32);

impl ByteSink for Gone {
    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.0.checked_sub(1) {
            Some(left) => {
                self.0 = left;
                Poll::Ready(Ok(bytes.len()))
            }
            None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn a_line_whose_reader_goes_away_ends_at_once() {
    let _alone = ALONE.lock().await;
    let yard = yard(None);
    let mut shell = yard.shell(HANG).await;
    let (report, said, _) =
        run(&mut shell, "yes | head -1; yes | while read x; do echo $x; break; done").await;
    assert_eq!((report.status, said.as_str()), (0, "y\ny\n"));
    for line in ["yes", "yes | cat", "yes | cat | cat >&1", "seq 100000000", "{ yes; }", "(yes) & wait"] {
        for left in (0..TRIES).rev() {
            let stdout = Sink::Stream(Box::new(Gone(1)));
            let began = Instant::now();
            let streams = Streams { stdout, ..captured(Source::Empty) };
            shell.run_line(line, streams).await.unwrap();
            let took = began.elapsed();
            println!("{took:>8.2?} {line}");
            is_fine(&mut shell, line).await;
            if is_in_time(took, Duration::ZERO, left, line) {
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_line_that_is_dropped_takes_its_jobs_along() {
    let _alone = ALONE.lock().await;
    let yard = yard(Some(30));
    let mut shell = yard.shell(HANG).await;
    let jobs = "for i in {1..20}; do sleep 100 & done; wait";
    let threads = status("Threads");
    // There are slots for one such line, and no principal has 64 commands at once.
    for _ in 0..6 {
        let line = shell.run_line(jobs, captured(Source::Empty));
        assert!(tokio::time::timeout(Duration::from_millis(300), line).await.is_err());
        is_fine(&mut shell, jobs).await;
        drop(shell);
        shell = yard.shell(HANG).await;
    }
    let (report, _, said) = run(&mut shell, "for i in {1..20}; do sleep 0 & done; wait").await;
    assert_eq!((report.status, said.as_str()), (0, ""));
    assert!(status("Threads") <= threads + 4, "{threads} before, {} now", status("Threads"));
}

/// Nothing, for ever.
struct Silent;

impl ByteSource for Silent {
    fn poll_read(&mut self, _: &mut Context<'_>, _: &mut [u8]) -> Poll<io::Result<usize>> {
        Poll::Pending
    }
}

#[tokio::test]
async fn a_line_that_is_cancelled_ends_wherever_it_is() {
    let _alone = ALONE.lock().await;
    let yard = yard(None);
    let mut shell = yard.shell(HANG).await;
    for line in [
        "while :; do :; done",
        "sleep 100",
        "sleep 100 & wait",
        "read x",
        "cat",
        "read x < <(sleep 100)",
        "yes | cat > /dev/null",
        "cat | cat | read x",
        "x=$(sleep 100)",
        "( while :; do :; done ) | cat",
        "trap 'while :; do :; done' INT; while :; do :; done",
        "x0=1; for i in {1..60}; do declare x$i=\"x$((i-1))+x$((i-1))\"; done; sleep 100 & echo $((x60))",
    ] {
        for left in (0..TRIES).rev() {
            let cancel = Arc::new(shell.canceller());
            let mut running = Box::pin(shell.run_line(line, captured(Source::Stream(Box::new(Silent)))));
            let early = tokio::time::timeout(Duration::from_millis(300), &mut running).await;
            assert!(early.is_err(), "{line} ended by itself");
            let began = Instant::now();
            cancel();
            let (report, _) = running.await.unwrap();
            let took = began.elapsed();
            println!("{took:>8.2?} {} {line}", report.status);
            assert_eq!(report.limit.as_deref(), Some("cancelled"), "{line}");
            is_fine(&mut shell, line).await;
            if is_in_time(took, Duration::ZERO, left, line) {
                break;
            }
        }
    }
}
