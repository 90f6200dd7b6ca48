//! The compile worker: a child process that turns one module of a stranger into native code and ends.
//!
//! [`WorkerProgram`] names the program, [`CompileLimits`] bound it; this file starts it and ends it. The module
//! goes in on stdin, the code comes out on stdout, and the worker holds nothing else (`confine`). What comes
//! back is trusted: it is native code, and nobody can tell good code from bad by looking at it.

mod budget;
mod child;
mod confine;
mod probe;

use std::{
    ffi::OsString,
    io::{self, Read, Write as _},
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use drydock_contract::{
    Artifact, BoxFuture,
    port::{CompileError, CompileLimits, CompileThreads, Compiler, LaneSettings},
};

use rustix::process::{Pid, Signal, kill_process_group};

pub use child::serve as serve_compile_worker;
pub use probe::Confinement;

/// How a worker ends when the module is at fault.
const REJECTED: i32 = 3;
/// What is kept of what a worker says.
const WORDS_BYTES_MAX: u64 = 4096;
/// Between two looks at whether the worker has ended.
const POLL: Duration = Duration::from_millis(2);

/// The program that is started as a worker. It calls [`serve_compile_worker`] with the arguments that follow `args`.
#[derive(Debug, Clone)]
pub struct WorkerProgram {
    /// Which program.
    pub program: OsString,
    /// Its arguments before ours, such as the name of a subcommand.
    pub args: Vec<OsString>,
}

impl WorkerProgram {
    /// The program at `program`, started with `args` and then the worker's own arguments.
    pub fn new<A: Into<OsString>>(program: impl Into<OsString>, args: impl IntoIterator<Item = A>) -> Self {
        Self { program: program.into(), args: args.into_iter().map(Into::into).collect() }
    }

    /// The program that is running now, whatever has become of its file.
    pub fn this_one<A: Into<OsString>>(args: impl IntoIterator<Item = A>) -> Self {
        Self::new("/proc/self/exe", args)
    }

    fn start(&self, args: &[String]) -> io::Result<Child> {
        Command::new(&self.program)
            .arg0("drydock-compile-worker")
            .args(&self.args)
            .args(args)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C on the terminal is for us; we end the worker.
            .process_group(0)
            .spawn()
    }

    /// Starts a worker that tries what it must not be able to do, and tells how that went.
    pub fn confinement(&self) -> Result<Confinement, CompileError> {
        let unavailable = |error: &dyn std::fmt::Display| CompileError::Unavailable(error.to_string());
        let child = self.start(&["probe".into()]).map_err(|error| unavailable(&error))?;
        let told = Job { child, wasm: None, wall_max: CompileLimits::default().wall_max }
            .run(&AtomicBool::default());
        match told {
            Ok(Ended { status: Some(status), code, .. }) if status.success() => {
                Confinement::parse(&String::from_utf8_lossy(&code))
                    .ok_or_else(|| unavailable(&"it tells nothing"))
            }
            Ok(ended) => Err(unavailable(&ended.words)),
            Err(error) => Err(unavailable(&error)),
        }
    }
}

/// Compiles in a fresh worker each time.
#[derive(Debug, Clone)]
pub(crate) struct ChildCompiler {
    pub(crate) program: WorkerProgram,
    pub(crate) limits: CompileLimits,
}

impl Compiler for ChildCompiler {
    fn compile<'a>(
        &'a self,
        wasm: &'a Artifact,
        lane: LaneSettings,
        limits: Option<CompileLimits>,
        threads: CompileThreads,
    ) -> BoxFuture<'a, Result<Vec<u8>, CompileError>> {
        let (this, wasm) = (self.with_limits(limits), wasm.clone());
        // Waited for on a thread of its own: a runtime without I/O can compile too.
        let abandoned = Abandoned(Arc::default());
        let seen = Arc::clone(&abandoned.0);
        Box::pin(async move {
            let work = tokio::task::spawn_blocking(move || this.work(wasm, lane, threads, &seen));
            let done = work.await.unwrap_or_else(|panic| Err(CompileError::Unavailable(panic.to_string())));
            drop(abandoned);
            done
        })
    }
}

impl ChildCompiler {
    /// The same with the limits that a module was registered with, where nobody chose others.
    fn with_limits(&self, registered: Option<CompileLimits>) -> Self {
        let (usual, own) = (CompileLimits::default(), registered.unwrap_or_default());
        let mut limits = self.limits;
        if limits.wall_max == usual.wall_max {
            limits.wall_max = own.wall_max;
        }
        if limits.memory_bytes_max == usual.memory_bytes_max {
            limits.memory_bytes_max = own.memory_bytes_max;
        }
        Self { limits, program: self.program.clone() }
    }

    fn work(
        &self,
        wasm: Artifact,
        lane: LaneSettings,
        threads: CompileThreads,
        abandoned: &AtomicBool,
    ) -> Result<Vec<u8>, CompileError> {
        let CompileLimits { wall_max, memory_bytes_max } = self.limits;
        let unavailable = |error: io::Error| {
            CompileError::Unavailable(format!("`{}`: {error}", self.program.program.to_string_lossy()))
        };
        // Held until the worker has ended.
        let share = budget::OURS.take(memory_bytes_max, abandoned);
        let Some(_share) = share else { return Err(CompileError::Killed("nobody waits for it".into())) };
        let cores = thread::available_parallelism().map_or(1, usize::from) as u64;
        // If we are killed ourselves, nobody looks at the wall clock any more.
        let cpu_seconds = (wall_max.as_secs() + 1).saturating_mul(cores);
        let args = [
            "compile".into(),
            lane.to_string(),
            memory_bytes_max.to_string(),
            cpu_seconds.to_string(),
            threads.as_str().into(),
        ];
        let child = self.program.start(&args).map_err(unavailable)?;
        let ended = Job { child, wasm: Some(wasm), wall_max }.run(abandoned).map_err(unavailable)?;
        let Some(status) = ended.status else { return Err(CompileError::TooLate(wall_max)) };
        // From an allocator, from the kernel, and from a thread that found no room for its stack.
        let starved = [
            "memory allocation of",
            "Cannot allocate memory",
            "out of memory",
            "Resource temporarily unavailable",
        ];
        if !status.success() && starved.iter().any(|it| ended.words.contains(it)) {
            return Err(CompileError::OutOfMemory(memory_bytes_max));
        }
        match (status.code(), status.signal()) {
            (Some(0), _) => Ok(ended.code),
            (Some(REJECTED), _) => Err(CompileError::Rejected(ended.words)),
            (Some(code), _) => Err(CompileError::Killed(format!("status {code}: {}", ended.words))),
            (None, Some(24)) => Err(CompileError::TooLate(wall_max)),
            (None, signal) => Err(CompileError::Killed(format!("signal {}", signal.unwrap_or_default()))),
        }
    }
}

/// Tells the thread that waits for a worker that nobody wants its result any more.
struct Abandoned(Arc<AtomicBool>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// One worker at work.
struct Job {
    child: Child,
    wasm: Option<Artifact>,
    wall_max: Duration,
}

struct Ended {
    /// None if its time was up.
    status: Option<ExitStatus>,
    code: Vec<u8>,
    words: String,
}

impl Job {
    /// Feeds the worker and waits for its end, which comes at the latest when its time is up.
    fn run(mut self, abandoned: &AtomicBool) -> io::Result<Ended> {
        let (stdin, stdout, stderr) =
            (self.child.stdin.take(), self.child.stdout.take(), self.child.stderr.take());
        let wasm = self.wasm.take();
        thread::scope(|scope| {
            scope.spawn(move || {
                // A worker that does not read has ended, and says why otherwise.
                if let (Some(mut stdin), Some(wasm)) = (stdin, wasm) {
                    let _ = stdin.write_all(wasm.bytes());
                }
            });
            let code = scope.spawn(move || read_most(stdout, drydock_store::CODE_BYTES_MAX));
            let words = scope.spawn(move || read_most(stderr, WORDS_BYTES_MAX));
            let status = end(&mut self.child, Instant::now().checked_add(self.wall_max), abandoned);
            // What it wrote ends with it, because it has no children.
            let code = code.join().unwrap_or_default();
            let words = words.join().unwrap_or_default();
            Ok(Ended { status: status?, code, words: String::from_utf8_lossy(&words).trim().to_owned() })
        })
    }
}

/// Waits for the end of a child, or ends it.
fn end(child: &mut Child, until: Option<Instant>, abandoned: &AtomicBool) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if abandoned.load(Ordering::Relaxed) || until.is_some_and(|until| Instant::now() >= until) {
            // With all that it started, if it is a program of somebody else that does such things: whoever
            // keeps its pipes open keeps us. Nobody has waited for it, so its number is still its own.
            if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(POLL);
    }
}

/// Reads to the end and keeps the first so many bytes.
fn read_most(source: Option<impl Read>, bytes_max: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let Some(mut source) = source else { return bytes };
    let _ = source.by_ref().take(bytes_max).read_to_end(&mut bytes);
    let _ = io::copy(&mut source, &mut io::sink());
    bytes
}
