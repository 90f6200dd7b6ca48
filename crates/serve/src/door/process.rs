//! Processes of a tenant: started by one request, read, fed and ended by others, and told by ids that nobody guesses.
//!
//! Their output is on disk, so that a caller that lost its connection reads on from the cursor it had. Whose process it is
//! follows from the folder it is looked for in: what is another tenant's is as absent as what never was.

use std::{collections::BTreeMap, time::Duration};

use axum::{body::Body, http::Response};
use bytes::Bytes;
use drydock_embed::{
    DockProcesses, NewProcess, ProcessError, ProcessPiece, process_limits,
    store::{ProcessId, ProcessOutput, SPOOL_CHUNK_BYTES_MAX, SpoolBounds},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::sandbox::{self, Asked};
use crate::{
    ask::{Answer, Ask},
    error::ApiError,
    json, sse,
};

/// The largest body that starts a process.
const SPAWN_BYTES_MAX: u64 = 16 << 20;
/// The largest piece of input.
const STDIN_BYTES_MAX: u64 = 1 << 20;
/// How long a process may run, where nobody asks for another time, and the most that anybody may ask for.
const USUAL_MS: u64 = 60 * 60 * 1000;
const MOST_MS: u64 = 24 * 60 * 60 * 1000;
/// How long input waits for a process that reads nothing, and the longest that a reader waits for output.
const WAIT_MS: u64 = 10_000;
const WAIT_MS_MAX: u64 = 60_000;

/// A process to start. What is said of files, workspace, commands, time and memory is as for a run.
#[derive(Deserialize)]
struct Wanted {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    stdin: String,
    /// Whether more input will be posted.
    #[serde(default)]
    stdin_open: bool,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(flatten)]
    asked: Asked,
}

/// The processes of whoever asks.
fn of(ask: &Ask) -> DockProcesses {
    let bounds =
        SpoolBounds { bytes_max: ask.app.settings.bounds.process_spool_bytes_max, ..SpoolBounds::default() };
    ask.caller.state.dock.processes(bounds)
}

/// The id in the path. What can be no id is nobody's.
fn id(ask: &Ask) -> Result<ProcessId, ApiError> {
    ask.found("id").parse().map_err(|_| absent())
}

fn absent() -> ApiError {
    ApiError::absent("process")
}

/// `POST /v1/processes`.
pub(crate) async fn start(mut ask: Ask) -> Answer {
    ask.parameters([])?;
    let wanted: Wanted = ask.json(SPAWN_BYTES_MAX).await?;
    let Wanted { command, args, stdin, stdin_open, env, asked } = wanted;
    if let Some(unknown) = asked.input.keys().next() {
        let text = format!("the body: unknown field `{}`", unknown.escape_debug());
        return Err(ApiError::bad("bad_json", text));
    }
    let timeout_ms = ask.caller.timeout_ms(asked.timeout_ms, USUAL_MS)?;
    if !(1..=MOST_MS).contains(&timeout_ms) {
        return Err(ApiError::bad("bad_input", format!("timeout_ms is from 1 to {MOST_MS}")));
    }
    let memory_bytes_max = sandbox::memory(&ask.caller, asked.memory_mb)?;
    // Held while it is started, and not while it runs: how many run is the gate's to say.
    let turn = ask.turn().await?;
    let mut limits = process_limits(ask.app.settings.bounds.process_output_bytes_max);
    limits.wall_max = Duration::from_millis(timeout_ms);
    let (setup, shell) = sandbox::setup(&ask.caller, asked, limits, memory_bytes_max).await?;
    let mut setup = setup.with_processes();
    setup.env.extend(env);
    if setup.files.is_some() && !setup.env.iter().any(|(name, _)| name == "PWD") {
        setup.env.push(("PWD".into(), shell.cwd));
    }
    let session =
        ask.caller.state.dock.session(&ask.caller.principal, setup).map_err(|bad| sandbox::bad(&bad))?;
    let args = args.into_iter().map(String::into_bytes).collect();
    let new = NewProcess { command, args, stdin: stdin.into(), more_stdin: stdin_open };
    let record = of(&ask).spawn(session, new).await?;
    drop(turn);
    Ok(json::ok(&record))
}

/// `GET /v1/processes`.
pub(crate) async fn list(ask: Ask) -> Answer {
    ask.parameters([])?;
    Ok(json::ok(&json!({ "processes": of(&ask).list().await? })))
}

/// `GET /v1/processes/{id}`.
pub(crate) async fn show(ask: Ask) -> Answer {
    ask.parameters([])?;
    Ok(json::ok(&of(&ask).find(&id(&ask)?).await?))
}

/// `DELETE /v1/processes/{id}`: ends it; `remove=true` forgets it, too.
pub(crate) async fn end(ask: Ask) -> Answer {
    let [remove] = ask.parameters(["remove"])?;
    let (all, id) = (of(&ask), id(&ask)?);
    let record = match flag("remove", remove)? {
        false => all.kill(&id).await?,
        true => all.remove(&id).await?,
    };
    Ok(json::ok(&record))
}

/// `POST /v1/processes/{id}/stdin`: the bytes of the body; `end=true` is the end of its input.
pub(crate) async fn stdin(mut ask: Ask) -> Answer {
    let [end] = ask.parameters(["end"])?;
    let (all, id) = (of(&ask), id(&ask)?);
    let end = flag("end", end)?;
    // Whose process it is comes before what is sent to it.
    all.find(&id).await?;
    let bytes = ask.body(STDIN_BYTES_MAX).await?;
    let taken = all.write_stdin(&id, &bytes, end, Duration::from_millis(WAIT_MS)).await?;
    Ok(json::ok(&json!({ "taken": taken, "ended": end && taken == bytes.len() })))
}

/// `GET /v1/processes/{id}/stdout?from=CURSOR`.
pub(crate) async fn stdout(ask: Ask) -> Answer {
    output(ask, ProcessOutput::Stdout).await
}

/// `GET /v1/processes/{id}/stderr?from=CURSOR`.
pub(crate) async fn stderr(ask: Ask) -> Answer {
    output(ask, ProcessOutput::Stderr).await
}

/// One piece of an output, waited for so long; or all of it as events, as it is written.
async fn output(ask: Ask, output: ProcessOutput) -> Answer {
    let [from, wait_ms] = ask.parameters(["from", "wait_ms"])?;
    let (all, id) = (of(&ask), id(&ask)?);
    // A browser that reads on says where in a header of its own.
    let last = ask.parts.headers.get("last-event-id").and_then(|it| it.to_str().ok()).map(str::to_owned);
    let from = number("from", last.filter(|_| ask.wants_events()).or(from))?.unwrap_or(0);
    let wait_ms = number("wait_ms", wait_ms)?.unwrap_or(0);
    if wait_ms > WAIT_MS_MAX {
        return Err(ApiError::bad("bad_parameter", format!("`wait_ms` is at most {WAIT_MS_MAX}")));
    }
    let wait = Duration::from_millis(if ask.wants_events() { 0 } else { wait_ms });
    let first = ProcessPiece::of(all.read(&id, output, from, SPOOL_CHUNK_BYTES_MAX, wait).await?, from);
    if !ask.wants_events() {
        return Ok(json::ok(&first));
    }
    Ok(follow(all, id, output, first))
}

/// Tells an output as it is written. Whoever listens slowly holds up nothing but this: the rest waits on the disk.
fn follow(
    all: DockProcesses,
    id: ProcessId,
    output: ProcessOutput,
    mut piece: ProcessPiece,
) -> Response<Body> {
    let (to, told) = mpsc::channel::<Bytes>(1);
    tokio::spawn(async move {
        loop {
            let from = piece.next;
            if !piece.is_empty()
                && to.send(sse::event_at(output.name(), from, &told_of(&piece))).await.is_err()
            {
                return;
            }
            let last = if piece.end {
                all.find(&id).await.map(|record| sse::event_at("end", from, &told_of(&record)))
            } else {
                let read = tokio::select! {
                    () = to.closed() => return,
                    read = all.read(&id, output, from, SPOOL_CHUNK_BYTES_MAX, sse::ALIVE) => read,
                };
                match read {
                    Ok(chunk) => {
                        piece = ProcessPiece::of(chunk, from);
                        continue;
                    }
                    Err(error) => Err(error),
                }
            };
            // It was forgotten meanwhile, or the disk failed.
            let last = last.unwrap_or_else(|error| {
                let error = ApiError::from(error);
                let told = json!({ "error": { "code": error.code, "message": error.message } });
                sse::event_at("error", from, &told)
            });
            let _ = to.send(last).await;
            return;
        }
    });
    sse::stream(told)
}

fn told_of(value: &impl Serialize) -> Value {
    // Texts and numbers: there is nothing in it that JSON cannot say.
    serde_json::to_value(value).unwrap_or_default()
}

fn flag(name: &str, value: Option<String>) -> Result<bool, ApiError> {
    match value.as_deref() {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(ApiError::bad("bad_parameter", format!("`{name}` is true or false"))),
    }
}

fn number(name: &str, value: Option<String>) -> Result<Option<u64>, ApiError> {
    let bad = |_| ApiError::bad("bad_parameter", format!("`{name}` is a number of bytes or milliseconds"));
    value.map(|it| it.parse().map_err(bad)).transpose()
}

impl From<ProcessError> for ApiError {
    fn from(error: ProcessError) -> Self {
        use axum::http::StatusCode;
        match error {
            ProcessError::Absent(_) => absent(),
            ProcessError::Call(error) => error.into(),
            ProcessError::Elsewhere(_) | ProcessError::NoInput(_) => {
                Self::new(StatusCode::CONFLICT, error.code(), error.to_string())
            }
            ProcessError::Spool(error) => match error.code() {
                "no_space" => Self::new(StatusCode::INSUFFICIENT_STORAGE, "no_space", error.to_string()),
                "bad_cursor" => Self::bad("bad_cursor", error.to_string()),
                "still_running" => Self::new(StatusCode::CONFLICT, "still_running", error.to_string()),
                _ => Self::internal(&error),
            },
            other => Self::internal(&other),
        }
    }
}
