//! Processes as operations of a sandbox and, under the same descriptions, as the namespace `processes` of its programs. Both
//! are offered where a grant for `process` says so.
//!
//! They are those of [`DockProcesses`]: a program that started one may end, and another reads on from the cursor it had.

use std::{sync::Arc, time::Duration};

use drydock_codemode::provider::{BadProvider, Provider, Tool, ToolError};
use drydock_contract::{CallId, Cap};
use drydock_store::{ProcessId, ProcessOutput, SPOOL_CHUNK_BYTES_MAX, SpoolBounds};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Sandbox, SandboxError,
    operation::{self, count, flag, milliseconds, object, text},
    typed,
};
use crate::{Dock, DockProcesses, NewProcess, ProcessError, ProcessPiece, Setup, ShellSetup};

/// What the names of these operations begin with; without it they are tools.
pub(super) const PREFIX: &str = "process_";
/// The longest that a reader waits for output, and a writer for a process that reads nothing.
const WAIT_MAX: Duration = Duration::from_secs(60);

impl Setup {
    /// Whether a grant says that what it runs may go on after the call.
    pub(crate) fn has_processes(&self) -> bool {
        self.grants.iter().chain(&self.stored).any(|it| it.cap() == Cap::Process)
    }
}

/// The processes of a principal as a provider, where `setup` has a grant for them.
pub fn process_tools(
    dock: &Arc<Dock>,
    principal: &str,
    setup: &Setup,
    shell: &ShellSetup,
) -> Result<Option<Provider>, BadProvider> {
    if !setup.has_processes() {
        return Ok(None);
    }
    let desk = Arc::new(ProcessDesk::new(dock, principal, setup, shell));
    let tools = operation::ALL.iter().filter_map(|it| Some((it.name.strip_prefix(PREFIX)?, it)));
    let tools = tools.map(|(name, operation)| {
        let desk = Arc::clone(&desk);
        Tool::new(name, move |input, context| {
            let desk = Arc::clone(&desk);
            async move {
                let from = Some((CallId(context.span), context.depth));
                desk.act(name, input, from).await.map_err(|error| ToolError::from(error.message))
            }
        })
        .describe(operation.description)
        .input(operation.input_schema())
        .output(operation.output_schema())
    });
    Provider::compiled_late("processes", tools.collect()).map(Some)
}

impl Sandbox {
    pub(super) async fn process(&self, name: &str, input: Value) -> Result<Value, SandboxError> {
        ProcessDesk::new(&self.dock, &self.principal, &self.setup, &self.shell).act(name, input, None).await
    }
}

/// Whoever has processes.
struct ProcessDesk {
    dock: Arc<Dock>,
    principal: String,
    setup: Setup,
    processes: DockProcesses,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Start {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    stdin: String,
    #[serde(default)]
    stdin_open: bool,
    timeout_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    id: String,
    #[serde(default)]
    output: Output,
    #[serde(default)]
    from: u64,
    #[serde(default)]
    wait_ms: u64,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "lowercase")]
enum Output {
    #[default]
    Stdout,
    Stderr,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Write {
    id: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    end: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kill {
    id: String,
    #[serde(default)]
    remove: bool,
}

impl ProcessDesk {
    fn new(dock: &Arc<Dock>, principal: &str, setup: &Setup, shell: &ShellSetup) -> Self {
        let mut setup = setup.clone();
        if !setup.env.iter().any(|(name, _)| name == "PWD") {
            setup.env.push(("PWD".into(), shell.cwd.clone()));
        }
        let processes = dock.processes(SpoolBounds::default());
        Self { dock: Arc::clone(dock), principal: principal.to_owned(), setup, processes }
    }

    /// Does one of them. What is started for a program belongs to the call of the program.
    async fn act(
        &self,
        name: &str,
        input: Value,
        from: Option<(CallId, u32)>,
    ) -> Result<Value, SandboxError> {
        // It goes on beside the run that is recorded, and writes into the same files whenever it likes.
        if self.setup.tape.is_some() {
            let why = "a process is on no tape: start it by a program that is not recorded";
            return Err(SandboxError::new("not_taped", why));
        }
        match name {
            "start" => self.start(typed(input)?, from).await,
            "list" => Ok(json!({ "processes": self.processes.list().await? })),
            "read" => {
                let Read { id, output, from, wait_ms } = typed(input)?;
                let output = match output {
                    Output::Stdout => ProcessOutput::Stdout,
                    Output::Stderr => ProcessOutput::Stderr,
                };
                let (id, wait) = (parsed(&id)?, Duration::from_millis(wait_ms).min(WAIT_MAX));
                let chunk = self.processes.read(&id, output, from, SPOOL_CHUNK_BYTES_MAX, wait).await?;
                Ok(json!(ProcessPiece::of(chunk, from)))
            }
            "write" => {
                let Write { id, text, end } = typed(input)?;
                let bytes = text.as_bytes();
                let taken = self.processes.write_stdin(&parsed(&id)?, bytes, end, WAIT_MAX).await?;
                Ok(json!({ "taken": taken, "ended": end && taken == bytes.len() }))
            }
            _ => {
                let Kill { id, remove } = typed(input)?;
                let id = parsed(&id)?;
                let ended = match remove {
                    true => self.processes.remove(&id).await?,
                    false => self.processes.kill(&id).await?,
                };
                Ok(json!(ended))
            }
        }
    }

    async fn start(&self, start: Start, from: Option<(CallId, u32)>) -> Result<Value, SandboxError> {
        let Start { command, args, stdin, stdin_open, timeout_ms } = start;
        let mut setup = self.setup.clone();
        if let Some(wanted) = timeout_ms {
            setup.change_limits(|it| it.wall_max = it.wall_max.min(Duration::from_millis(wanted)));
        }
        let session = self.dock.session(&self.principal, setup)?;
        let session = from.map_or(session.clone(), |(call, depth)| session.at(call, depth));
        let args = args.into_iter().map(String::into_bytes).collect();
        let new = NewProcess { command, args, stdin: stdin.into(), more_stdin: stdin_open };
        Ok(json!(self.processes.spawn(session, new).await?))
    }
}

/// What can be no id is nobody's.
fn parsed(id: &str) -> Result<ProcessId, SandboxError> {
    let absent = || SandboxError::new("not_found", "there is no such process");
    id.parse().map_err(|_| absent())
}

impl From<ProcessError> for SandboxError {
    fn from(error: ProcessError) -> Self {
        match error {
            ProcessError::Call(error) => error.into(),
            ProcessError::Absent(_) => Self::new("not_found", "there is no such process"),
            other => Self::new(other.code(), other.to_string()),
        }
    }
}

fn id() -> Value {
    text("The process's id, as start answered it")
}

pub(super) fn start_input() -> Value {
    let args = json!({ "type": "array", "items": { "type": "string" }, "description": "Its arguments" });
    let properties = json!({
        "command": text("The command, such as jq"),
        "args": args,
        "stdin": text("What it reads first"),
        "stdin_open": flag("Whether more input will be written"),
        "timeout_ms": milliseconds(),
    });
    object(properties, &["command"])
}

/// What is kept of a process.
pub(super) fn record() -> Value {
    let maybe = |kind: &str, about: &str| json!({ "type": [kind, "null"], "description": about });
    let properties = json!({
        "id": { "type": "string" },
        "command": { "type": "string" },
        "principal": { "type": "string" },
        "state": { "enum": ["starting", "running", "exited", "killed", "failed"] },
        "exit_code": maybe("integer", "0 is success; 124 out of time, 125 another limit, 137 killed"),
        "code": maybe("string", "How it ended, by a stable code"),
        "message": maybe("string", "The same for people"),
        "started_ms": { "type": "integer" },
        "ended_ms": { "type": ["integer", "null"] },
        "stdout_bytes": { "type": "integer" },
        "stderr_bytes": { "type": "integer" },
    });
    object(properties, &["id", "command", "state", "stdout_bytes", "stderr_bytes"])
}

pub(super) fn list_input() -> Value {
    object(json!({}), &[])
}

pub(super) fn list_output() -> Value {
    object(json!({ "processes": { "type": "array", "items": record() } }), &["processes"])
}

pub(super) fn read_input() -> Value {
    let properties = json!({
        "id": id(),
        "output": { "enum": ["stdout", "stderr"], "default": "stdout" },
        "from": count("The cursor: `next` of what was read before, or 0"),
        "wait_ms": count("How long to wait if there is nothing yet; at most 60000"),
    });
    object(properties, &["id"])
}

pub(super) fn read_output() -> Value {
    let properties = json!({
        "from": { "type": "integer" },
        "next": count("Where to read on"),
        "end": { "type": "boolean", "description": "Nothing will ever follow" },
        "text": text("It, if it is UTF-8"),
        "base64": text("It, if it is not"),
    });
    object(properties, &["from", "next", "end"])
}

pub(super) fn write_input() -> Value {
    object(json!({ "id": id(), "text": text("The input"), "end": flag("Nothing will follow") }), &["id"])
}

pub(super) fn write_output() -> Value {
    let properties = json!({ "taken": count("Bytes that were taken"), "ended": { "type": "boolean" } });
    object(properties, &["taken", "ended"])
}

pub(super) fn kill_input() -> Value {
    object(json!({ "id": id(), "remove": flag("Forget it and its output, too") }), &["id"])
}
