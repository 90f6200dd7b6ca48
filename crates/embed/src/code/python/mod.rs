//! Python programs with tools, beside those in JavaScript: the same session, gate, tools and limits.
//!
//! The interpreter is a registered command (`python`), so it is there only where somebody installed it.

mod answer;
mod guest;
mod host;
mod output;
mod watched;

use std::sync::Arc;

use drydock_codemode::{
    ExecuteResult, Gated,
    executor::{ExecuteOptions, ExecuteRequest, Executor as _, InProcess},
    protocol::Json,
    provider::Providers,
};
use drydock_contract::{
    CallError, CallId, Cap, Fault, GuestTime, Outcome, Principal, Sink, Source, Switch, Tools, exit,
    port::{Files, LoadError},
};
use drydock_gate::{DenialLog, Gate, SessionSpec, StartedProgram};
use drydock_store::{Contexts, WorkspaceName};
use serde_json::{Map, Value, json};

pub use guest::PyGuest;
pub(crate) use host::part as python_part;
pub use watched::{ChangeLog, ChangedFile};

use self::guest::{Interpreter, Streaming, Told, World};
use super::{TokioTime, start};
use crate::{BadSetup, Dock, DockSession, Setup, ShellSetup};

/// Where packages of a directory are, below it.
pub const SITE_PACKAGES: &str = ".drydock/site-packages";

/// Python programs of one principal with one set of tools.
pub struct DockPy {
    session: DockSession,
    providers: Arc<Providers>,
    engine: Arc<drydock_engine::Engine>,
    interpreter: Interpreter,
    world: World,
    context: Option<(Contexts, WorkspaceName)>,
}

/// Why there are no Python programs here.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenPyError {
    /// No interpreter is registered.
    #[error("python: not installed; drydock catalog add python")]
    NotInstalled,
    /// The session cannot be opened.
    #[error(transparent)]
    Setup(#[from] BadSetup),
    /// The interpreter's module cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl OpenPyError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotInstalled => "not_installed",
            Self::Setup(BadSetup::Denied(denial)) => denial.code(),
            Self::Setup(_) => "internal_error",
            Self::Load(error) => error.code(),
        }
    }

    /// The status of a program that could not even be opened.
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::NotInstalled => exit::UNKNOWN,
            _ => exit::LIMITED,
        }
    }
}

/// What a program gets besides its text.
#[derive(Default)]
pub struct PyInput {
    /// Limits that differ from the protocol's own.
    pub options: ExecuteOptions,
    /// What it sees as `args`.
    pub args: Option<Json>,
    /// What it sees as `sys.argv`, its own name first.
    pub argv: Vec<String>,
    /// Its own file as tracebacks show it; with a guest's path, modules beside it can be imported.
    pub name: Option<String>,
    /// What it reads.
    pub stdin: Source,
    /// Where its stdout goes; kept in the result if there is none.
    pub stdout: Option<Sink>,
    /// Where its stderr goes; kept in the result if there is none.
    pub stderr: Option<Sink>,
    /// Tripped when nobody wants the result any more.
    pub signal: Option<Arc<Switch>>,
    /// Told which of its calls were refused, if not that of the session.
    pub denials: Option<Arc<DenialLog>>,
}

/// How a program ended.
#[derive(Debug, Clone)]
pub struct PyResult {
    /// As code mode tells it: the value of its last expression, or a failure.
    pub execute: ExecuteResult,
    /// The exit status, by the one mapping; that of `sys.exit` where it called it.
    pub status: u8,
    /// How its run ended; none if it did not even begin.
    pub outcome: Option<Outcome>,
    /// What it wrote to stdout, if that was kept.
    pub stdout: Vec<u8>,
    /// What it wrote to stderr, if that was kept.
    pub stderr: Vec<u8>,
    /// How much it wrote to stdout.
    pub stdout_bytes: u64,
    /// What it displayed: images, tables, HTML, each `{type, mediaType, data…}`.
    pub displays: Vec<Value>,
    /// Its traceback, if it raised.
    pub traceback: Option<String>,
    /// The line of its own text that raised.
    pub line: Option<u32>,
    /// What more there is to say about its failure.
    pub hint: Option<String>,
}

impl Dock {
    /// Opens Python programs for `principal`, where an interpreter is registered. Handing a tool over grants it,
    /// unless `setup` has grants of tools of its own: then those decide, also whether the program sees the
    /// session's files by itself.
    pub fn py(
        &self,
        principal: &str,
        setup: Setup,
        shell: &ShellSetup,
        providers: Providers,
        keep_as: Option<&WorkspaceName>,
    ) -> Result<DockPy, OpenPyError> {
        let env: Vec<_> =
            setup.env.iter().map(|(name, value)| format!("{name}={value}").into_bytes()).collect();
        let interpreter = Interpreter::of(&self.registry, &env)?.ok_or(OpenPyError::NotInstalled)?;
        let context = match keep_as {
            Some(name) => Some((self.contexts(principal)?, python_context(name))),
            None => None,
        };
        let principal: Principal = principal.parse().map_err(BadSetup::from)?;
        let providers = Arc::new(providers);
        let mut setup = setup;
        setup.grant_programs();
        let spec = self.spec_of(setup, principal)?;
        if let Some(tape) = &spec.tape {
            tape.code(CallId(0), "python", &interpreter.digest).map_err(BadSetup::from)?;
        }
        let world = self.world(&spec, shell);
        let tools = Some(Arc::clone(&providers) as Arc<dyn Tools>);
        let session = self.gate.open(SessionSpec { tools, ..spec }).map_err(BadSetup::from)?;
        let session = DockSession { gate: Arc::clone(&self.gate), session };
        let engine = Arc::clone(&self.engine);
        Ok(DockPy { session, providers, engine, interpreter, world, context })
    }

    /// What the programs of a session see. Files are theirs as a command's are, but only where the tools that
    /// read and write them are granted without conditions: no grant is got round.
    fn world(&self, spec: &SessionSpec, shell: &ShellSetup) -> World {
        let now = self.gate.now();
        let grants = spec.grants.now();
        let freely = |tool: &str| grants.admits_freely(Cap::Tool, tool, now);
        let files = ["files.read", "files.write", "files.list"].into_iter().all(freely);
        let mut env: Vec<Vec<u8>> = spec.env.to_vec();
        let has = |env: &[Vec<u8>], name: &str| {
            env.iter().any(|it| it.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"=")))
        };
        for (name, value) in crate::ordinary_variables(&shell.cwd) {
            if !has(&env, name) {
                env.push(format!("{name}={value}").into_bytes());
            }
        }
        env.push(format!("PWD={}", shell.cwd).into_bytes());
        World {
            files: spec.files.clone().filter(|_| files),
            cwd: shell.cwd.as_str().into(),
            env: env.into(),
            output_bytes_max: spec.limits.stdout_bytes_max,
            time: spec.time,
            clock: spec.clock.clone(),
            bearings: start::Bearings { entropy: spec.entropy, ..Default::default() },
            preparing: spec.preparing.clone(),
        }
    }

    /// Forgets what Python programs of the principal left under that name. False if there was nothing.
    pub fn forget_py(&self, principal: &str, name: &WorkspaceName) -> Result<bool, BadSetup> {
        self.forget_context(principal, &python_context(name))
    }

    /// What runs Python, for a runner endpoint of one's own: no files, no environment.
    pub fn py_guest(&self) -> Result<PyGuest, OpenPyError> {
        let interpreter = Interpreter::of(&self.registry, &[])?.ok_or(OpenPyError::NotInstalled)?;
        let world = World { time: GuestTime::Real, ..World::default() };
        Ok(PyGuest::new(Arc::clone(&self.engine), interpreter, world))
    }
}

/// Sessions in Python and in JavaScript are not the same, whatever they are called.
fn python_context(name: &WorkspaceName) -> WorkspaceName {
    format!("py.{name}").parse().unwrap_or_else(|_| name.clone())
}

impl DockPy {
    /// Compiles the interpreter now, so that no program's time is spent on it.
    pub async fn warm(&self) -> Result<(), Fault> {
        self.guest(Streaming::default()).warm().await
    }

    fn guest(&self, streaming: Streaming) -> PyGuest {
        PyGuest::new(Arc::clone(&self.engine), self.interpreter.clone(), self.world.clone())
            .staying(self.context.clone())
            .streaming(streaming)
    }

    /// Runs a program to its end.
    pub async fn execute(&self, code: &str, input: PyInput) -> PyResult {
        let text: Arc<str> = code.into();
        let PyInput { options, args, argv, name, stdin, stdout, stderr, signal, denials } = input;
        let guest = self.guest(Streaming { stdin, stdout, stderr, argv, name });
        let session = self.session.telling(denials);
        let job = Job {
            gate: Arc::clone(&self.session.gate),
            providers: Arc::clone(&self.providers),
            guest,
            text: Arc::clone(&text),
            options,
            args,
            signal,
        };
        match start::through_the_gate(&session, &start::PYTHON, text, move |it| job.run(it)).await {
            Ok(result) => result,
            Err(error) => PyResult::refused(&error),
        }
    }

    /// The tools as a program finds them, in a few lines of Python.
    pub fn types(&self) -> String {
        stubs(&self.providers)
    }

    /// The session that its calls belong to.
    pub fn session(&self) -> &DockSession {
        &self.session
    }

    /// The files that its programs see by themselves.
    pub fn files(&self) -> Option<&Arc<dyn Files>> {
        self.world.files.as_ref()
    }
}

/// What there is to know about the tools, for a person or a model.
fn stubs(providers: &Providers) -> String {
    let mut text = String::from(
        "# A plain call waits; `aio.NAME.TOOL(…)` begins at once and is awaited (`await` works at the top level).\n\
         # A command answers .status, .stdout, .stderr; a failed tool raises ToolError with a .code.\n\
         # Also there: args, display(value), subprocess, os.system, asyncio, sqlite3, and the session's files by open().\n",
    );
    for manifest in providers.manifests().iter() {
        for (name, tool) in &manifest.tools {
            let about = tool.description.as_deref().unwrap_or_default();
            let given = match (&*manifest.name, &**name) {
                ("commands", "sh") => "line, stdin=\"\"",
                ("commands", _) => "*args, stdin=\"\", env={}",
                ("files", "read") => "path, encoding=\"utf8\"",
                ("files", "write") => "path, content, encoding=\"utf8\", append=False",
                ("files", "list") => "path=\".\"",
                _ => "**input",
            };
            text.push_str(&format!("{}.{name}({given})  # {about}\n", manifest.name));
        }
    }
    text.trim_end().to_owned()
}

/// A program that was let through.
struct Job {
    gate: Arc<Gate>,
    providers: Arc<Providers>,
    guest: PyGuest,
    text: Arc<str>,
    options: ExecuteOptions,
    args: Option<Json>,
    signal: Option<Arc<Switch>>,
}

impl Job {
    async fn run(self, started: StartedProgram) -> PyResult {
        let Self { gate, providers, guest, text, options, args, signal } = self;
        let guest = Arc::new(guest.started(start::Bearings::of(&gate, &started)));
        let time = Arc::new(TokioTime::beside(guest.preparing()).on_clock(guest.clock()));
        let executor = InProcess::new(Arc::clone(&guest) as _, time);
        let end = Arc::new(Switch::default());
        let [principal, session] = started.session.switches();
        let request = ExecuteRequest {
            options: start::taped(start::bounded(options, &started.session), &started.session),
            args,
            signal: Some(Arc::clone(&end)),
            ..ExecuteRequest::new(text).with(&providers).through(Arc::new(Gated::new(gate, started.session)))
        };
        let work = std::pin::pin!(executor.execute(request));
        let execute = start::forwarding(work, &[Some(principal), Some(session), signal], &end).await;
        PyResult::of(execute, guest.told())
    }
}

impl start::Ended for PyResult {
    fn outcome(&self) -> Outcome {
        self.outcome.clone().unwrap_or_else(|| start::outcome_of(&self.execute))
    }

    fn digested(&self) -> Option<bytes::Bytes> {
        start::digested_of(&self.execute)
    }
}

impl PyResult {
    fn of(execute: ExecuteResult, told: Told) -> Self {
        let status = match (&told.outcome, execute.code()) {
            (Some(Outcome::Exited(0)), Some(code)) => code.exit_status(),
            (Some(outcome), _) => outcome.exit_status(),
            (None, code) => code.map_or(0, drydock_contract::FailureCode::exit_status),
        };
        Self {
            execute,
            status,
            outcome: told.outcome,
            stdout: told.stdout,
            stderr: told.stderr,
            stdout_bytes: told.stdout_bytes,
            displays: told.displays,
            traceback: told.traceback,
            line: told.line,
            hint: told.hint,
        }
    }

    /// The gate did not let it begin, or not go on.
    fn refused(error: &CallError) -> Self {
        let execute = ExecuteResult::failed(start::failure_of(error), 0.0);
        Self { status: error.exit_status(), ..Self::of(execute, Told::default()) }
    }

    /// The whole result as JSON: what code mode tells, and beside it the status, both outputs and what was
    /// displayed.
    pub fn to_json(&self) -> Value {
        let whole: Value = serde_json::from_str(&self.execute.to_json()).unwrap_or_default();
        let mut whole = match whole {
            Value::Object(whole) => whole,
            _ => Map::new(),
        };
        // The outputs are there whole; lines of both would say it twice.
        whole.remove("logs");
        whole.remove("logsCut");
        whole.insert("status".into(), json!(self.status));
        whole.insert("stdout".into(), json!(String::from_utf8_lossy(&self.stdout)));
        whole.insert("stderr".into(), json!(String::from_utf8_lossy(&self.stderr)));
        if !self.displays.is_empty() {
            whole.insert("displays".into(), json!(self.displays));
        }
        if let Some(Value::Object(error)) = whole.get_mut("error") {
            if let Some(line) = self.line {
                error.insert("line".into(), json!(line));
            }
            if let Some(hint) = &self.hint {
                error.insert("hint".into(), json!(hint));
            }
            if let Some(traceback) = &self.traceback {
                error.insert("traceback".into(), json!(traceback));
            }
        }
        Value::Object(whole)
    }
}
