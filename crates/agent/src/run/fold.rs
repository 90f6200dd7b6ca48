//! One event after the other. What an event may follow is decided here, and nowhere else.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use drydock_abi::llm::{Message, TOOL_CALLS_MAX, ToolCall, Usage};
use drydock_contract::{AgentId, ReviewAnswer, ReviewKind};

use super::{
    Given, OpenCall, OpenTurn, Origin, Pending, Phase, Place, Run,
    review::{REFUSED, Word, more_of},
};
use crate::{CallOutcome, Event, Spent, compact::weight, tools};

/// The longest id of a call, and the longest name of a tool: what a request of `llm.complete` may hold.
pub(crate) const NAME_BYTES_MAX: usize = 128;

/// The list of events is none that a run can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {at} of the run is damaged: {why}; fork the run from a step before it, or remove it")]
pub struct BadRun {
    /// Which event, from 0 on.
    pub at: u64,
    /// What is wrong with it.
    pub why: String,
}

impl BadRun {
    pub(crate) const fn new(at: u64, why: String) -> Self {
        Self { at, why }
    }

    /// The stable code.
    pub const fn code(&self) -> &'static str {
        "run_damaged"
    }
}

impl Run {
    /// Takes the next event. One that cannot follow is refused, and then nothing is changed.
    pub fn on(&mut self, event: &Event) -> Result<(), BadRun> {
        let at = self.events;
        self.check(event).and_then(|()| self.take(event)).map_err(|why| BadRun::new(at, why))?;
        self.events += 1;
        Ok(())
    }

    /// What holds for all events: the first one, and the last.
    fn check(&self, event: &Event) -> Result<(), String> {
        match (event, &self.origin, &self.end) {
            (Event::Started { .. }, None, _) | (Event::Resumed { .. }, Some(_), _) => Ok(()),
            (Event::Started { .. }, Some(_), _) => Err("the run had begun".into()),
            (_, None, _) => Err(format!("`{}` is the first one", event.name())),
            (_, Some(_), Some(_)) => Err(format!("`{}` follows the end", event.name())),
            _ => Ok(()),
        }
    }

    /// Each arm judges before it changes anything.
    fn take(&mut self, event: &Event) -> Result<(), String> {
        match event {
            Event::Started { at_ms, system, task, agent, options, opened_by } => {
                self.origin = Some(Origin {
                    at_ms: *at_ms,
                    system: system.clone(),
                    task: task.clone(),
                    agent: agent.clone(),
                    options: options.clone(),
                    opened_by: opened_by.clone(),
                });
                self.push(Message::User { content: task.clone() });
                self.phase = Phase::Model;
            }
            Event::Turn { step, content, tool_calls, usage, .. } => {
                self.turn(*step, content, tool_calls, usage)?;
            }
            Event::Calling { id, tool, .. } => self.calling(id, tool)?,
            Event::Result { id, tool, output, outcome, files_changed, spent, .. } => {
                self.result(id, tool, output, outcome, *files_changed)?;
                self.spend_beside(spent.as_ref());
            }
            Event::Nudged { .. } => {
                if self.phase != Phase::Silent {
                    return Err("nobody was silent".into());
                }
                self.was_nudged = true;
                self.say(NUDGE.to_owned());
            }
            Event::Said { text, .. } => self.say(text.clone()),
            Event::Compacted { messages, summary, usage, .. } => {
                self.compact(*messages, summary)?;
                usage.iter().for_each(|it| self.spend(it));
            }
            Event::Asked { at_ms, review, call, kind, title, grant, purse, expires_ms } => {
                let pending = Pending {
                    kind: *kind,
                    title: title.clone(),
                    call: call.clone(),
                    grant: grant.clone(),
                    purse: *purse,
                    asked_ms: *at_ms,
                    expires_ms: *expires_ms,
                };
                self.ask(review, pending)?;
            }
            Event::Answered { review, answer, .. } => self.answer(review, answer.as_ref())?,
            Event::Resumed { options, .. } => {
                if let (Some(origin), Some(options)) = (&mut self.origin, options) {
                    origin.options = options.clone();
                }
                if self.end.take().is_some() {
                    self.withdraw();
                }
                self.closed = None;
            }
            Event::Ended { end, spent, .. } => {
                self.end = Some(end.clone());
                self.spend_beside(spent.as_ref());
            }
        }
        Ok(())
    }

    fn turn(&mut self, step: u64, content: &str, calls: &[ToolCall], usage: &Usage) -> Result<(), String> {
        if self.phase != Phase::Model {
            return Err("the model was not asked".into());
        }
        if step != self.steps + 1 {
            return Err(format!("it is turn {step} after {}", self.steps));
        }
        judge_calls(calls)?;
        self.steps = step;
        self.usage.turns += 1;
        self.spend(usage);
        self.push(Message::Assistant { content: content.to_owned(), tool_calls: calls.to_vec() });
        if !calls.is_empty() || !content.trim().is_empty() {
            self.was_nudged = false;
        }
        self.note_alike(calls);
        self.phase = match calls {
            [] if content.trim().is_empty() => Phase::Silent,
            [] => Phase::Spoke(content.to_owned()),
            calls => {
                let open = |call: &ToolCall| OpenCall {
                    call: call.clone(),
                    place: Place::New,
                    may_have_changed: false,
                };
                Phase::Calls(OpenTurn { step, calls: calls.iter().map(open).collect() })
            }
        };
        Ok(())
    }

    fn push(&mut self, message: Message) {
        self.bytes += weight(&message);
        self.messages.push(message);
    }

    fn spend(&mut self, usage: &Usage) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.usage.input_tokens, usage.input_tokens);
        add(&mut self.usage.cached_input_tokens, usage.cached_input_tokens);
        add(&mut self.usage.output_tokens, usage.output_tokens);
        add(&mut self.usage.cost_micros, usage.cost_micros.unwrap_or_default());
    }

    /// A budget counts tokens together, whoever read or wrote them: beside turns they are as if read.
    fn spend_beside(&mut self, spent: Option<&Spent>) {
        let Some(Spent { tokens, cost_micros }) = spent.copied() else { return };
        self.spend(&Usage { input_tokens: tokens, cost_micros: Some(cost_micros), ..Usage::default() });
    }

    /// Counts turns in a row that make the same calls, whatever their ids are.
    fn note_alike(&mut self, calls: &[ToolCall]) {
        if calls.is_empty() {
            (self.alike, self.last_calls) = (0, None);
            return;
        }
        let mut hasher = DefaultHasher::new();
        for ToolCall { name, arguments, malformed, .. } in calls {
            (name, serde_json::to_string(arguments).unwrap_or_default(), malformed).hash(&mut hasher);
        }
        let these = Some(hasher.finish());
        self.alike = if self.last_calls == these { self.alike + 1 } else { 1 };
        self.last_calls = these;
    }

    fn open_call(&mut self, id: &str, tool: &str) -> Result<&mut OpenCall, String> {
        let Phase::Calls(open) = &mut self.phase else { return Err("no turn waits for tools".into()) };
        let call =
            open.call_mut(id).ok_or_else(|| format!("no call of the turn has the id `{}`", shown(id)))?;
        match call.call.name == tool {
            true => Ok(call),
            false => Err(format!("the call `{}` is of another tool", shown(id))),
        }
    }

    fn calling(&mut self, id: &str, tool: &str) -> Result<(), String> {
        let call = self.open_call(id, tool)?;
        let was_new = match &call.place {
            Place::New => true,
            Place::Allowed | Place::Announced => false,
            other => return Err(format!("the call `{}` is {}", shown(id), other.word())),
        };
        call.place = Place::Announced;
        // One that nobody was asked about uses up what somebody allowed ahead.
        if let Some(Some(left)) = self.free.get_mut(tool).filter(|_| was_new) {
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.free.remove(tool);
            }
        }
        Ok(())
    }

    fn result(
        &mut self,
        id: &str,
        tool: &str,
        output: &str,
        outcome: &CallOutcome,
        files_changed: Option<bool>,
    ) -> Result<(), String> {
        let call = self.open_call(id, tool)?;
        if matches!(call.place, Place::Answered { .. } | Place::Asked(_)) {
            return Err(format!("the call `{}` is {}", shown(id), call.place.word()));
        }
        let only_looks = tools::tool(tool).is_some_and(|it| it.is_read_only);
        call.may_have_changed |= call.place == Place::Announced && files_changed.unwrap_or(!only_looks);
        let is_error = matches!(outcome, CallOutcome::Failed { .. });
        call.place = Place::Answered { output: as_read(output, outcome), is_error };
        self.given.retain(|it| it.uses != Some(1) || it.call.as_deref() != Some(id));
        self.close();
        Ok(())
    }

    /// Once all calls of a turn are answered it is the model's turn, unless it said that it is done.
    fn close(&mut self) {
        let Phase::Calls(open) = &self.phase else { return };
        let Some(answers) = open.answers() else { return };
        let done = |it: &OpenCall| match &it.place {
            Place::Answered { is_error: false, .. } if it.call.name == tools::DONE => {
                it.call.arguments.get("result").and_then(|it| it.as_str()).map(str::to_owned)
            }
            _ => None,
        };
        let result = open.calls.iter().find_map(done);
        if open.calls.iter().any(|it| it.may_have_changed) {
            self.changed_by = Some(open.step);
        }
        answers.into_iter().for_each(|it| self.push(it));
        self.phase = result.map_or(Phase::Model, Phase::Done);
        for note in std::mem::take(&mut self.notes) {
            self.push(Message::User { content: note });
        }
    }

    /// Somebody has a word: at once, or after the answers that the turn waits for. Then the model goes on.
    fn say(&mut self, text: String) {
        if matches!(self.phase, Phase::Calls(_)) {
            self.notes.push(text);
            return;
        }
        self.push(Message::User { content: text });
        self.phase = Phase::Model;
    }

    fn compact(&mut self, count: u64, summary: &str) -> Result<(), String> {
        if self.phase != Phase::Model {
            return Err("it is not the model's turn".into());
        }
        let end = usize::try_from(count).ok().and_then(|it| it.checked_add(1));
        let end = end.filter(|end| (2..=self.messages.len()).contains(end));
        let end = end.ok_or_else(|| format!("there are no {count} messages after the task"))?;
        if matches!(self.messages.get(end), Some(Message::Tool { .. })) {
            return Err("an answer would be left without its call".into());
        }
        let summary = Message::User { content: summary.to_owned() };
        self.bytes += weight(&summary);
        let replaced: usize = self.messages.splice(1..end, [summary]).map(|it| weight(&it)).sum();
        self.bytes = self.bytes.saturating_sub(replaced);
        Ok(())
    }

    fn ask(&mut self, review: &AgentId, pending: Pending) -> Result<(), String> {
        if self.pending.contains_key(review) {
            return Err(format!("review {review} was asked before"));
        }
        if pending.kind == ReviewKind::Budget && pending.purse.is_none() {
            return Err("a review of a budget names no unit".into());
        }
        if let Some(id) = &pending.call
            && let Phase::Calls(open) = &mut self.phase
            && let Some(call) = open.call_mut(id)
        {
            let fits = match (pending.kind, &call.place) {
                (ReviewKind::InFlight, Place::Announced) | (ReviewKind::Tool, Place::New) => Ok(true),
                (ReviewKind::Grant, Place::Announced) => Ok(true),
                // What it ran was refused something: it is answered, and the grant is for what comes next.
                (ReviewKind::Grant, Place::Answered { .. }) => Ok(false),
                (_, place) => Err(format!("the call `{}` is {}", shown(id), place.word())),
            };
            if fits? {
                call.place = Place::Asked(review.clone());
            }
        }
        self.pending.insert(review.clone(), pending);
        Ok(())
    }

    /// Questions end with the run, and nobody answered these: what still wants an answer is asked anew.
    fn withdraw(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let Phase::Calls(open) = &mut self.phase else { return };
        for call in &mut open.calls {
            let Place::Asked(review) = &call.place else { continue };
            let kind = pending.get(review).map(|it| it.kind);
            call.place = match kind {
                Some(ReviewKind::InFlight) => Place::Announced,
                // Nobody allowed it, or the gate refused it: it was not made.
                _ => Place::New,
            };
        }
    }

    fn answer(&mut self, review: &AgentId, answer: Option<&ReviewAnswer>) -> Result<(), String> {
        let note = self.note_of(review, answer);
        let pending = self.pending.remove(review).ok_or_else(|| format!("review {review} was not asked"))?;
        let word = Word::of(answer);
        match (pending.kind, &word) {
            (ReviewKind::Budget, word) => {
                self.fill(&pending, word, answer);
                return Ok(());
            }
            (ReviewKind::Grant, Word::No(..)) => self.refused.extend(pending.grant.clone()),
            _ => {}
        }
        let is_its = |it: &&mut OpenCall| it.place == Place::Asked(review.clone());
        let call = match (&mut self.phase, &pending.call) {
            (Phase::Calls(open), Some(id)) => open.call_mut(id).filter(is_its),
            _ => None,
        };
        let is_about_call = call.is_some();
        match (call, word) {
            (Some(call), Word::No(code, why)) => {
                let why = refusal(pending.kind, code, &why);
                call.place = Place::Refused { code: code.to_owned(), why };
            }
            (call, Word::Yes(uses)) => {
                if let Some(call) = call {
                    call.place = Place::Allowed;
                    let rest = uses.map(|it| it - 1);
                    if pending.kind == ReviewKind::Tool && rest != Some(0) {
                        self.free.insert(call.call.name.clone(), rest);
                    }
                }
                if let (ReviewKind::Grant, Some(grant)) = (pending.kind, &pending.grant) {
                    self.given.push(Given {
                        review: review.clone(),
                        grant: grant.clone(),
                        uses,
                        call: pending.call.clone().filter(|_| is_about_call),
                    });
                }
            }
            (None, Word::No(..)) => {}
        }
        note.into_iter().for_each(|it| self.say(it));
        Ok(())
    }

    /// What the model is told of an answer that is about none of its open calls.
    pub(crate) fn note_of(&self, review: &AgentId, answer: Option<&ReviewAnswer>) -> Option<String> {
        let pending = self.pending.get(review).filter(|it| it.kind != ReviewKind::Budget)?;
        let is_its = |it: &OpenCall| it.place == Place::Asked(review.clone());
        if self.open_turn().is_some_and(|open| open.calls.iter().any(is_its)) {
            return None;
        }
        match Word::of(answer) {
            // The model itself was what the grant is for, or its turn is nobody's question.
            Word::Yes(_) if pending.call.is_none() => None,
            Word::Yes(_) => Some(format!("[A person allowed it: {}. You may try again.]", pending.title)),
            Word::No(_, why) => Some(format!("[A person was asked and said no: {}: {why}.]", pending.title)),
        }
    }

    fn fill(&mut self, pending: &Pending, word: &Word, answer: Option<&ReviewAnswer>) {
        let Some(purse) = pending.purse else { return };
        match (word, answer, self.bounds()) {
            (Word::Yes(_), Some(answer), Some(options)) => {
                let more = more_of(answer, purse, options);
                let sum = self.more.entry(purse).or_default();
                *sum = sum.saturating_add(more);
            }
            _ => self.closed = Some(purse),
        }
    }
}

/// What a model that said nothing is told, once.
const NUDGE: &str = "You said nothing and called no tool. Go on with the task, or call `done` with its result if it is finished.";

impl Place {
    const fn word(&self) -> &'static str {
        match self {
            Self::New => "not announced",
            Self::Asked(_) => "asked about",
            Self::Allowed => "allowed",
            Self::Refused { .. } => "refused",
            Self::Announced => "in flight",
            Self::Answered { .. } => "answered",
        }
    }
}

/// An answer as the model reads it: few servers have a place for a status or a failure, so the text says it.
fn as_read(output: &str, outcome: &CallOutcome) -> String {
    match outcome {
        CallOutcome::Done { exit_code: None | Some(0) } => output.to_owned(),
        CallOutcome::Done { exit_code: Some(status) } => {
            let line = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
            format!("{output}{line}[exit status {status}]")
        }
        // Those say it themselves.
        CallOutcome::Failed { .. } if output.starts_with("[not called") => output.to_owned(),
        CallOutcome::Failed { code } => format!("[{code}] {output}"),
    }
}

/// What the model is told of a call that people said no to. A reason alone would read like the answer of the tool.
fn refusal(kind: ReviewKind, code: &str, why: &str) -> String {
    match (kind, code) {
        (ReviewKind::InFlight, REFUSED) => format!("[not called again: refused by a person: {why}]"),
        (_, REFUSED) => format!("[not called: refused by a person: {why}]"),
        _ => format!("[not called: refused, since {why}]"),
    }
}

/// What every later request would be refused for is no turn.
pub(crate) fn judge_calls(calls: &[ToolCall]) -> Result<(), String> {
    if calls.len() > TOOL_CALLS_MAX {
        return Err(format!("a turn has {} calls, and {TOOL_CALLS_MAX} at most", calls.len()));
    }
    for (at, call) in calls.iter().enumerate() {
        let named = |it: &str| (1..=NAME_BYTES_MAX).contains(&it.len());
        if !named(&call.id) || !named(&call.name) || calls.iter().take(at).any(|it| it.id == call.id) {
            return Err(format!("call {at} of a turn has no name, or no id of its own"));
        }
    }
    Ok(())
}

fn shown(text: &str) -> String {
    text.chars().take(80).collect::<String>().escape_debug().to_string()
}
