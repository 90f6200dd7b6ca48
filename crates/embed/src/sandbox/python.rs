//! Python programs of a sandbox.

use std::sync::Arc;

use drydock_codemode::{executor::ExecuteOptions, protocol::Json};
use drydock_contract::Source;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Sandbox, SandboxError, Watch, cancelled,
    operation::{milliseconds, object, text},
    run::shorter,
    typed,
};
use crate::{ChangeLog, DockPy, OpenPyError, PyInput};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Py {
    code: String,
    args: Option<Value>,
    #[serde(default)]
    stdin: String,
    timeout_ms: Option<u64>,
}

impl From<OpenPyError> for SandboxError {
    fn from(error: OpenPyError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

impl Sandbox {
    pub(super) async fn py(&self, input: Value, watch: &Watch) -> Result<Value, SandboxError> {
        let Py { code, args, stdin, timeout_ms } = typed(input)?;
        let args = args.map(|it| Json::parse(it.to_string())).transpose();
        let args = args.map_err(|error| SandboxError::bad_input(format!("args: {error}")))?;
        // A log of its own for each: programs may run side by side.
        let (programs, changes) = self.python()?;
        let broken = |fault: drydock_contract::Fault| SandboxError::new(fault.code(), fault.to_string());
        programs.warm().await.map_err(broken)?;
        let limits = self.setup.limits.unwrap_or_else(|| self.setup.profile.limits());
        let memory = self.setup.builtin_memory_bytes_max.unwrap_or(limits.memory_bytes_max);
        let options = ExecuteOptions {
            timeout_ms: Some(shorter(self.program.wall_max, timeout_ms).as_secs_f64() * 1e3),
            memory_limit_bytes: Some(memory.max(self.program.memory_bytes_max) as f64),
            ..ExecuteOptions::default()
        };
        let signal = Some(Arc::clone(&watch.cancel));
        let denials = Arc::<drydock_gate::DenialLog>::default();
        let log = Some(Arc::clone(&denials));
        let input =
            PyInput { options, args, stdin: Source::from(stdin), signal, denials: log, ..PyInput::default() };
        let done = programs.execute(&code, input).await;
        if watch.cancel.is_tripped() {
            return Err(cancelled());
        }
        let mut answer = done.to_json();
        let files = changes.changes();
        if !files.is_empty() {
            answer["files"] = serde_json::to_value(files).unwrap_or_default();
        }
        Ok(super::with_denials(answer, &denials))
    }

    /// Python with this sandbox's commands and files, and what a program changes in them.
    fn python(&self) -> Result<(DockPy, ChangeLog), SandboxError> {
        let failed = |error: &dyn std::fmt::Display| SandboxError::new("internal_error", error.to_string());
        let (files, changes) = ChangeLog::of(&self.files);
        let mut setup = self.setup.clone();
        setup.files = Some(Arc::clone(&files));
        // Programs that run side by side do not wait for each other's code.
        setup.preparing = Arc::default();
        let providers = crate::program_tools(&self.dock, &self.principal, &setup, &self.shell)
            .map_err(|error| failed(&error))?;
        Ok((self.dock.py(&self.principal, setup, &self.shell, providers, None)?, changes))
    }
}

/// The JSON Schema of what a program is given.
pub(super) fn input() -> Value {
    let args = json!({ "description": "Any JSON; the program sees it as `args`" });
    let properties = json!({
        "code": text("The program"),
        "args": args,
        "stdin": text("What it reads"),
        "timeout_ms": milliseconds(),
    });
    object(properties, &["code"])
}

/// The JSON Schema of what it answers.
pub(super) fn output() -> Value {
    let error = json!({
        "type": "object",
        "properties": {
            "code": { "type": "string" },
            "message": { "type": "string" },
            "line": { "type": "integer" },
            "hint": { "type": "string" },
            "traceback": { "type": "string" },
        },
        "required": ["code", "message"],
    });
    let file = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "kind": { "enum": ["added", "modified", "removed"] },
            "size": { "type": "integer" },
            "mediaType": { "type": "string" },
        },
        "required": ["path", "kind", "size"],
    });
    let shown = json!({
        "type": "object",
        "properties": { "type": { "type": "string" }, "mediaType": { "type": "string" } },
        "required": ["type", "mediaType"],
    });
    json!({
        "type": "object",
        "properties": {
            "ok": { "type": "boolean" },
            "result": { "description": "The value of its last expression, if there is one" },
            "error": error,
            "status": { "type": "integer", "description": "Its exit status" },
            "stdout": { "type": "string" },
            "stderr": { "type": "string" },
            "files": { "type": "array", "items": file, "description": "What it changed" },
            "displays": { "type": "array", "items": shown, "description": "Images, tables and HTML it showed" },
            "denials": super::operation::denials(),
            "durationMs": { "type": "number" },
        },
        "required": ["ok", "status", "stdout", "stderr"],
    })
}
