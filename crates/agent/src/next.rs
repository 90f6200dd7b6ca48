//! What comes next in a run: a matter of where it is, and of nothing else.
//!
//! Asked again after anything happened. A call that is over is never in the answer, whatever happened to whoever drives it.

use std::collections::BTreeMap;

use drydock_abi::llm::ToolCall;

use crate::{
    AtLimit, Purse, Run, RunEnd, RunOptions, compact,
    run::{OpenCall, OpenTurn, Phase, Place},
    tools::{self, ToolText},
};

/// Calls of one turn that are made; further ones are told that they are too many.
pub const TURN_CALLS_MAX: usize = 32;
/// Calls that go on side by side.
pub const CALLS_AT_ONCE_MAX: usize = 8;

/// How calls of one turn go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Those that only look, and sub-agents, beside their neighbours.
    SideBySide,
    /// One after the other: on a tape.
    OneByOne,
}

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// The model is asked.
    Complete,
    /// The transcript is compacted first: so many messages after the task are replaced.
    Compact(usize),
    /// The model is told that it said nothing.
    Nudge,
    /// Calls of its last turn are dealt with: all of these may begin.
    Act(Vec<Act>),
    /// A person is asked for more.
    AskForMore(Purse),
    /// Nothing, before a person answered.
    Wait,
    /// It ends so.
    End(RunEnd),
    /// Nothing at all: it is over, or has not begun.
    Nothing,
}

/// What is done about a call: its place in the turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// The model is told why it was not made.
    Fail {
        /// Which.
        call: usize,
        /// The stable code.
        code: String,
        /// In words.
        why: String,
    },
    /// It was `done`, and that is all there is to it.
    Finish {
        /// Which.
        call: usize,
    },
    /// A person is asked whether it may be made.
    Review {
        /// Which.
        call: usize,
    },
    /// A person is asked what became of it: it was in flight when the run was interrupted.
    AskInFlight {
        /// Which.
        call: usize,
    },
    /// It is announced and made.
    Call {
        /// Which.
        call: usize,
    },
    /// It was announced before, and may be made again.
    Repeat {
        /// Which.
        call: usize,
    },
}

/// What comes next in a run.
pub fn next(run: &Run, order: Order) -> Next {
    let Some(options) = run.bounds() else { return Next::Nothing };
    if run.end().is_some() {
        return Next::Nothing;
    }
    if let Phase::Calls(open) = run.phase() {
        let acts = acts(open, options, run.free(), order);
        return if acts.is_empty() { Next::Wait } else { Next::Act(acts) };
    }
    if !run.pending().is_empty() {
        return Next::Wait;
    }
    let done = |result: &str| Next::End(RunEnd::Done { result: result.to_owned() });
    match run.phase() {
        Phase::New | Phase::Calls(_) => Next::Nothing,
        Phase::Done(result) => done(result),
        Phase::Spoke(text) => done(text),
        Phase::Silent if run.was_nudged() => done("(no result)"),
        Phase::Silent => Next::Nudge,
        Phase::Model => model(run, options),
    }
}

/// What the model's turn takes.
fn model(run: &Run, options: &RunOptions) -> Next {
    if run.steps() >= options.max_steps {
        let message = format!("stopped: reached max_steps ({})", options.max_steps);
        return Next::End(RunEnd::Failed { code: "max_steps".into(), message });
    }
    let is_empty = |purse: &Purse| run.left(*purse) == Some(0);
    if let Some(purse) = [Purse::Tokens, Purse::CostMicros].into_iter().find(is_empty) {
        return spent(run, options, purse);
    }
    match compact::due(run.transcript(), run.transcript_bytes(), options) {
        Some(messages) => Next::Compact(messages),
        None => Next::Complete,
    }
}

/// Where a purse is empty, or has not what a turn may take.
pub(crate) fn spent(run: &Run, options: &RunOptions, purse: Purse) -> Next {
    match options.at_limit {
        AtLimit::Ask if run.closed() != Some(purse) => Next::AskForMore(purse),
        _ => Next::End(RunEnd::Failed {
            code: "budget_exceeded".into(),
            message: format!("the budget has no {} left for another turn", purse.in_words()),
        }),
    }
}

/// The calls that may begin now, in their order. Empty if all that is left of them waits for people.
fn acts(
    open: &OpenTurn,
    options: &RunOptions,
    free: &BTreeMap<String, Option<u64>>,
    order: Order,
) -> Vec<Act> {
    let (mut acts, mut free) = (Vec::new(), free.clone());
    // How many before this one are not over, and how many of these begin now.
    let (mut before, mut beginning) = (0, 0);
    for (call, OpenCall { call: asked, place, .. }) in open.calls.iter().enumerate() {
        let judged = match place {
            Place::Answered { .. } => continue,
            Place::Refused { code, why } => Err((code.as_str(), why.clone())),
            Place::New => judge(asked, call, options),
            // It was judged when it was new, by the options of that time.
            Place::Asked(_) | Place::Allowed | Place::Announced => known(asked),
        };
        let tool = match judged {
            Ok(tool) if tool.name == tools::DONE => {
                acts.push(Act::Finish { call });
                continue;
            }
            Ok(tool) => tool,
            Err((code, why)) => {
                acts.push(Act::Fail { call, code: code.into(), why });
                continue;
            }
        };
        let is_beside = order == Order::SideBySide && tool.goes_side_by_side();
        if (!is_beside && before > 0) || beginning >= CALLS_AT_ONCE_MAX {
            break;
        }
        before += 1;
        let act = match place {
            Place::New if wants_review(tool, options, &mut free) => Some(Act::Review { call }),
            Place::New | Place::Allowed => Some(Act::Call { call }),
            Place::Announced if tool.may_repeat() => Some(Act::Repeat { call }),
            Place::Announced => Some(Act::AskInFlight { call }),
            Place::Asked(_) | Place::Refused { .. } | Place::Answered { .. } => None,
        };
        beginning += usize::from(matches!(act, Some(Act::Call { .. } | Act::Repeat { .. })));
        acts.extend(act);
        if !is_beside {
            break;
        }
    }
    acts
}

/// Whether a person is asked about a call of this tool. What was allowed ahead is used up.
fn wants_review(tool: &ToolText, options: &RunOptions, free: &mut BTreeMap<String, Option<u64>>) -> bool {
    if !options.review.iter().any(|it| it == "*" || it == tool.name) {
        return false;
    }
    match free.get_mut(tool.name) {
        None | Some(Some(0)) => true,
        Some(None) => false,
        Some(Some(left)) => {
            *left -= 1;
            false
        }
    }
}

/// A tool, or the code and the words that a model is told in its place.
type Judged<'a> = Result<&'static ToolText, (&'a str, String)>;

/// The tool of a call.
fn known(call: &ToolCall) -> Judged<'static> {
    tools::tool(&call.name).ok_or_else(|| {
        let name = call.name.chars().take(80).collect::<String>();
        let why = format!("unknown tool: `{}`; call only the tools that you were given", name.escape_debug());
        ("unknown_tool", why)
    })
}

/// The tool of a call that can be made.
fn judge(call: &ToolCall, at: usize, options: &RunOptions) -> Judged<'static> {
    let tool = known(call)?;
    let is_named = |all: &Vec<String>| all.iter().any(|it| it == tool.name);
    if tool.name != tools::DONE && !options.tools.as_ref().is_none_or(is_named) {
        return Err(("unknown_tool", format!("the tool `{}` is not offered in this run", tool.name)));
    }
    if at >= TURN_CALLS_MAX {
        let why = format!("a turn may make {TURN_CALLS_MAX} calls, and this is a further one: make it later");
        return Err(("too_many_calls", why));
    }
    if let Some(malformed) = &call.malformed {
        let shown = malformed.chars().take(200).collect::<String>();
        let why = format!("the arguments are no JSON object: `{}`", shown.escape_debug());
        return Err(("bad_arguments", why));
    }
    let bad = |bad| format!("these are no arguments of `{}`: {bad}", tool.name);
    tool.judge(&call.arguments).map_err(|it| ("bad_arguments", bad(it)))?;
    Ok(tool)
}
