//! Commands, lines and programs: what the command line does, with JSON in and a record out, or told while it goes on.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use drydock_contract::{Cap, CapSet, CommandName, Limits, port::Clock as _};
use drydock_embed::{
    BadSetup, Dock, HostEntry, Network, Room, Sandbox, SandboxSetup, Setup, ShellSetup, SystemClock, Tree,
    UrlEntry, Watch,
    egress::Rules,
    gate::{BUILTIN_MEMORY_BYTES_MAX, DefaultLimits, Profile},
    line_limits,
    shell::Mode,
    store::{Links, Quota, WorkspaceName, Workspaces},
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::off_thread;
use crate::{
    ask::{Answer, Ask},
    caller::{Caller, Power},
    error::ApiError,
    json,
    sse::Events,
};

/// The largest body.
const BODY_BYTES_MAX: u64 = 16 << 20;
/// Bytes of stdout and of stderr, each.
const OUTPUT_BYTES_MAX: u64 = 1 << 20;
/// Time of a line or a command, and of a program, where nobody asks for another; nobody may ask for more.
pub(super) const LINE_MS: u64 = 120_000;
pub(super) const PROGRAM_MS: u64 = 30_000;
/// Memory of a guest that somebody may ask for.
const MEMORY_MB_MAX: u64 = 4_096;
/// Workspaces of a tenant that callers over HTTP may make.
pub(super) const WORKSPACES_MAX: usize = 1_000;

/// What is said of a run besides what the sandbox's operation takes.
#[derive(Default, Deserialize)]
pub(super) struct Asked {
    pub(super) workspace: Option<String>,
    #[serde(default)]
    pub(super) files: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "json::few_if_any")]
    pub(super) allow: Option<Vec<CommandName>>,
    #[serde(default, deserialize_with = "json::few")]
    pub(super) allow_host: Vec<HostEntry>,
    #[serde(default, deserialize_with = "json::few")]
    pub(super) allow_url: Vec<UrlEntry>,
    pub(super) timeout_ms: Option<u64>,
    pub(super) memory_mb: Option<u64>,
    #[serde(flatten)]
    pub(super) input: Map<String, Value>,
}

/// `POST /v1/run`.
pub(crate) async fn run(ask: Ask) -> Answer {
    operate(ask, "run", LINE_MS).await
}

/// `POST /v1/sh`.
pub(crate) async fn sh(ask: Ask) -> Answer {
    operate(ask, "sh", LINE_MS).await
}

/// `POST /v1/js`.
pub(crate) async fn js(ask: Ask) -> Answer {
    operate(ask, "js", PROGRAM_MS).await
}

/// `POST /v1/py`.
pub(crate) async fn py(ask: Ask) -> Answer {
    operate(ask, "py", PROGRAM_MS).await
}

async fn operate(mut ask: Ask, operation: &'static str, usual_ms: u64) -> Answer {
    ask.parameters([])?;
    let mut asked: Asked = ask.json(BODY_BYTES_MAX).await?;
    let timeout_ms = ask.caller.timeout_ms(asked.timeout_ms, usual_ms)?.min(usual_ms);
    asked.input.insert("timeout_ms".into(), timeout_ms.into());
    let memory_bytes_max = memory(&ask.caller, asked.memory_mb)?;
    let turn = ask.turn().await?;
    let input = Value::Object(std::mem::take(&mut asked.input));
    let sandbox = open(&ask.caller, asked, memory_bytes_max).await?;
    if !ask.wants_events() {
        let done = sandbox.call(operation, input, &Watch::default()).await;
        drop(turn);
        return Ok(json::ok(&done?));
    }
    let events = Events::new(&ask.caller.state.answers);
    let watch = events.watch();
    Ok(events.answer(async move {
        let done = sandbox.call(operation, input, &watch).await;
        drop(turn);
        Ok(done?)
    }))
}

/// The memory that was asked for, if the caller may have it; nothing where it is nobody's choice.
pub(super) fn memory(caller: &Caller, asked: Option<u64>) -> Result<Option<u64>, ApiError> {
    let memory_mb = match asked {
        Some(wanted) if !(1..=MEMORY_MB_MAX).contains(&wanted) => {
            return Err(ApiError::bad("bad_input", format!("memory_mb is from 1 to {MEMORY_MB_MAX}")));
        }
        wanted => caller.memory_mb(wanted, u64::MAX)?,
    };
    Ok((memory_mb < u64::MAX).then_some(memory_mb << 20))
}

/// Why a session cannot be opened so.
pub(super) fn bad(error: &BadSetup) -> ApiError {
    match error {
        BadSetup::File { .. } => ApiError::bad("bad_path", error.to_string()),
        BadSetup::Variable(_) => ApiError::bad("bad_input", error.to_string()),
        BadSetup::Denied(denial) => drydock_contract::CallError::from(denial.clone()).into(),
        other => ApiError::internal(other),
    }
}

/// Limits of a line or a command whose output is an answer.
pub(super) fn answer_limits(timeout_ms: u64) -> Limits {
    let wall_max = Duration::from_millis(timeout_ms).min(line_limits().wall_max);
    Limits {
        wall_max,
        stdout_bytes_max: OUTPUT_BYTES_MAX,
        stderr_bytes_max: OUTPUT_BYTES_MAX,
        ..line_limits()
    }
}

/// Limits of a program.
pub(super) fn program_limits(timeout_ms: u64) -> Limits {
    Limits { wall_max: Duration::from_millis(timeout_ms), ..Limits::default() }
}

/// A sandbox of the tenant, over one of its workspaces or over files that end with it.
async fn open(caller: &Caller, asked: Asked, memory_bytes_max: Option<u64>) -> Result<Sandbox, ApiError> {
    let (setup, shell) = setup(caller, asked, answer_limits(LINE_MS), memory_bytes_max).await?;
    let program = program_limits(PROGRAM_MS);
    let principal = caller.principal.to_string();
    let wanted = SandboxSetup { principal, setup, shell, bases: Vec::new(), program, allow_commit: false };
    Sandbox::open(Arc::clone(&caller.state.dock), wanted).map_err(|error| bad(&error))
}

/// What is run for a tenant has the profile `minimal`, what was asked for, and these limits with memory of its own.
pub(super) async fn setup(
    caller: &Caller,
    asked: Asked,
    limits: Limits,
    memory_bytes_max: Option<u64>,
) -> Result<(Setup, ShellSetup), ApiError> {
    asked.allow_host.iter().try_for_each(|it| caller.may_allow(it))?;
    asked.allow_url.iter().try_for_each(|it| caller.may_allow_url(it))?;
    let profile = Profile::named("minimal");
    let limits = Limits { memory_bytes_max: memory_bytes_max.unwrap_or(profile.memory_bytes_max), ..limits };
    let usual = BUILTIN_MEMORY_BYTES_MAX.max(profile.memory_bytes_max);
    // Whoever may not ask for what guests keep does not get at it by a program either.
    let withheld = match caller.may(Power::Kept) {
        Ok(()) => CapSet::EMPTY,
        Err(_) => CapSet::of(&[Cap::Kv, Cap::Queue]),
    };
    let mut setup = Setup {
        profile,
        withheld,
        allow: asked.allow,
        network: network(&asked.allow_host, &asked.allow_url),
        limits: Some(limits),
        default_limits: Some(DefaultLimits {
            memory: memory_bytes_max.is_none(),
            line_memory: true,
            wall: asked.timeout_ms.is_none(),
            fuel: true,
        }),
        builtin_memory_bytes_max: Some(memory_bytes_max.unwrap_or(usual)),
        ..Setup::default()
    };
    // As `drydock sh` reads a line.
    let mode = Mode { literal_unknown: true, ..Mode::default() };
    let mut shell = ShellSetup { mode, ..ShellSetup::default() };
    let dock = Arc::clone(&caller.state.dock);
    match asked.workspace {
        None if asked.files.is_empty() => {}
        None => setup = setup.with_files(asked.files).map_err(|error| bad(&error))?,
        Some(name) => {
            caller.may_change(&name).await?;
            let tree = workspace(&dock, name, asked.files).await?;
            (setup.files, shell.roots, shell.cwd) = (Some(tree.files), tree.roots, tree.cwd);
        }
    }
    Ok((setup, shell))
}

/// Hosts by their names, and parts of them. No address that is not public is opened by one, whatever it says.
pub(super) fn network(hosts: &[HostEntry], urls: &[UrlEntry]) -> Network {
    let hosts = hosts.iter().map(|it| it.0.clone()).collect();
    let urls = urls.iter().map(|it| it.0.clone()).collect();
    Network { rules: Rules { hosts, urls, ..Rules::default() }, injected: Vec::new() }
}

/// The files of a workspace, with these put into it before.
async fn workspace(
    dock: &Arc<Dock>,
    name: String,
    files: BTreeMap<String, String>,
) -> Result<Tree, ApiError> {
    let dock = Arc::clone(dock);
    off_thread(move || {
        let name: WorkspaceName = name.parse()?;
        let home = dock.home().tenant(dock.tenant());
        let all = Workspaces::of(&home, Quota::default());
        room_for(&all, &name)?;
        if !files.is_empty() {
            let workspace = all.open_or_create(&name)?;
            for (path, text) in &files {
                let put = workspace.put(path, text.as_bytes(), SystemClock.now());
                put.map_err(|error| super::workspace::of_file(path, &error))?;
            }
        }
        let room = Room::new(BUILTIN_MEMORY_BYTES_MAX, None, Links::Inside);
        Tree::open(&home, Some(&name), &[], room)?.ok_or_else(|| ApiError::absent("workspace"))
    })
    .await
}

/// Refuses to make one workspace too many.
pub(super) fn room_for(all: &Workspaces, name: &WorkspaceName) -> Result<(), ApiError> {
    let there = all.list().map_err(|error| ApiError::internal(&error))?;
    if there.len() >= WORKSPACES_MAX && !there.contains(name) {
        let text = format!("this tenant has {WORKSPACES_MAX} workspaces already; remove some");
        return Err(ApiError::new(axum::http::StatusCode::INSUFFICIENT_STORAGE, "too_many_workspaces", text));
    }
    Ok(())
}
