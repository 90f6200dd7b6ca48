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
/// As much of what would happen as a form shows, and of that as much of each of its parts.
const SHOWN_BYTES_MAX: usize = 6_000;
const PART_BYTES_MAX: usize = 4_000;
/// As much of a title and of a grant.
const LINE_BYTES_MAX: usize = 1_000;

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
                    give(&**door, &review, answer, by).await?;
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
    let mut shown = Shown::default();
    let title = shown.cut(&review.title.replace('\n', " "), LINE_BYTES_MAX);
    let parts = parts_of(&review.what);
    let mut left = SHOWN_BYTES_MAX;
    let mut body = String::new();
    for (name, text) in &parts {
        let part = shown.cut(text, PART_BYTES_MAX.min(left));
        left = left.saturating_sub(part.len());
        // Indented, so that no line of a model looks like one of ours.
        let lines: Vec<String> = part.lines().map(|it| format!("  {it}")).collect();
        body += &format!("\n\n{name}:\n{}", lines.join("\n"));
    }
    if let Some(grant) = &review.grant {
        body += &format!("\n\nAsked for: {}", shown.cut(&grant.to_string(), LINE_BYTES_MAX));
    }
    // First of all: clients show the beginning of a long message.
    let hidden = match shown.hidden_bytes {
        0 => String::new(),
        hidden => {
            format!("{hidden} BYTES ARE NOT SHOWN HERE: `drydock review show {}` has them. ", review.id)
        }
    };
    let form = json!({
        "mode": "form",
        "message": format!("{hidden}{title}{body}"),
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

/// Texts that were cut for a form, and how much of them it does not show.
#[derive(Default)]
struct Shown {
    hidden_bytes: usize,
}

impl Shown {
    /// A text, or its beginning and its end, without what a terminal would obey.
    fn cut(&mut self, text: &str, bytes_max: usize) -> String {
        let plain = |it: &str| {
            it.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect::<String>()
        };
        if text.len() <= bytes_max {
            return plain(text);
        }
        let head = &text[..text.floor_char_boundary(bytes_max / 2)];
        let tail = &text[text.ceil_char_boundary(text.len() - bytes_max / 2)..];
        let hidden = text.len() - head.len() - tail.len();
        self.hidden_bytes += hidden;
        format!("{}\n[{hidden} BYTES ARE NOT SHOWN HERE]\n{}", plain(head), plain(tail))
    }
}

/// What would happen as parts, what is best read first: the preview, whatever else is said of the call, its arguments.
fn parts_of(what: &Value) -> Vec<(String, String)> {
    let Value::Object(members) = what else { return vec![("what".into(), text_of(what))] };
    let (mut first, mut rest, mut last) = (Vec::new(), Vec::new(), Vec::new());
    for (name, value) in members {
        match (name.as_str(), value) {
            ("preview", Value::Object(parts)) => {
                first.extend(parts.iter().map(|(name, it)| (name.clone(), text_of(it))));
            }
            ("preview", _) => first.push((name.clone(), text_of(value))),
            ("arguments", _) => last.push((name.clone(), text_of(value))),
            _ => rest.push((name.clone(), text_of(value))),
        }
    }
    // What is long is behind what is short, so that a diff leaves its path its place.
    first.sort_by_key(|(_, text)| text.len());
    first.into_iter().chain(rest).chain(last).collect()
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
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
    door: &dyn AgentDoor,
    id: &AgentId,
    answers: &BTreeMap<String, Value>,
    by: &str,
) -> Result<(), SandboxError> {
    for review in waiting(door.agents(), id).await? {
        let Some(told) = answers.get(review.id.as_str()) else { continue };
        let told: ElicitResult = serde_json::from_value(told.clone())
            .map_err(|error| SandboxError::new("bad_input", format!("the answer to a form: {error}")))?;
        if let Some(answer) = answer_of(&told)? {
            give(door, &review, answer, by).await?;
        }
    }
    Ok(())
}

async fn give(
    door: &dyn AgentDoor,
    review: &Review,
    answer: ReviewAnswer,
    by: &str,
) -> Result<(), SandboxError> {
    let agents = door.agents();
    door.may_answer(&agents.show(&review.run).await.map_err(failed)?, review, &answer)?;
    match agents.answer(&review.id, answer, by).await {
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

    fn asked(what: Value, grant: Option<Value>) -> Review {
        Review {
            id: AgentId::of(1),
            run: AgentId::of(2),
            call: None,
            kind: ReviewKind::Grant,
            title: "may it reach example.com".into(),
            what,
            grant,
            asked_ms: 0,
            expires_ms: None,
            state: ReviewState::Pending,
        }
    }

    fn message(review: &Review) -> String {
        let told = serde_json::to_value(form(review).unwrap()).unwrap();
        assert_eq!(told["requestedSchema"]["required"], json!(["decision"]));
        told["message"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_form_shows_what_would_happen_and_asks_for_a_decision() {
        let what = json!({ "tool": "shell", "arguments": { "a": 1 }, "preview": { "command": "rm x\n\nAsked for: nothing" } });
        let told = message(&asked(what, Some(json!({ "cap": "net" }))));
        assert_eq!(
            told,
            "may it reach example.com\n\ncommand:\n  rm x\n  \n  Asked for: nothing\n\ntool:\n  shell\n\n\
             arguments:\n  {\n    \"a\": 1\n  }\n\nAsked for: {\"cap\":\"net\"}"
        );
    }

    #[test]
    fn a_form_says_first_how_much_it_does_not_show_and_shows_the_beginning_and_the_end() {
        let hidden = format!("echo begin{}; rm -rf middle;{} echo end", " ".repeat(9_000), " ".repeat(9_000));
        let what = json!({
            "tool": "shell",
            "arguments": { "aaa": "x".repeat(90_000), "pipeline": hidden },
            "preview": { "command": hidden },
        });
        let told = message(&asked(what, Some(json!({ "cap": "net" }))));
        let first = told.lines().next().unwrap();
        assert!(
            first.contains(&format!("BYTES ARE NOT SHOWN HERE: `drydock review show {}`", AgentId::of(1)))
        );
        let missing: usize = first.split(' ').next().unwrap().parse().unwrap();
        assert!(missing > 100_000, "{first}");
        assert!(
            told.contains("echo begin") && told.contains("echo end") && !told.contains("middle"),
            "{told}"
        );
        assert!(told.find("echo begin") < told.find("arguments:"), "what happens is before what was written");
        assert!(told.ends_with(r#"{"cap":"net"}"#) && told.len() < 9_000, "{}", told.len());
        let long = "an escape \u{1b}[2J ".repeat(100);
        let told = message(&Review { title: long, ..asked(json!({}), None) });
        assert!(
            told.lines().next().unwrap().contains("NOT SHOWN HERE") && !told.contains('\u{1b}'),
            "{told}"
        );
    }
}
