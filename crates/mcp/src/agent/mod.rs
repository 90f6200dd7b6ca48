//! Runs of agents as tools: `agent_run` opens one and waits for it, `agent_show` and `agent_cancel` are for whoever did not
//! wait to the end. A client that knows tasks gets `agent_run` as a task, whose id is the run's: it outlives the connection
//! and this process as the run does. What a run asks a person is elicited from the client's user, where the client can.
//!
//! What a run may do is said by whoever put the door here, and never by the client.

mod ask;
pub(crate) mod task;

use std::{sync::Arc, time::Duration};

use drydock_embed::{
    SandboxError,
    agent::DockAgents,
    contract::{AgentHead, AgentId, AgentStatus, BoxFuture, Review, ReviewAnswer, ReviewKind, port::Wanted},
};
use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Tool, ToolAnnotations},
    service::RequestContext,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// What a client may say of a run.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentWanted {
    /// What it is asked.
    pub task: String,
    /// What the model is told before everything else.
    #[serde(default)]
    pub system: Option<String>,
    /// Which model, of those that are configured.
    #[serde(default)]
    pub model: Option<String>,
    /// How many turns it may take.
    #[serde(default)]
    pub max_steps: Option<u64>,
    /// The only tools that it is offered.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// Tools each call of which a person is asked about.
    #[serde(default)]
    pub review: Vec<String>,
    /// How long the call waits for the run, in milliseconds; the run goes on without it.
    #[serde(default)]
    pub wait_ms: Option<u64>,
}

/// The way to runs of agents for one caller.
pub trait AgentDoor: Send + Sync {
    /// The runs of the caller's tenant.
    fn agents(&self) -> &DockAgents;

    /// Opens a run with what the caller may have, and sees to it that it is driven.
    fn open(&self, wanted: AgentWanted) -> BoxFuture<'_, Result<AgentId, SandboxError>>;

    /// The name under which the client's user answers what runs ask; none where they may not.
    fn answers_as(&self) -> Option<&str>;

    /// Refuses an answer that is more than they may give.
    fn may_answer(&self, run: &AgentHead, review: &Review, answer: &ReviewAnswer)
    -> Result<(), SandboxError>;

    /// Refuses to end a run that is not theirs to end.
    fn may_end(&self, run: &AgentHead) -> Result<(), SandboxError>;
}

/// The prompt where the client says none.
pub const SYSTEM: &str = "You are a careful agent. Do what the task says with the tools that you have, check what came of \
                          it, and answer with the result alone.";

/// The longest that a call waits for a run, and how long where nobody says it.
const WAIT_MS_MAX: u64 = 600_000;
const WAIT_MS: u64 = 300_000;
/// Reviews of one run that are asked about at once.
const REVIEWS_MAX: usize = 16;

const RUN: &str = "agent_run";
const SHOW: &str = "agent_show";
const CANCEL: &str = "agent_cancel";

/// Whether a tool is one of these.
pub(crate) fn is_ours(name: &str) -> bool {
    matches!(name, RUN | SHOW | CANCEL)
}

/// The tools.
pub(crate) fn tools() -> impl Iterator<Item = Tool> {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let names = |about: &str| json!({ "type": "array", "items": { "type": "string" }, "description": about });
    let number = |about: &str, most: u64| json!({ "type": "integer", "minimum": 1, "maximum": most, "description": about });
    let which =
        json!({ "run": text("The run's id"), "wait_ms": number("How long to wait for it", WAIT_MS_MAX) });
    let run = json!({
        "task": text("What the agent is asked"),
        "system": text("What it is told before everything else"),
        "model": text("Which of the configured models"),
        "max_steps": number("How many turns it may take", 10_000),
        "tools": names("The only tools that it is offered"),
        "review": names("Tools each call of which a person is asked about; * for every one"),
        "wait_ms": number("How long to wait for it; it goes on without the wait", WAIT_MS_MAX),
    });
    let tool = |name, title: &str, about, properties: Value, required: &str, reads| {
        let schema = json!({
            "type": "object", "properties": properties, "required": [required], "additionalProperties": false,
        });
        let schema = Arc::new(schema.as_object().cloned().unwrap_or_default());
        let annotations = ToolAnnotations::with_title(title).read_only(reads).open_world(!reads);
        Tool::new(name, about, schema).with_title(title).with_annotations(annotations)
    };
    let run = tool(
        RUN,
        "Run an agent",
        "Gives a task to another agent, which has a shell over files of its own and works until it is done. Long runs are \
         tasks where the client knows them; otherwise the answer after wait_ms names the run, and agent_show goes on waiting.",
        run,
        "task",
        false,
    );
    let show =
        tool(SHOW, "Show a run", "How far a run of an agent is, and its result.", which.clone(), "run", true);
    let mut ended = which;
    if let Some(all) = ended.as_object_mut() {
        all.remove("wait_ms");
    }
    let cancel = tool(CANCEL, "End a run", "Ends a run of an agent.", ended, "run", false);
    [run, show, cancel].into_iter()
}

/// A run by its id, and how long to wait for it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    run: String,
    #[serde(default)]
    wait_ms: Option<u64>,
}

/// Answers a call of one of these tools.
pub(crate) async fn call(
    door: &Arc<dyn AgentDoor>,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let input = Value::Object(request.arguments.clone().unwrap_or_default());
    let done = match request.name.as_ref() {
        RUN => return run(door, input, request, context).await,
        SHOW => {
            async {
                let which = read::<Which>(input)?;
                let id = id(&which.run)?;
                wait(door.agents(), &id, which.wait_ms.unwrap_or(1)).await
            }
            .await
        }
        _ => {
            async {
                let id = id(&read::<Which>(input)?.run)?;
                end(&**door, &id).await?;
                door.agents().show(&id).await.map_err(failed)
            }
            .await
        }
    };
    Ok(match done {
        Ok(head) => answer(door.agents(), &head).await,
        Err(error) => crate::answer::failed(&error),
    }
    .into())
}

fn read<T: serde::de::DeserializeOwned>(input: Value) -> Result<T, SandboxError> {
    serde_json::from_value(input).map_err(|error| SandboxError::new("bad_input", error.to_string()))
}

/// The id of a run or a review. What can be no id is nobody's.
fn id(text: &str) -> Result<AgentId, SandboxError> {
    text.parse().map_err(|_| SandboxError::new("not_found", "there is no such run"))
}

fn failed(error: drydock_embed::agent::AgentError) -> SandboxError {
    SandboxError::new(error.code(), error.to_string())
}

/// `agent_run`: a task for whoever knows tasks; otherwise the run is waited for, and what it asks is asked of the client.
async fn run(
    door: &Arc<dyn AgentDoor>,
    input: Value,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let done = async {
        let wanted: AgentWanted = read(input)?;
        let wait_ms = wanted.wait_ms.unwrap_or(WAIT_MS);
        // A call that is made again with answers is about the run that asked.
        let id = match &request.request_state {
            Some(state) => id(state)?,
            None => door.open(wanted).await?,
        };
        if let (Some(answers), Some(by)) = (&request.input_responses, door.answers_as()) {
            ask::take(&**door, &id, answers, by).await?;
        }
        Ok::<_, SandboxError>((id, wait_ms))
    };
    let (id, wait_ms) = match done.await {
        Ok(opened) => opened,
        Err(error) => return Ok(crate::answer::failed(&error).into()),
    };
    if context.client_capabilities().is_some_and(|it| it.supports_tasks()) {
        return task::created(door.agents(), &id).await;
    }
    let waited = tokio::select! {
        waited = ask::through(door, &id, wait_ms, context) => waited,
        () = context.ct.cancelled() => {
            // Whoever cancels the call wants nothing of the run any more.
            let _ = end(&**door, &id).await;
            Err(SandboxError::new("cancelled", "cancelled by the caller"))
        }
    };
    Ok(match waited {
        Ok(ask::Through::Over(head)) => answer(door.agents(), &head).await.into(),
        Ok(ask::Through::Asks(asks)) => asks.into(),
        Err(error) => crate::answer::failed(&error).into(),
    })
}

/// Ends a run, if the caller may.
async fn end(door: &dyn AgentDoor, id: &AgentId) -> Result<(), SandboxError> {
    let agents = door.agents();
    door.may_end(&agents.show(id).await.map_err(failed)?)?;
    agents.cancel(id).await.map(drop).map_err(failed)
}

/// Waits until a run is over or asks a person, but no longer than that.
async fn wait(agents: &DockAgents, id: &AgentId, wait_ms: u64) -> Result<AgentHead, SandboxError> {
    let deadline = tokio::time::Instant::now() + Duration::from_millis(wait_ms.min(WAIT_MS_MAX));
    loop {
        let head = agents.show(id).await.map_err(failed)?;
        // What it asks is put where people see it a moment after it says that it waits.
        let asks_nobody = head.status == AgentStatus::Waiting && waiting(agents, id).await?.is_empty();
        if head.status != AgentStatus::Running && !asks_nobody {
            return Ok(head);
        }
        // A number that no event has yet: it is ready when the head changes, or after about a second.
        if tokio::time::timeout_at(deadline, agents.changed(id, u64::MAX)).await.is_err() {
            return Ok(head);
        }
    }
}

/// What of a run is waited for by people.
async fn waiting(agents: &DockAgents, id: &AgentId) -> Result<Vec<Review>, SandboxError> {
    let mut reviews = agents.reviews(Some(id), Wanted::Pending, REVIEWS_MAX).await.map_err(failed)?;
    reviews.retain(|it| it.kind != ReviewKind::Other);
    Ok(reviews)
}

/// A run as the result of a tool.
async fn answer(agents: &DockAgents, head: &AgentHead) -> CallToolResult {
    let reviews = waiting(agents, &head.id).await.unwrap_or_default();
    let result = match head.status {
        AgentStatus::Done => agents.record(&head.id).await.ok().and_then(|it| it.result),
        _ => None,
    };
    let text = match (head.status, &result) {
        (AgentStatus::Done, Some(result)) => result.clone(),
        (AgentStatus::Done, None) => "(no result)".into(),
        (AgentStatus::Running, _) => format!("the run {} goes on; agent_show waits for it", head.id),
        (AgentStatus::Waiting, _) => {
            let asked = reviews.iter().map(|it| format!("{}: {}", it.id, it.title)).collect::<Vec<_>>();
            format!("the run {} waits for a person:\n{}", head.id, asked.join("\n"))
        }
        (AgentStatus::Cancelled, _) => format!("the run {} was cancelled", head.id),
        (AgentStatus::Failed, _) => {
            format!("the run {} failed: {}", head.id, head.reason.as_deref().unwrap_or("unknown"))
        }
    };
    let content = vec![ContentBlock::text(text)];
    let bad = matches!(head.status, AgentStatus::Failed | AgentStatus::Cancelled);
    let mut told = if bad { CallToolResult::error(content) } else { CallToolResult::success(content) };
    told.structured_content = Some(json!({
        "run": head.id, "status": head.status, "steps": head.steps, "usage": head.usage, "reason": head.reason,
        "result": result, "reviews": reviews.iter().map(|it| &it.id).collect::<Vec<_>>(),
    }));
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_says_of_a_run_is_these_fields_and_no_grant() {
        let read = |value: Value| read::<AgentWanted>(value).map_err(|it| it.code);
        assert_eq!(read(json!({ "task": "t" })).unwrap().task, "t");
        for bad in [json!({}), json!({ "task": 1 }), json!({ "task": "t", "grants": [] }), json!([])] {
            assert_eq!(read(bad.clone()), Err("bad_input".into()), "{bad}");
        }
    }

    #[test]
    fn the_tools_say_what_they_take() {
        let names: Vec<_> = tools().map(|it| it.name.to_string()).collect();
        assert_eq!(names, [RUN, SHOW, CANCEL]);
        assert!(names.iter().all(|it| is_ours(it)) && !is_ours("sh"));
        let cancel = tools().last().unwrap();
        assert!(cancel.input_schema["properties"].get("wait_ms").is_none());
    }
}
