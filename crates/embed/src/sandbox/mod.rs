//! What every front end offers an agent: lines, commands, programs and files, with one set of grants and
//! limits. MCP and the clients for other languages only spell these operations differently.
//!
//! An operation is a name and a JSON object in, a JSON object or an error with a code out. Each of them is
//! a call at the gate: `sh`, `run` and `search` as commands, the others as tools (`files.read`,
//! `workspace.commit`), so that grants, rates, revocation and the audit hold for all of them. Nothing stays
//! between two operations but the files.

mod change;
pub(crate) mod files;
mod operation;
mod process;
mod prompt;
mod python;
mod run;
mod schema;
mod search;

use std::sync::{Arc, atomic::AtomicU64};

use drydock_abi::tool::{CALL, request_bytes};
use drydock_contract::{
    Call, CallError, Cap, CapSet, DenialDetails, Limits, Streams, Switch, Terms, ToolAnswer, ToolRequest,
    port::Files,
};
use drydock_gate::{DenialLog, Grant, Session, SessionSpec};
use parking_lot::Mutex;
use serde_json::Value;

pub use change::Base;
pub use operation::{Effect, Operation};
pub use process::process_tools;

use crate::code::broker_tools::{self, NoValue};
use crate::{BadSetup, Dock, DockCode, OutputListener, Setup, ShellSetup};
use files::{Door, OffThread};

/// What a sandbox is opened with.
pub struct SandboxSetup {
    /// Who its calls belong to.
    pub principal: String,
    /// Powers, limits and files. Without files it has three empty volumes of its own.
    pub setup: Setup,
    /// Where lines begin, and how they differ from bash.
    pub shell: ShellSetup,
    /// What the files were before: for `diff` and `commit`.
    pub bases: Vec<Base>,
    /// Limits of a program; the commands that it calls have those of `setup`.
    pub program: Limits,
    /// Whether `commit` is offered and granted.
    pub allow_commit: bool,
}

/// An agent's place: operations by name over one tree of files.
pub struct Sandbox {
    dock: Arc<Dock>,
    principal: String,
    setup: Setup,
    shell: ShellSetup,
    files: Arc<dyn Files>,
    session: Session,
    program: Limits,
    code: Mutex<Option<Arc<DockCode>>>,
    allow_commit: bool,
    /// How many lines and commands were begun.
    begun: AtomicU64,
}

/// Who waits for an operation, and what they want to know meanwhile.
#[derive(Clone, Default)]
pub struct Watch {
    /// Tripped when nobody wants the result any more: the guest is ended.
    pub cancel: Arc<Switch>,
    /// Told of what `sh` and `run` write while they write it.
    pub output: Option<OutputListener>,
}

/// Why an operation has no result: a stable code, and what to tell the agent.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct SandboxError {
    /// Such as `not_found`, `bad_input`, or a denial's own.
    pub code: String,
    /// A sentence.
    pub message: String,
    /// If policy said no: what would have allowed it.
    pub denial: Option<Box<DenialDetails>>,
}

impl SandboxError {
    /// An error of that code.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), denial: None }
    }

    fn bad_input(message: impl Into<String>) -> Self {
        Self::new("bad_input", message)
    }
}

impl From<CallError> for SandboxError {
    fn from(error: CallError) -> Self {
        let denial = match &error {
            CallError::Denied(denial) => Some(Box::new(denial.details())),
            CallError::Failed(_) => None,
        };
        Self { denial, ..Self::new(error.code(), error.to_string()) }
    }
}

/// Adds to an answer what was refused on the way.
fn with_denials(mut answer: Value, log: &DenialLog) -> Value {
    let denials = log.take();
    if let (Value::Object(answer), false) = (&mut answer, denials.is_empty()) {
        answer.insert("denials".into(), serde_json::to_value(denials).unwrap_or_default());
    }
    answer
}

impl From<NoValue> for SandboxError {
    fn from(error: NoValue) -> Self {
        match error {
            NoValue::Call(error) => error.into(),
            NoValue::Lacks(code, message) => Self { code, message, denial: None },
        }
    }
}

impl From<BadSetup> for SandboxError {
    fn from(error: BadSetup) -> Self {
        let code = match &error {
            BadSetup::Denied(denial) => denial.code(),
            _ => "internal_error",
        };
        Self::new(code, error.to_string())
    }
}

impl Sandbox {
    /// Opens one over a dock.
    pub fn open(dock: Arc<Dock>, wanted: SandboxSetup) -> Result<Self, BadSetup> {
        let SandboxSetup { principal, mut setup, shell, bases, program, allow_commit } = wanted;
        let limits = setup.limits.unwrap_or_else(|| setup.profile.limits());
        let files = setup.files.get_or_insert_with(|| crate::empty_tree(limits.memory_bytes_max)).clone();
        for (name, value) in crate::ordinary_variables(&shell.cwd) {
            if !setup.env.iter().any(|(given, _)| given == name) {
                setup.env.push((name.into(), value));
            }
        }
        let clock = setup.one_clock();
        let tools =
            Door { files: Arc::clone(&files), cwd: shell.cwd.clone(), bases, clock, edits: Mutex::default() };
        let mut spec = dock.spec_of(setup.clone(), principal.parse()?)?;
        let mut admitted = vec!["files.*", "workspace.diff"];
        if allow_commit {
            admitted.push("workspace.commit");
        }
        // A file of grants that says anything of `files.*` says it of these operations too.
        let of_files = |it: &&Arc<Grant>| {
            let named = it.spec().subjects.into_iter().flatten().any(|it| it.as_str().starts_with("files."));
            it.cap() == Cap::Tool && named
        };
        let bounded: Vec<Arc<Grant>> =
            setup.grants.iter().filter(|_| setup.only_grants).filter(of_files).cloned().collect();
        if !bounded.is_empty() {
            admitted.retain(|it| *it != "files.*");
        }
        // The patterns are ours, so none is refused.
        let terms = Terms::of(admitted.into_iter().filter_map(|it| it.parse().ok()));
        let ours = Arc::new(Grant::of(Cap::Tool).within(terms));
        spec.grants = bounded.into_iter().chain([ours]).collect();
        let tools = Arc::new(OffThread(Arc::new(tools)));
        let session = dock.gate.open(SessionSpec { tools: Some(tools), ..spec })?;
        tracing::trace!(target: "drydock::hop", "embed: a sandbox whose files are behind `{CALL}`");
        let code = Mutex::default();
        let begun = AtomicU64::new(0);
        Ok(Self { dock, principal, setup, shell, files, session, program, code, allow_commit, begun })
    }

    /// What may be asked of it, in a fixed order.
    pub fn operations(&self) -> impl Iterator<Item = &'static Operation> {
        let (allow_commit, has_processes) = (self.allow_commit, self.setup.has_processes());
        let own = operation::ALL.iter().filter(move |it| match it.name {
            "commit" => allow_commit,
            name => has_processes || !name.starts_with(process::PREFIX),
        });
        // What a profile grants is there for programs; a model's list of tools has what somebody granted by name.
        let network = self.setup.network.grants();
        let said: CapSet =
            self.setup.grants.iter().chain(&self.setup.stored).chain(&network).map(|it| it.cap()).collect();
        let held = move |name| broker_tools::power_of(name).is_some_and(|cap| said.contains(cap));
        own.chain(operation::brokers().filter(move |it| held(it.0.name)).map(|it| &it.1))
    }

    /// The files it works on.
    pub fn files(&self) -> &Arc<dyn Files> {
        &self.files
    }

    /// Where relative paths start.
    pub fn cwd(&self) -> &str {
        &self.shell.cwd
    }

    /// What a model should know before it uses the operations: what this place is, what it can run and spend.
    pub fn prompt(&self) -> String {
        prompt::prompt(self)
    }

    /// Does one thing. Tripping the switch of `watch` ends what it started.
    pub async fn call(&self, name: &str, input: Value, watch: &Watch) -> Result<Value, SandboxError> {
        if !self.operations().any(|it| it.name == name) {
            // The gate refuses what is not offered, and records that somebody asked.
            if name == "commit" {
                return self.ask("workspace", "commit", input, watch).await;
            }
            return Err(SandboxError::new("unknown_operation", format!("there is no operation `{name}`")));
        }
        if let Some(act) = name.strip_prefix(process::PREFIX) {
            return tokio::select! {
                done = self.process(act, input) => done,
                () = crate::exec::tripped(&watch.cancel) => Err(cancelled()),
            };
        }
        if let Some((text, _)) = operation::brokers().find(|it| it.1.name == name) {
            return self.broker(text.name, input, watch).await;
        }
        match name {
            "sh" => self.sh(input, watch).await,
            "run" => self.run(input, watch).await,
            "js" => self.js(input, watch).await,
            "py" => self.py(input, watch).await,
            "search" => self.search(input, watch).await,
            "read_file" => self.ask("files", "read", input, watch).await,
            "write_file" => self.ask("files", "write", input, watch).await,
            "edit_file" => self.ask("files", "edit", input, watch).await,
            "list_files" => self.ask("files", "list", input, watch).await,
            "diff" => self.ask("workspace", "diff", input, watch).await,
            _ => self.ask("workspace", "commit", input, watch).await,
        }
    }

    /// A power, asked in the sandbox's name.
    async fn broker(&self, operation: &str, input: Value, watch: &Watch) -> Result<Value, SandboxError> {
        let session = self.dock.session(&self.principal, self.setup.clone())?;
        tokio::select! {
            done = broker_tools::ask(&session, operation, &input) => Ok(done?),
            () = crate::exec::tripped(&watch.cancel) => Err(cancelled()),
        }
    }

    /// A call of a tool at the gate. What the tool itself has to say comes back in its answer, so that its
    /// codes are not squeezed into the protocol's seven.
    async fn ask(
        &self,
        provider: &str,
        tool: &str,
        input: Value,
        watch: &Watch,
    ) -> Result<Value, SandboxError> {
        let input = match input {
            Value::Null => Value::Object(Default::default()),
            other => other,
        };
        let request = ToolRequest {
            provider: provider.into(),
            tool: tool.into(),
            input: Some(input.to_string().into()),
            span: 0,
            depth: 0,
        };
        let bytes = request_bytes(&request);
        let call = Call::typed(CALL, request, bytes, Streams::default());
        let reply = tokio::select! {
            reply = self.dock.gate.dispatch(&self.session, call) => reply,
            () = crate::exec::tripped(&watch.cancel) => return Err(cancelled()),
        };
        let mut reply = reply?;
        let broken = |why: &dyn std::fmt::Display| SandboxError::new("internal_error", why.to_string());
        let answer = reply.value::<ToolAnswer>().ok_or_else(|| broken(&"the gate's answer is no tool's"))?;
        let bytes = answer.map_err(|failure| broken(&failure))?;
        files::unwrap(&bytes)
    }
}

fn cancelled() -> SandboxError {
    SandboxError::new("cancelled", "cancelled by the caller")
}

/// The input as its own type, or a sentence about what is wrong with it.
fn typed<T: serde::de::DeserializeOwned>(input: Value) -> Result<T, SandboxError> {
    let input = match input {
        Value::Null => Value::Object(Default::default()),
        other => other,
    };
    serde_json::from_value(input).map_err(|error| SandboxError::bad_input(error.to_string()))
}
