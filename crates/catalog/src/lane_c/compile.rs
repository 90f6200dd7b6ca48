//! Runs the compiler over a project: several sources at a time, each in an instance of its own, then the linker.
//!
//! All of them see one tree in memory with the project's files. Runs happen on the thread that awaits them, so each
//! of the compilations has a thread.

use std::{
    collections::VecDeque,
    num::NonZero,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use drydock_contract::{
    Digest, Limits, Meter, Outcome, Sink, Source, Streams,
    port::{Files, Registry as _},
};
use drydock_embed::{Dock, DockSession, Setup, store::MemoryFiles};

use super::{BuildError, Project};
use crate::progress::{Progress, Watcher};

/// The command that compiles and links, and what it starts.
const DRIVER: &str = "gcc";
const COMPILER: &str = "clang-22";
const LINKER: &str = "wasm-ld";

/// Who builds, in the audit journal.
const PRINCIPAL: &str = "build";

/// The project, its objects and the module.
const TREE_BYTES_MAX: u64 = 1 << 30;
/// One compilation.
const MEMORY_BYTES_MAX: u64 = 1 << 30;
const WALL_MAX: Duration = Duration::from_secs(900);
/// What a compiler may say, and how much of it is kept.
const SAID_BYTES_MAX: u64 = 1 << 20;
/// At a time, whatever the machine has: each takes memory too.
const AT_ONCE_MAX: usize = 4;

const PLACE: &str = "work";
const RESULT: &str = "out.wasm";

/// What came of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The module.
    pub module: Bytes,
    /// Its hash.
    pub sha256: Digest,
    /// Warnings.
    pub said: String,
    /// Whether it had been built before, and nothing was run.
    pub again: bool,
}

/// The hashes of everything that decides what a source is compiled to, besides the source.
pub(super) fn compiler(dock: &Dock) -> Result<Vec<Digest>, BuildError> {
    let mut all = Vec::new();
    for name in [DRIVER, COMPILER, LINKER] {
        let entry = dock.registry().lookup(name, None).ok_or_else(|| {
            let why = format!("`{name}` is not installed; `drydock catalog add clang` brings the compiler");
            BuildError::LaneUnavailable(why)
        })?;
        all.push(entry.digest);
        all.extend(entry.options.dirs.iter().map(|it| it.tree));
    }
    Ok(all)
}

/// Compiles and links.
pub(super) async fn run(dock: &Dock, project: &Project, watcher: &Watcher) -> Result<Built, BuildError> {
    let tree = tree(project)?;
    let session = dock.session(PRINCIPAL, setup(Arc::clone(&tree) as _)?)?;
    let mut said = objects(&session, project, watcher).await?;
    let mut args: Vec<String> = (0..project.sources.len()).map(object).collect();
    args.extend(project.ldflags.iter().cloned());
    args.extend(["-o".into(), RESULT.into()]);
    if project.cxx {
        args.push("-lc++".into());
        args.push("-lc++abi".into());
    }
    said.push_str(&step(&session, "the link", &args).await?);
    let module = tree
        .read(&format!("{PLACE}/{RESULT}"))
        .map_err(|_| BuildError::Failed { step: "the link".into(), said: "it made no module".into() })?;
    let module = Bytes::from(module);
    Ok(Built { sha256: Digest::of(&module), module, said, again: false })
}

fn tree(project: &Project) -> Result<Arc<MemoryFiles>, BuildError> {
    let tree = MemoryFiles::with(Arc::new(Meter::new(TREE_BYTES_MAX)));
    tree.create_dir_all("tmp").map_err(BuildError::TooLarge)?;
    tree.create_dir_all(PLACE).map_err(BuildError::TooLarge)?;
    for (path, bytes) in &project.files {
        let path = format!("{PLACE}/{path}");
        if let Some((folder, _)) = path.rsplit_once('/') {
            tree.create_dir_all(folder).map_err(BuildError::TooLarge)?;
        }
        tree.write(&path, bytes).map_err(BuildError::TooLarge)?;
    }
    Ok(Arc::new(tree))
}

fn setup(files: Arc<dyn Files>) -> Result<Setup, BuildError> {
    let mut setup = Setup::allowing([DRIVER, COMPILER, LINKER])?;
    setup.limits = Some(Limits {
        memory_bytes_max: MEMORY_BYTES_MAX,
        wall_max: WALL_MAX,
        // Counted for the driver alone: the compiler is interrupted by the clock.
        fuel_max: u64::MAX,
        stdout_bytes_max: SAID_BYTES_MAX,
        stderr_bytes_max: SAID_BYTES_MAX,
        ..Limits::default()
    });
    setup.files = Some(files);
    setup.env = vec![("PWD".into(), format!("/{PLACE}"))];
    Ok(setup)
}

fn object(index: usize) -> String {
    format!("{index}.o")
}

/// Compiles every source; the first that fails ends those that have not begun.
async fn objects(session: &DockSession, project: &Project, watcher: &Watcher) -> Result<String, BuildError> {
    let count = project.sources.len();
    let of = u32::try_from(count).unwrap_or(u32::MAX);
    watcher.tell(Progress::Building { files: 0, of });
    let jobs: VecDeque<(usize, String)> = project.sources.iter().cloned().enumerate().collect();
    let (jobs, done) = (Arc::new(Mutex::new(jobs)), Arc::new(Mutex::new(0_u32)));
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..at_once().min(count) {
        let (session, jobs, done) = (session.clone(), Arc::clone(&jobs), Arc::clone(&done));
        let (flags, watcher) = (project.cflags.clone(), watcher.clone());
        workers.spawn_blocking(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
            let runtime = runtime.map_err(|error| BuildError::LaneUnavailable(error.to_string()))?;
            let mut said = String::new();
            loop {
                let Some((index, path)) = locked(&jobs).pop_front() else { return Ok(said) };
                let mut args = vec!["-c".to_owned()];
                args.extend(flags.iter().cloned());
                args.extend([path.clone(), "-o".into(), object(index)]);
                let finished = runtime.block_on(step(&session, &path, &args));
                if finished.is_err() {
                    locked(&jobs).clear();
                }
                said.push_str(&finished?);
                let mut done = locked(&done);
                *done += 1;
                watcher.tell(Progress::Building { files: *done, of });
            }
        });
    }
    let mut said = String::new();
    let mut failed = None;
    while let Some(joined) = workers.join_next().await {
        let ended = joined.unwrap_or_else(|error| Err(BuildError::LaneUnavailable(error.to_string())));
        match ended {
            Ok(text) => said.push_str(&text),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    failed.map_or(Ok(said), Err)
}

fn at_once() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get).min(AT_ONCE_MAX)
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Nothing here can leave it half changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One command; what it said, if it went well.
async fn step(session: &DockSession, step: &str, args: &[String]) -> Result<String, BuildError> {
    let streams = Streams {
        stdin: Source::Empty,
        stdout: Sink::Discard,
        stderr: Sink::capture(),
        ..Streams::default()
    };
    let done = session.run_with(DRIVER, args, streams).await;
    let (report, streams) = done.map_err(|error| BuildError::Start(Box::new(error)))?;
    let said = String::from_utf8_lossy(&streams.stderr.into_captured()).into_owned();
    match report.outcome {
        Outcome::Exited(0) => Ok(said),
        Outcome::Exited(_) => Err(BuildError::Failed { step: step.to_owned(), said }),
        other => Err(BuildError::Limit { step: step.to_owned(), limit: other.code() }),
    }
}
