//! Runs of agents over HTTP: opened, looked at, ended, gone on with and forked. The server drives them; whoever asked may
//! go away.
//!
//! Nothing of the host is named: no directory, no toolkit, no trust. Whose run it is follows from the token's tenant; going
//! on with one takes whoever opened it, because it has that caller's grants.

use std::sync::Arc;

use axum::{
    body::Body,
    http::{Response, StatusCode},
};
use bytes::Bytes;
use drydock_contract::{AgentHead, AgentId, AgentStatus, Cap, CommandName, GrantSpec};
use drydock_embed::{
    HostEntry,
    agent::{
        AgentChanges, AgentError, AgentFiles, AgentPowers, AgentRun, AgentSpec, DockAgents, Event,
        RunOptions, SESSION_STEPS_MAX,
        definition::{AgentDefinition, DefinitionForm},
    },
    gate::Profile,
    store::{Quota, WorkspaceName, Workspaces},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{broadcast, mpsc};

use super::{kept::whole, off_thread, sandbox};
use crate::{
    agents::Drivers,
    ask::{Answer, Ask},
    caller::{Caller, PROFILE, Power, SAID},
    error::ApiError,
    held::Answers,
    json, sse,
};

/// The largest body that opens or changes a run.
pub(crate) const SPEC_BYTES_MAX: u64 = 2 << 20;
/// Runs that are listed at once, and how many where nobody says it.
const ROWS_MAX: u64 = 256;
const ROWS: u64 = 100;
/// The longest that a reader waits for an event.
const WAIT_MS_MAX: u64 = 60_000;

/// A run that is to be opened.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// What its model is told before everything else, in the place of what a definition says.
    pub(super) system: Option<String>,
    pub(super) task: String,
    pub(super) agent: Option<String>,
    /// Who it is, as a text; what is said beside it comes before what it says.
    pub(super) definition: Option<Definition>,
    /// Where it says nothing of turns, it has those of a session.
    #[serde(default)]
    pub(super) options: RunOptions,
    /// Its files are in this workspace; without a name, in one of its own.
    pub(super) workspace: Option<String>,
    /// Only these commands may run.
    #[serde(default, deserialize_with = "json::few_if_any")]
    pub(super) allow: Option<Vec<CommandName>>,
    #[serde(default, deserialize_with = "json::few")]
    pub(super) allow_host: Vec<HostEntry>,
}

/// The text of a definition.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Definition {
    form: Form,
    text: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Form {
    Org,
    Markdown,
}

/// What is to be different in a run that goes on.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Resuming {
    model: Option<String>,
    options: Option<RunOptions>,
    more_steps: Option<u64>,
    say: Option<String>,
}

/// What is to be different in a fork.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Forking {
    step: u64,
    model: Option<String>,
    options: Option<RunOptions>,
    system: Option<String>,
    task: Option<String>,
    /// Other commands and hosts, in the place of all that the first one was granted.
    #[serde(default, deserialize_with = "json::few_if_any")]
    allow: Option<Vec<CommandName>>,
    #[serde(default, deserialize_with = "json::few_if_any")]
    allow_host: Option<Vec<HostEntry>>,
}

/// The runs of whoever asks.
pub(super) fn agents(caller: &Caller) -> DockAgents {
    caller.state.dock.agents()
}

/// The id in the path. What can be no id is nobody's.
pub(super) fn id(ask: &Ask, what: &str) -> Result<AgentId, ApiError> {
    ask.found("id").parse().map_err(|_| ApiError::absent(what))
}

/// `POST /v1/agents`.
pub(crate) async fn open(mut ask: Ask) -> Answer {
    ask.parameters([])?;
    let wanted: Wanted = ask.json(SPEC_BYTES_MAX).await?;
    let run = opened(&ask.caller, &ask.app.drivers, wanted).await?;
    Ok(json::ok(&agents(&ask.caller).show(&run).await?))
}

/// Opens a run with what the caller may have, and hands it to a task of the server.
pub(super) async fn opened(
    caller: &Caller,
    drivers: &Arc<Drivers>,
    wanted: Wanted,
) -> Result<AgentId, ApiError> {
    let spec = spec_of(caller, wanted)?;
    if let AgentFiles::Workspace(name) = &spec.powers.files {
        caller.may_change(name).await?;
        let (dock, name): (_, WorkspaceName) = (Arc::clone(&caller.state.dock), name.parse()?);
        off_thread::<_, ApiError>(move || {
            let all = Workspaces::of(&dock.home().tenant(dock.tenant()), Quota::default());
            sandbox::room_for(&all, &name)
        })
        .await?;
    }
    let place = drivers.place(&caller.tenant)?;
    let agents = agents(caller);
    let run = agents.open(spec).await?;
    let id = run.id().clone();
    drivers.drive(agents, caller.tenant.clone(), run, place);
    Ok(id)
}

/// What the caller may have of what is wanted.
fn spec_of(caller: &Caller, wanted: Wanted) -> Result<AgentSpec, ApiError> {
    let Wanted { system, task, agent, definition, mut options, workspace, allow, allow_host } = wanted;
    let defined = definition.map(Definition::read).transpose()?.unwrap_or_default();
    let bad = |text| ApiError::bad("bad_input", text);
    if options.model.is_empty() {
        options.model = defined.model.unwrap_or_default();
    }
    if options.model.is_empty() {
        return Err(bad("`options.model` names a model that the server's operator configured"));
    }
    if options.max_steps == RunOptions::default().max_steps {
        options.max_steps = defined.max_steps.unwrap_or(SESSION_STEPS_MAX);
    }
    options.tools = options.tools.or(defined.tools);
    let system = system.or((!defined.prompt.is_empty()).then_some(defined.prompt));
    let system = system.ok_or_else(|| bad("`system` says what its model is told, or a `definition` does"))?;
    let powers = AgentPowers {
        principal: caller.principal.to_string(),
        profile: PROFILE.into(),
        grants: Some(grants_of(caller, allow.as_deref(), &allow_host)?),
        files: workspace.map_or(AgentFiles::Own, AgentFiles::Workspace),
        ..AgentPowers::default()
    };
    Ok(AgentSpec { system, task, agent: agent.or(defined.id).or(defined.name), options, powers })
}

impl Definition {
    fn read(self) -> Result<AgentDefinition, ApiError> {
        let form = match self.form {
            Form::Org => DefinitionForm::Org,
            Form::Markdown => DefinitionForm::Markdown,
        };
        let bad = |code: &str, text: String| ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, code, text);
        let read = AgentDefinition::parse(&self.text, form);
        let defined = read.map_err(|error| bad(error.code(), error.to_string()))?;
        match defined.toolkits.first() {
            None => Ok(defined),
            Some(toolkit) => Err(bad(
                "not_over_http",
                format!(
                    "the definition names the toolkit `{toolkit}`; toolkits are folders of the host, which its owner names: `drydock agent run`"
                ),
            )),
        }
    }
}

/// The grants of these commands and hosts, as far as the caller may have them, and of what everybody has.
fn grants_of(
    caller: &Caller,
    allow: Option<&[CommandName]>,
    allow_host: &[HostEntry],
) -> Result<Vec<GrantSpec>, ApiError> {
    allow_host.iter().try_for_each(|it| caller.may_allow(it))?;
    let mut grants = granted(caller);
    grants.extend(match allow {
        None => Some(GrantSpec::of(Cap::Exec)),
        Some(names) => GrantSpec::exactly(Cap::Exec, names.iter().map(CommandName::as_str)),
    });
    grants.extend(sandbox::network(allow_host, &[]).grants().iter().map(|it| it.spec()));
    Ok(grants)
}

/// What the profile grants to whoever asks. Commands are said by name, and tools and models by being an agent.
fn granted(caller: &Caller) -> Vec<GrantSpec> {
    // Whoever may not ask for what guests keep does not get at it by an agent either.
    let kept = caller.may(Power::Kept).is_ok();
    let has = |cap: &Cap| !SAID.contains(cap) && (kept || !matches!(cap, Cap::Kv | Cap::Queue));
    Profile::named(PROFILE).granted().iter().filter(has).map(GrantSpec::of).collect()
}

/// Hands a run to a task of the server, and answers with its head.
async fn driven(ask: &Ask, agents: DockAgents, run: AgentRun, place: crate::agents::Driving) -> Answer {
    let head = agents.show(run.id()).await?;
    ask.app.drivers.drive(agents, ask.caller.tenant.clone(), run, place);
    Ok(json::ok(&head))
}

/// `GET /v1/agents?after=ID&limit=N`.
pub(crate) async fn list(ask: Ask) -> Answer {
    let [after, limit] = ask.parameters(["after", "limit"])?;
    let bad = |_| ApiError::bad("bad_parameter", "`after` is the id of a run");
    let after: Option<AgentId> = after.map(|it| it.parse().map_err(bad)).transpose()?;
    let limit = whole("limit", limit, ROWS_MAX)?.unwrap_or(ROWS).max(1);
    let rows = usize::try_from(limit).unwrap_or(usize::MAX);
    let heads = agents(&ask.caller).list(after.as_ref(), rows).await?;
    // A full page may have another one behind it.
    let next = heads.last().filter(|_| heads.len() == rows).map(|it| it.id.clone());
    Ok(json::ok(&json!({ "runs": heads, "next": next })))
}

/// `GET /v1/agents/{id}`.
pub(crate) async fn show(ask: Ask) -> Answer {
    ask.parameters([])?;
    Ok(json::ok(&agents(&ask.caller).show(&id(&ask, "run")?).await?))
}

/// `DELETE /v1/agents/{id}`: forgets a run that is over.
pub(crate) async fn remove(ask: Ask) -> Answer {
    ask.parameters([])?;
    let (agents, id) = (agents(&ask.caller), id(&ask, "run")?);
    ask.caller.may_decide(&agents.show(&id).await?)?;
    match agents.remove(&id).await? {
        true => Ok(json::ok(&json!({ "removed": id }))),
        false => Err(ApiError::absent("run")),
    }
}

/// `POST /v1/agents/{id}/cancel`.
pub(crate) async fn cancel(ask: Ask) -> Answer {
    ask.parameters([])?;
    let (agents, id) = (agents(&ask.caller), id(&ask, "run")?);
    ask.caller.may_decide(&agents.show(&id).await?)?;
    let cancelled = agents.cancel(&id).await?;
    Ok(json::ok(&json!({ "id": id, "cancelled": cancelled })))
}

/// `POST /v1/agents/{id}/resume`.
pub(crate) async fn resume(mut ask: Ask) -> Answer {
    ask.parameters([])?;
    // Whose run it is comes before what is said of it.
    let (agents, id) = (agents(&ask.caller), id(&ask, "run")?);
    own(&ask.caller, &agents.show(&id).await?)?;
    let body = ask.body(SPEC_BYTES_MAX).await?;
    let wanted: Resuming = if body.is_empty() { Resuming::default() } else { json::parse(&body)? };
    let place = ask.app.drivers.place(&ask.caller.tenant)?;
    let Resuming { model, options, more_steps, say } = wanted;
    let changes = AgentChanges { model, options, more_steps, say, ..AgentChanges::default() };
    let run = agents.resume(&id, &changes).await?;
    driven(&ask, agents, run, place).await
}

/// `POST /v1/agents/{id}/fork`.
pub(crate) async fn fork(mut ask: Ask) -> Answer {
    ask.parameters([])?;
    let (agents, id) = (agents(&ask.caller), id(&ask, "run")?);
    own(&ask.caller, &agents.show(&id).await?)?;
    let Forking { step, model, options, system, task, allow, allow_host } = ask.json(SPEC_BYTES_MAX).await?;
    let grants = match (&allow, &allow_host) {
        (None, None) => None,
        _ => Some(grants_of(&ask.caller, allow.as_deref(), allow_host.as_deref().unwrap_or_default())?),
    };
    let place = ask.app.drivers.place(&ask.caller.tenant)?;
    let changes = AgentChanges { model, options, system, task, grants, ..AgentChanges::default() };
    let run = agents.fork(&id, step, &changes).await?;
    driven(&ask, agents, run, place).await
}

/// `POST /v1/agents/{id}/replay`: goes through a run again, and says where it differs.
pub(crate) async fn replay(ask: Ask) -> Answer {
    ask.parameters([])?;
    let (agents, id) = (agents(&ask.caller), id(&ask, "run")?);
    // Where there is a tape of it, its tools are at work again.
    own(&ask.caller, &agents.show(&id).await?)?;
    let _turn = ask.turn().await?;
    Ok(json::ok(&agents.replay(&id).await?))
}

/// `GET /v1/issues?after=ID&limit=N`.
pub(crate) async fn issues(ask: Ask) -> Answer {
    let [after, limit] = ask.parameters(["after", "limit"])?;
    let bad = |_| ApiError::bad("bad_parameter", "`after` is the id of an issue");
    let after: Option<AgentId> = after.map(|it| it.parse().map_err(bad)).transpose()?;
    let limit = whole("limit", limit, ROWS_MAX)?.unwrap_or(ROWS).max(1);
    let rows = usize::try_from(limit).unwrap_or(usize::MAX);
    let issues = agents(&ask.caller).issues(after.as_ref(), rows).await?;
    let next = issues.last().filter(|_| issues.len() == rows).map(|it| it.id.clone());
    Ok(json::ok(&json!({ "issues": issues, "next": next })))
}

/// `DELETE /v1/issues/{id}`.
pub(crate) async fn remove_issue(ask: Ask) -> Answer {
    ask.parameters([])?;
    let id = id(&ask, "issue")?;
    match agents(&ask.caller).remove_issue(&id).await? {
        true => Ok(json::ok(&json!({ "removed": id }))),
        false => Err(ApiError::absent("issue")),
    }
}

/// Refuses to go on with what somebody else opened: it has their grants, and a run of the command line sees its directories.
fn own(caller: &Caller, head: &AgentHead) -> Result<(), ApiError> {
    if *head.principal == *caller.principal {
        return Ok(());
    }
    let text =
        "another caller opened this run, and it has that caller's grants: only they go on with it or fork it";
    Err(ApiError::forbidden("another_principal", text))
}

/// `GET /v1/agents/{id}/events?from=N&wait_ms=N`: events from a number on; or all of them as they come.
pub(crate) async fn events(ask: Ask) -> Answer {
    let [from, wait_ms] = ask.parameters(["from", "wait_ms"])?;
    let (agents, id) = (agents(&ask.caller), id(&ask, "run")?);
    let last = ask.parts.headers.get("last-event-id").and_then(|it| it.to_str().ok()).map(str::to_owned);
    let streams = ask.wants_events();
    let from = whole("from", last.filter(|_| streams).or(from), u64::MAX)?.unwrap_or(0);
    let wait_ms = whole("wait_ms", wait_ms, WAIT_MS_MAX)?.unwrap_or(0);
    if streams {
        agents.show(&id).await?;
        let words = ask.app.drivers.words_of(&id);
        return Ok(follow(agents, id, from, (words, ask.caller.state.answers.clone())));
    }
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_millis(wait_ms);
    loop {
        let turn = ask.turn().await?;
        let piece = Piece::read(&agents, &id, from).await?;
        if !piece.events.is_empty() || piece.is_end() {
            return Ok(json::ok(&piece.told(from)));
        }
        // Whoever waits holds nobody else up.
        drop(turn);
        if tokio::time::timeout_at(deadline, agents.changed(&id, from)).await.is_err() {
            return Ok(json::ok(&piece.told(from)));
        }
    }
}

/// Some events of a run, and how far it was before they were read.
struct Piece {
    head: AgentHead,
    events: Vec<Event>,
}

impl Piece {
    async fn read(agents: &DockAgents, id: &AgentId, from: u64) -> Result<Self, AgentError> {
        // The head first: what was written before it is among the events.
        let head = agents.show(id).await?;
        Ok(Self { head, events: agents.events(id, from).await? })
    }

    /// Whether nothing more comes unless somebody resumes the run or answers.
    fn is_end(&self) -> bool {
        self.events.is_empty() && self.head.status != AgentStatus::Running
    }

    fn told(&self, from: u64) -> Value {
        let next = from.saturating_add(self.events.len() as u64);
        json!({ "from": from, "next": next, "events": self.events, "status": self.head.status, "end": self.is_end() })
    }
}

/// Tells events as they are written, from any number on, and the head at the end. Whoever listens slowly holds up nothing
/// but this: the rest waits on the disk. A run that waits for a person is told so, and goes on being told.
fn follow(
    agents: DockAgents,
    id: AgentId,
    mut from: u64,
    (mut words, answers): (broadcast::Receiver<String>, Answers),
) -> Response<Body> {
    let (to, told) = mpsc::channel::<Bytes>(1);
    tokio::spawn(async move {
        loop {
            let piece = match Piece::read(&agents, &id, from).await {
                Ok(piece) => piece,
                // It was forgotten meanwhile, or the disk failed.
                Err(error) => {
                    let error = ApiError::from(error);
                    let told = json!({ "error": { "code": error.code, "message": error.message } });
                    let _ = to.send(sse::event_at("error", from, &told)).await;
                    return;
                }
            };
            // What was said of a turn comes before it.
            while let Ok(said) = words.try_recv() {
                if to.send(sse::event("words", &json!({ "text": said }))).await.is_err() {
                    return;
                }
            }
            let Piece { head, events } = piece;
            let is_end = events.is_empty() && head.status.is_over();
            // What waits for whoever listens is bytes, and counted: what they were read into takes many times as much.
            let mut frames = Vec::with_capacity(events.len());
            for (number, event) in (from + 1..).zip(events) {
                let told = serde_json::to_value(&event).unwrap_or_default();
                drop(event);
                let name = told["event"].as_str().unwrap_or("event").to_owned();
                frames.push(sse::event_at(&name, number, &told));
            }
            let held = answers.hold(frames.iter().map(|it| it.len() as u64).sum());
            if answers.is_full() {
                // Whoever comes again goes on after the last number that they were told.
                return;
            }
            for frame in frames {
                from += 1;
                if to.send(frame).await.is_err() {
                    return;
                }
            }
            drop(held);
            if is_end {
                let told = serde_json::to_value(&head).unwrap_or_default();
                let _ = to.send(sse::event_at("end", from, &told)).await;
                return;
            }
            let changed = agents.changed(&id, from);
            tokio::pin!(changed);
            loop {
                tokio::select! {
                    () = to.closed() => return,
                    () = &mut changed => break,
                    said = words.recv() => match said {
                        // Without a number: they are not kept, and whoever comes again reads the turn.
                        Ok(said) => {
                            let told = json!({ "text": said });
                            if to.send(sse::event("words", &told)).await.is_err() {
                                return;
                            }
                        }
                        Err(broadcast::error::RecvError::Lagged(_)) => {}
                        Err(broadcast::error::RecvError::Closed) => {
                            changed.await;
                            break;
                        }
                    },
                }
            }
        }
    });
    sse::stream(told)
}
