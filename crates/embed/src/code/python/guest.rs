//! Python in a fresh instance of a registered interpreter: what stands behind code mode's `Guest`.
//!
//! The interpreter is somebody else's and knows only WASI. Its tools are behind `/dev/drydock`, its program comes
//! and its answer goes the same way, and its files are the session's, as a command's are.

use std::sync::Arc;

use bytes::Bytes;
use drydock_codemode::{
    protocol::{Failure, Json},
    runner::{Finished, Guest, Program, ToolDoor},
};
use drydock_contract::{
    Artifact, BoxFuture, Cap, CapSet, Digest, FailureCode, Fault, GuestTime, Limits, Outcome, Preparing,
    RunReport, RunRequest, Sink, Source, SteppedClock, Streams, Switch, Tools, WorkingDir,
    port::{
        Entry, EntryOptions, EntryTree, FileRules, Files, Interruption, LaneChoice, LoadError, Registry,
        Runner as _,
    },
};
use drydock_engine::Engine;
use drydock_store::{CommandRegistry, Contexts, WorkspaceName};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::{
    super::{blocking::off_thread, start::Bearings},
    answer,
    host::{BOOT, Host, Left, MODULE},
    output::{Lines, Output},
};

/// Bytes of stdin that are a program's own affair.
const STDIN_BYTES_MAX: u64 = 1 << 30;

/// The interpreter that is registered.
#[derive(Clone)]
pub(super) struct Interpreter {
    pub(super) artifact: Artifact,
    pub(super) digest: Digest,
    pub(super) options: Arc<EntryOptions>,
    pub(super) trees: Vec<EntryTree>,
}

impl Interpreter {
    /// What `python` stands for, or `python3`; nothing if neither is registered.
    pub(super) fn of(registry: &CommandRegistry, env: &[Vec<u8>]) -> Result<Option<Self>, LoadError> {
        let named = ["python", "python3"].into_iter().find_map(|name| registry.lookup(name, None));
        let Some(entry) = named else { return Ok(None) };
        // Programs start as `python -c` does, from the snapshot if there is one.
        let argv = [entry.name.as_str(), "-c"].map(|it| it.as_bytes().to_vec());
        let image = entry.options.image.as_ref().filter(|it| it.serves(&argv, env));
        let digest = image.map_or(entry.digest, |it| it.module);
        let artifact = registry.to_run(&Entry { digest, ..entry.clone() })?;
        Ok(Some(Self {
            artifact,
            digest,
            trees: Registry::trees(registry, &entry)?,
            options: Arc::clone(&entry.options),
        }))
    }

    /// Time and memory are the limits of a program; its instructions are not counted.
    pub(super) fn lane(&self) -> LaneChoice {
        LaneChoice { interrupt: Interruption::Tick, ..self.options.lane() }
    }
}

/// The world of its programs.
#[derive(Clone)]
pub(super) struct World {
    /// The session's files; none for a fresh empty tree.
    pub(super) files: Option<Arc<dyn Files>>,
    /// Where programs start.
    pub(super) cwd: Arc<str>,
    /// `NAME=value` entries.
    pub(super) env: Arc<[Vec<u8>]>,
    /// Bytes of each output.
    pub(super) output_bytes_max: u64,
    pub(super) time: GuestTime,
    pub(super) clock: Option<Arc<SteppedClock>>,
    pub(super) bearings: Bearings,
    /// What its session waits for code to be compiled.
    pub(super) preparing: Option<Arc<Preparing>>,
}

impl Default for World {
    fn default() -> Self {
        Self {
            files: None,
            cwd: "/".into(),
            env: Arc::new([]),
            output_bytes_max: Limits::default().stdout_bytes_max,
            time: GuestTime::default(),
            clock: None,
            bearings: Bearings::default(),
            preparing: None,
        }
    }
}

/// What one execution has besides its program.
#[derive(Default)]
pub(super) struct Streaming {
    pub(super) stdin: Source,
    /// Where its outputs go; kept if there is none.
    pub(super) stdout: Option<Sink>,
    pub(super) stderr: Option<Sink>,
    /// What the program sees as `sys.argv`, its own name first.
    pub(super) argv: Vec<String>,
    /// The program's own file, as it is shown in tracebacks; where that is a guest's path, modules beside it
    /// can be imported.
    pub(super) name: Option<String>,
}

/// What is known of a program's end besides its result.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    pub(super) outcome: Option<Outcome>,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) stdout_bytes: u64,
    pub(super) displays: Vec<Value>,
    pub(super) traceback: Option<String>,
    pub(super) line: Option<u32>,
    pub(super) hint: Option<String>,
}

/// Runs Python programs, each in an instance that did not exist before.
pub struct PyGuest {
    engine: Arc<Engine>,
    interpreter: Interpreter,
    world: World,
    context: Option<(Contexts, WorkspaceName)>,
    /// For the next program; a runner's programs have the default.
    streaming: Mutex<Option<Streaming>>,
    told: Mutex<Told>,
}

impl PyGuest {
    pub(super) fn new(engine: Arc<Engine>, interpreter: Interpreter, world: World) -> Self {
        let (streaming, told) = Default::default();
        Self { engine, interpreter, world, context: None, streaming, told }
    }

    pub(super) fn staying(self, context: Option<(Contexts, WorkspaceName)>) -> Self {
        Self { context, ..self }
    }

    pub(super) fn streaming(self, streaming: Streaming) -> Self {
        Self { streaming: Mutex::new(Some(streaming)), ..self }
    }

    /// The same for a program that was let through.
    pub(super) fn started(mut self, bearings: Bearings) -> Self {
        self.world.bearings = bearings;
        self
    }

    /// What its session waits for code to be compiled.
    pub(super) fn preparing(&self) -> Option<Arc<Preparing>> {
        self.world.preparing.clone()
    }

    /// The clock of its session, if that is not the real one.
    pub(super) fn clock(&self) -> Option<Arc<SteppedClock>> {
        self.world.clock.clone()
    }

    /// What the last program left besides its result.
    pub(super) fn told(&self) -> Told {
        self.told.lock().clone()
    }

    async fn run_fresh(&self, program: Program, tools: Arc<dyn Tools>, cancel: Arc<Switch>) -> Finished {
        let streaming = self.streaming.lock().take().unwrap_or_default();
        let lines = Lines::new(&program.options, program.console.clone());
        let kept: [Arc<Mutex<Vec<u8>>>; 2] = Default::default();
        let internal =
            |text: String| Finished::without_logs(Err(Failure::new(FailureCode::InternalError, text)));
        let before = match self.before().await {
            Ok(before) => before,
            Err(error) => return internal(format!("the session could not be read: {error}")),
        };
        let request = request_of(&program, &streaming, &self.world.cwd, self.context.is_some());
        let host = Host::new(tools, Bytes::from(request.to_string()), before)
            .asking_at(self.world.bearings.door.clone());
        let left = host.left();
        let streams = Streams {
            stdin: streaming.stdin,
            stdout: Sink::Stream(Box::new(Output::new(streaming.stdout, &kept[0], &lines))),
            stderr: Sink::Stream(Box::new(Output::new(streaming.stderr, &kept[1], &lines))),
            ..Streams::default()
        };
        let run = self.request(&program, host, streams, cancel);
        let mut told = Told::default();
        let outcome = match self.engine.lane(self.interpreter.lane()) {
            Ok(lane) => lane.run(run).await,
            Err(fault) => Err(fault),
        };
        let outcome = match outcome {
            Ok((report, streams)) => {
                // The last lines have no end of their own.
                drop(streams);
                let left = std::mem::take(&mut *left.lock());
                self.ended(&report, left, &mut told).await
            }
            Err(fault) => {
                tracing::warn!("a program could not be run: {fault}");
                Err(Failure::new(
                    FailureCode::InternalError,
                    format!("the program could not be run: {fault}"),
                ))
            }
        };
        [told.stdout, told.stderr] = kept.map(|it| std::mem::take(&mut *it.lock()));
        *self.told.lock() = told;
        let log = lines.lock().log();
        Finished { outcome, logs_cut: log.is_cut(), logs: log.into_lines() }
    }

    /// Notes how a program ended and keeps what it leaves to the next.
    async fn ended(
        &self,
        report: &RunReport,
        mut left: Left,
        told: &mut Told,
    ) -> Result<Option<Json>, Failure> {
        told.outcome = Some(report.outcome.clone());
        told.stdout_bytes = report.stdout_bytes;
        let kept = self.keep(report, left.kept.take()).await;
        let end = answer::end(&report.outcome, left);
        told.displays = end.displays;
        (told.traceback, told.line, told.hint) = (end.traceback, end.line, end.hint);
        if let Err(error) = kept {
            let text = format!("the session could not be kept: {error}");
            return Err(Failure::new(FailureCode::InternalError, text));
        }
        end.outcome.unwrap_or(Ok(None))
    }

    fn request(&self, program: &Program, host: Host, streams: Streams, cancel: Arc<Switch>) -> RunRequest {
        let own = self.interpreter.options.argv0.as_deref().unwrap_or("python");
        let words = self.interpreter.options.argv.iter().map(String::as_str);
        let argv = std::iter::once(own).chain(words).chain(["-c", BOOT, MODULE]);
        let more = self.interpreter.options.env.iter().map(|it| it.as_bytes().to_vec());
        RunRequest {
            artifact: self.interpreter.artifact.clone(),
            argv: argv.map(|it| it.as_bytes().to_vec()).collect(),
            env: self.world.env.iter().cloned().chain(more).collect(),
            streams,
            files: self.world.files.clone(),
            trees: self.interpreter.trees.clone(),
            // Our boot code goes where it is told.
            working_dir: WorkingDir::Own,
            lane: Some(self.interpreter.lane()),
            compile: self.interpreter.options.compile_limits(),
            file_rules: FileRules::USUAL,
            limits: Limits {
                memory_bytes_max: program.options.memory_bytes_max(),
                wall_max: program.options.timeout(),
                stdin_bytes_max: STDIN_BYTES_MAX,
                stdout_bytes_max: self.world.output_bytes_max,
                stderr_bytes_max: self.world.output_bytes_max,
                ..Limits::default()
            },
            memory: None,
            caps: CapSet::of(&[Cap::Tool, Cap::Vfs]),
            time: self
                .world
                .clock
                .as_ref()
                .map_or(self.world.time, |clock| GuestTime::Fixed(clock.stands_at())),
            clock: self.world.clock.clone(),
            entropy: self.world.bearings.entropy,
            door: Arc::new(ToolDoor::new(Arc::new(host))),
            switches: [cancel, Arc::default()],
            budget: self.world.bearings.budget.clone(),
            preparing: self.world.preparing.clone(),
            depth: self.world.bearings.depth,
            tenant: self.world.bearings.tenant.clone(),
            pays_for_code: false,
        }
    }

    async fn before(&self) -> std::io::Result<Option<String>> {
        let Some((contexts, name)) = self.context.clone() else { return Ok(None) };
        let module = self.interpreter.artifact.digest();
        let bytes = off_thread(move || contexts.load(&name, module)).await?;
        let text = bytes.map(String::from_utf8).transpose();
        text.map_err(|_| std::io::Error::other("it is no session of a Python program"))
    }

    /// A program that was ended leaves its session as it found it.
    async fn keep(&self, report: &RunReport, kept: Option<String>) -> std::io::Result<()> {
        match (self.context.clone(), kept, &report.outcome) {
            (Some((contexts, name)), Some(kept), Outcome::Exited(_)) => {
                let module = self.interpreter.artifact.digest();
                off_thread(move || contexts.save(&name, module, kept.as_bytes())).await
            }
            _ => Ok(()),
        }
    }

    /// Compiles the interpreter now, so that no program's time is spent on it.
    pub async fn warm(&self) -> Result<(), Fault> {
        let limits = self.interpreter.options.compile_limits();
        self.engine.lane(self.interpreter.lane())?.warm(&self.interpreter.artifact, limits).await
    }
}

/// What the boot code is told of a program.
fn request_of(program: &Program, streaming: &Streaming, cwd: &str, keep: bool) -> Value {
    let providers: Vec<Value> = program
        .providers
        .iter()
        .map(|it| json!([it.name, it.tools.iter().map(|tool| &tool.0).collect::<Vec<_>>()]))
        .collect();
    let beside = match streaming.name.as_deref().and_then(|it| it.rsplit_once('/')) {
        Some(("", _)) => "/",
        Some((dir, _)) if dir.starts_with('/') => dir,
        _ => cwd,
    };
    let argv = if streaming.argv.is_empty() { vec!["-c".to_owned()] } else { streaming.argv.clone() };
    json!({
        "code": program.code,
        "name": streaming.name,
        "argv": argv,
        "cwd": cwd,
        "path": [beside, format!("{}/{}", cwd.trim_end_matches('/'), super::SITE_PACKAGES)],
        "args": program.args.as_ref().map(Json::as_str),
        "providers": providers,
        "keep": keep,
    })
}

impl Guest for PyGuest {
    fn run(&self, program: Program, tools: Arc<dyn Tools>, cancel: Arc<Switch>) -> BoxFuture<'_, Finished> {
        Box::pin(self.run_fresh(program, tools, cancel))
    }
}
