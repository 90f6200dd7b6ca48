//! What happened in a run, as lines for a person. Everything a model or a tool said may be hostile, so nothing of it
//! reaches the terminal as a command, and no text is more than a line here.

use drydock_embed::{
    agent::{CallOutcome, Event, RunEnd},
    contract::{AgentHead, AgentUsage, ReviewAnswer},
};
use serde_json::{Map, Value};

use crate::show;

/// As much of a text as a line has.
const TEXT_CHARS_MAX: usize = 160;

/// The lines of an event. What a tool said is cut to one line: `drydock agent show --json` has all of it.
pub(super) fn lines(event: &Event) -> Vec<String> {
    match event {
        Event::Started { task, .. } => vec![format!("task: {}", short(task))],
        Event::Turn { step, content, tool_calls, usage, .. } => {
            let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
            let mut lines = vec![format!("step {step}  {}", tokens_of(tokens))];
            if !content.trim().is_empty() {
                lines.push(format!("  {}", short(content)));
            }
            let calls =
                tool_calls.iter().map(|it| format!("  {} {}", short(&it.name), arguments(&it.arguments)));
            lines.extend(calls);
            lines
        }
        Event::Calling { .. } => Vec::new(),
        Event::Result { tool, output, outcome, .. } => {
            let how = match outcome {
                CallOutcome::Done { exit_code: None | Some(0) } => String::new(),
                CallOutcome::Done { exit_code: Some(status) } => format!("[status {status}] "),
                CallOutcome::Failed { code } => format!("[{}] ", short(code)),
            };
            vec![format!("  {} → {how}{}", short(tool), short(output)).trim_end().to_owned()]
        }
        Event::Nudged { .. } => vec!["  (the model said nothing, and is asked once more)".into()],
        Event::Said { text, .. } => vec![format!("said: {}", short(text))],
        Event::Compacted { messages, .. } => vec![format!("  ({messages} messages were summed up)")],
        Event::Asked { review, title, .. } => vec![format!("review {review}: {}", short(title))],
        Event::Answered { review, answer, .. } => {
            vec![format!("review {review}: {}", answered(answer.as_ref()))]
        }
        Event::Resumed { .. } => vec!["resumed".into()],
        Event::Ended { end, .. } => vec![match end {
            RunEnd::Done { .. } => "done".into(),
            RunEnd::Cancelled => "cancelled".into(),
            RunEnd::Failed { code, message } => format!("failed: {}: {}", short(code), short(message)),
        }],
    }
}

/// What is under way from an event on, for a line that is drawn over.
pub(super) fn under_way(event: &Event) -> Option<String> {
    match event {
        Event::Started { options, .. } => Some(format!("asking {}", short(&options.model))),
        Event::Calling { tool, .. } => Some(format!("{} …", short(tool))),
        Event::Result { .. } | Event::Nudged { .. } | Event::Resumed { .. } | Event::Answered { .. } => {
            Some("asking the model …".into())
        }
        Event::Asked { .. } => Some("waiting for a person".into()),
        _ => None,
    }
}

/// What a run cost so far.
pub(crate) fn cost(usage: &AgentUsage) -> String {
    let tokens = tokens_of(usage.input_tokens.saturating_add(usage.output_tokens));
    match usage.cost_micros {
        0 => tokens,
        micros => format!("{tokens}, cost {}", money(micros)),
    }
}

/// How a run ended, for the last line.
pub(super) fn ended(head: &AgentHead) -> String {
    let steps = if head.steps == 1 { "1 step".into() } else { format!("{} steps", head.steps) };
    let why = head.reason.as_deref().map(|it| format!(" ({})", short(it))).unwrap_or_default();
    format!("{}{why} after {steps}, {}", head.status.as_str(), cost(&head.usage))
}

/// Millionths of money, with as many digits as they have.
pub(crate) fn money(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let cut = text.trim_end_matches('0');
    // Cents are always there.
    let least = text.len() - 4;
    text[..cut.len().max(least)].to_owned()
}

fn tokens_of(tokens: u64) -> String {
    if tokens == 1 { "1 token".into() } else { format!("{tokens} tokens") }
}

/// What somebody answered.
pub(crate) fn answered(answer: Option<&ReviewAnswer>) -> String {
    match answer {
        Some(ReviewAnswer::Once) => "approved, once".into(),
        Some(ReviewAnswer::Session) => "approved for the run".into(),
        Some(ReviewAnswer::Limit { limit }) => format!("approved, up to {limit}"),
        Some(ReviewAnswer::Deny { reason }) if reason.is_empty() => "denied".into(),
        Some(ReviewAnswer::Deny { reason }) => format!("denied: {}", short(reason)),
        None => "nobody answered in time: denied".into(),
    }
}

/// Arguments of a call, as they are shown on one line: a single text is shown as itself.
fn arguments(of: &Map<String, Value>) -> String {
    let mut values = of.values();
    match (values.next(), values.next()) {
        (None, _) => String::new(),
        (Some(Value::String(text)), None) => short(text),
        _ => short(&Value::Object(of.clone()).to_string()),
    }
}

/// One line of a text, without what a terminal would obey.
pub(crate) fn short(text: &str) -> String {
    let mut lines = text.lines().map(str::trim_end).filter(|it| !it.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    let mut chars = first.chars();
    let mut cut: String = chars.by_ref().take(TEXT_CHARS_MAX).collect();
    if chars.next().is_some() || lines.next().is_some() {
        cut.push_str(" …");
    }
    show::plain(&cut).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_has_cents_and_no_digits_for_nothing() {
        for (micros, want) in
            [(0, "0.00"), (1, "0.000001"), (12_300, "0.0123"), (1_000_000, "1.00"), (1_500_000, "1.50")]
        {
            assert_eq!(money(micros), want, "{micros}");
        }
    }

    #[test]
    fn a_text_is_one_line_that_a_terminal_does_not_obey() {
        assert_eq!(short("\n\n one\ntwo"), " one …");
        assert_eq!(short(""), "");
        assert!(short(&"x".repeat(500)).chars().count() < 170);
        assert!(!short("a\u{1b}[2Jb\rc").contains(['\u{1b}', '\r']));
    }
}
