//! Runs as tasks of the protocol's extension. A task is the run itself: its id, its state and its result are read from what
//! is kept of it, so a task survives whoever asked for it, and nothing of it is kept here.

use drydock_embed::{
    agent::DockAgents,
    contract::{AgentHead, AgentId, AgentStatus, Timestamp},
};
use rmcp::{
    ErrorData,
    model::{
        CallToolResponse, CreateTaskResult, DetailedTask, GetTaskResult, InputResponses, Task, TaskPayload,
        TaskStatus,
    },
};

use super::{AgentDoor, ask};

/// How often a client may ask how far a task is.
const POLL_MS: u64 = 1_000;

/// The task that a run is.
pub(super) async fn created(agents: &DockAgents, id: &AgentId) -> Result<CallToolResponse, ErrorData> {
    let head = head(agents, id).await?;
    let status = match head.status {
        AgentStatus::Running => TaskStatus::Working,
        AgentStatus::Waiting => TaskStatus::InputRequired,
        AgentStatus::Cancelled => TaskStatus::Cancelled,
        AgentStatus::Done | AgentStatus::Failed => TaskStatus::Completed,
    };
    Ok(CreateTaskResult::new(task(&head, status)).into())
}

/// How far a task is.
pub(crate) async fn get(door: &dyn AgentDoor, id: &str) -> Result<GetTaskResult, ErrorData> {
    let agents = door.agents();
    let head = head(agents, &read(id)?).await?;
    let payload = match head.status {
        AgentStatus::Running => TaskPayload::Working,
        // Where the client's user may not answer, somebody else will.
        AgentStatus::Waiting if door.answers_as().is_none() => TaskPayload::Working,
        AgentStatus::Waiting => match ask::forms(agents, &head.id).await.map_err(internal)? {
            // It was answered, and whoever drives it has not heard of it yet.
            forms if forms.is_empty() => TaskPayload::Working,
            input_requests => TaskPayload::InputRequired { input_requests },
        },
        AgentStatus::Cancelled => TaskPayload::Cancelled,
        // A run that failed is a result, with the word for it: only a call that cannot be made is an error.
        AgentStatus::Done | AgentStatus::Failed => {
            let answer = serde_json::to_value(super::answer(agents, &head).await);
            let result = answer.ok().and_then(|it| it.as_object().cloned()).unwrap_or_default();
            TaskPayload::Completed { result }
        }
    };
    let status = payload.status();
    Ok(GetTaskResult::new(DetailedTask::new(task(&head, status), payload)))
}

/// Takes answers to what a task asked.
pub(crate) async fn update(
    door: &dyn AgentDoor,
    id: &str,
    answers: &InputResponses,
) -> Result<(), ErrorData> {
    let id = read(id)?;
    head(door.agents(), &id).await?;
    let Some(by) = door.answers_as() else {
        return Err(ErrorData::invalid_request("this caller may not answer what runs ask", None));
    };
    let taken = ask::take(door, &id, answers, by).await;
    taken.map_err(|error| ErrorData::invalid_params(error.message, None))
}

/// Ends a task.
pub(crate) async fn cancel(door: &dyn AgentDoor, id: &str) -> Result<(), ErrorData> {
    let id = read(id)?;
    head(door.agents(), &id).await?;
    super::end(door, &id).await.map_err(|error| ErrorData::invalid_request(error.message, None))
}

fn task(head: &AgentHead, status: TaskStatus) -> Task {
    let when = |ms: u64| Timestamp(ms.saturating_mul(1_000_000)).to_rfc3339();
    let told = format!("{} after {} turns", head.status.as_str(), head.steps);
    Task::new(head.id.as_str(), status, when(head.started_ms), when(head.updated_ms))
        .with_status_message(told)
        .with_poll_interval_ms(POLL_MS)
}

fn read(id: &str) -> Result<AgentId, ErrorData> {
    id.parse().map_err(|_| absent())
}

async fn head(agents: &DockAgents, id: &AgentId) -> Result<AgentHead, ErrorData> {
    agents.show(id).await.map_err(|error| absent_or(&error))
}

fn absent() -> ErrorData {
    ErrorData::invalid_params("there is no such task", None)
}

fn absent_or(error: &drydock_embed::agent::AgentError) -> ErrorData {
    if error.code() == "not_found" { absent() } else { ErrorData::internal_error(error.to_string(), None) }
}

fn internal(error: drydock_embed::SandboxError) -> ErrorData {
    ErrorData::internal_error(format!("{}: {}", error.code, error.message), None)
}
