//! What a run asks a person, asked of the client's user by a form: approve once, for the session, with a limit, or deny with
//! a reason. Revisions with a handshake are asked on the way of the call; the newest gets the forms as an answer, and calls
//! again with what came of them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use drydock_embed::{
    SandboxError,
    agent::{AgentError, DockAgents},
    contract::{AgentHead, AgentId, AgentStatus, Review, ReviewAnswer, port::AgentRefusal},
};
use rmcp::{
    RoleServer,
    model::{
        ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, InputRequest, InputRequests,
        InputRequiredResult, ProtocolVersion,
    },
    service::{ElicitationMode, RequestContext},
};
use serde_json::{Value, json};

use super::{AgentDoor, failed, wait, waiting};

/// How long a form is waited for; afterwards the review stays, and others may answer it.
const FORM_MAX: Duration = Duration::from_secs(10 * 60);
/// As much of what would happen as a form shows.
const SHOWN_CHARS_MAX: usize = 4_000;

/// How often a call looks at a run that waits: each look takes about a second, or as long as a form does.
const ROUNDS_MAX: u32 = 300;

/// How a call of `agent_run` went on.
pub(super) enum Through {
    /// The run is over, waits for somebody else, or goes on without the call.
    Over(AgentHead),
    /// The client's user is asked first.
    Asks(InputRequiredResult),
}

/// How the client can be asked.
enum Way {
    /// Not at all.
    None,
    /// By a request on the way.
    Request,
    /// By an answer that asks.
    Answer,
}

/// Waits for a run through what it asks.
pub(super) async fn through(
    door: &Arc<dyn AgentDoor>,
    id: &AgentId,
    wait_ms: u64,
    context: &RequestContext<RoleServer>,
) -> Result<Through, SandboxError> {
    let agents = door.agents();
    // Forms are waited for as long as people take; a run that nobody drives is not.
    let mut rounds = ROUNDS_MAX;
    loop {
        let head = wait(agents, id, wait_ms).await?;
        rounds = rounds.saturating_sub(1);
        let by = match door.answers_as() {
            Some(by) if head.status == AgentStatus::Waiting && rounds > 0 => by,
            _ => return Ok(Through::Over(head)),
        };
        match way(context) {
            Way::None => return Ok(Through::Over(head)),
            Way::Answer => {
                let forms = forms(agents, id).await?;
                // It was answered, and whoever drives it has not heard of it yet.
                if forms.is_empty() {
                    agents.changed(id, u64::MAX).await;
                    continue;
                }
                return Ok(Through::Asks(InputRequiredResult::new(Some(forms), Some(id.to_string()))));
            }
            Way::Request => {
                for review in waiting(agents, id).await? {
                    let asked =
                        context.peer.create_elicitation_with_timeout(form(&review)?, Some(FORM_MAX)).await;
                    // Who does not answer leaves it to others.
                    let Ok(answered) = asked else { return Ok(Through::Over(head)) };
                    let Some(answer) = answer_of(&answered)? else { return Ok(Through::Over(head)) };
                    give(agents, &review.id, answer, by).await?;
                }
                agents.until_answered(id).await.map_err(failed)?;
                // Whoever drives it hears of it a moment later.
                agents.changed(id, u64::MAX).await;
            }
        }
    }
}

fn way(context: &RequestContext<RoleServer>) -> Way {
    let newest =
        context.protocol_version().is_some_and(|it| it.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
    let declared = context.client_capabilities().and_then(|it| it.elicitation);
    match (newest, declared) {
        (true, Some(has)) if has.form.is_some() || has.url.is_none() => Way::Answer,
        (false, Some(_)) if context.peer.supported_elicitation_modes().contains(&ElicitationMode::Form) => {
            Way::Request
        }
        _ => Way::None,
    }
}

/// The forms for all that a run waits for, by the ids of the reviews.
pub(super) async fn forms(agents: &DockAgents, id: &AgentId) -> Result<InputRequests, SandboxError> {
    let forms = waiting(agents, id).await?.into_iter().map(|review| {
        let request = ElicitRequest::new(form(&review)?);
        Ok((review.id.to_string(), InputRequest::Elicitation(request)))
    });
    forms.collect::<Result<BTreeMap<_, _>, SandboxError>>()
}

/// One form.
fn form(review: &Review) -> Result<ElicitRequestParams, SandboxError> {
    let what = serde_json::to_string_pretty(&review.what).unwrap_or_default();
    let grant = review.grant.as_ref().map(|it| format!("\n\nAsked for: {it}")).unwrap_or_default();
    let cut = |text: &str| text.chars().take(SHOWN_CHARS_MAX).collect::<String>();
    let form = json!({
        "mode": "form",
        "message": format!("{}\n\n{}{grant}", cut(&review.title), cut(&what)),
        "requestedSchema": {
            "type": "object",
            "properties": {
                "decision": { "type": "string", "title": "Decision", "enum": ["once", "session", "limit", "deny"] },
                "limit": {
                    "type": "integer", "title": "Limit", "minimum": 1,
                    "description": "With the decision limit: how many calls, tokens or millionths of money",
                },
                "reason": { "type": "string", "title": "Reason", "description": "With the decision deny: the agent reads it" },
            },
            "required": ["decision"],
        },
    });
    let broken = |error: serde_json::Error| SandboxError::new("internal_error", error.to_string());
    serde_json::from_value(form).map_err(broken)
}

/// What the client's user said; nothing where they closed the form. Who declines it says no.
fn answer_of(told: &ElicitResult) -> Result<Option<ReviewAnswer>, SandboxError> {
    let bad = || SandboxError::new("bad_input", "the form was filled in with a decision that is none");
    match told.action {
        ElicitationAction::Accept => {}
        ElicitationAction::Decline => return Ok(Some(ReviewAnswer::Deny { reason: String::new() })),
        _ => return Ok(None),
    }
    let content = told.content.as_ref().ok_or_else(bad)?;
    Ok(Some(match content["decision"].as_str() {
        Some("once") => ReviewAnswer::Once,
        Some("session") => ReviewAnswer::Session,
        Some("limit") => {
            let limit = content["limit"].as_u64().filter(|it| *it > 0);
            let limit =
                limit.ok_or_else(|| SandboxError::new("bad_input", "the decision `limit` needs a limit"))?;
            ReviewAnswer::Limit { limit }
        }
        Some("deny") => {
            ReviewAnswer::Deny { reason: content["reason"].as_str().unwrap_or_default().to_owned() }
        }
        _ => return Err(bad()),
    }))
}

/// Takes answers to forms. Only those of this run count; one that somebody else answered meanwhile is theirs.
pub(super) async fn take(
    agents: &DockAgents,
    id: &AgentId,
    answers: &BTreeMap<String, Value>,
    by: &str,
) -> Result<(), SandboxError> {
    for review in waiting(agents, id).await? {
        let Some(told) = answers.get(review.id.as_str()) else { continue };
        let told: ElicitResult = serde_json::from_value(told.clone())
            .map_err(|error| SandboxError::new("bad_input", format!("the answer to a form: {error}")))?;
        if let Some(answer) = answer_of(&told)? {
            give(agents, &review.id, answer, by).await?;
        }
    }
    Ok(())
}

async fn give(agents: &DockAgents, id: &AgentId, answer: ReviewAnswer, by: &str) -> Result<(), SandboxError> {
    match agents.answer(id, answer, by).await {
        Ok(_)
        | Err(AgentError::Refused(AgentRefusal::Answered | AgentRefusal::Expired | AgentRefusal::Absent)) => {
            Ok(())
        }
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use drydock_embed::contract::{ReviewKind, ReviewState};

    use super::*;

    fn told(action: ElicitationAction, content: Value) -> Result<Option<ReviewAnswer>, String> {
        answer_of(&ElicitResult::new(action).with_content(content)).map_err(|it| it.code)
    }

    #[test]
    fn a_form_that_was_filled_in_is_an_answer_and_one_that_was_not_is_none() {
        use ElicitationAction::{Accept, Cancel, Decline};
        let deny = |reason: &str| Ok(Some(ReviewAnswer::Deny { reason: reason.into() }));
        let bad = || Err("bad_input".to_owned());
        for (action, content, want) in [
            (Accept, json!({ "decision": "once" }), Ok(Some(ReviewAnswer::Once))),
            (Accept, json!({ "decision": "session" }), Ok(Some(ReviewAnswer::Session))),
            (Accept, json!({ "decision": "limit", "limit": 3 }), Ok(Some(ReviewAnswer::Limit { limit: 3 }))),
            (Accept, json!({ "decision": "limit", "limit": 0 }), bad()),
            (Accept, json!({ "decision": "limit" }), bad()),
            (Accept, json!({ "decision": "deny", "reason": "no" }), deny("no")),
            (Accept, json!({ "decision": "yes" }), bad()),
            (Accept, json!({}), bad()),
            (Accept, json!("once"), bad()),
            (Decline, json!(null), deny("")),
            (Cancel, json!(null), Ok(None)),
        ] {
            assert_eq!(told(action.clone(), content.clone()), want, "{action:?} {content}");
        }
        assert_eq!(answer_of(&ElicitResult::new(Accept)).map_err(|it| it.code), bad());
    }

    #[test]
    fn a_form_shows_what_would_happen_and_asks_for_a_decision() {
        let review = Review {
            id: AgentId::of(1),
            run: AgentId::of(2),
            call: None,
            kind: ReviewKind::Grant,
            title: "may it reach example.com".into(),
            what: json!({ "host": "example.com", "long": "x".repeat(10_000) }),
            grant: Some(json!({ "cap": "net" })),
            asked_ms: 0,
            expires_ms: None,
            state: ReviewState::Pending,
        };
        let told = serde_json::to_value(form(&review).unwrap()).unwrap();
        let message = told["message"].as_str().unwrap();
        assert!(message.starts_with("may it reach example.com") && message.ends_with(r#"{"cap":"net"}"#));
        assert!(message.len() < 5_000);
        assert_eq!(told["requestedSchema"]["required"], json!(["decision"]));
    }
}
