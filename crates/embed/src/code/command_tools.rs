//! The namespace `commands`: every command of a session as a tool, and `sh` for lines of them.
//!
//! A call of one is a run behind the gate like any other; no string reaches a shell.

use std::sync::Arc;

use drydock_abi::exec::{encode_command, take_report};
use drydock_codemode::provider::{BadProvider, Provider, Tool, ToolError};
use drydock_contract::{Call, CallId, Cap, CommandName, Limits, Outcome, port::Registry as _};
use serde_json::{Value, json};

use super::tool_streams::ToolStreams;
use crate::{BadSetup, Dock, DockSession, Setup, ShellSetup};

/// The longest output of a command that a program is handed.
const OUTPUT_BYTES_MAX: u64 = 4 << 20;

/// Why commands cannot be offered as tools.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadCommandTools {
    /// The session they would run in cannot be opened.
    #[error(transparent)]
    Setup(#[from] BadSetup),
    /// A name or a schema.
    #[error(transparent)]
    Provider(#[from] BadProvider),
}

/// The commands that `setup` grants, as a provider. They run in a session of their own with its files,
/// limits and grants; `shell` is where lines of `sh` begin.
pub fn command_tools(
    dock: &Arc<Dock>,
    principal: &str,
    setup: &Setup,
    shell: &ShellSetup,
) -> Result<Provider, BadCommandTools> {
    let session = dock.session_beside(principal, setup.clone())?;
    let now = dock.gate.now();
    let granted = |name: &CommandName| session.inner().grants().could_admit(Cap::Exec, name.as_str(), now);
    let mut names = drydock_contract::port::Registry::names(&*dock.registry);
    names.extend(
        setup.host_commands.names().filter(|it| dock.registry.lookup(it.as_str(), None).is_none()).cloned(),
    );
    names.extend(dock.installable(setup.install_missing));
    let cwd: Arc<str> = shell.cwd.as_str().into();
    let mut tools: Vec<Tool> =
        names.iter().filter(|it| granted(it)).map(|name| command(&session, name, &cwd)).collect();
    tools.push(sh(dock, principal, setup, shell));
    Ok(Provider::compiled_late("commands", tools)?)
}

fn result_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "status": { "type": "integer" },
            "stdout": { "type": "string" },
            "stderr": { "type": "string" }
        },
        "required": ["status", "stdout", "stderr"]
    })
}

fn command(session: &DockSession, name: &CommandName, cwd: &Arc<str>) -> Tool {
    let (session, name, cwd) = (session.clone(), name.clone(), Arc::clone(cwd));
    let about = format!("Runs the command `{name}` with a list of arguments.");
    Tool::new(name.clone().as_str(), move |input, context| {
        let session = session.at(CallId(context.span), context.depth);
        let (name, cwd) = (name.clone(), Arc::clone(&cwd));
        async move { run(&session, &name, &cwd, &input).await }
    })
    .describe(&about)
    .input(json!({
        "type": ["object", "null"],
        "properties": {
            "args": { "type": "array", "items": { "type": "string" } },
            "stdin": { "type": "string" },
            "env": { "type": "object", "additionalProperties": { "type": "string" } },
            "cwd": { "type": "string" },
            "encoding": { "enum": ["utf8", "base64"] },
            "merge": { "type": "boolean" }
        },
        "additionalProperties": false
    }))
    .output(result_schema())
}

async fn run(
    session: &DockSession,
    name: &CommandName,
    cwd: &str,
    input: &Value,
) -> Result<Value, ToolError> {
    let args: Vec<&str> = input["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let (wanted, streams) = ToolStreams::of(input)?;
    let base = session.inner().spec().env.iter().filter_map(|it| String::from_utf8(it.clone()).ok());
    let base =
        base.filter_map(|it| it.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())));
    let mut env = variables(base.collect(), input);
    env.retain(|(name, _)| name != "PWD");
    env.push(("PWD".into(), input["cwd"].as_str().unwrap_or(cwd).to_owned()));
    let env: Vec<Vec<u8>> = env.iter().map(|(name, value)| format!("{name}={value}").into_bytes()).collect();
    let payload = encode_command(&env, name.as_str(), &args, b"").map_err(|too_long| {
        ToolError::from(format!("{name}: {} bytes of arguments are too many", too_long.0))
    })?;
    let call = Call::new(drydock_caps::exec::COMMAND, &payload, streams).answered_typed();
    let mut reply = session.gate.dispatch(session.inner(), call).await.map_err(|error| error.to_string())?;
    let report = take_report(&mut reply).map_err(|bad| bad.to_string())?;
    let spec = session.inner().spec();
    let limits = Limits { memory_bytes_max: spec.builtin_memory_bytes_max, ..spec.limits };
    let status = i32::from(report.outcome.exit_status());
    match report.outcome {
        Outcome::Exited(_) => Ok(wanted.told(status, reply.streams, None)),
        // What was written until then is there, and the program should know that it is not all.
        Outcome::OutputLimit => {
            let most = limits.stdout_bytes_max.min(limits.stderr_bytes_max);
            Ok(wanted.told(status, reply.streams, Some(format!("{name}: {}", cut_off(most)))))
        }
        other => {
            let why = other.remark(&limits, None).unwrap_or_else(|| other.to_string());
            Err(ToolError::from(format!("{name}: {why}")))
        }
    }
}

/// What `drydock run` and `drydock sh` say, but for their flag: a program has none.
fn cut_off(most: u64) -> String {
    format!("output_limit: cut off after {most} bytes; write to a file, or less at a time")
}

/// Variables, and those of the input instead of others of the same name.
fn variables(base: Vec<(String, String)>, input: &Value) -> Vec<(String, String)> {
    let mut all = base;
    for (name, value) in input["env"].as_object().into_iter().flatten() {
        all.retain(|it| it.0 != *name);
        all.push((name.clone(), value.as_str().unwrap_or_default().to_owned()));
    }
    all
}

fn sh(dock: &Arc<Dock>, principal: &str, setup: &Setup, shell: &ShellSetup) -> Tool {
    let (dock, principal, setup, shell) =
        (Arc::clone(dock), principal.to_owned(), setup.clone(), shell.clone());
    Tool::new("sh", move |input, context| {
        let (dock, principal, mut setup, mut shell) =
            (Arc::clone(&dock), principal.clone(), setup.clone(), shell.clone());
        async move {
            let limits = setup.change_limits(|limits| {
                limits.stdout_bytes_max = limits.stdout_bytes_max.min(OUTPUT_BYTES_MAX);
                limits.stderr_bytes_max = limits.stderr_bytes_max.min(OUTPUT_BYTES_MAX);
            });
            setup.env = variables(setup.env, &input);
            if let Some(cwd) = input["cwd"].as_str() {
                setup.env.retain(|(name, _)| name != "PWD");
                cwd.clone_into(&mut shell.cwd);
            }
            let (wanted, streams) = ToolStreams::of(&input)?;
            let mut opened = dock
                .shell_beside(&principal, Some((CallId(context.span), context.depth)), setup, shell)
                .map_err(|error| error.to_string())?;
            let line = input["line"].as_str().unwrap_or_default();
            let (report, streams) = opened.run(line, streams).await.map_err(|error| error.to_string())?;
            let warning = match report.limit.as_deref() {
                Some("output_limit") => Some(cut_off(limits.stdout_bytes_max)),
                Some("timed_out") => {
                    Some(format!("timed_out: the line took {} s", limits.wall_max.as_secs_f64()))
                }
                // The shell named its own limits.
                _ => None,
            };
            Ok(wanted.told(report.status, streams, warning))
        }
    })
    .describe("Runs a line of commands in bash's language; nothing of it reaches a shell.")
    .input(json!({
        "type": "object",
        "properties": {
            "line": { "type": "string" },
            "stdin": { "type": "string" },
            "env": { "type": "object", "additionalProperties": { "type": "string" } },
            "cwd": { "type": "string" },
            "encoding": { "enum": ["utf8", "base64"] },
            "merge": { "type": "boolean" }
        },
        "required": ["line"],
        "additionalProperties": false
    }))
    .output(result_schema())
}
