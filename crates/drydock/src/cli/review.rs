//! `drydock review list | show | approve | deny`: what runs of agents wait for a person to say.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use drydock_embed::{
    agent::{AgentError, DockAgents},
    contract::{
        AgentId, AgentUsage, Review, ReviewAnswer, ReviewKind, ReviewState, Timestamp,
        port::{AgentRefusal, Wanted},
    },
};
use serde_json::{Map, Value};

use super::{agent, run};
use crate::{exit, show};

/// Reviews that are listed at once.
const ROWS_MAX: usize = 1_000;

#[derive(Debug, Args)]
#[command(after_help = "\
A run that asks waits, and nothing holds it meanwhile: the answer may come after a restart. What somebody
approves once, for the session or with a limit is a grant of the run with that many uses, or without an
end. What nobody answers in its time (`--review-wait`) counts as denied.

Examples:
  drydock review list
  drydock review show $ID
  drydock review approve $ID --once
  drydock review deny $ID --reason 'not on a Friday'
  drydock agent resume $RUN")]
pub(crate) struct ReviewArgs {
    #[command(subcommand)]
    act: Act,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// List what waits for a person
    List {
        /// Of this run only
        #[arg(long, value_name = "RUN")]
        run: Option<AgentId>,
        /// Also what was answered, or is too old
        #[arg(long)]
        all: bool,
    },
    /// Show what would happen, and which authority is asked for
    Show {
        /// The review
        id: AgentId,
    },
    /// Say yes
    Approve {
        /// The review
        id: AgentId,
        #[command(flatten)]
        how: How,
    },
    /// Say no
    Deny {
        /// The review
        id: AgentId,
        /// Why: the agent reads it
        #[arg(long, value_name = "TEXT", default_value = "")]
        reason: String,
    },
}

/// How far a yes goes.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct How {
    /// For this one call
    #[arg(long)]
    once: bool,
    /// For the rest of the run
    #[arg(long)]
    session: bool,
    /// That often, or so many more tokens, or so many millionths of money
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
}

impl How {
    fn answer(&self) -> ReviewAnswer {
        match self {
            Self { limit: Some(limit), .. } => ReviewAnswer::Limit { limit: *limit },
            Self { session: true, .. } => ReviewAnswer::Session,
            _ => ReviewAnswer::Once,
        }
    }
}

pub(crate) fn run(wanted: ReviewArgs) -> anyhow::Result<ExitCode> {
    let json = wanted.json;
    let which = match &wanted.act {
        Act::List { run, .. } => run.clone().map(|it| ("run", it)),
        Act::Show { id } | Act::Approve { id, .. } | Act::Deny { id, .. } => Some(("review", id.clone())),
    };
    let (what, id) = which.unzip();
    match act(wanted) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => agent::report(agent::about(error, what.unwrap_or_default(), id.as_ref()), json),
    }
}

fn act(wanted: ReviewArgs) -> anyhow::Result<()> {
    let ReviewArgs { act, json } = wanted;
    let (runtime, agents) = agent::looking()?;
    match act {
        Act::List { run, all } => {
            let which = if all { Wanted::All } else { Wanted::Pending };
            let reviews = runtime.block_on(agents.reviews(run.as_ref(), which, ROWS_MAX))?;
            match json {
                true => show::json(&reviews)?,
                false if reviews.is_empty() => show::line("nothing waits for a person")?,
                false => show::table(["ID", "RUN", "STATE", "ASKED", "WHAT"], reviews.iter().map(row))?,
            }
        }
        Act::Show { id } => {
            let review = runtime.block_on(agents.review(&id))?;
            match json {
                true => show::json(&review)?,
                false => described(&review).iter().try_for_each(|it| show::line(it))?,
            }
        }
        Act::Approve { id, how } => answer(&runtime, &agents, &id, how.answer(), json)?,
        Act::Deny { id, reason } => answer(&runtime, &agents, &id, ReviewAnswer::Deny { reason }, json)?,
    }
    Ok(())
}

fn answer(
    runtime: &tokio::runtime::Runtime,
    agents: &DockAgents,
    id: &AgentId,
    answer: ReviewAnswer,
    json: bool,
) -> anyhow::Result<()> {
    let review = match runtime.block_on(agents.answer(id, answer, run::PRINCIPAL)) {
        Err(error @ AgentError::Refused(AgentRefusal::Absent)) => return Err(error.into()),
        answered => answered.with_context(|| format!("review {id} was not answered"))?,
    };
    if json {
        return Ok(show::json(&review)?);
    }
    show::line(&format!("{}: {}", review.id, state(&review.state)))?;
    let head = runtime.block_on(agents.show(&review.run));
    if head.is_ok_and(|it| it.status == drydock_embed::contract::AgentStatus::Waiting) {
        exit::warn(&format!(
            "run {} goes on by itself where somebody drives it; otherwise `drydock agent resume {}`",
            review.run, review.run
        ));
    }
    Ok(())
}

fn row(review: &Review) -> [String; 5] {
    let asked = Timestamp(review.asked_ms.saturating_mul(1_000_000)).to_rfc3339();
    [review.id.to_string(), review.run.to_string(), state(&review.state), asked, agent::short(&review.title)]
}

fn state(state: &ReviewState) -> String {
    match state {
        ReviewState::Pending => "pending".into(),
        ReviewState::Expired => "expired".into(),
        ReviewState::Answered { given, .. } => agent::answered(Some(given)),
    }
}

/// A review as a person reads it. What a model wrote is in there, so nothing of it is obeyed by a terminal.
pub(super) fn described(review: &Review) -> Vec<String> {
    let kind = match review.kind {
        ReviewKind::Tool => "one call of a tool",
        ReviewKind::Grant => "a grant",
        ReviewKind::Budget => "more to spend",
        ReviewKind::InFlight => "a call that was interrupted: nobody knows what it did",
        ReviewKind::Other => "something to look at",
    };
    let mut lines = vec![
        format!("review   {}", review.id),
        format!("run      {}", review.run),
        format!("about    {kind}"),
        format!("title    {}", agent::short(&review.title)),
        format!("state    {}", state(&review.state)),
    ];
    if let Some(expires) = review.expires_ms {
        lines.push(format!("until    {}", Timestamp(expires.saturating_mul(1_000_000)).to_rfc3339()));
    }
    match (&review.what, review.kind) {
        (Value::Object(what), ReviewKind::Budget) => budget(&mut lines, what),
        (Value::Object(what), ReviewKind::Other) => within(&mut lines, "what", what, &[]),
        (Value::Object(what), _) => call(&mut lines, what),
        (Value::Null, _) => {}
        (other, _) => part(&mut lines, "what", other),
    }
    if let Some(grant) = &review.grant {
        part(&mut lines, "grant", grant);
    }
    lines
}

/// A call, as whoever asked knows it: tool and arguments, and, in the place of those that it says better, what would happen.
fn call(lines: &mut Vec<String>, what: &Map<String, Value>) {
    let preview = what.get("preview").and_then(Value::as_object);
    let is_shown = |name: &str| preview.is_some_and(|it| it.contains_key(name));
    let said: Vec<&str> = SAID_BY.iter().filter(|it| is_shown(it.0)).flat_map(|it| it.1).copied().collect();
    for (name, value) in what {
        match (name.as_str(), value) {
            ("arguments", Value::Object(arguments)) => within(lines, "arguments", arguments, &said),
            ("preview", Value::Object(_)) => {}
            _ => part(lines, name, value),
        }
    }
    let mut parts: Vec<(&String, &Value)> = preview.into_iter().flatten().collect();
    // What has many lines is last, next to the question.
    parts.sort_by_key(|(_, value)| value.as_str().is_some_and(|it| it.lines().nth(1).is_some()));
    parts.into_iter().for_each(|(name, value)| part(lines, name, value));
}

/// Arguments of tools that a preview says better.
const SAID_BY: [(&str, &[&str]); 5] = [
    ("diff", &["old", "new", "content"]),
    ("command", &["pipeline"]),
    ("program", &["code"]),
    ("path", &["path"]),
    ("url", &["url"]),
];

/// Members whose names somebody else chose. They are indented, so that none of them looks like one of ours.
fn within(lines: &mut Vec<String>, name: &str, members: &Map<String, Value>, but: &[&str]) {
    let mut inner = Vec::new();
    for (name, value) in members.iter().filter(|it| !but.contains(&it.0.as_str())) {
        part(&mut inner, name, value);
    }
    if !inner.is_empty() {
        lines.push(format!("{name}:"));
        lines.extend(inner.into_iter().map(|it| format!("  {it}")));
    }
}

/// What was spent of which budget, and what an answer would add.
fn budget(lines: &mut Vec<String>, what: &Map<String, Value>) {
    let is_money = what.get("unit").is_some_and(|it| it == "cost_micros");
    let number = |it: Option<&Value>| it.and_then(Value::as_u64);
    let amount = |it: u64| match is_money {
        true => format!("cost {}", agent::money(it)),
        false => format!("{it} tokens"),
    };
    let spent = |unit: &str| number(what.get("spent").and_then(|it| it.get(unit))).unwrap_or_default();
    let used = AgentUsage {
        input_tokens: spent("tokens"),
        cost_micros: spent("cost_micros"),
        ..AgentUsage::default()
    };
    lines.push(format!("spent    {}", agent::cost(&used)));
    if let Some(first) = number(what.get("budget")) {
        lines.push(format!("budget   {}", amount(first)));
        lines.push(format!("once     adds {} (so does session)", amount(first)));
    }
    let unit = if is_money { "millionths of money: 1000000 is 1.00" } else { "tokens" };
    lines.push(format!("limit N  adds N {unit}"));
}

/// As many lines of one part of it as are shown; JSON has all.
const PART_LINES_MAX: usize = 200;

fn part(lines: &mut Vec<String>, name: &str, value: &Value) {
    let name = show::plain(name).to_string();
    let text = match value {
        Value::Null => return,
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut parts = text.lines();
    match (parts.next(), parts.next()) {
        (None, _) => lines.push(format!("{name:<8}")),
        (Some(one), None) => lines.push(format!("{name:<8} {}", show::plain(one))),
        _ => {
            lines.push(format!("{name}:"));
            lines.extend(text.lines().take(PART_LINES_MAX).map(|it| format!("  {}", show::plain(it))));
            let left = text.lines().count().saturating_sub(PART_LINES_MAX);
            if left > 0 {
                lines.push(format!("  … and {left} more lines (--json has all)"));
            }
        }
    }
}

/// Whether an error says that a review has its answer already, from elsewhere.
pub(super) fn was_answered(error: &AgentError) -> bool {
    matches!(
        error,
        AgentError::Refused(AgentRefusal::Answered | AgentRefusal::Expired | AgentRefusal::Absent)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_shown_as_lines_and_no_argument_looks_like_a_fact() {
        let what = json!({
            "tool": "edit_file",
            "arguments": { "path": "a", "old": "x\ny", "new": "z", "state": "approved", "all": true },
            "preview": { "diff": "-x\n-y\n+z\n", "path": "/a" },
        });
        let mut lines = Vec::new();
        call(&mut lines, what.as_object().unwrap());
        assert_eq!(
            lines,
            [
                "arguments:",
                "  all      true",
                "  state    approved",
                "tool     edit_file",
                "path     /a",
                "diff:",
                "  -x",
                "  -y",
                "  +z"
            ]
        );
    }

    #[test]
    fn a_question_for_more_says_what_there_was_and_what_a_yes_adds() {
        let what = json!({ "unit": "cost_micros", "budget": 1_500_000, "spent": { "tokens": 7, "cost_micros": 1_400_000 } });
        let mut lines = Vec::new();
        budget(&mut lines, what.as_object().unwrap());
        assert_eq!(
            lines[..3],
            [
                "spent    7 tokens, cost 1.40",
                "budget   cost 1.50",
                "once     adds cost 1.50 (so does session)"
            ]
        );
        assert!(lines[3].starts_with("limit N  adds N millionths of money"), "{lines:?}");
    }

    #[test]
    fn a_review_shows_what_would_happen_and_no_escape_of_its_author() {
        let review = Review {
            id: AgentId::of(1),
            run: AgentId::of(2),
            call: Some("c".into()),
            kind: ReviewKind::Tool,
            title: "edit a\u{1b}[2Jfile".into(),
            what: json!({ "tool": "edit_file", "diff": "-a\n+b\u{1b}]0;x\u{7}\n" }),
            grant: Some(json!({ "cap": "tool", "subjects": ["agent.edit_file"], "uses": 1 })),
            asked_ms: 0,
            expires_ms: Some(1_000),
            state: ReviewState::Pending,
        };
        let text = described(&review).join("\n");
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
        for part in
            ["about    one call of a tool", "diff:\n  -a\n  +b", "agent.edit_file", "until    1970-01-01"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
