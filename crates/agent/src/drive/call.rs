//! The calls of a turn: what may begin is announced in one piece, made side by side, and written down as it ends.

use std::{future::poll_fn, task::Poll};

use drydock_abi::llm::ToolCall;
use drydock_contract::{BoxFuture, Denial, ReviewKind, port::AGENT_EVENT_BYTES_MAX};

use super::{
    DriveError, Driving, Stop,
    review::Question,
    tool::{Made, make},
};
use crate::{
    Act, CallOutcome, Event, RunEnd,
    cut::{beginning, cut},
    tools::{ToolDenial, ToolOutput, tool},
};

/// After so many turns in a row with the same calls, the model is told.
const ALIKE_MAX: u64 = 3;
/// Grants that a person is asked for because of one call.
const GRANTS_MAX: usize = 4;

/// Arguments of tools that say on what, the first of them best.
const SAY_WHAT: [&str; 7] = ["path", "pipeline", "url", "query", "task", "title", "message"];
/// As much of one as a sentence has.
const WHAT_BYTES_MAX: usize = 120;

/// As much of a refusal as an output has.
const DENIAL_BYTES_MAX: usize = 400;

/// However much of an output a model is to see, an event has room for it.
const OUTPUT_BYTES_MAX: usize = AGENT_EVENT_BYTES_MAX / 8;

/// A call that was begun.
struct Begun<'a> {
    place: usize,
    call: ToolCall,
    began_ms: u64,
    work: BoxFuture<'a, Made>,
}

impl<'a> Driving<'a> {
    /// Does what is to be done about calls.
    pub(super) async fn act(&mut self, acts: Vec<Act>) -> Result<Option<Stop>, DriveError> {
        let Some(open) = self.run.open_turn() else { return Ok(None) };
        let step = open.step;
        let calls: Vec<ToolCall> = open.calls.iter().map(|it| it.call.clone()).collect();
        let (mut events, mut begin) = (Vec::new(), Vec::new());
        let at_ms = self.now_ms();
        for act in acts {
            let (Act::Fail { call: place, .. }
            | Act::Finish { call: place }
            | Act::Review { call: place }
            | Act::AskInFlight { call: place }
            | Act::Call { call: place }
            | Act::Repeat { call: place }) = act;
            let Some(call) = calls.get(place) else { continue };
            let (id, name) = (call.id.clone(), call.name.clone());
            match act {
                Act::Fail { code, why, .. } => events.push(self.failed(step, call, code, &why, at_ms)),
                Act::Finish { .. } => {
                    let outcome = CallOutcome::Done { exit_code: None };
                    events.push(result(at_ms, step, call, String::new(), outcome, 0));
                }
                Act::Review { .. } => {
                    let title = format!("to call `{name}`{}", on_what(call));
                    events.push(self.asked(about(id, ReviewKind::Tool, title)));
                }
                Act::AskInFlight { .. } => {
                    let title = format!(
                        "`{name}` was being called when the run was interrupted, and nobody knows what it did: call it again?"
                    );
                    events.push(self.asked(about(id, ReviewKind::InFlight, title)));
                }
                Act::Call { .. } => {
                    events.push(Event::Calling { at_ms, step, id, tool: name });
                    begin.push((place, call.clone()));
                }
                Act::Repeat { .. } => begin.push((place, call.clone())),
            }
        }
        if !events.is_empty() {
            self.keep(events).await?;
        }
        self.put_new().await?;
        // What leaves this machine cannot be asked of its disk later: that it is about to be done survives a power cut.
        if begin.iter().any(|it| tool(&it.1.name).is_some_and(|it| it.needs_exec)) {
            self.driver.hold.sync().await?;
        }
        self.make(step, begin).await
    }

    /// Makes calls, side by side, and writes down what came of each as it ends: what is over is over, whatever becomes of
    /// its neighbours.
    async fn make(&mut self, step: u64, begin: Vec<(usize, ToolCall)>) -> Result<Option<Stop>, DriveError> {
        let driver = self.driver;
        let wall_ms = self.run.bounds().map_or(crate::TOOL_WALL_MS, |it| it.tool_wall_ms);
        let begin = begin.into_iter().map(|(place, call)| Begun {
            place,
            began_ms: driver.clock.now().as_millis(),
            work: Box::pin(make(driver.door, driver.timer, call.clone(), wall_ms)),
            call,
        });
        let mut begun: Vec<Begun<'a>> = begin.collect();
        while !begun.is_empty() {
            let over = poll_fn(|cx| {
                if self.poll_cancelled(cx) {
                    return Poll::Ready(None);
                }
                let mut over = Vec::new();
                begun.retain_mut(|it| match it.work.as_mut().poll(cx) {
                    Poll::Ready(made) => {
                        over.push((it.place, it.call.clone(), it.began_ms, made));
                        false
                    }
                    Poll::Pending => true,
                });
                if over.is_empty() { Poll::Pending } else { Poll::Ready(Some(over)) }
            })
            .await;
            let Some(over) = over else {
                // Dropped at the gate, which ends what they started.
                drop(begun);
                return self.end(RunEnd::Cancelled).await.map(Some);
            };
            let mut events = Vec::new();
            for (place, call, began_ms, made) in over {
                if let Made::Denied(Denial::Cancelled) = made {
                    drop(begun);
                    return self.end(RunEnd::Cancelled).await.map(Some);
                }
                self.came_of(step, place, &call, began_ms, made, &mut events).await;
            }
            // While a call goes on, nobody knows what it will have spent.
            if begun.is_empty() {
                self.note_spent(&mut events).await;
            }
            self.keep(events).await?;
            self.put_new().await?;
        }
        Ok(None)
    }

    /// The events of a call that is over.
    async fn came_of(
        &mut self,
        step: u64,
        place: usize,
        call: &ToolCall,
        began_ms: u64,
        made: Made,
        events: &mut Vec<Event>,
    ) {
        let at_ms = self.now_ms();
        let ms = at_ms.saturating_sub(began_ms);
        let (answer, outcome) = match made {
            Made::Denied(denial) => {
                if let Some(grant) = self.grant_to_ask_for(&denial, Some(&call.id)) {
                    let question = about(call.id.clone(), ReviewKind::Grant, denial.to_string());
                    events.push(self.asked(Question { grant: Some(grant), ..question }));
                    return;
                }
                let code = denial.code().to_owned();
                (ToolOutput::text(format!("refused: {denial}")), CallOutcome::Failed { code })
            }
            Made::Failed(code, why) => (ToolOutput::text(why), CallOutcome::Failed { code }),
            Made::Output(answer) => {
                let exit_code = answer.exit_code;
                (answer, CallOutcome::Done { exit_code })
            }
        };
        let said = with_denials(answer.output, &answer.denials);
        let (output, whole) = self.shown(step, place, said).await;
        events.push(Event::Result {
            at_ms,
            step,
            id: call.id.clone(),
            tool: call.name.clone(),
            output,
            outcome,
            files_changed: answer.files_changed,
            whole,
            spent: None,
            ms,
        });
        let mut asked: Vec<serde_json::Value> = Vec::new();
        for denial in answer.denials {
            let Some(grant) = denial.grant.filter(|it| asked.len() < GRANTS_MAX && !asked.contains(it))
            else {
                continue;
            };
            if self.may_ask(&denial.code, &grant, Some(&call.id)) {
                let question = about(call.id.clone(), ReviewKind::Grant, denial.why);
                asked.push(grant.clone());
                events.push(self.asked(Question { grant: Some(grant), ..question }));
            }
        }
    }

    /// An output as the model sees it, and where the whole is.
    async fn shown(&mut self, step: u64, place: usize, output: String) -> (String, Option<String>) {
        let bytes_max = self.run.bounds().map_or(crate::TOOL_OUTPUT_BYTES, |it| it.tool_output_bytes);
        let note = self.note_of_repeats();
        // The note is among what the model reads, and is never what is cut.
        let bytes_max = bytes_max.min(OUTPUT_BYTES_MAX).saturating_sub(note.len());
        if cut(&output, bytes_max, None).is_none() {
            return (output + &note, None);
        }
        let whole = self.driver.host.keep_output(step, place, &output).await;
        let short = cut(&output, bytes_max, whole.as_deref()).unwrap_or(output);
        (short + &note, whole)
    }

    fn note_of_repeats(&self) -> String {
        match self.run.alike() {
            0..ALIKE_MAX => String::new(),
            times => format!(
                "\n[You have made the same calls {times} times in a row. The answers will be the same: do something else, or \
                 call `done`.]"
            ),
        }
    }

    fn failed(&self, step: u64, call: &ToolCall, code: String, why: &str, at_ms: u64) -> Event {
        let output = why.to_owned() + &self.note_of_repeats();
        result(at_ms, step, call, output, CallOutcome::Failed { code }, 0)
    }
}

/// An output with what was refused on the way, where it does not say that itself: a program may be silent about it.
fn with_denials(mut output: String, denials: &[ToolDenial]) -> String {
    let mut told: Vec<&str> = Vec::new();
    for denial in denials {
        let why = beginning(&denial.why, DENIAL_BYTES_MAX);
        if told.len() >= GRANTS_MAX || told.contains(&why) || output.contains(why) {
            continue;
        }
        told.push(why);
    }
    for why in told {
        if !output.is_empty() && !output.ends_with('\n') {
            output.push('\n');
        }
        output.push_str(&format!("[refused on the way: {why}]\n"));
    }
    output
}

/// On what a call would be made, for the sentence of its question: the argument that says it best, as one line.
pub(super) fn on_what(call: &ToolCall) -> String {
    let text = |name: &&str| call.arguments.get(*name)?.as_str();
    let Some(text) = SAY_WHAT.iter().find_map(text) else { return String::new() };
    let line = text.trim().lines().next().unwrap_or_default();
    let short = beginning(line, WHAT_BYTES_MAX);
    let more = if short.len() < text.trim().len() { " …" } else { "" };
    format!(": {short}{more}")
}

/// A question about a call.
fn about(call: String, kind: ReviewKind, title: String) -> Question {
    Question { call: Some(call), ..Question::new(kind, title) }
}

fn result(at_ms: u64, step: u64, call: &ToolCall, output: String, outcome: CallOutcome, ms: u64) -> Event {
    Event::Result {
        at_ms,
        step,
        id: call.id.clone(),
        tool: call.name.clone(),
        output,
        outcome,
        files_changed: None,
        whole: None,
        spent: None,
        ms,
    }
}
